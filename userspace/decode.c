// SPDX-License-Identifier: GPL-2.0-or-later
/* Attributes into models. What is unknown is passed over: newer modules. */

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "nl_priv.h"

enum field_kind {
	FIELD_END,
	FIELD_UINT,
	FIELD_NAME,
	FIELD_FLAG,
	FIELD_ADDRESS,		/* into a struct weir_prefix; its len is a UINT */
	FIELD_SLOT,		/* one more of a struct weir_source */
	FIELD_NOTED,		/* that it is there is all */
	FIELD_NEST,		/* another model at the offset */
};

/* Where an attribute goes; that it is there is noted in bits at bits_at. */
struct field {
	uint16_t type;
	uint8_t kind;
	uint8_t size;
	size_t offset;
	uint32_t bits;
	size_t bits_at;
	const struct field *nest;
};

#define AT(model, member)	.offset = offsetof(struct weir_##model, member), \
	.size = sizeof(((struct weir_##model *)0)->member)
#define UINT(type, ...)		{ type, FIELD_UINT, AT(__VA_ARGS__) }
#define NAME(type, ...)		{ type, FIELD_NAME, AT(__VA_ARGS__) }
#define FLAG(type, ...)		{ type, FIELD_FLAG, AT(__VA_ARGS__) }
#define ADDRESS(type, ...)	{ type, FIELD_ADDRESS, AT(__VA_ARGS__) }
#define NEST(type, fields, model, member) { type, FIELD_NEST, .nest = fields, \
	.offset = offsetof(struct weir_##model, member) }
#define COND(type_, kind_, cond, member) { type_, kind_, AT(match, member), \
	.bits = WEIR_COND_##cond, .bits_at = offsetof(struct weir_match, conds) }
#define HAS(bit)		.bits = WEIR_HAS_##bit, \
	.bits_at = offsetof(struct weir_limit, has)
#define WORD(type, bit, member)	{ type, FIELD_UINT, AT(limit, member), HAS(bit) }

static const struct field match_fields[] = {
	UINT(WEIR_A_MATCH_INVERT, match, invert),
	COND(WEIR_A_MATCH_FAMILY, FIELD_UINT, FAMILY, family),
	COND(WEIR_A_MATCH_DEV, FIELD_NAME, DEV, dev),
	COND(WEIR_A_MATCH_FROM, FIELD_ADDRESS, FROM, from),
	UINT(WEIR_A_MATCH_FROM_LEN, match, from.len),
	COND(WEIR_A_MATCH_TO, FIELD_ADDRESS, TO, to),
	UINT(WEIR_A_MATCH_TO_LEN, match, to.len),
	COND(WEIR_A_MATCH_PROTO, FIELD_UINT, PROTO, proto),
	COND(WEIR_A_MATCH_SPORT_MIN, FIELD_UINT, SPORT, sport[0]),
	UINT(WEIR_A_MATCH_SPORT_MAX, match, sport[1]),
	COND(WEIR_A_MATCH_DPORT_MIN, FIELD_UINT, DPORT, dport[0]),
	UINT(WEIR_A_MATCH_DPORT_MAX, match, dport[1]),
	{ WEIR_A_MATCH_SYN, FIELD_NOTED, .bits = WEIR_COND_SYN },
	{ WEIR_A_MATCH_FRAG, FIELD_NOTED, .bits = WEIR_COND_FRAG },
	COND(WEIR_A_MATCH_MARK, FIELD_UINT, MARK, mark),
	UINT(WEIR_A_MATCH_MARK_MASK, match, mask),
	{ 0 }
};

static const struct field counter_fields[] = {
	UINT(WEIR_A_COUNTER_PACKETS, counter, packets),
	UINT(WEIR_A_COUNTER_BYTES, counter, bytes),
	{ 0 }
};

#define COUNTER(type, member)	NEST(type, counter_fields, limit_stats, member)

static const struct field limit_stats_fields[] = {
	COUNTER(WEIR_A_LIMIT_STATS_MATCHED, matched),
	COUNTER(WEIR_A_LIMIT_STATS_ADMITTED, admitted),
	COUNTER(WEIR_A_LIMIT_STATS_DROPPED, dropped),
	COUNTER(WEIR_A_LIMIT_STATS_WOULD_DROP, would_drop),
	COUNTER(WEIR_A_LIMIT_STATS_ELSEWHERE, elsewhere),
	COUNTER(WEIR_A_LIMIT_STATS_FLOOR_REFUSED, floor_refused),
	COUNTER(WEIR_A_LIMIT_STATS_TOO_LARGE, too_large),
	UINT(WEIR_A_LIMIT_STATS_EVICTIONS, limit_stats, evictions),
	{ WEIR_A_LIMIT_STATS_SOURCES_NOW, FIELD_UINT, AT(limit_stats, sources_now),
	  .bits = 1, .bits_at = offsetof(struct weir_limit_stats, has_sources_now) },
	UINT(WEIR_A_LIMIT_STATS_SOURCES_WANTED, limit_stats, sources_wanted),
	{ 0 }
};

static const struct field limit_fields[] = {
	NAME(WEIR_A_LIMIT_NAME, limit, name),
	WORD(WEIR_A_LIMIT_BUDGET, BUDGET, budget),
	UINT(WEIR_A_LIMIT_WINDOW_MS, limit, window_ms),
	WORD(WEIR_A_LIMIT_UNIT, UNIT, unit),
	WORD(WEIR_A_LIMIT_SLOTS, SLOTS, slots),
	WORD(WEIR_A_LIMIT_MODE, MODE, mode),
	WORD(WEIR_A_LIMIT_PREFIX4, PER, prefix4),
	UINT(WEIR_A_LIMIT_PREFIX6, limit, prefix6),
	WORD(WEIR_A_LIMIT_SOURCES, SOURCES, sources),
	WORD(WEIR_A_LIMIT_ACTION, ACTION, action),
	{ WEIR_A_LIMIT_MATCH, FIELD_NEST, .nest = match_fields,
	  .offset = offsetof(struct weir_limit, match), HAS(MATCH) },
	WORD(WEIR_A_LIMIT_SLOT_NS, RESULT, slot_ns),
	UINT(WEIR_A_LIMIT_WINDOW_NS, limit, window_ns),
	UINT(WEIR_A_LIMIT_MEMORY, limit, memory),
	UINT(WEIR_A_LIMIT_WAYS, limit, ways),
	{ WEIR_A_LIMIT_STATS, FIELD_NEST, .nest = limit_stats_fields,
	  .offset = offsetof(struct weir_limit, stats), HAS(STATS) },
	UINT(WEIR_A_LIMIT_EVENT, limit, change),
	{ 0 }
};

static const struct field pressure_fields[] = {
	NAME(WEIR_A_PRESSURE_LIMIT, limit, name),
	UINT(WEIR_A_PRESSURE_EVICTIONS, limit, stats.evictions),
	UINT(WEIR_A_PRESSURE_FLOOR_REFUSED, limit, stats.floor_refused.packets),
	UINT(WEIR_A_PRESSURE_SOURCES_WANTED, limit, stats.sources_wanted),
	{ 0 }
};

static const struct field exempt_fields[] = {
	ADDRESS(WEIR_A_EXEMPT_ADDRESS, exempt, prefix),
	UINT(WEIR_A_EXEMPT_PREFIX_LEN, exempt, prefix.len),
	NAME(WEIR_A_EXEMPT_DEV, exempt, dev),
	NAME(WEIR_A_EXEMPT_LIMIT, exempt, limit),
	{ 0 }
};

static const struct field source_fields[] = {
	NAME(WEIR_A_SOURCE_LIMIT, source, limit),
	ADDRESS(WEIR_A_SOURCE_ADDRESS, source, prefix),
	UINT(WEIR_A_SOURCE_PREFIX_LEN, source, prefix.len),
	NAME(WEIR_A_SOURCE_DEV, source, dev),
	UINT(WEIR_A_SOURCE_COUNT, source, count),
	UINT(WEIR_A_SOURCE_LEFT, source, left),
	UINT(WEIR_A_SOURCE_BUDGET, source, budget),
	UINT(WEIR_A_SOURCE_UNIT, source, unit),
	FLAG(WEIR_A_SOURCE_LIMITED, source, limited),
	UINT(WEIR_A_SOURCE_NEXT_NS, source, next_ns),
	UINT(WEIR_A_SOURCE_DROPPED, source, dropped),
	UINT(WEIR_A_SOURCE_SLOT_NS, source, slot_ns),
	{ .type = WEIR_A_SOURCE_SLOT, .kind = FIELD_SLOT },
	FLAG(WEIR_A_SOURCE_FLOOR, source, floor),
	FLAG(WEIR_A_SOURCE_IDLE, source, idle),
	{ WEIR_A_SOURCE_EXEMPT, FIELD_NEST, .nest = exempt_fields,
	  .offset = offsetof(struct weir_source, exempt) },
	UINT(WEIR_A_SOURCE_ACTION, source, action),
	UINT(WEIR_A_SOURCE_TAKEN, source, taken),
	{ 0 }
};

static const struct field stats_fields[] = {
	UINT(WEIR_A_STATS_SEEN, stats, seen),
	UINT(WEIR_A_STATS_EXEMPT, stats, exempt),
	UINT(WEIR_A_STATS_UNMATCHED, stats, unmatched),
	UINT(WEIR_A_STATS_ADMITTED, stats, admitted),
	UINT(WEIR_A_STATS_DROPPED, stats, dropped),
	UINT(WEIR_A_STATS_UNPARSABLE, stats, unparsable),
	UINT(WEIR_A_STATS_EVENTS_LOST, stats, events_lost),
	UINT(WEIR_A_STATS_MEMORY, stats, memory),
	UINT(WEIR_A_STATS_LIMITS, stats, limits),
	UINT(WEIR_A_STATS_EXEMPTS, stats, exempts),
	UINT(WEIR_A_STATS_TICK_NS, stats, tick_ns),
	{ 0 }
};

static void store_uint(void *at, uint8_t size, uint64_t value)
{
	switch (size) {
	case 1:
		*(uint8_t *)at = value;
		break;
	case 2:
		*(uint16_t *)at = value;
		break;
	case 4:
		*(uint32_t *)at = value;
		break;
	case 8:
		*(uint64_t *)at = value;
		break;
	}
}

static void store_name(char *at, size_t size, const struct nlattr *attr)
{
	size_t len = mnl_attr_get_payload_len(attr);

	if (len >= size)
		len = size - 1;
	memcpy(at, mnl_attr_get_payload(attr), len);
	at[len] = '\0';
}

static void store_address(struct weir_prefix *prefix, const struct nlattr *attr)
{
	size_t len = mnl_attr_get_payload_len(attr);

	if (len != 4 && len != 16)
		return;
	prefix->family = len == 4 ? AF_INET : AF_INET6;
	memcpy(prefix->addr, mnl_attr_get_payload(attr), len);
}

static void store_slot(struct weir_source *source, const struct nlattr *attr)
{
	if (source->slots < WEIR_WHEEL_MAX)
		source->slot[source->slots++] = weir_nl_uint(attr);
}

static void store_attr(const struct field *fields, const struct nlattr *attr,
		       void *model)
{
	uint16_t type = mnl_attr_get_type(attr);
	const struct field *field = fields;
	const struct nlattr *inner;
	char *at;

	while (field->kind != FIELD_END && field->type != type)
		field++;
	at = (char *)model + field->offset;
	if (field->bits)
		*(uint32_t *)((char *)model + field->bits_at) |= field->bits;
	switch (field->kind) {
	case FIELD_UINT:
		store_uint(at, field->size, weir_nl_uint(attr));
		break;
	case FIELD_NAME:
		store_name(at, field->size, attr);
		break;
	case FIELD_FLAG:
		*(bool *)at = true;
		break;
	case FIELD_ADDRESS:
		store_address((struct weir_prefix *)at, attr);
		break;
	case FIELD_SLOT:
		store_slot(model, attr);
		break;
	case FIELD_NEST:
		mnl_attr_for_each_nested(inner, attr)
			store_attr(field->nest, inner, at);
		break;
	}
}

static void decode(const struct field *fields, const struct nlmsghdr *nlh,
		   void *model)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, GENL_HDRLEN)
		store_attr(fields, attr, model);
}

void weir_nl_get_limit(const struct nlmsghdr *nlh, struct weir_limit *limit)
{
	memset(limit, 0, sizeof(*limit));
	limit->match.mask = UINT32_MAX;
	decode(limit_fields, nlh, limit);
}

void weir_nl_get_exempt(const struct nlmsghdr *nlh, struct weir_exempt *exempt)
{
	memset(exempt, 0, sizeof(*exempt));
	decode(exempt_fields, nlh, exempt);
}

void weir_nl_get_source(const struct nlmsghdr *nlh, struct weir_source *source)
{
	memset(source, 0, sizeof(*source));
	decode(source_fields, nlh, source);
	source->is_exempt = source->exempt.prefix.family;
}

void weir_nl_get_stats(const struct nlmsghdr *nlh, struct weir_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	decode(stats_fields, nlh, stats);
}

void weir_nl_get_pressure(const struct nlmsghdr *nlh, struct weir_limit *limit)
{
	memset(limit, 0, sizeof(*limit));
	decode(pressure_fields, nlh, limit);
}
