// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir-fleet agent: apply what the group's keys say, and tell what became of it.
 *
 * A session begins with a connection and ends when that is lost, or an answer does not come in
 * time; then another one begins. It has no state of its own: the server repeats the newest values
 * at its start. What the host has applied outlives it, and the agent (kept.h).
 *
 * Clocks of hosts differ: what is left of a time that began when the server received something is
 * known from the host's own status, which the server sends back with its time.
 *
 * config.GROUP is applied if it differs from what was accepted last. canary.GROUP is another
 * configuration, for some hosts and a time: a host that takes it keeps what was in force before,
 * and returns to that when the key is deleted, or the time is over and nobody has decided.
 */

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blocks.h"
#include "bucket.h"
#include "canary.h"
#include "child.h"
#include "feed.h"
#include "fleet.h"
#include "host.h"
#include "kept.h"
#include "monitor.h"
#include "others.h"
#include "shares.h"

#define TICK_MS		1000
#define COUNTS_MS	5000	/* after the last status, if only counts have changed */
#define RETRY_MS	1000	/* and as much again at random, so that not all come at once */

/* Watches of the feed, in the order in which they begin. */
enum { CONFIGS, STATUSES, BLOCKS };

struct session {
	struct fleet_bus bus;
	struct fleet_bucket configs, statuses, blocks;
	struct fleet_feed feed;
	bool joined;		/* the blocks of the group are known */
	int64_t told_ms;	/* when the last status was written, by this host's clock, */
	uint64_t told;		/* and its revision */
	int64_t skew_ms;	/* the server's clock less this host's; */
	bool timed;		/* it is known */
	struct fleet_others others;
};

struct agent {
	struct fleet *fleet;
	struct fleet_kept kept;
	char *config;			/* accepted last; or NULL */
	size_t size;
	struct fleet_host host;
	struct fleet_share_counts told;	/* by the last status that was written */
	struct fleet_canary canary;	/* that this host has applied; or its revision is 0 */
	int64_t canary_end_ms;		/* of the monotonic clock */
	uint64_t canary_over;		/* revision of the last one that has ended */
	json_t *exempts;		/* of before the canary */
	struct fleet_blocks *blocks;	/* or NULL: this host shares none */
	struct fleet_shares *shares;
	struct fleet_monitor monitor;
	int64_t monitor_ms;		/* when to try to start it */
	int signals;			/* a file that is readable when the agent is to end */
	bool ends;
	bool doubled;		/* another agent has this host's name */
	char said[sizeof(((struct weir_err *)0)->text)];	/* why there is no session */
};

/* Log a reason once, not at each attempt. */
static void say_once(struct agent *agent, const char *text)
{
	if (!strcmp(agent->said, text))
		return;
	snprintf(agent->said, sizeof(agent->said), "%s", text);
	fleet_say("%s; this host goes on with what it has", text);
}

static void set_verdict(struct fleet_verdict *verdict, uint64_t revision, const char *error)
{
	verdict->revision = revision;
	verdict->accepted = !error;
	snprintf(verdict->error, sizeof(verdict->error), "%s", error ? error : "");
}

/* @error: NULL, or why not. */
static void say_applied(const char *kind, uint64_t revision, const char *error)
{
	fleet_say("%s %" PRIu64 " is %s%s", kind, revision, error ? "not applied: " : "in force",
		  error ? error : "");
}

/* Return to what was in force before a canary; if that fails, the next start tries again. */
static void return_before(struct agent *agent)
{
	struct weir_err err;
	size_t size;
	char *before = fleet_kept_read(agent->kept.before, &size);

	if (!before)
		return;
	if (fleet_apply(before, size, &err)) {
		fleet_say("cannot return to what was in force before the canary: %s", err.text);
	} else {
		unlink(agent->kept.before);
		fleet_say("returned to what was in force before the canary");
	}
	free(before);
}

static void end_canary(struct agent *agent, bool back)
{
	if (!agent->canary.revision)
		return;
	agent->canary_over = agent->canary.revision;
	fleet_canary_free(&agent->canary);
	json_decref(agent->exempts);
	agent->exempts = NULL;
	memset(&agent->host.canary, 0, sizeof(agent->host.canary));
	agent->host.exempt_limited = 0;
	if (back)
		return_before(agent);
	else
		unlink(agent->kept.before);
}

static bool is_same(const char *text, size_t size, const struct fleet_change *change)
{
	return text && size == change->size && !memcmp(text, change->value, size);
}

/* The configuration is in force: keep it. */
static void accept_config(struct agent *agent, struct fleet_change *change)
{
	struct weir_err err;

	set_verdict(&agent->host.config, change->revision, NULL);
	if (is_same(agent->config, agent->size, change))
		return;
	free(agent->config);
	agent->config = change->value;
	agent->size = change->size;
	change->value = NULL;
	say_applied("revision", change->revision, NULL);
	if (agent->blocks)
		fleet_blocks_again(agent->blocks);	/* for limits that were not there */
	if (fleet_kept_write(agent->kept.config, agent->config, agent->size, &err))
		fleet_say("%s", err.text);
}

static void take_config(struct agent *agent, struct fleet_change *change)
{
	struct weir_err err;
	bool tried = is_same(agent->canary.config, agent->canary.size, change) &&
		     agent->host.canary.accepted;

	if (change->deleted || (change->revision == agent->host.config.revision &&
				is_same(agent->config, agent->size, change)))
		return;
	end_canary(agent, !tried);
	if (tried || is_same(agent->config, agent->size, change) ||
	    !fleet_apply(change->value, change->size, &err)) {
		accept_config(agent, change);
		return;
	}
	set_verdict(&agent->host.config, change->revision, err.text);
	say_applied("revision", change->revision, err.text);
}

/* Keep what is in force, so that an agent that is killed finds it; then apply the canary. */
static int try_canary(struct agent *agent, struct weir_err *err)
{
	const char *const words[] = { "save", NULL };
	char *before;
	int ret = fleet_weir(words, NULL, 0, &before, err);

	if (ret)
		return ret;
	ret = fleet_kept_write(agent->kept.before, before, strlen(before), err);
	free(before);
	if (ret)
		return ret;
	agent->exempts = fleet_exempts();
	ret = fleet_apply(agent->canary.config, agent->canary.size, err);
	if (ret)
		unlink(agent->kept.before);
	return ret;
}

static void take_canary(struct agent *agent, const struct fleet_change *change, int64_t age)
{
	struct fleet_canary *canary = &agent->canary;
	struct weir_err err;
	const char *error;
	int64_t left;

	if (change->revision == canary->revision || change->revision == agent->canary_over)
		return;
	end_canary(agent, true);
	if (change->deleted || fleet_canary_decode(canary, change->value, change->size))
		return;
	left = canary->for_ms + FLEET_CANARY_GRACE_MS - age;
	if (left <= 0 || !fleet_canary_names(canary, agent->host.host)) {
		fleet_canary_free(canary);
		return;
	}
	canary->revision = change->revision;
	agent->canary_end_ms = fleet_now_ms() + left;
	error = try_canary(agent, &err) ? err.text : NULL;
	set_verdict(&agent->host.canary, change->revision, error);
	say_applied("canary revision", change->revision, error);
}

/* What was accepted before the host, or the agent, started again. */
static void restore(struct agent *agent)
{
	struct weir_err err;

	free(agent->config);
	agent->config = fleet_kept_read(agent->kept.config, &agent->size);
	if (!access(agent->kept.before, F_OK)) {
		return_before(agent);
	} else if (agent->config && fleet_apply(agent->config, agent->size, &err)) {
		fleet_say("what was in force cannot be applied: %s", err.text);
		free(agent->config);
		agent->config = NULL;
	}
}

/* Write the status. */
static int tell(struct agent *agent, struct session *session, struct weir_err *err)
{
	struct fleet_share_counts *shares = &agent->host.shares;
	const struct fleet_share_counts *before = &agent->told;
	size_t size;
	char *value;
	int ret;

	fleet_host_measure(&agent->host);
	if (agent->host.canary.accepted)
		agent->host.exempt_limited = fleet_exempt_limited(agent->exempts);
	if (agent->blocks)
		agent->host.blocks = *fleet_blocks_counts(agent->blocks);
	if (fleet_shares_refresh(agent->shares, err))
		return -EIO;
	fleet_shares_count(agent->shares, shares, true);
	shares->recent_left_out = shares->left_out - before->left_out;
	shares->recent_capped = shares->capped - before->capped;
	shares->recent_lost = shares->lost - before->lost;
	value = fleet_host_encode(&agent->host, &size);
	if (!value) {
		weir_err_set(err, WEIR_NO_MEMORY);
		return -EIO;
	}
	session->told_ms = fleet_wall_ms();
	ret = fleet_bucket_put(&session->statuses, agent->host.host, value, size, FLEET_ANY, NULL,
			       &session->told, err);
	if (!ret)
		agent->told = *shares;
	free(value);
	return ret;
}

/*
 * Statuses tell which hosts there are. The own one has come back: learn the server's time, and at
 * first join the group's blocks.
 */
static int take_status(struct agent *agent, struct session *session,
		       const struct fleet_change *change, struct weir_err *err)
{
	struct fleet_servers servers;

	fleet_others_take(&session->others, &agent->host, change);
	if (strcmp(change->key, agent->host.host) || !session->told ||
	    change->revision < session->told)
		return 0;
	if (change->revision > session->told) {
		if (!agent->doubled)
			fleet_say("another agent has the name %s, too: each needs one of its own, see -host",
				  agent->host.host);
		agent->doubled = true;
		return 0;
	}
	session->skew_ms = change->created_ns / 1000000 - session->told_ms;
	session->timed = true;
	if (!agent->blocks || session->blocks.store)
		return 0;
	if (fleet_bucket_open(&session->blocks, &session->bus, FLEET_BLOCKS, agent->host.group,
			      err))
		return -EIO;
	fleet_bus_servers(&session->bus, &servers);
	fleet_blocks_begin(agent->blocks, &servers);
	return fleet_feed_watch(&session->feed, &session->blocks, ">", err);
}

static int64_t age_ms(const struct session *session, const struct fleet_change *change)
{
	int64_t age = fleet_wall_ms() + session->skew_ms - change->created_ns / 1000000;

	return age > 0 ? age : 0;
}

static int take_block(struct agent *agent, struct session *session,
		      const struct fleet_change *change, struct weir_err *err)
{
	if (!change->complete) {
		fleet_blocks_change(agent->blocks, change, age_ms(session, change));
		return 0;
	}
	session->joined = true;
	return fleet_blocks_joined(agent->blocks, &session->blocks, err);
}

/* 0, or -EIO with a sentence: the session is over. */
static int take(struct agent *agent, struct session *session, struct fleet_change *change,
		struct weir_err *err)
{
	if (change->watch == BLOCKS)
		return take_block(agent, session, change, err);
	if (change->watch == STATUSES)
		return take_status(agent, session, change, err);
	if (!strncmp(change->key, "config.", 7))
		take_config(agent, change);
	else if (!strncmp(change->key, "canary.", 7))
		take_canary(agent, change, age_ms(session, change));
	return 0;
}

/* Take what the feed has; true: it was something else than blocks and the own status. */
static bool take_all(struct agent *agent, struct session *session, struct weir_err *err)
{
	struct fleet_change *change;
	bool news = false;
	int ret = 0;

	while (!ret && (change = fleet_feed_take(&session->feed))) {
		ret = take(agent, session, change, err);
		news |= change->watch == CONFIGS && !change->complete;
		fleet_change_free(change);
	}
	if (ret)
		fleet_feed_lose(&session->feed);
	return news;
}

/*
 * Start the monitor if it does not run. It ends with the module: what was in force is gone then,
 * and is applied to the next one.
 */
static void keep_monitor(struct agent *agent)
{
	bool again = agent->monitor_ms;

	if (agent->monitor.pid || fleet_now_ms() < agent->monitor_ms)
		return;
	agent->monitor_ms = fleet_now_ms() + RETRY_MS;
	if (access("/sys/module/weir", F_OK) ||
	    fleet_monitor_start(&agent->monitor, agent->blocks ? "sources" : "module") || !again)
		return;
	end_canary(agent, true);
	restore(agent);
	if (agent->blocks)
		fleet_blocks_again(agent->blocks);
}

/* What happened on this host. */
static int take_events(struct agent *agent, struct session *session, struct weir_err *err)
{
	char *line;
	size_t at = 0;
	int ret = 0;

	if (!agent->monitor.pid)
		return 0;
	fleet_monitor_read(&agent->monitor);
	while (!ret && agent->blocks && (line = fleet_monitor_line(&agent->monitor, &at)))
		ret = fleet_blocks_event(agent->blocks, session && session->joined ?
					 &session->blocks : NULL, line, err);
	fleet_monitor_drop(&agent->monitor, at);
	return ret;
}

/* Wait for changes, events or the end until @until. */
static void await(struct agent *agent, struct fleet_feed *feed, int64_t until)
{
	struct pollfd files[] = { { .fd = agent->signals, .events = POLLIN },
				  { .fd = feed ? feed->fd : -1, .events = POLLIN },
				  { .fd = agent->monitor.fd, .events = POLLIN } };
	int64_t left = until - fleet_now_ms();

	poll(files, 3, left > 0 ? left : 0);
	agent->ends |= files[0].revents;
}

/* Blocks: what was told, what has ended; once a second, and when something came. */
static void keep_blocks(struct agent *agent, struct session *session)
{
	if (!agent->blocks)
		return;
	fleet_blocks_apply(agent->blocks);
	fleet_blocks_end(agent->blocks, session && session->joined ? &session->blocks : NULL);
}

/* Nobody has decided: true if it has ended. */
static bool keep_canary(struct agent *agent)
{
	if (!agent->canary.revision || fleet_now_ms() < agent->canary_end_ms)
		return false;
	end_canary(agent, true);
	return true;
}

/* Of blocks and of shared limits. */
static bool are_counts_told(const struct agent *agent)
{
	struct fleet_share_counts shares;

	fleet_shares_count(agent->shares, &shares, false);
	return !memcmp(&shares, &agent->host.shares,
		       offsetof(struct fleet_share_counts, late_ms)) &&
	       (!agent->blocks || !memcmp(fleet_blocks_counts(agent->blocks), &agent->host.blocks,
					  sizeof(agent->host.blocks)));
}

/* When to write the next status if nothing happens, from when the last was written. */
static int64_t next_beat(const struct agent *agent, int64_t last)
{
	return last + (agent->canary.revision ? TICK_MS :
		       are_counts_told(agent) ? FLEET_BEAT_S * 1000 : COUNTS_MS);
}

/* Follow the changes until the connection is lost; a sentence says why, or it is empty. */
static void follow(struct agent *agent, struct session *session, struct weir_err *err)
{
	int64_t told = -FLEET_BEAT_S * 1000, tick, beat;	/* the first status is due */
	bool news;

	while (!agent->ends && !fleet_feed_lost(&session->feed)) {
		tick = fleet_now_ms() + TICK_MS;
		beat = next_beat(agent, told);
		await(agent, &session->feed, beat < tick ? beat : tick);
		news = take_all(agent, session, err);
		if (session->timed)
			fleet_shares_expect(agent->shares,
					    fleet_others_count(&session->others, fleet_wall_ms() +
							       session->skew_ms));
		if (take_events(agent, session, err))
			return;
		keep_blocks(agent, session);
		keep_monitor(agent);
		news |= keep_canary(agent);
		if (!news && fleet_now_ms() < next_beat(agent, told))
			continue;
		if (tell(agent, session, err))
			return;
		if (*agent->said)
			fleet_say("connected");
		*agent->said = '\0';
		told = fleet_now_ms();
	}
	if (!agent->ends && !*err->text)
		fleet_bus_why(&session->bus, err);
}

static int watch_keys(struct agent *agent, struct session *session, struct weir_err *err)
{
	struct fleet_bus *bus = &session->bus;
	char keys[FLEET_HOST_SIZE + 8];

	snprintf(keys, sizeof(keys), "*.%s", agent->host.group);
	return fleet_bucket_open(&session->configs, bus, FLEET_CONFIGS, NULL, err) ||
	       fleet_feed_watch(&session->feed, &session->configs, keys, err) ||
	       fleet_bucket_open(&session->statuses, bus, FLEET_STATUSES, NULL, err) ||
	       fleet_feed_watch(&session->feed, &session->statuses, ">", err) ? -EIO : 0;
}

/* One session. */
static void run_session(struct agent *agent)
{
	static struct session session;
	struct weir_err err = { 0 };

	session = (struct session){ 0 };
	if (fleet_feed_open(&session.feed, &err)) {
		say_once(agent, err.text);
		return;
	}
	if (!fleet_bus_open(&session.bus, &agent->fleet->settings, fleet_feed_lose, &session.feed,
			    &err)) {
		fleet_shares_join(agent->shares, &session.bus);
		if (!watch_keys(agent, &session, &err))
			follow(agent, &session, &err);
		fleet_shares_join(agent->shares, NULL);
		fleet_bus_close(&session.bus);
	}
	fleet_feed_close(&session.feed);
	fleet_bucket_close(&session.blocks);
	fleet_bucket_close(&session.statuses);
	fleet_bucket_close(&session.configs);
	if (*err.text)
		say_once(agent, err.text);
}

/* Without a session: wait for the next attempt, and go on with the host's own. */
static void rest(struct agent *agent)
{
	int64_t until = fleet_now_ms() + RETRY_MS + random() % RETRY_MS;
	struct weir_err unused;

	while (!agent->ends && fleet_now_ms() < until) {
		await(agent, NULL, until);
		take_events(agent, NULL, &unused);
		keep_blocks(agent, NULL);
		keep_monitor(agent);
		keep_canary(agent);
	}
}

static int catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);	/* the library's threads inherit it */
	return signalfd(-1, &set, SFD_CLOEXEC);
}

int fleet_agent(struct fleet *fleet)
{
	struct agent agent = { .fleet = fleet, .monitor.fd = -1 };
	const char *group = fleet_group(fleet);

	if (!group)
		return WEIR_EXIT_WORDS;
	if (!fleet_is_host(fleet->settings.host)) {
		weir_err_set(&fleet->err, "'%.80s' cannot name a host: letters, digits, '-' and '_', and dots between them; say -host",
			     fleet->settings.host);
		return WEIR_EXIT_WORDS;
	}
	mkdir(fleet->settings.state, 0700);
	if (fleet_kept_name(&agent.kept, fleet->settings.state, group) ||
	    access(fleet->settings.state, W_OK)) {
		weir_err_set(&fleet->err, "state %.200s: %s", fleet->settings.state,
			     strerror(errno));
		return WEIR_EXIT_WORDS;
	}
	strcpy(agent.host.host, fleet->settings.host);
	strcpy(agent.host.group, group);
	if (fleet->settings.share)
		agent.blocks = fleet_blocks_new(agent.host.host, fleet->settings.share);
	agent.signals = catch_signals();
	agent.shares = fleet_shares_new(agent.host.host, group);
	if (!agent.shares) {
		weir_err_set(&fleet->err, WEIR_NO_MEMORY);
		return WEIR_EXIT_OUTPUT;
	}
	restore(&agent);
	srandom(getpid());
	while (!agent.ends) {
		run_session(&agent);
		rest(&agent);
	}
	fleet_monitor_stop(&agent.monitor);
	fleet_blocks_free(agent.blocks);
	fleet_shares_free(agent.shares);
	free(agent.config);
	return WEIR_EXIT_OK;
}
