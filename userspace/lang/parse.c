// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse words into models, driven by the table. */

#include <ctype.h>
#include <string.h>

#include "lang/field.h"
#include "lang/value.h"

struct reading {
	struct weir_args *args;
	const struct weir_set *set;
	unsigned int verb;
	char *model;
	struct weir_word words[WEIR_WORDS_MAX];
	const char *seen[WEIR_WORDS_MAX];	/* as it was written */
	const struct weir_field *last;		/* the last one parsed */
};

static const struct weir_field *row(const struct weir_word *word)
{
	return word->is;
}

/* The value that follows a word; "" for a flag. */
static const char *take_value(struct weir_args *args, const struct weir_field *field)
{
	char name[WEIR_TEXT_SIZE], value[WEIR_TEXT_SIZE];
	const char *text;

	if (field->type == &weir_type_flag)
		return "";
	text = weir_args_next(args);
	if (text)
		return text;
	weir_args_offer(args, NULL, field);
	weir_err_set(args->err, WEIR_NO_VALUE, weir_field_name(field, name),
		     weir_field_value(field, value));
	return NULL;
}

/* For tcp/443 and 443/tcp, suggest the two conditions. */
static bool blame_port(const char *text, struct weir_err *err)
{
	unsigned int port;
	char proto[8], more;

	if ((sscanf(text, "%7[a-z]/%5u%c", proto, &port, &more) != 2 &&
	     sscanf(text, "%5u/%7[a-z]%c", &port, proto, &more) != 2) || port > UINT16_MAX ||
	    !weir_word_among("tcp udp sctp dccp udplite", proto))
		return false;
	weir_err_set(err, "write '%s dport %u'", proto, port);
	return true;
}

/* Prefix the sentence with the word it is about. */
static int blame(const struct weir_field *field, struct weir_err *err)
{
	char name[WEIR_TEXT_SIZE];

	if (field->flags & (WEIR_FIRST | WEIR_ALONE))
		return -EINVAL;
	return weir_err_set(err, "%s: %.400s", weir_field_name(field, name), err->text);
}

/* Refuse an element that overlaps an earlier one. */
static int check_overlap(struct weir_args *args, const struct weir_field *field,
			 const char *at, unsigned int count)
{
	const char *end = at + count * field->size;
	char one[WEIR_TEXT_SIZE], other[WEIR_TEXT_SIZE];

	for (; field->type->overlap && at < end; at += field->size) {
		if (field->type->overlap(at, end))
			return weir_err_set(args->err, "%s and %s overlap",
					    field->type->text(field, at, one),
					    field->type->text(field, end, other));
	}
	return 0;
}

/* Parse a comma-separated list. */
static int read_list(struct weir_args *args, const struct weir_field *field,
		     const char *text, char *model)
{
	unsigned int *count = (unsigned int *)(model + field->count);
	char *at = weir_field_at(field, model), element[WEIR_TEXT_SIZE];
	size_t len;

	for (;; text += len + 1, ++*count) {
		len = strcspn(text, ",");
		snprintf(element, sizeof(element), "%.*s", (int)len, text);
		if (!len)
			return weir_err_set(args->err, "a value is missing before or after ','; write no space there");
		if (*count == field->many)
			return weir_err_set(args->err, "more than %u in a list", field->many);
		if (field->type->parse(field, args, element, at + *count * field->size) ||
		    check_overlap(args, field, at, *count))
			return -EINVAL;
		if (!text[len])
			break;
	}
	++*count;
	return 0;
}

/* Parse @text, or the next word if NULL, into @model and set its bit in has. */
static int read_value(struct weir_args *args, const struct weir_field *field,
		      const char *text, char *model)
{
	char *at = weir_field_at(field, model), value[WEIR_TEXT_SIZE];

	text = text ? text : take_value(args, field);
	if (!text)
		return -EINVAL;
	if (*text == '{' && field->many)
		return weir_err_set(args->err, "write a list without braces and spaces: '%s A,B'",
				    field->word);
	if (*text == '!' && field->flags & WEIR_NOT)
		return weir_err_set(args->err, "write 'not %s %.60s'", field->word,
				    text[1 + (text[1] == '=')] ? text + 1 + (text[1] == '=') :
				    weir_field_value(field, value));
	if (field->flags & WEIR_NOT && !strcmp(text, "not"))
		return weir_err_set(args->err, "write 'not %s %s'", field->word,
				    weir_field_value(field, value));
	if (field->many ? read_list(args, field, text, model) :
			  field->type->parse(field, args, text, at)) {
		if (field->type == &weir_type_portlist || field->type == &weir_type_proto)
			blame_port(text, args->err);
		return blame(field, args->err);
	}
	*(uint64_t *)model |= field->bit;
	return 0;
}

/* Whether two words set the same value, so that only one may be given. */
static bool excludes(const struct weir_word *a, const struct weir_word *b)
{
	const struct weir_field *left = a->is, *right = b->is;

	return a->is == b->is || (a->in == b->in && left->attr == right->attr);
}

static int check_twice(struct reading *reading, size_t i, const char *name)
{
	const struct weir_word *words = reading->words;
	size_t j;

	for (j = 0; words[j].name; j++) {
		if (!reading->seen[j] || !excludes(&words[i], &words[j]))
			continue;
		if (!strcmp(name, reading->seen[j]))
			return weir_err_set(reading->args->err, WEIR_TWICE "%s", name,
					    row(&words[i])->type->overlap == weir_prefixes_overlap ?
					    WEIR_OR_LIST : "");
		if (row(&words[i])->type == &weir_type_members &&
		    !name[strspn(name, "0123456789kMG")])
			return weir_err_set(reading->args->err, "for the budget of a prefix write PREFIX=%.60s",
					    name);
		if (row(&words[i])->many && words[i].is == words[j].is)
			return weir_err_set(reading->args->err, WEIR_SEPARATE,
					    row(&words[i])->word);
		return weir_err_set(reading->args->err, WEIR_COMBINED, reading->seen[j], name);
	}
	reading->seen[i] = name;
	return 0;
}

static unsigned int *count_of(const struct reading *reading, const struct weir_field *list)
{
	return (unsigned int *)(reading->model + list->count);
}

/* A list of nests has a first element from its first word on. */
static int begin_element(struct reading *reading, const struct weir_word *word)
{
	const struct weir_word *words = reading->words;
	const struct weir_field *list = word->in;
	unsigned int *count;
	size_t i;

	if (!list || !list->many)
		return 0;
	count = count_of(reading, list);
	if (*count && !(row(word)->flags & WEIR_AGAIN && reading->seen[word - words]))
		return 0;
	if (*count == list->many)
		return weir_err_set(reading->args->err, "'%s' is given more than %u times",
				    word->name, list->many);
	for (i = 0; words[i].name; i++) {
		if (words[i].in == list)
			reading->seen[i] = NULL;
	}
	++*count;
	return 0;
}

/* Parse the value of a word and mark the word as seen. */
static int read_word(struct reading *reading, const struct weir_word *word,
		     const char *text, bool negate)
{
	const struct weir_field *field = word->is, *in = word->in;
	char *model = reading->model + (in ? in->offset : 0);
	struct weir_args *args = reading->args;
	char value[WEIR_TEXT_SIZE];

	if (begin_element(reading, word))
		return -EINVAL;
	if (in && in->many)
		model += (*count_of(reading, in) - 1) * in->size;
	if (field->flags & WEIR_FOLLOWS && reading->last && !strcmp(reading->last->word, "burst"))
		return weir_err_set(args->err, "leave '%s' out: a burst has the unit of its budget, as in 'budget 10/s bucket burst 20'",
				    word->name);
	if (field->flags & WEIR_FOLLOWS && reading->last != field - 1)
		return weir_err_set(args->err, "'%s' must follow '%s': write '%s %s'", word->name,
				    field[-1].word, field[-1].word,
				    weir_field_value(field - 1, value));
	if (check_twice(reading, word - reading->words, text ? text : word->name))
		return -EINVAL;
	if (read_value(args, field, field->flags & WEIR_BARE ? word->name : text, model))
		return -EINVAL;
	reading->last = field;
	if (in)
		*(uint64_t *)reading->model |= in->bit;
	if (negate)
		*(uint32_t *)(model + in->nest->invert) |= field->bit;
	return 0;
}

/* Offer the words not seen yet; after "not", only conditions. */
static void offer_words(const struct reading *reading, bool negate)
{
	struct weir_word list[WEIR_WORDS_MAX + 1];
	const struct weir_field *field;
	size_t i, used = 0;
	bool any = false;

	for (i = 0; reading->words[i].name; i++) {
		field = reading->words[i].is;
		if ((reading->seen[i] && !(field->flags & WEIR_AGAIN)) ||
		    field->flags & WEIR_FIRST ||
		    (field->flags & WEIR_FOLLOWS && reading->last != field - 1) ||
		    (negate && !(field->flags & WEIR_NOT)))
			continue;
		any |= field->flags & WEIR_NOT;
		if (field->flags & WEIR_ALONE)
			weir_args_offer(reading->args, NULL, field);
		else
			list[used++] = reading->words[i];
	}
	if (any && !negate)
		list[used++] = (struct weir_word){ .name = "not" };
	list[used].name = NULL;
	weir_args_offer(reading->args, list, NULL);
}

/* Whether a token parses as a value of the field. */
static bool is_value(const struct weir_field *field, const char *token)
{
	union {
		struct weir_member member;
		struct weir_amount budget;
		uint16_t ports[2];
		uint64_t ms;
	} unused;
	struct weir_err err;
	struct weir_args args = { .err = &err };

	return !field->type->parse(field, &args, token, &unused);
}

/* Whether a token looks like a further element of the last list or pair. */
static bool continues_list(const struct reading *reading, const char *token)
{
	const struct weir_field *field = reading->last;

	if (field && field->type == &weir_type_per)
		return isdigit((unsigned char)*token);
	return field && field->many && is_value(field, token);
}

/* Is a value of the field unlike those of others? */
static bool takes_alike(const struct weir_field *field)
{
	return field->type == &weir_type_budget || !strcmp(field->word, "for");
}

/* A setting of what is deleted is not deleted alone. */
static int blame_del(struct reading *reading, const char *token)
{
	struct weir_word words[WEIR_WORDS_MAX];
	const struct weir_word *word;
	const char *name = weir_field_at(row(reading->words), reading->model);
	const struct weir_field *in;

	word = weir_word_find(weir_set_words(reading->set, WEIR_ON_SET, words), token);
	if (!word)
		return -EINVAL;
	in = word->in;
	if (in && in->many)
		return weir_err_set(reading->args->err, "del deletes the whole limit; to remove a budget, give those that stay: limit set %s only budget ...",
				    name);
	return weir_err_set(reading->args->err, "del deletes the whole limit; to change its '%s': limit set %s ...",
			    token, name);
}

/* Explain an unknown word: a value without its word, or a word of another command. */
static int blame_unknown(struct reading *reading, const char *token)
{
	struct weir_word words[WEIR_WORDS_MAX];
	char value[WEIR_TEXT_SIZE], *save, *part;
	struct weir_err *err = reading->args->err;
	const char *next = weir_args_peek(reading->args);
	const struct weir_word *word;

	if (reading->last && reading->last->type == &weir_type_comment)
		return weir_err_set(err, "'%.60s' stands behind a comment of one word; put one of several in quotes",
				    token);
	if (weir_word_find(reading->words, "dport") && blame_port(token, err))
		return -EINVAL;
	if (isdigit((unsigned char)*token) && reading->last &&
	    reading->last->type == &weir_type_proto)
		return weir_err_set(err, "for a port write 'dport %.60s'", token);
	if (isdigit((unsigned char)*token) && reading->last && !strcmp(reading->last->word, "mode"))
		return weir_err_set(err, "for the size of a bucket write 'bucket burst %.60s'",
				    token);
	word = next && isdigit((unsigned char)*token) ? weir_word_find(reading->words, next) : NULL;
	if (word && row(word)->type == &weir_type_uint)	/* 1M bytes */
		return weir_err_set(err, "write '%s %.60s'", next, token);
	if (continues_list(reading, token))
		return weir_err_set(err, WEIR_SEPARATE, reading->last->word);
	for (word = reading->words; word->name && isalnum((unsigned char)*token); word++) {
		part = strtok_r(weir_field_value(word->is, value), "|", &save);
		while (part && strcmp(part, token))
			part = strtok_r(NULL, "|", &save);
		if (part || (isdigit((unsigned char)*token) && takes_alike(row(word)) &&
			     is_value(word->is, token)))
			return weir_err_set(err, "'%s' is a value of '%s': write '%s %s'",
					    token, word->name, word->name, token);
	}
	if (weir_word_find(reading->words, "file"))
		return weir_err_set(err, "'%.60s' is no prefix; for a file of that name write 'file %.60s'",
				    token, token);
	word = weir_word_find(reading->words, "limit");
	if (word && err->unknown && isalpha((unsigned char)*token) &&
	    !weir_word_find(weir_set_words(reading->set, -1U, words), token))
		return weir_err_set(err, "%.300s; for limit '%.60s' write 'limit %.60s'",
				    err->text, token, token);
	if (reading->verb == WEIR_ON_DEL)
		return blame_del(reading, token);
	if (reading->verb == WEIR_ON_SET &&
	    weir_word_find(weir_set_words(reading->set, WEIR_ON_ADD, words), token))
		return weir_err_set(err, "'%s' cannot be changed; %s", token,
				    strcmp(token, "name") ? "add another limit instead" :
				    "to rename a limit: limit rename OLD NEW");
	return -EINVAL;
}

/* Is it a word, or does it abbreviate one? */
static bool is_word(const struct weir_word *words, const char *token)
{
	for (; words->name; words++) {
		if (!strncmp(words->name, token, strlen(token)))
			return true;
	}
	return false;
}

/*
 * The row of a value given without its word: an address, or a protocol ("tcp" for
 * "proto tcp"), except "ipv6", which is also a family.
 */
static const struct weir_word *find_wordless(const struct reading *reading, const char *token)
{
	bool proto = strcmp(token, "ipv6") && weir_proto_listed(token);
	const struct weir_field *field;
	const struct weir_word *word;

	for (word = reading->words; word->name; word++) {
		field = word->is;
		if (field->flags & WEIR_ALONE &&
		    (isdigit((unsigned char)*token) || strchr(token, ':')))
			return word;
		if (field->type == &weir_type_proto && proto)
			return word;
		if (field->flags & WEIR_LONE && !reading->seen[word - reading->words] &&
		    !is_word(reading->words, token))
			return word;
	}
	return NULL;
}

/* Parse one word with its value, or "not" and a condition. */
static int read_next(struct reading *reading)
{
	const struct weir_word *words = reading->words, *word;
	struct weir_args *args = reading->args;
	const char *token = weir_args_next(args), *value = NULL;
	bool negate = !strcmp(token, "not");

	if (negate) {
		token = weir_args_next(args);
		if (!token)
			offer_words(reading, true);
		if (!token)
			return weir_err_set(args->err, "'not' requires a condition");
		if (!strcmp(token, "not"))
			return weir_err_set(args->err, WEIR_TWICE, "not");
	}
	word = find_wordless(reading, token);
	if (word)
		value = token;
	while (words->name && row(words)->flags & (WEIR_FIRST | WEIR_ALONE))
		words++;
	if (!word)
		word = weir_pick(words, token, args->exact, "word", args->err);
	if (!word)
		return blame_unknown(reading, token);
	if (negate && !(row(word)->flags & WEIR_NOT))
		return weir_err_set(args->err, "'not' cannot precede '%s' here",
				    word->name);
	return read_word(reading, word, value, negate);
}

static bool has_word(const struct reading *reading, const char *name)
{
	const struct weir_word *word = name ? weir_word_find(reading->words, name) : NULL;

	return word && reading->seen[word - reading->words];
}

static int check_needed(const struct reading *reading)
{
	const struct weir_field *field;
	const struct weir_field *in;
	size_t i;

	reading->args->fault = -1;
	for (i = 0; reading->words[i].name; i++) {
		field = reading->words[i].is;
		in = reading->words[i].in;
		if (field->needed & reading->verb && (!in || in->many) && !reading->seen[i] &&
		    !has_word(reading, field->instead))
			return weir_field_required(field, reading->args->err);
	}
	return 0;
}

/* Explain a missing name: a keyword was taken for it. */
static int blame_first(const struct reading *reading, const char *first)
{
	struct weir_err *err = reading->args->err;

	if (!first || !weir_word_find(reading->words + 1, first))
		return -EINVAL;
	return weir_err_set(err, "%.400s ('%s' was taken as the %s)", err->text,
			    first, row(reading->words)->type->value);
}

/* A word that begins with a dash may follow at once, where the first value is optional. */
static bool is_dashed(const struct weir_word *word)
{
	return word->name[0] == '-';
}

static void offer_first(const struct reading *reading, const struct weir_word *first)
{
	struct weir_word list[WEIR_WORDS_MAX];
	const struct weir_word *word;
	size_t used = 0;

	weir_args_offer(reading->args, NULL, row(first));
	for (word = first; word->name; word++) {
		if (is_dashed(word))
			list[used++] = *word;
	}
	list[used].name = NULL;
	if (used)
		weir_args_offer(reading->args, list, NULL);
}

static bool leaves_first_out(const struct reading *reading, const struct weir_word *first)
{
	const char *token = weir_args_peek(reading->args);
	const struct weir_word *word = token ? weir_word_find(reading->words, token) : NULL;

	return word && is_dashed(word) && !(row(first)->needed & reading->verb);
}

static int read_all(struct reading *reading)
{
	const struct weir_field *field = reading->words[0].is;
	struct weir_args *args = reading->args;
	const char *first = NULL;
	const struct weir_word *word;
	int ret = 0;

	for (word = reading->words; word->name && row(word)->flags & WEIR_FIRST; word++) {
		if (leaves_first_out(reading, word))
			break;
		first = weir_args_next(args);
		if (!first)
			offer_first(reading, word);
		else if (read_word(reading, word, first, false))
			return -EINVAL;
		if (!first)
			break;
	}
	while (!ret && weir_args_peek(args))
		ret = read_next(reading);
	if (ret)
		return blame_first(reading, first);
	if (first || !(field && field->flags & WEIR_FIRST))
		offer_words(reading, false);
	return check_needed(reading);
}

int weir_parse(struct weir_args *args, const struct weir_set *set, unsigned int verb, void *model)
{
	struct reading reading = { .args = args, .set = set, .verb = verb, .model = model };
	static const struct weir_word none = { 0 };

	if (!set)
		return weir_args_peek(args) && !weir_args_pick(args, &none) ? -EINVAL : 0;
	memset(model, 0, set->size);
	weir_set_words(set, verb, reading.words);
	return read_all(&reading);
}
