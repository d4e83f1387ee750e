// SPDX-License-Identifier: GPL-2.0-or-later
/* weir-fleet push: a configuration for all hosts of a group, or first for some of them. */

#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lang/value.h"
#include "canary.h"
#include "child.h"
#include "fleet.h"
#include "kept.h"
#include "push.h"
#include "view.h"

#define LOOK_MS		500
#define DROPS		1.0	/* percent */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	interrupted = 1;
}

static void author_of(const char *how, char *author, size_t size)
{
	const struct passwd *user = getpwuid(getuid());
	char host[FLEET_HOST_SIZE] = "";

	gethostname(host, sizeof(host) - 1);
	snprintf(author, size, "%s@%s%s%s", user ? user->pw_name : "?", host, how ? ", " : "",
		 how ? how : "");
}

int fleet_push_config(struct fleet *fleet, struct fleet_bucket *bucket, const char *config,
		      size_t size, uint64_t last, const char *how)
{
	const char *group = fleet_group(fleet);
	char key[FLEET_NAME_SIZE + 8], author[512];
	uint64_t revision;

	snprintf(key, sizeof(key), "config.%s", group);
	author_of(how, author, sizeof(author));
	if (fleet_bucket_put(bucket, key, config, size, last, author, &revision, &fleet->err))
		return WEIR_EXIT_REFUSED;
	weir_out_begin(&fleet->out, NULL, '{');
	weir_out_str(&fleet->out, "group", group);
	weir_out_u64(&fleet->out, "revision", revision);
	weir_out_text(&fleet->out, "group %s has revision %" PRIu64 "\n", group, revision);
	weir_out_end(&fleet->out, '}');
	return WEIR_EXIT_OK;
}

/* The revision of a key, a deletion included; 0: none. */
static uint64_t revision_of(struct fleet_bucket *bucket, const char *key)
{
	kvEntryList list = { 0 };
	uint64_t revision = 0;

	if (!kvStore_History(&list, bucket->store, key, NULL) && list.Count)
		revision = kvEntry_Revision(list.Entries[list.Count - 1]);
	kvEntryList_Destroy(&list);
	return revision;
}

/* What a canary has said. */
struct heard {
	bool taken;			/* it took the configuration, */
	struct fleet_counts counts;	/* and had counted this then */
	int64_t created_ns;		/* of its newest status, by the server's clock, */
	int64_t first_ms;		/* which was seen first then, by the monotonic one */
};

struct trial {
	struct fleet *fleet;
	struct fleet_bucket *bucket;
	struct fleet_canary canary;
	char key[FLEET_NAME_SIZE + 8];
	struct heard *heard;	/* of each host */
	unsigned int taken;	/* of the hosts */
	int64_t taken_ns;	/* by the last of them, by the server's clock */
};

/* The first hosts by name that are there. */
static int choose(struct trial *trial)
{
	struct fleet *fleet = trial->fleet;
	struct fleet_canary *canary = &trial->canary;
	struct fleet_view view;
	unsigned int i;

	if (fleet_view_read(&view, trial->bucket->bus, fleet_group(fleet), &fleet->err))
		return WEIR_EXIT_UNREACHABLE;
	canary->hosts = calloc(fleet->canary, sizeof(*canary->hosts));
	trial->heard = calloc(fleet->canary, sizeof(*trial->heard));
	for (i = 0; i < view.count && canary->count < fleet->canary; i++)
		if (!fleet_is_silent(&view.seen[i]))
			canary->hosts[canary->count++] = strdup(view.seen[i].host.host);
	fleet_view_free(&view);
	if (canary->count == fleet->canary)
		return WEIR_EXIT_OK;
	weir_err_set(&fleet->err, "group '%s' has %u hosts that are not silent, fewer than the canaries",
		     fleet_group(fleet), canary->count);
	return WEIR_EXIT_REFUSED;
}

/* For how many ms may another push try canaries? One that was killed leaves its key. */
static int64_t tried_ms(struct trial *trial)
{
	struct fleet_canary other;
	kvEntry *entry = NULL;
	int64_t left = 0;

	if (kvStore_Get(&entry, trial->bucket->store, trial->key))
		return 0;
	if (!fleet_canary_decode(&other, kvEntry_Value(entry), kvEntry_ValueLen(entry))) {
		left = (int64_t)other.for_ms + FLEET_CANARY_GRACE_MS -
		       fleet_age_ms(kvEntry_Created(entry));
		fleet_canary_free(&other);
	}
	kvEntry_Destroy(entry);
	return left > 0 ? left : 0;
}

static int begin(struct trial *trial)
{
	struct fleet *fleet = trial->fleet;
	uint64_t last = revision_of(trial->bucket, trial->key);
	int64_t tried = tried_ms(trial);
	char *value, buf[WEIR_TEXT_SIZE];
	size_t size;
	int ret;

	if (tried) {
		weir_err_set(&fleet->err, "another push tries canaries of this group, for another %s at most",
			     weir_text_time(tried * 1000000, buf));
		return WEIR_EXIT_REFUSED;
	}
	value = fleet_canary_encode(&trial->canary, &size);
	if (!value) {
		weir_err_set(&fleet->err, "the configuration is not UTF-8");
		return WEIR_EXIT_WORDS;
	}
	ret = fleet_bucket_put(trial->bucket, trial->key, value, size, last, NULL,
			       &trial->canary.revision, &fleet->err);
	free(value);
	return ret ? WEIR_EXIT_REFUSED : WEIR_EXIT_OK;
}

/* What has been dropped of known sources since the host took it, in percent of what matched. */
static double drops_of(const struct heard *heard, const struct fleet_counts *counts)
{
	double matched = counts->matched - (double)heard->counts.matched;
	double dropped = counts->dropped_known - (double)heard->counts.dropped_known;

	return matched > 0 && dropped > 0 ? 100 * dropped / matched : 0;
}

/* A status of a canary that has taken it. */
static void hear(struct trial *trial, struct heard *heard, const struct fleet_seen *seen)
{
	if (heard->created_ns == seen->created_ns)
		return;
	heard->created_ns = seen->created_ns;
	heard->first_ms = fleet_now_ms();
	if (heard->taken)
		return;
	heard->taken = true;
	heard->counts = seen->host.counts;
	trial->taken++;
	if (seen->created_ns > trial->taken_ns)
		trial->taken_ns = seen->created_ns;
}

/* Judge what a canary says; false with a sentence. */
static bool judge(struct trial *trial, const char *name, struct heard *heard,
		  const struct fleet_seen *seen)
{
	struct weir_err *err = &trial->fleet->err;
	const struct fleet_host *host = &seen->host;

	if (host->canary.revision != trial->canary.revision && !heard->taken)
		return true;	/* not yet */
	if (host->canary.revision != trial->canary.revision) {
		weir_err_set(err, host->config.revision > trial->canary.revision ?
			     "%s took a newer one" : "%s has returned by itself", name);
		return false;
	}
	if (!host->canary.accepted) {
		weir_err_set(err, "%s refused it: %.400s", name, host->canary.error);
		return false;
	}
	hear(trial, heard, seen);
	if (fleet_now_ms() - heard->first_ms > FLEET_CANARY_SILENT_MS) {
		weir_err_set(err, "%s fell silent", name);
		return false;
	}
	if (host->exempt_limited) {
		weir_err_set(err, "%s limits sources that were exempt (%" PRIu64 ")", name,
			     host->exempt_limited);
		return false;
	}
	if (drops_of(heard, &host->counts) > trial->fleet->drops) {
		weir_err_set(err, "%s dropped %.2g%% of the packets, of known sources; 'drops' allows %.2g%%",
			     name, drops_of(heard, &host->counts), trial->fleet->drops);
		return false;
	}
	return true;
}

static bool judge_all(struct trial *trial)
{
	const struct fleet_canary *canary = &trial->canary;
	const struct fleet_seen *seen;
	struct fleet_view view;
	bool good = true;
	unsigned int i;

	if (fleet_view_read(&view, trial->bucket->bus, NULL, &trial->fleet->err))
		return false;
	for (i = 0; good && i < canary->count; i++) {
		seen = fleet_view_find(&view, canary->hosts[i]);
		if (!seen)
			weir_err_set(&trial->fleet->err, "%s has no status any more",
				     canary->hosts[i]);
		good = seen && judge(trial, canary->hosts[i], &trial->heard[i], seen);
	}
	fleet_view_free(&view);
	return good;
}

/*
 * Is the time over, and did each canary write a status after that? What has cut a host off from
 * the server has cut it off from others.
 */
static bool is_over(const struct trial *trial)
{
	const struct fleet_canary *canary = &trial->canary;
	int64_t end_ns = trial->taken_ns + canary->for_ms * 1000000;
	unsigned int i;

	for (i = 0; i < canary->count; i++)
		if (trial->heard[i].created_ns < end_ns)
			return false;
	return trial->taken == canary->count;
}

/* Watch the canaries for their time; an enum weir_exit with a sentence. */
static int watch(struct trial *trial)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000 };
	const struct fleet_canary *canary = &trial->canary;
	struct weir_err *err = &trial->fleet->err;
	int64_t begin = fleet_now_ms();

	while (!is_over(trial)) {
		nanosleep(&pause, NULL);
		if (interrupted) {
			weir_err_set(err, "interrupted");
			return WEIR_EXIT_REFUSED;
		}
		if (!judge_all(trial))
			return WEIR_EXIT_REFUSED;
		if (trial->taken < canary->count &&
		    fleet_now_ms() - begin >= FLEET_CANARY_TAKE_MS) {
			weir_err_set(err, "%u of %u canaries did not take it in time",
				     canary->count - trial->taken, canary->count);
			return WEIR_EXIT_REFUSED;
		}
	}
	return WEIR_EXIT_OK;
}

/* Have some hosts try it; when that is over, the key goes, and they return if it went wrong. */
static int push_by_canary(struct fleet *fleet, struct fleet_bucket *bucket, char *config,
			  size_t size, uint64_t last)
{
	struct trial trial = { .fleet = fleet, .bucket = bucket };
	struct weir_err unused;
	bool tried;
	int status;

	trial.canary.for_ms = fleet->for_ms;
	trial.canary.config = config;
	trial.canary.size = size;
	snprintf(trial.key, sizeof(trial.key), "canary.%s", fleet_group(fleet));
	status = choose(&trial) ?: begin(&trial);
	if (!status) {
		signal(SIGINT, interrupt);
		signal(SIGTERM, interrupt);
		status = watch(&trial);
		tried = !status;
		if (tried)
			status = fleet_push_config(fleet, bucket, config, size, last, "canary");
		if (fleet_bucket_delete(bucket, trial.key, &unused))
			status = tried ? status : WEIR_EXIT_UNREACHABLE;
		else if (!tried)
			weir_err_set(&fleet->err, "taken back: %.480s", fleet->err.text);
	}
	trial.canary.config = NULL;	/* the caller's */
	fleet_canary_free(&trial.canary);
	free(trial.heard);
	return status;
}

static int check_words(struct fleet *fleet)
{
	struct weir_err *err = &fleet->err;

	if (!fleet->file)
		return weir_err_set(err, "required: FILE");
	if (!fleet_group(fleet))
		return -EINVAL;
	if (!fleet->canary && (fleet->for_ms || fleet->drops >= 0))
		return weir_err_set(err, "'for' and 'drops' require 'canary'");
	if (fleet->canary && !fleet->for_ms)
		return weir_err_set(err, "'canary' requires 'for TIME': write canary 1 for 60s");
	if (fleet->drops < 0)
		fleet->drops = DROPS;
	return 0;
}

/* That of the configurations, which is the last one, stays open. */
static int make_buckets(struct fleet *fleet, struct fleet_bus *bus, struct fleet_bucket *bucket)
{
	const char *group = fleet_group(fleet);
	int kind, ret = 0;

	for (kind = FLEET_KINDS; !ret && kind--; group = NULL) {
		fleet_bucket_close(bucket);
		ret = fleet_bucket_make(bucket, bus, kind, group, fleet->settings.keepers,
					&fleet->err);
	}
	return ret;
}

/* A mistyped name is a group, too. */
static void warn_of_no_host(struct fleet *fleet, struct fleet_bus *bus)
{
	struct weir_err unused;
	struct fleet_view view;

	if (fleet_view_read(&view, bus, fleet_group(fleet), &unused))
		return;
	if (!view.count)
		fleet_say("warning: no host is in group '%s'", fleet_group(fleet));
	fleet_view_free(&view);
}

static int push(struct fleet *fleet, char *config, size_t size)
{
	char key[FLEET_NAME_SIZE + 8];
	int status = WEIR_EXIT_UNREACHABLE, ret;
	struct fleet_bucket bucket = { 0 };
	struct fleet_bus bus;
	uint64_t last;

	if (fleet_bus_open(&bus, &fleet->settings, NULL, NULL, &fleet->err))
		return status;
	ret = make_buckets(fleet, &bus, &bucket);
	if (ret == -EREMOTEIO)
		status = WEIR_EXIT_REFUSED;
	if (!ret) {
		snprintf(key, sizeof(key), "config.%s", fleet_group(fleet));
		last = revision_of(&bucket, key);
		status = fleet->canary ? push_by_canary(fleet, &bucket, config, size, last) :
			 fleet_push_config(fleet, &bucket, config, size, last, NULL);
		if (!status)
			warn_of_no_host(fleet, &bus);
	}
	fleet_bucket_close(&bucket);
	fleet_bus_close(&bus);
	return status;
}

int fleet_push(struct fleet *fleet)
{
	int status = WEIR_EXIT_WORDS;
	char *config;
	size_t size;

	if (check_words(fleet))
		return status;
	config = fleet_kept_read(strcmp(fleet->file, "-") ? fleet->file : "/dev/stdin", &size);
	if (!config)
		weir_err_set(&fleet->err, "%.200s: " WEIR_CANNOT_READ, fleet->file,
			     strerror(errno));
	else if (!fleet_check(fleet->file, config, size, &fleet->err))
		status = push(fleet, config, size);
	free(config);
	return status;
}
