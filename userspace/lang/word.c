// SPDX-License-Identifier: GPL-2.0-or-later
/* Look words up; for unknown ones, suggest what was meant. */

#include <ctype.h>
#include <string.h>
#include <sys/param.h>

#include "lang/word.h"

/* No edit distance is computed for longer words. */
#define NEAR_MAX	24
/* So many words are suggested; of so many, all are listed. */
#define NEAR_COUNT	3
#define LISTED_MAX	14

const char *weir_args_peek(const struct weir_args *args)
{
	return args->at < args->count ? args->words[args->at] : NULL;
}

const char *weir_args_next(struct weir_args *args)
{
	if (args->at >= args->count)
		return NULL;
	args->fault = args->at;
	return args->words[args->at++];
}

void weir_args_offer(const struct weir_args *args, const struct weir_word *words,
		     const struct weir_field *value)
{
	if (args->offer)
		args->offer(words, value, args->data);
}

int weir_args_blame_in(struct weir_args *args, const char *word, const char *opener,
		       unsigned int after)
{
	for (args->fault = args->count - 1; args->fault >= 0; args->fault--) {
		if (!after && !strcmp(args->words[args->fault], word))
			break;
		after -= after && !strcmp(args->words[args->fault], opener);
	}
	return -EINVAL;
}

int weir_args_blame(struct weir_args *args, const char *word)
{
	return weir_args_blame_in(args, word, "", 0);
}

/* Edit distance: change, add, drop, or swap neighbouring letters (Damerau 1964). */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int rows[NEAR_MAX + 1][NEAR_MAX + 1], best, i, j;
	unsigned int la = strlen(a), lb = strlen(b);

	if (la > NEAR_MAX || lb > NEAR_MAX)
		return MAX(la, lb);
	for (j = 0; j <= lb; j++)
		rows[0][j] = j;
	for (i = 1; i <= la; i++) {
		rows[i][0] = i;
		for (j = 1; j <= lb; j++) {
			best = MIN(rows[i - 1][j], rows[i][j - 1]) + 1;
			best = MIN(best, rows[i - 1][j - 1] +
				   (tolower((unsigned char)a[i - 1]) != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = MIN(best, rows[i - 2][j - 2] + 1);
			rows[i][j] = best;
		}
	}
	return rows[la][lb];
}

/* The edit distance; -1 if above a third of the letters. */
static unsigned int slips(const char *token, const char *name)
{
	unsigned int far = distance(token, name), longer = MAX(strlen(token), strlen(name));

	return far == 1 || 3 * far <= longer ? far : -1U;
}

static bool same(const struct weir_word *a, const struct weir_word *b)
{
	return a->is == b->is && a->number == b->number;
}

bool weir_append(char *list, size_t size, const char *separator, const char *word)
{
	size_t used = strlen(list);

	if (used + strlen(separator) + strlen(word) >= size)
		return false;
	sprintf(list + used, "%s%s", used && *word ? separator : "", word);
	return true;
}

/* List the names that begin with @begin, without aliases, as far as they fit. */
static void list_names(const struct weir_word *words, const char *begin, char *list, size_t size)
{
	const struct weir_word *word;

	*list = '\0';
	for (word = words; word->name; word++) {
		if (strncmp(word->name, begin, strlen(begin)) ||
		    (word > words && same(word, word - 1)))
			continue;
		if (!weir_append(list, size, ", ", word->name))
			break;
	}
}

bool weir_nearest(const struct weir_word *words, const char *token, char *list, size_t size)
{
	unsigned int least = -1U, count = 0;
	size_t i, used = 0;

	for (i = 0; words[i].name; i++)
		least = MIN(least, slips(token, words[i].name));
	for (i = 0; least != -1U && words[i].name && count < NEAR_COUNT; i++) {
		if (slips(token, words[i].name) != least)
			continue;
		if (used + strlen(words[i].name) + 7 >= size)
			break;
		used += sprintf(list + used, "%s'%s'", used ? " or " : "", words[i].name);
		count++;
	}
	return used;
}

/* List the words that differ least, however much that is. */
static void list_nearest(const struct weir_word *words, const char *token, char *list, size_t size)
{
	bool listed[WEIR_WORDS_MAX] = { false };
	unsigned int count, far, least;
	size_t i, best = 0;

	*list = '\0';
	for (count = 0; count < NEAR_COUNT; count++) {
		least = -1U;
		for (i = 0; words[i].name && i < WEIR_WORDS_MAX; i++) {
			far = distance(token, words[i].name);
			if (listed[i] || far >= least)
				continue;
			least = far;
			best = i;
		}
		listed[best] = true;
		weir_append(list, size, ", ", words[best].name);
	}
}

const struct weir_word *weir_word_find(const struct weir_word *words, const char *name)
{
	const char *dashed = name + !strncmp(name, "--", 2);

	while (words->name && strcmp(words->name, name) && strcmp(words->name, dashed))
		words++;
	return words->name ? words : NULL;
}

/*
 * The word of that name, or else the first that it abbreviates, and how many match. Those that only
 * continue the first one do not count: "bud" is "budget" beside "budgets-by".
 */
static const struct weir_word *match(const struct weir_word *words,
				     const char *token, unsigned int *matches)
{
	const struct weir_word *found = weir_word_find(words, token);
	size_t len = strlen(token);

	*matches = !!found;
	if (found)
		return found;
	for (; len && words->name; words++) {
		if (strncmp(words->name, token, len))
			continue;
		if (found && (same(found, words) ||
			      !strncmp(words->name, found->name, strlen(found->name))))
			continue;
		if (!(*matches)++)
			found = words;
	}
	return found;
}

/* Report an unknown word, with suggestions; -EINVAL. */
static int unknown(const struct weir_word *words, const char *token,
		   const char *what, struct weir_err *err)
{
	char list[256];
	size_t count;

	if (weir_nearest(words, token, list, sizeof(list)))
		return weir_err_set(err, "unknown %s '%.60s'; did you mean %s?", what, token, list);
	for (count = 0; words[count].name; count++)
		;
	if (count <= LISTED_MAX)
		list_names(words, "", list, sizeof(list));
	else
		list_nearest(words, token, list, sizeof(list));
	weir_err_set(err, "unknown %s '%.60s'; %s: %s%s", what, token,
		     count <= LISTED_MAX ? "expected one of" : "the nearest are", list,
		     count <= LISTED_MAX ? "" : "; help lists all");
	err->unknown = true;
	return -EINVAL;
}

/* Words of other tools, with weir's word or a hint. */
static const struct {
	const char *tokens, *name, *hint;
} others[] = {
	{ "src saddr source -s", "from", NULL }, { "dst daddr destination -d", "to", NULL },
	{ "iif iifname in in-interface interface -i", "dev", NULL },
	{ "protocol l4proto -p", "proto", NULL },
	{ "sports src-port source-port srcport", "sport", NULL },
	{ "dports dst-port destination-port dstport", "dport", NULL },
	{ "length packet-length", "len", NULL },
	{ "why explain", "charge", "use 'get'" },
	{ "timezone", "tz", NULL }, { "multiport", "dport", "write 'dport A,B'" },
	{ "ctorigdstport", "dport", "weir sees packets before DNAT: write 'dport PORT'" },
	{ "port ports", "dport", "write 'dport' for the destination, or 'sport'" },
	{ "rate budgets", "budget", NULL }, { "remove rm destroy", "del", NULL },
	{ "insert", "add", "use 'add'; for a limit, 'before NAME' says where" },
	{ "change modify", "set", NULL }, { "replace edit update", "set", "use 'set'" },
	{ "ls info stats status", "show", NULL }, { "test", "get", NULL },
	{ "zero", "reset", NULL },
	{ "get", "show", "use 'show'; of an address 'source get ADDRESS'" },
	{ "clear", "reset", "use 'reset' for the counters, 'flush' to remove all limits" },
	{ "flush reset clear del delete", "forget", NULL }, { "create append", "add", NULL },
	{ "ban", "block", NULL }, { "unban unblock free pardon", "release", NULL },
	{ "bit bits", "budget", "a budget counts packets or bytes; 10 Mbit/s is '1250k/s bytes'" },
	{ "after first priority position", "before",
	  "use 'before' with the limit that is to follow" },
	{ "last", "before", "a new limit is the last; of others, set those behind it before it" },
	{ "multicast mld group", "to", "write 'to 224.0.0.0/4,ff00::/8', or 'proto igmp'" },
	{ "type", "icmp-type", "write 'icmp-type TYPE' or 'icmpv6-type TYPE'" },
	{ "match-set ipset", "from-list", "write 'from-list LIST', or 'not from-list LIST'" },
	{ "global", "per", "write 'per 0': all sources share one budget" },
	{ "quota", "budget", "write 'budget 5G/month bytes', or 'budget COUNT/total'" },
	{ "dry-run dryrun", "action", "use 'action observe': it counts, and drops nothing" },
	{ "undo rollback", "confirm", "'confirm revert' takes back a change made with -confirm" },
	{ "commit", "confirm", NULL }, { "enable", "set", "use 'set NAME action drop'" },
	{ "allow whitelist ignore", "exempt", "use 'exempt add'" },
	{ "disable", "set", "use 'set NAME action observe': it counts, and drops nothing" },
	{ "forward FORWARD oif oifname", "dev",
	  "what is routed on arrives at 'dev' of the outside, 'not to' this host's addresses" },
	{ "window", "only", "the window is that of a budget: give all, as in 'budget 500/5m'" },
	{ "add remove del delete none without", "only",
	  "to add or remove a budget, give all that the limit shall have, with 'only'" },
	{ "-m -t -A -j chain table hook INPUT PREROUTING", "syn",
	  "weir has no chains, modules and targets: leave '%s' out; "
	  "weir-limit(8) has a table of such rules" },
	{ "accept ACCEPT DROP RETURN reject REJECT jump counter", "action",
	  "a limit drops what exceeds its budget: leave '%s' out; exempt add lets sources pass" },
	{ "ip ip6 meta th", "from", "leave '%s' out: write 'from', 'to', 'proto' or 'dport'" },
	{ "flags tcp-flags", "syn", "for attempts to open a TCP connection write 'syn'" },
	{ "ct ctstate state new", "syn",
	  "weir tracks no connections: 'tcp syn' opens one; of UDP all packets count" },
	{ "connlimit connlimit-above connlimit-upto conns", "syn",
	  "weir does not count open connections; it limits new ones: 'budget COUNT/1m tcp syn'" },
	{ "over above limit meter hashlimit hashlimit-above hashlimit-upto", "budget",
	  "a limit drops what exceeds its budget: write 'budget COUNT/TIME'" },
	{ "hashlimit-burst limit-burst", "burst", "write 'budget COUNT/TIME bucket burst COUNT'" },
	{ "hashlimit-srcmask srcmask connlimit-mask mask netmask", "per",
	  "write 'per V4', or 'per V4,V6', the lengths of prefixes" },
	{ "hashlimit-mode mode hashlimit-dstmask dstmask", "per",
	  "sources alone have counts: make a limit for each port or destination" },
	{ "hashlimit-name", "before", "the name follows 'add': limit add NAME ..." },
	{ "hashlimit-htable-size hashlimit-htable-max htable-size htable-max size", "sources",
	  "write 'sources COUNT'" },
	{ "hashlimit-htable-expire hashlimit-htable-gcinterval htable-expire expire", "sources",
	  "idle sources make room by themselves: leave this out" },
	{ "recent seconds hitcount rcheck update set findtime maxretry", "penalty",
	  "write 'budget COUNT/TIME', with 'penalty TIME' if it blocks, and 'renew' for --update" },
	{ "increment bantime.increment", "penalty", "two limits do: weir(8) has a recipe" },
	{ "bantime ban-time ban block", "penalty", "write 'penalty TIME', which blocks a source" },
	{ "timeout", "penalty",
	  "idle sources make room by themselves: leave '%s' out; 'penalty TIME' blocks" },
	{ "string hex-string u32 payload length packet-length len ttl", "mark",
	  "weir reads no lengths and payload: an nft chain at ingress can set a mark: 'mark 1'" },
	{ "ignoreip whitelist allow except excluding exempt", "syn",
	  "use exempt add, or 'not from PREFIX'" },
	{ "bantime timeout until", "for", "write 'for TIME'" },
	{ "forever", "for", "write 'for ever'" }, { "no cancel abort", "revert", "use 'revert'" },
	{ "log events watch tail follow history drops", "monitor",
	  "use 'monitor'; who is limited now: 'source show limited'" },
	{ "why explain", "source", "use 'source get ADDRESS'" }, { "counters", "stats", NULL },
	{ "export backup dump", "save", "use 'save', or 'save -state FILE'" },
	{ "mv", "rename", NULL }, { "once batch", "count", "for a screen as text write 'count 1'" },
	{ "echo-request echo-reply", "icmp-type", "write 'icmp-type %s'" },
	{ "tcp udp proto dport sport syn", "for",
	  "no conditions here: make a limit with them, and write 'limit NAME'" },
	{ "!", "syn", "write 'not' for '!'" }, { "move", "set", "use 'set NAME before OTHER'" },
	{ "no", "syn",
	  "to remove a condition give the others after 'match', a budget the others with 'only'; "
	  "a setting is 'none'" },
};

bool weir_word_among(const char *tokens, const char *token)
{
	size_t len;

	for (; *tokens; tokens += len + (tokens[len] == ' ')) {
		len = strcspn(tokens, " ");
		if (strlen(token) == len && !strncmp(tokens, token, len))
			return true;
	}
	return false;
}

/* Translate another tool's word; NULL, perhaps with a hint in @err. */
static const struct weir_word *translate(const struct weir_word *words, const char *token,
					 struct weir_err *err)
{
	const char *plain = token + 2 * !strncmp(token, "--", 2);
	const struct weir_word *word = weir_word_find(words, token) ?: weir_word_find(words, plain);
	size_t i;

	*err->text = '\0';
	if (word)
		return word;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		word = weir_word_find(words, others[i].name);
		if (!word || !weir_word_among(others[i].tokens, plain))
			continue;
		if (!others[i].hint)
			return word;
		weir_err_set(err, others[i].hint, token);
	}
	return NULL;
}

const struct weir_word *weir_pick(const struct weir_word *words, const char *token, bool exact,
				  const char *what, struct weir_err *err)
{
	const struct weir_word *word;
	unsigned int matches;
	char list[256];

	word = translate(words, token, err);
	if (word || *err->text)
		return word;
	word = match(words, token, &matches);
	if (matches == 1 && !exact)
		return word;
	if (matches == 1) {
		weir_err_set(err, WEIR_ABBREVIATES, token, word->name);
	} else if (!words->name) {
		weir_err_set(err, WEIR_UNEXPECTED, token);
	} else if (matches && !exact) {
		list_names(words, token, list, sizeof(list));
		weir_err_set(err, "'%.60s' is ambiguous: %s", token, list);
	} else {
		unknown(words, token, what, err);
	}
	return NULL;
}

const struct weir_word *weir_args_pick(struct weir_args *args, const struct weir_word *words)
{
	const char *token = weir_args_next(args);

	if (token)
		return weir_pick(words, token, args->exact, "word", args->err);
	weir_args_offer(args, words, NULL);
	return NULL;
}

int weir_pick_name(const char *const *names, const char *token, bool exact, struct weir_err *err)
{
	struct weir_word words[WEIR_WORDS_MAX];
	const struct weir_word *word;
	uint32_t i;

	for (i = 0; names[i]; i++)
		words[i] = (struct weir_word){ names[i], names, i, NULL };
	words[i].name = NULL;
	word = weir_pick(words, token, exact, "word", err);
	return word ? (int)word->number : -EINVAL;
}

size_t weir_word_length(const char *text)
{
	const char *at = text;
	char quote = *at == '"' || *at == '\'' ? *at++ : '\0';

	while (quote && *at && *at++ != quote)
		at += quote == '"' && at[-1] == '\\' && *at;
	return at + strcspn(at, WEIR_BLANKS) - text;
}

/* Remove a word's quotes; false: the closing quote is missing or not its last byte. */
static bool unquote(char *word)
{
	const char *at = word + 1;
	char quote = *word;

	if (quote != '"' && quote != '\'')
		return true;
	while (*at && *at != quote) {
		at += quote == '"' && *at == '\\' && (at[1] == '\\' || at[1] == '"');
		*word++ = *at++;
	}
	*word = '\0';
	return *at && !at[1];
}

int weir_split(char *line, char **words, int max)
{
	char *at = line, *end;
	int count = 0;

	for (; *(at += strspn(at, WEIR_BLANKS)) && *at != '#'; at = end) {
		if (count == max)
			return -E2BIG;
		end = at + weir_word_length(at);
		if (*end)
			*end++ = '\0';
		words[count++] = at;
		if (!unquote(at)) {
			words[0] = at;
			return -EINVAL;
		}
	}
	if (count < max)
		words[count] = at;
	return count;
}
