// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks of a group. The bucket has one key for a source under a limit, with the end; the table is
 * what this host knows of it. A release is a value, too, and stays until the block would have
 * ended, so that a host that is away then finds it. When an entry has ended, each host forgets it
 * by itself, and the one that told it removes the key.
 *
 * What happens on this host comes from weir monitor, and so does the echo of what the agent itself
 * does: an event is told to others only if it differs from the table, and is no echo that is due.
 */

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lang/value.h"
#include "block.h"
#include "blocks.h"
#include "canary.h"
#include "child.h"
#include "fleet.h"

#define SLOTS		16384
#define ECHO_MS		5000	/* in which an event may be the agent's own doing */
#define SLACK_MS	5000	/* ends that differ by less are the same, */
#define SLACK_PART	16	/* or by less than this part of what is left */
#define LEFT_MS		60000	/* since its end: whoever told it is gone */
#define RELEASE_MS	(30LL * 24 * 3600 * 1000)	/* a release of a block without an end */
#define SAID_MOST	10	/* messages of weir that are logged at once */

struct entry {
	struct entry *next;	/* of its slot */
	struct entry *wanted;	/* of those to apply; itself: the last, NULL: none of them */
	struct fleet_block block;
	uint64_t revision;	/* 0: the bucket has none */
	int64_t end_ms;		/* of the monotonic clock, or FLEET_EVER */
	int64_t echo_ms;	/* until then, this number of events is the agent's own doing: */
	unsigned int echoes[2];	/* blocks, releases */
	bool repeated;		/* by the bucket, in this session */
	bool untold;		/* it happened while there was no bucket, */
	int64_t untold_ms;	/* at this time of the monotonic clock */
};

struct fleet_blocks {
	char host[FLEET_HOST_SIZE];
	const char *shared;
	struct fleet_block_counts counts;
	struct fleet_room room;
	struct fleet_servers servers;
	struct entry *wanted;
	struct entry *slots[SLOTS];
};

struct fleet_blocks *fleet_blocks_new(const char *host, const char *shared)
{
	struct fleet_blocks *blocks = calloc(1, sizeof(*blocks));

	if (!blocks)
		return NULL;
	snprintf(blocks->host, sizeof(blocks->host), "%s", host);
	blocks->shared = shared;
	return blocks;
}

const struct fleet_block_counts *fleet_blocks_counts(const struct fleet_blocks *blocks)
{
	return &blocks->counts;
}

static struct entry **slot_of(struct fleet_blocks *blocks, const struct fleet_block *block)
{
	const char *text;
	uint32_t hash = 2166136261u;

	for (text = block->limit; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	for (text = block->source; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return &blocks->slots[hash % SLOTS];
}

static struct entry *find(struct fleet_blocks *blocks, const struct fleet_block *block)
{
	struct entry *entry = *slot_of(blocks, block);

	while (entry && (strcmp(entry->block.source, block->source) ||
			 strcmp(entry->block.limit, block->limit)))
		entry = entry->next;
	return entry;
}

/* Find it, or add it without an end; NULL: there is no room. */
static struct entry *provide(struct fleet_blocks *blocks, const struct fleet_block *block)
{
	struct entry *entry = find(blocks, block), **slot = slot_of(blocks, block);

	if (entry)
		return entry;
	/* others are counted */
	entry = blocks->counts.now < FLEET_BLOCKS_MOST ? calloc(1, sizeof(*entry)) : NULL;
	if (!entry) {
		blocks->counts.left_out++;
		return NULL;
	}
	entry->block = *block;
	entry->next = *slot;
	*slot = entry;
	blocks->counts.now++;
	return entry;
}

static void want(struct fleet_blocks *blocks, struct entry *entry)
{
	if (entry->wanted)
		return;
	entry->wanted = blocks->wanted ? blocks->wanted : entry;
	blocks->wanted = entry;
}

static int64_t end_of(const struct fleet_block *block, int64_t age_ms)
{
	return block->for_ms == FLEET_EVER ? FLEET_EVER :
	       fleet_now_ms() + block->for_ms - age_ms;
}

static int64_t left_of(const struct entry *entry)
{
	int64_t left = entry->end_ms - fleet_now_ms();

	return entry->end_ms == FLEET_EVER ? FLEET_EVER : left > 0 ? left : 0;
}

static bool is_shared(const struct fleet_blocks *blocks, const char *limit)
{
	const char *at = blocks->shared;
	size_t length = strlen(limit);

	if (!strcmp(at, "all"))
		return true;
	for (; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, limit, length) && (!at[length] || at[length] == ','))
			return true;
	}
	return false;
}

/* Are they the same end, as far as that can be told? */
static bool is_same_end(const struct entry *entry, int64_t end_ms)
{
	int64_t slack = SLACK_MS, left = left_of(entry);

	if (entry->end_ms == FLEET_EVER || end_ms == FLEET_EVER)
		return entry->end_ms == end_ms;
	if (left / SLACK_PART > slack)
		slack = left / SLACK_PART;
	return llabs(entry->end_ms - end_ms) <= slack;
}

void fleet_blocks_begin(struct fleet_blocks *blocks, const struct fleet_servers *servers)
{
	struct entry *entry;
	unsigned int i;

	blocks->servers = *servers;
	for (i = 0; i < SLOTS; i++)
		for (entry = blocks->slots[i]; entry; entry = entry->next)
			entry->repeated = false;
}

void fleet_blocks_change(struct fleet_blocks *blocks, const struct fleet_change *change,
			 int64_t age_ms)
{
	struct fleet_block block;
	struct entry *entry;

	if (change->deleted)
		return;
	if (fleet_block_decode(&block, change->key, change->value, change->size)) {
		blocks->counts.malformed++;
		return;
	}
	if (!is_shared(blocks, block.limit))
		return;
	entry = provide(blocks, &block);
	if (!entry)
		return;
	entry->repeated = true;
	if (change->revision == entry->revision)
		return;
	if (entry->untold && fleet_now_ms() - age_ms < entry->untold_ms) {
		entry->revision = change->revision;	/* the older one, to be replaced */
		return;
	}
	entry->block = block;
	entry->revision = change->revision;
	entry->end_ms = end_of(&block, age_ms);
	entry->untold = false;
	want(blocks, entry);
}

static bool keep_room(struct fleet_blocks *blocks)
{
	return fleet_room(&blocks->room, blocks->counts.left_out, "all blocks of the group", "");
}

/* Tell the group. If somebody else was faster, that comes as a change. */
static int tell(struct fleet_blocks *blocks, struct fleet_bucket *bucket, struct entry *entry,
		struct weir_err *err)
{
	char key[FLEET_KEY_SIZE], value[FLEET_BLOCK_SIZE];
	size_t size;
	int ret;

	entry->untold = true;
	if (!bucket)
		return 0;
	entry->block.for_ms = left_of(entry);
	strcpy(entry->block.by, blocks->host);
	if (fleet_block_key(&entry->block, key))
		return 0;
	size = fleet_block_encode(&entry->block, value);
	ret = fleet_bucket_put(bucket, key, value, size, entry->revision, NULL, &entry->revision,
			       err);
	if (!ret) {
		entry->repeated = true;
		blocks->counts.told++;
	}
	if (ret == -EREMOTEIO) {
		blocks->counts.left_out++;
		if (keep_room(blocks))
			fleet_say("the group is not told of a block: %s", err->text);
	}
	if (ret == -EIO)
		return ret;
	*err->text = '\0';	/* the session goes on */
	entry->untold = false;
	return 0;
}

/* Is it the agent's own doing? */
static bool is_echo(struct entry *entry, bool released)
{
	if (fleet_now_ms() > entry->echo_ms)
		memset(entry->echoes, 0, sizeof(entry->echoes));
	if (!entry->echoes[released])
		return false;
	entry->echoes[released]--;
	return true;
}

/* A source was blocked on this host, or released. */
static int take_local(struct fleet_blocks *blocks, struct fleet_bucket *bucket,
		      const struct fleet_block *block, struct weir_err *err)
{
	struct entry *entry = block->released ? find(blocks, block) : provide(blocks, block);
	int64_t end = end_of(block, 0);

	if (!entry || is_echo(entry, block->released))
		return 0;
	if (block->released) {
		if (entry->block.released)
			return 0;
		if (entry->end_ms == FLEET_EVER)
			entry->end_ms = fleet_now_ms() + RELEASE_MS;
	} else {
		if (entry->end_ms && !entry->block.released && is_same_end(entry, end))
			return 0;
		entry->end_ms = end;
	}
	entry->block.released = block->released;
	entry->untold_ms = fleet_now_ms();
	return tell(blocks, bucket, entry, err);
}

/* A source of the tool's JSON; false: its block is not for others. */
static bool read_source(const struct fleet_blocks *blocks, struct fleet_block *block,
			const json_t *json)
{
	const char *limit = json_string_value(json_object_get(json, "limit"));
	const char *source = json_string_value(json_object_get(json, "source"));
	const json_t *for_ms = json_object_get(json, "blocked_ms");

	memset(block, 0, sizeof(*block));
	if (!limit || !source || json_object_get(json, "dev") || !is_shared(blocks, limit) ||
	    strlen(limit) >= sizeof(block->limit) || strlen(source) >= sizeof(block->source))
		return false;
	strcpy(block->limit, limit);
	strcpy(block->source, source);
	block->for_ms = for_ms ? (int64_t)json_number_value(for_ms) : FLEET_EVER;
	return true;
}

int fleet_blocks_event(struct fleet_blocks *blocks, struct fleet_bucket *bucket,
		       const char *line, struct weir_err *err)
{
	struct fleet_block block;
	const char *event;
	bool blocked;
	json_t *json;
	int ret = 0;

	/* In a flood most events are of other kinds. */
	if (strstr(line, "\"event\":\"lost\""))
		return fleet_blocks_compare(blocks, bucket, err);
	if (!strstr(line, "\"blocked\":true") && !strstr(line, "\"event\":\"release\""))
		return 0;
	json = json_loads(line, 0, NULL);
	event = json_string_value(json_object_get(json, "event"));
	blocked = json_is_true(json_object_get(json, "blocked"));
	if (event && read_source(blocks, &block, json)) {
		block.released = !strcmp(event, "release");
		if (block.released || blocked)
			ret = take_local(blocks, bucket, &block, err);
	}
	json_decref(json);
	return ret;
}

/* A block that this host has: it is new, or known, or its release is about to be applied. */
static int compare(struct fleet_blocks *blocks, struct fleet_bucket *bucket,
		   const struct fleet_block *block, struct weir_err *err)
{
	struct entry *entry = find(blocks, block);

	if (!entry || (entry->block.released && block->for_ms != FLEET_EVER &&
		       !is_same_end(entry, end_of(block, 0))))
		return take_local(blocks, bucket, block, err);
	return 0;
}

int fleet_blocks_compare(struct fleet_blocks *blocks, struct fleet_bucket *bucket,
			 struct weir_err *err)
{
	const char *const words[] = { "-json", "source", "show", "blocked", NULL };
	json_t *sources = fleet_weir_json(words), *source;
	struct fleet_block block;
	int ret = 0;
	size_t i;

	json_array_foreach(sources, i, source)
		if (!ret && read_source(blocks, &block, source))
			ret = compare(blocks, bucket, &block, err);
	json_decref(sources);
	return ret;
}

int fleet_blocks_joined(struct fleet_blocks *blocks, struct fleet_bucket *bucket,
			struct weir_err *err)
{
	struct entry *entry;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < SLOTS; i++)
		for (entry = blocks->slots[i]; entry && !ret; entry = entry->next) {
			if ((entry->repeated && !entry->untold) || !left_of(entry))
				continue;
			if (!entry->repeated)
				entry->revision = 0;
			ret = tell(blocks, bucket, entry, err);
		}
	return ret ? ret : fleet_blocks_compare(blocks, bucket, err);
}

/* A line of a batch; none if it would end at once. */
static void put_line(FILE *to, struct entry *entry)
{
	const struct fleet_block *block = &entry->block;
	int64_t left = left_of(entry);

	if (block->released)
		fprintf(to, "source release %s limit %s\n", block->source, block->limit);
	else if (left == FLEET_EVER)
		fprintf(to, "source block %s limit %s for ever\n", block->source, block->limit);
	else if (left >= 1000)
		fprintf(to, "source block %s limit %s for %" PRIi64 "ms\n", block->source,
			block->limit, left);
	else
		return;
	if (fleet_now_ms() > entry->echo_ms)
		memset(entry->echoes, 0, sizeof(entry->echoes));
	entry->echoes[block->released]++;
	entry->echo_ms = fleet_now_ms() + ECHO_MS;
}

static const json_t *find_limit(const json_t *limits, const char *name)
{
	const json_t *limit;
	size_t i;

	for (i = 0; i < json_array_size(limits); i++) {
		limit = json_array_get(limits, i);
		if (!strcmp(json_string_value(json_object_get(limit, "limit")) ?: "", name))
			return limit;
	}
	return NULL;
}

/* Is it none of the sources that the limit has by now, but a part of one, or several? */
static bool is_foreign(const json_t *limits, const struct fleet_block *block)
{
	const json_t *limit = find_limit(limits, block->limit);
	struct weir_prefix prefix;

	return limit && fleet_prefix_read(&prefix, block->source) &&
	       prefix.len != json_integer_value(json_object_get(limit, prefix.family == AF_INET ?
								"prefix4" : "prefix6"));
}

/* Would it end the connection to a server, or all others? */
static bool cuts_off(const struct fleet_blocks *blocks, const struct fleet_block *block)
{
	struct weir_prefix prefix;
	unsigned int i;

	if (block->released)
		return false;
	if (!fleet_prefix_read(&prefix, block->source) || !prefix.len)
		return true;	/* all */
	for (i = 0; i < blocks->servers.count; i++)
		if (weir_prefix_holds(&prefix, &blocks->servers.address[i]))
			return true;
	return false;
}

/* Log what weir says of the lines, and count it. */
static void take_messages(struct fleet_blocks *blocks, char *messages)
{
	unsigned int said = 0;
	char *line;

	while (messages && (line = strsep(&messages, "\n"))) {
		if (strncmp(line, "weir: ", 6))
			continue;	/* the line that it is about */
		if (strstr(line, "is exempt"))
			blocks->counts.exempt++;
		else if (!strstr(line, "warning: ") && !strstr(line, "note: "))
			blocks->counts.refused++;
		if (said++ < SAID_MOST)
			fleet_say("a block of another host: %s", line + 6);
	}
}

/* Why a block is not applied, or NULL: it is. */
static const char *fault_of(struct fleet_blocks *blocks, const json_t *limits,
			    const struct fleet_block *block)
{
	if (cuts_off(blocks, block)) {
		blocks->counts.exempt++;
		return "it holds a server of NATS";
	}
	if (!is_foreign(limits, block))
		return NULL;
	blocks->counts.refused++;
	return "the limit has other sources, by 'per'";
}

void fleet_blocks_apply(struct fleet_blocks *blocks)
{
	const char *const words[] = { "-json", "limit", "show", NULL }, *fault;
	struct entry *entry = blocks->wanted, *next;
	char *lines = NULL, *messages = NULL;
	unsigned int said = 0;
	json_t *limits;
	size_t size;
	FILE *to = entry ? open_memstream(&lines, &size) : NULL;

	if (!to)
		return;
	limits = fleet_weir_json(words);
	for (; entry; entry = next) {
		next = entry->wanted == entry ? NULL : entry->wanted;
		entry->wanted = NULL;
		fault = fault_of(blocks, limits, &entry->block);
		if (!fault) {
			put_line(to, entry);
			blocks->counts.applied++;
		} else if (said++ < SAID_MOST) {
			fleet_say("a block of %s under limit %s is not applied: %s",
				  entry->block.source, entry->block.limit, fault);
		}
	}
	json_decref(limits);
	blocks->wanted = NULL;
	fclose(to);
	if (size)
		messages = fleet_batch(lines, size);
	take_messages(blocks, messages);
	free(messages);
	free(lines);
}

/* Say which limits that are to be shared this host does not have. */
static void say_missing(const struct fleet_blocks *blocks)
{
	const char *const words[] = { "-json", "limit", "show", NULL };
	json_t *limits = fleet_weir_json(words);
	char *names = strdup(blocks->shared), *rest = names, *name;

	while (limits && names && strcmp(blocks->shared, "all") && (name = strsep(&rest, ",")))
		if (!find_limit(limits, name))
			fleet_say("share: there is no limit '%s' on this host", name);
	free(names);
	json_decref(limits);
}

void fleet_blocks_again(struct fleet_blocks *blocks)
{
	struct entry *entry;
	unsigned int i;

	say_missing(blocks);
	for (i = 0; i < SLOTS; i++)
		for (entry = blocks->slots[i]; entry; entry = entry->next)
			if (!entry->block.released)
				want(blocks, entry);
}

/* The host that told it removes it from the bucket, or one that finds it there much later. */
static void end(struct fleet_blocks *blocks, struct fleet_bucket *bucket, struct entry *entry)
{
	bool own = !strcmp(entry->block.by, blocks->host);

	if (bucket && entry->revision && (own || fleet_now_ms() - entry->end_ms > LEFT_MS))
		fleet_bucket_forget(bucket, entry->revision);
	blocks->counts.now--;
	free(entry);
}

void fleet_blocks_end(struct fleet_blocks *blocks, struct fleet_bucket *bucket)
{
	struct entry **at, *entry;
	unsigned int i;

	keep_room(blocks);
	for (i = 0; i < SLOTS; i++)
		for (at = &blocks->slots[i]; (entry = *at);) {
			if (left_of(entry) || entry->wanted) {
				at = &entry->next;
				continue;
			}
			*at = entry->next;
			end(blocks, bucket, entry);
		}
}

void fleet_blocks_free(struct fleet_blocks *blocks)
{
	struct entry *entry, *next;
	unsigned int i;

	for (i = 0; blocks && i < SLOTS; i++)
		for (entry = blocks->slots[i]; entry; entry = next) {
			next = entry->next;
			free(entry);
		}
	free(blocks);
}
