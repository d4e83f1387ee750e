// SPDX-License-Identifier: GPL-2.0-or-later
/* What a host says of itself. */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "lang/value.h"
#include "child.h"
#include "host.h"
#include "prefix.h"

static uint64_t number_of(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 ? value : 0;
}

static uint64_t packets_of(const json_t *stats, const char *key)
{
	return number_of(json_object_get(stats, key), "packets");
}

static void measure_limits(struct fleet_counts *counts)
{
	const char *const words[] = { "-json", "-stats", "limit", "show", NULL };
	json_t *limits = fleet_weir_json(words), *limit, *stats;
	uint64_t wanted, newcomers;
	size_t i;

	memset(counts, 0, sizeof(*counts));
	json_array_foreach(limits, i, limit) {
		stats = json_object_get(limit, "stats");
		counts->limits++;
		counts->matched += packets_of(stats, "matched");
		newcomers = packets_of(stats, "newcomers_refused");
		counts->dropped_known += MAX(packets_of(stats, "dropped"), newcomers) - newcomers;
		counts->evictions += number_of(stats, "evictions");
		wanted = number_of(stats, "sources_wanted");
		if (wanted > counts->sources_wanted)
			counts->sources_wanted = wanted;
	}
	json_decref(limits);
}

static void read_version(char to[FLEET_VERSION_SIZE])
{
	FILE *file = fopen("/sys/module/weir/version", "re");

	*to = '\0';
	if (!file)
		return;
	if (fgets(to, FLEET_VERSION_SIZE, file))
		to[strcspn(to, "\n")] = '\0';
	fclose(file);
}

static void tool_version(char to[FLEET_VERSION_SIZE])
{
	const char *const words[] = { "-json", "-version", NULL };
	json_t *json = fleet_weir_json(words);
	const char *text = json_string_value(json_object_get(json_array_get(json, 0), "version"));

	snprintf(to, FLEET_VERSION_SIZE, "%s", text ? text : "");
	json_decref(json);
}

void fleet_host_measure(struct fleet_host *host)
{
	read_version(host->module);
	tool_version(host->tool);
	memset(&host->counts, 0, sizeof(host->counts));
	if (*host->module)
		measure_limits(&host->counts);
}

json_t *fleet_exempts(void)
{
	const char *const words[] = { "-json", "exempt", "show", NULL };

	return fleet_weir_json(words);
}

static bool is_exempt(const json_t *exempts, const char *source)
{
	struct weir_prefix inner, outer;
	const char *text;
	json_t *exempt;
	size_t i;

	if (!source || !fleet_prefix_read(&inner, source))
		return false;
	json_array_foreach(exempts, i, exempt) {
		text = json_string_value(json_object_get(exempt, "prefix"));
		if (text && fleet_prefix_read(&outer, text) && weir_prefix_holds(&outer, &inner))
			return true;
	}
	return false;
}

uint64_t fleet_exempt_limited(const json_t *exempts)
{
	const char *const words[] = { "-json", "source", "show", "limited", "top", "1000", "by", "dropped",
				      NULL };
	json_t *sources, *source;
	uint64_t count = 0;
	size_t i;

	if (!json_array_size(exempts))
		return 0;
	sources = fleet_weir_json(words);
	json_array_foreach(sources, i, source)
		count += is_exempt(exempts, json_string_value(json_object_get(source, "source")));
	json_decref(sources);
	return count;
}

static void show_verdict(struct weir_out *out, const struct fleet_verdict *verdict)
{
	weir_out_u64(out, "revision", verdict->revision);
	weir_out_bool(out, "accepted", verdict->accepted);
	if (*verdict->error)
		weir_out_str(out, "error", verdict->error);
}

#define BLOCKS(member)	{ #member, offsetof(struct fleet_host, blocks.member) }
#define SHARES(member)	{ #member, offsetof(struct fleet_host, shares.member) }
struct number {
	const char *name;
	size_t at;
};

static const struct number block_numbers[] = {
	BLOCKS(now), BLOCKS(applied), BLOCKS(told), BLOCKS(refused), BLOCKS(exempt),
	BLOCKS(malformed), BLOCKS(left_out), { 0 }
};

static const struct number share_numbers[] = {
	SHARES(limits), SHARES(alone), SHARES(peers), SHARES(interval_ms), SHARES(late_ms),
	SHARES(announced), SHARES(heard), SHARES(left_out), SHARES(capped), SHARES(malformed),
	SHARES(repeated), SHARES(lost), SHARES(recent_left_out), SHARES(recent_capped),
	SHARES(recent_lost), { 0 }
};

static void show_numbers(struct weir_out *out, const struct fleet_host *host, const char *name,
			 const struct number *number)
{
	weir_out_begin(out, name, '{');
	for (; number->name; number++)
		weir_out_u64(out, number->name,
			     *(const uint64_t *)((const char *)host + number->at));
	weir_out_end(out, '}');
}

static void read_numbers(struct fleet_host *host, const json_t *json, const struct number *number)
{
	for (; number->name; number++)
		*(uint64_t *)((char *)host + number->at) = number_of(json, number->name);
}

void fleet_host_show(struct weir_out *out, const struct fleet_host *host)
{
	weir_out_str(out, "host", host->host);
	weir_out_str(out, "group", host->group);
	show_verdict(out, &host->config);
	if (host->canary.revision) {
		weir_out_begin(out, "canary", '{');
		show_verdict(out, &host->canary);
		weir_out_u64(out, "exempt_limited", host->exempt_limited);
		weir_out_end(out, '}');
	}
	weir_out_u64(out, "limits", host->counts.limits);
	weir_out_u64(out, "matched_packets", host->counts.matched);
	weir_out_u64(out, "dropped_known_packets", host->counts.dropped_known);
	weir_out_u64(out, "evictions", host->counts.evictions);
	weir_out_u64(out, "sources_wanted", host->counts.sources_wanted);
	show_numbers(out, host, "blocks", block_numbers);
	show_numbers(out, host, "counts", share_numbers);
	weir_out_str(out, "module", host->module);
	weir_out_str(out, "tool", host->tool);
}

char *fleet_host_encode(const struct fleet_host *host, size_t *size)
{
	char *text = NULL;
	struct weir_out out = { .to = open_memstream(&text, size), .json = true };

	if (!out.to)
		return NULL;
	weir_out_begin(&out, NULL, '{');
	fleet_host_show(&out, host);
	weir_out_end(&out, '}');
	fclose(out.to);
	return text;
}

static void read_text(char *to, size_t size, const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	snprintf(to, size, "%s", text ? text : "");
}

/* A revision that is not there is 0; a negative one is none. */
static void read_verdict(struct fleet_verdict *verdict, const json_t *json)
{
	verdict->revision = number_of(json, "revision");
	verdict->accepted = json_is_true(json_object_get(json, "accepted"));
	read_text(verdict->error, sizeof(verdict->error), json, "error");
}

int fleet_host_decode(struct fleet_host *host, const char *name, const char *value, size_t size)
{
	json_t *json = json_loadb(value, size, JSON_REJECT_DUPLICATES, NULL), *canary;
	bool good;

	memset(host, 0, sizeof(*host));
	read_text(host->host, sizeof(host->host), json, "host");
	read_text(host->group, sizeof(host->group), json, "group");
	good = !strcmp(host->host, name) && fleet_is_group(host->group);
	canary = json_object_get(json, "canary");
	good = good && json_integer_value(json_object_get(json, "revision")) >= 0 &&
	       json_integer_value(json_object_get(canary, "revision")) >= 0;
	read_verdict(&host->config, json);
	read_verdict(&host->canary, canary);
	host->exempt_limited = number_of(canary, "exempt_limited");
	host->counts.limits = number_of(json, "limits");
	host->counts.matched = number_of(json, "matched_packets");
	host->counts.dropped_known = number_of(json, "dropped_known_packets");
	host->counts.evictions = number_of(json, "evictions");
	host->counts.sources_wanted = number_of(json, "sources_wanted");
	read_numbers(host, json_object_get(json, "blocks"), block_numbers);
	read_numbers(host, json_object_get(json, "counts"), share_numbers);
	read_text(host->module, sizeof(host->module), json, "module");
	read_text(host->tool, sizeof(host->tool), json, "tool");
	json_decref(json);
	return good ? 0 : -EINVAL;
}
