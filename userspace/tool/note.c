// SPDX-License-Identifier: GPL-2.0-or-later
/* Errors, warnings and notes on stderr. */

#include <errno.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>

#include "lang/config.h"
#include "tool/note.h"

/* Different messages that are counted over a file. */
#define SENTENCES	24
/* Of a longer line, show SOURCE_PART bytes, half of them before the word. */
#define SOURCE_MAX	240
#define SOURCE_PART	80
#define TEXT_ROOM	1024

/* A message printed for a file's first limit, and the number of repeats. */
static struct said {
	const char *kind;
	char sentence[WEIR_SENTENCE_SIZE];
	char last[WEIR_NAME_SIZE];	/* the limit, if known */
	unsigned int more, line;	/* repeats; line of the last */
} said[SENTENCES];

/* Flushes stdout first, to keep the order; escapes control characters. */
void weir_note(struct weir_tool *tool, const char *kind, const char *fmt, ...)
{
	char text[TEXT_ROOM], where[TEXT_ROOM] = "";
	const struct weir_place *place;
	unsigned int line = tool->line;
	const char *file = tool->file;

	if (tool->quiet && kind && !strcmp(kind, "note"))
		return;
	WEIR_FORMAT(text, fmt);
	weir_out_flush(&tool->out);
	place = tool->places && line ? &tool->places->all[line - 1] : NULL;
	if (place) {
		file = place->file;
		line = place->line;
	}
	/* position of the current words */
	if (file && tool->column && !kind)
		snprintf(where, sizeof(where), "%s:%u:%u: ", file, line + tool->below,
			 tool->column);
	else if (file && line)
		snprintf(where, sizeof(where), "%s:%u: ", file, line);
	else if (file)
		snprintf(where, sizeof(where), "%s: ", file);
	fprintf(stderr, "weir: %s%s", kind ? kind : "", kind ? ": " : "");
	weir_out_escape(stderr, where, strlen(where));
	weir_out_escape(stderr, text, strlen(text));
	fputc('\n', stderr);
}

/* Print the line at fault, with a caret under the word. */
static void show_source(const struct weir_tool *tool)
{
	int len = strcspn(tool->source, "\n"), first = tool->column - 1, used = 0, i;
	char text[SOURCE_MAX + 1], mark[SOURCE_MAX + 1];
	const char *source = tool->source;

	while (len && strchr(" \t\r", source[len - 1]))
		len--;
	if (len > SOURCE_MAX) {
		i = MAX(first - SOURCE_PART / 2, 0);
		while ((source[i] & 0xc0) == 0x80)
			i++;
		source += i;
		first -= i;
		len = MIN(len - i, SOURCE_PART);
		while ((source[len] & 0xc0) == 0x80)
			len--;
	}
	for (i = 0; i < len; i++) {
		text[i] = strchr("\t\r", source[i]) ? ' ' : source[i];
		if (i < first + tool->length && (text[i] & 0xc0) != 0x80)
			mark[used++] = i < first ? ' ' : i == first ? '^' : '~';
	}
	text[len] = '\0';
	mark[used] = '\0';
	fputs("  ", stderr);
	weir_out_escape(stderr, text, len);
	fprintf(stderr, "\n  %s\n", mark);
}

struct weir_site weir_site_enter(struct weir_tool *tool, const char *path)
{
	struct weir_site site = { tool->file, tool->line, tool->quiet };

	/* notes counted so far name lines of the present file */
	weir_notes_end(tool);
	tool->file = path;
	tool->line = 0;
	return site;
}

void weir_site_leave(struct weir_tool *tool, struct weir_site site)
{
	tool->file = site.file;
	tool->line = site.line;
	tool->quiet = site.quiet;
}

void weir_complain(struct weir_tool *tool, const char *what)
{
	weir_note(tool, NULL, "%s%s%s", what ? what : "", what ? ": " : "", tool->err.text);
	if (tool->column)
		show_source(tool);
	tool->column = 0;
	tool->below = 0;
}

void weir_note_of(struct weir_tool *tool, const char *kind, const char *limit, const char *sentence)
{
	struct said *at = said, *end = tool->file ? said + SENTENCES : said;

	/* once the list is full, drop messages on devices */
	if (!limit && said[SENTENCES - 1].kind)
		return;
	while (at < end && at->kind && (strcmp(at->kind, kind) || strcmp(at->sentence, sentence)))
		at++;
	if (at < end && at->kind) {
		at->more += !!limit;
		at->line = tool->line;
		snprintf(at->last, sizeof(at->last), "%s", limit ? limit : "");
		return;
	}
	if (at < end) {
		at->kind = kind;
		snprintf(at->sentence, sizeof(at->sentence), "%s", sentence);
	}
	if (!limit)
		weir_note(tool, kind, "%s", sentence);
	else if (*limit)
		weir_note(tool, kind, "limit '%s'%s", limit, sentence);
}

void weir_notes_end(struct weir_tool *tool)
{
	const struct said *at;

	for (at = said; at < said + SENTENCES && at->kind; at++) {
		tool->line = at->more == 1 ? at->line : 0;
		if (at->more == 1 && *at->last)
			weir_note(tool, at->kind, "limit '%s'%s", at->last, at->sentence);
		else if (at->more)
			weir_note(tool, at->kind, at->more == 1 ? "%u more limit%s" :
				  "each of %u more limits%s", at->more, at->sentence);
	}
	memset(said, 0, sizeof(said));
}

void weir_note_unasked(struct weir_tool *tool, const char *why)
{
	unsigned int line = tool->line;
	static bool noted;

	tool->line = 0;		/* it is of the whole file */
	if (!noted)
		weir_note(tool, "note", "not checked by the kernel: %s", why);
	noted = true;
	tool->line = line;
}

/*
 * if_nametoindex() would make the kernel request a module for each unknown name:
 * list the devices once instead.
 */
static bool dev_exists(const char *dev)
{
	static struct if_nameindex *devices;
	const struct if_nameindex *at;

	if (!devices)
		devices = if_nameindex();
	for (at = devices; at && at->if_index; at++) {
		if (!strcmp(at->if_name, dev))
			return true;
	}
	return !devices;	/* no list: assume that it exists */
}

#define ONE_DEVICE	\
	"; a limit has one device, by its name, or without 'dev' all: to remove 'dev', give the other conditions after 'match'"
void weir_note_dev(struct weir_tool *tool, const char *dev)
{
	char text[256];

	if (!*dev || tool->outside || dev_exists(dev))
		return;
	snprintf(text, sizeof(text), "device '%s' does not exist (yet)%s", dev,
		 weir_word_among("any all none", dev) ? ONE_DEVICE : "");
	weir_note_of(tool, "warning", NULL, text);
}

void weir_note_end(struct weir_tool *tool, const struct weir_exempt *exempt)
{
	if (exempt->until && exempt->for_ms == WEIR_BLOCK_MS_MAX)
		weir_note_of(tool, "warning", NULL,
			     "'until' is more than ten years away by this clock; what ends then ends in ten years");
}

static bool is_multicast(const struct weir_prefix *prefix)
{
	return prefix->family == AF_INET6 ? prefix->len >= 8 && prefix->addr[0] == 0xff :
					    prefix->len >= 4 && prefix->addr[0] >> 4 == 0xe;
}

void weir_note_group(struct weir_tool *tool, const struct weir_prefix *prefix)
{
	char buf[WEIR_TEXT_SIZE];

	if (is_multicast(prefix))
		weir_note(tool, "warning", "%s is multicast, from which nothing comes; a limit leaves what goes there out with 'not to 224.0.0.0/4,ff00::/8'",
			  weir_text_prefix(NULL, prefix, buf));
}

void weir_note_exempt(struct weir_tool *tool, const void *model)
{
	const struct weir_exempt *exempt = model;
	const char *family = exempt->prefix.family == AF_INET ? "IPv4" : "IPv6";
	char buf[WEIR_TEXT_SIZE];

	weir_note_dev(tool, exempt->dev);
	weir_note_end(tool, exempt);
	weir_note_group(tool, &exempt->prefix);
	if (!exempt->prefix.len && !*exempt->dev && !*exempt->limit)
		weir_note(tool, "warning", "%s is every %s source: no limit applies to %s",
			  weir_text_prefix(NULL, &exempt->prefix, buf), family, family);
}

/* Does it match only requests of ICMP or ICMPv6, such as pings, or what a link needs? */
static bool only_asks(const struct weir_match *match)
{
	uint64_t plain = match->has & ~match->invert;
	unsigned int i;

	for (i = 0; i < match->icmp_count; i++)
		if (match->icmp[i] != ICMP_ECHO && match->icmp[i] != ICMP_TIMESTAMP &&
		    match->icmp[i] != ICMP_INFO_REQUEST && match->icmp[i] != ICMP_ADDRESS)
			return false;
	for (i = 0; i < match->icmpv6_count; i++)
		if (match->icmpv6[i] <= ICMP6_ECHO_REPLY && match->icmpv6[i] != ICMP6_ECHO_REQUEST)
			return false;
	return plain & (WEIR_COND_ICMP_TYPE | WEIR_COND_ICMPV6_TYPE);
}

void weir_note_nat64(struct weir_tool *tool, const struct weir_prefix *prefix)
{
	static const uint8_t nat64[12] = { 0, 0x64, 0xff, 0x9b };
	char buf[WEIR_TEXT_SIZE];

	if (prefix->family == AF_INET6 && prefix->len >= 32 && prefix->len <= 96 &&
	    !memcmp(prefix->addr, nat64, (prefix->len + 7) / 8))
		weir_note(tool, "note", "%s is all of IPv4, translated by NAT64: count each address in a limit 'from 64:ff9b::/96 per 32,128', and leave them out of this one, 'not from 64:ff9b::/96'",
			  weir_text_prefix(NULL, prefix, buf));
}

/* A network that is narrower than the sources of a limit, such as that of NAT64, is one of them. */
static void note_within(struct weir_tool *tool, const struct weir_limit *limit)
{
	uint8_t per = weir_limit_per(limit)[1];
	const struct weir_prefix *from = limit->match.from;
	unsigned int i, more = limit->match.invert & WEIR_COND_FROM ? 0 : limit->match.from_count;

	for (i = 0; per && i < more; i++)
		if (from[i].family == AF_INET6 && from[i].len > per && from[i].len < 128)
			return weir_note_of(tool, "note", limit->name,
					    " counts a network of 'from' as one source: 'per 32,128' counts each address");
}

#define REPLIES	" has no 'dport' or 'syn': it also counts replies to connections opened from here"
#define BEHIND	", and without 'dev' what containers and networks behind it send"
void weir_note_limit(struct weir_tool *tool, const void *model)
{
	const struct weir_limit *limit = model;
	const struct weir_match *match = &limit->match;
	uint64_t plain = match->has & ~match->invert;
	bool groups = plain & WEIR_COND_TO;
	unsigned int i;

	/* Nothing replies to a multicast address. */
	for (i = 0; i < match->to_count; i++)
		groups &= is_multicast(&match->to[i]);
	if (match->has & WEIR_COND_DEV)
		weir_note_dev(tool, match->dev);
	if (plain & WEIR_COND_DEV && !strcmp(match->dev, "lo"))
		weir_note_of(tool, "warning", limit->name, ": nothing is limited on the loopback device");
	if (limit->log && limit->action == WEIR_ACTION_OBSERVE)
		weir_note_of(tool, "note", limit->name, " logs what it drops; that is nothing while it observes");
	note_within(tool, limit);
	if (plain & WEIR_COND_SYN && weir_limit_has_bytes(limit))
		weir_note_of(tool, "note", limit->name, " counts the bytes of SYN packets only: 'syn' holds for all of its budgets");
	if (limit->blocks_only || plain & (WEIR_COND_DPORT | WEIR_COND_SYN) ||
	    groups ||
	    (plain & WEIR_COND_PROTO && match->proto_count == 1 &&
	     !weir_proto_answers(match->proto[0])) || only_asks(match))
		return;
	weir_note_of(tool, "note", limit->name,
		     match->has & (WEIR_COND_DEV | WEIR_COND_TO) ? REPLIES : REPLIES BEHIND);
}
