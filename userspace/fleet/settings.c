// SPDX-License-Identifier: GPL-2.0-or-later
/* Settings, from options and a file with the same words. */

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lang/word.h"
#include "settings.h"

#define TO(member)	offsetof(struct fleet_settings, member)

const struct fleet_option fleet_options[] = {
	{ "-settings", "FILE", "read this instead of " FLEET_SETTINGS, TO(file), false },
	{ "-server", "URL[,URL]", "servers of NATS (" FLEET_URL ")", TO(server), true },
	{ "-group", "GROUP", "group of hosts with one configuration", TO(group), true },
	{ "-host", "NAME", "name of this host (its host name)", TO(host), true },
	{ "-share", "LIMIT[,LIMIT]|all", "limits whose blocks the whole group has",
	  TO(share), true },
	{ "-replicas", "NUMBER", "servers of a cluster that keep what is pushed (1)",
	  TO(replicas), true },
	{ "-state", "DIR", "where the agent keeps what it applied (" FLEET_STATE ")",
	  TO(state), true },
	{ "-nkey", "PUBLIC", "public key of the user, with -seed", TO(nkey), true },
	{ "-seed", "FILE", "private key of the user", TO(seed), true },
	{ "-creds", "FILE", "credentials of the user: a JWT and its key", TO(creds), true },
	{ "-ca", "FILE", "who may sign the server's certificate; requires TLS", TO(ca), true },
	{ "-cert", "FILE", "certificate for the server to check, with -key", TO(cert), true },
	{ "-key", "FILE", "its private key", TO(key), true },
	{ "-json", NULL, "print JSON", TO(json), false },
	{ "-pretty", NULL, "indent JSON", TO(pretty), false },
	{ "-version", NULL, "print its version", TO(version), false },
	{ "-help", NULL, "print this", TO(help), false },
	{ 0 }
};

static const struct weir_word *words_of(bool setting, struct weir_word words[WEIR_WORDS_MAX])
{
	const struct fleet_option *option;
	size_t used = 0;

	for (option = fleet_options; option->name; option++)
		if (!setting || option->setting)
			words[used++] = (struct weir_word){ .name = option->name + setting,
							    .is = option };
	words[used].name = NULL;
	return words;
}

static int take(struct fleet_settings *settings, const struct fleet_option *option,
		const char *value, struct weir_err *err)
{
	void *to = (char *)settings + option->to;

	if (!option->value) {
		*(bool *)to = true;
		return 0;
	}
	if (!value || !*value)
		return weir_err_set(err, WEIR_NO_VALUE, option->name, option->value);
	if (*(const char **)to)
		return weir_err_set(err, WEIR_TWICE, option->name);
	*(const char **)to = value;
	return 0;
}

int fleet_settings_take(struct fleet_settings *settings, int argc, char **argv,
			struct weir_err *err)
{
	struct weir_word words[WEIR_WORDS_MAX];
	const struct fleet_option *option;
	const struct weir_word *word;
	int at;

	for (at = 1; at < argc && argv[at][0] == '-' && argv[at][1]; at++) {
		word = weir_pick(words_of(false, words), argv[at] + (argv[at][1] == '-'), false,
				 "option", err);
		if (!word)
			return -EINVAL;
		option = word->is;
		if (option->value)
			at++;
		if (take(settings, option, argv[at], err))
			return -EINVAL;
	}
	return at;
}

/* Read a file of text into *@to; 0, or -EINVAL with a sentence. */
static int read_all(FILE *file, char **to, struct weir_err *err)
{
	size_t room = 0;
	ssize_t size = getdelim(to, &room, '\0', file);

	if (ferror(file))
		return weir_err_set(err, "%s", strerror(errno));
	if (size < 0 && *to)
		**to = '\0';
	return feof(file) ? 0 : weir_err_set(err, "a zero byte is no text");
}

/* A line is the name of an option, without its dash, and a value; options come first. */
static int take_line(struct fleet_settings *settings, struct fleet_settings *lines, char *line,
		     struct weir_err *err)
{
	struct weir_word words[WEIR_WORDS_MAX];
	const struct fleet_option *option;
	const struct weir_word *word;
	char *parts[3];
	int count = weir_split(line, parts, 3);

	if (!count)
		return 0;
	if (count < 0 || count > 2)
		return weir_err_set(err, "a setting is a word and a value");
	word = weir_pick(words_of(true, words), parts[0], true, "setting", err);
	if (!word)
		return -EINVAL;
	option = word->is;
	if (take(lines, option, count > 1 ? parts[1] : NULL, err))
		return -EINVAL;
	if (!*(const char **)((char *)settings + option->to))
		return take(settings, option, parts[1], err);
	return 0;
}

static int read_file(struct fleet_settings *settings, FILE *file, const char *path,
		     struct weir_err *err)
{
	struct fleet_settings lines = { 0 };
	char *line, *rest;
	int number = 0;

	if (read_all(file, &settings->text, err))
		return weir_err_set(err, "settings %.200s: %.250s", path, err->text);
	rest = settings->text;
	while (rest && (line = strsep(&rest, "\n"))) {
		number++;
		if (take_line(settings, &lines, line, err))
			return weir_err_set(err, "%.200s:%d: %.250s", path, number, err->text);
	}
	return 0;
}

static bool is_name(const char *name, size_t most)
{
	size_t length = strspn(name, FLEET_LETTERS);

	return length && length < most && !name[length];
}

bool fleet_is_group(const char *name)
{
	return is_name(name, FLEET_NAME_SIZE);
}

bool fleet_is_host(const char *name)
{
	char copy[FLEET_HOST_SIZE], *rest = copy, *part;

	if (strlen(name) >= sizeof(copy))
		return false;
	strcpy(copy, name);
	while ((part = strsep(&rest, ".")))
		if (!is_name(part, sizeof(copy)))
			return false;
	return true;
}

/* The library does not say which file it cannot read. */
static int check_files(const struct fleet_settings *settings, struct weir_err *err)
{
	const char *const files[][2] = {
		{ "-ca", settings->ca }, { "-cert", settings->cert }, { "-key", settings->key },
		{ "-seed", settings->seed }, { "-creds", settings->creds },
	};
	unsigned int i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i][1] && access(files[i][1], R_OK))
			return weir_err_set(err, "%s %.200s: %s", files[i][0], files[i][1],
					    strerror(errno));
	return 0;
}

static int check(struct fleet_settings *settings, struct weir_err *err)
{
	char *end;

	if (settings->group && !fleet_is_group(settings->group))
		return weir_err_set(err, "'%.80s' cannot name a group: letters, digits, '-' and '_', up to %d",
				    settings->group, FLEET_NAME_SIZE - 1);
	if (settings->replicas) {
		settings->keepers = strtoul(settings->replicas, &end, 10);
		if (!isdigit((unsigned char)*settings->replicas) || *end || !settings->keepers ||
		    settings->keepers > FLEET_REPLICAS_MOST)
			return weir_err_set(err, "'%.60s' cannot be a number of replicas: 1 to %d",
					    settings->replicas, FLEET_REPLICAS_MOST);
	}
	if (!settings->nkey != !settings->seed)
		return weir_err_set(err, "'-nkey' and '-seed' belong together: the public key and the file of the private one");
	if (settings->nkey && settings->creds)
		return weir_err_set(err, WEIR_COMBINED, "-nkey", "-creds");
	if (!settings->cert != !settings->key)
		return weir_err_set(err, "'-cert' and '-key' belong together: a certificate and its private key");
	return check_files(settings, err);
}

int fleet_settings_read(struct fleet_settings *settings, struct weir_err *err)
{
	const char *path = settings->file ? settings->file : FLEET_SETTINGS;
	FILE *file = fopen(path, "re");
	int ret = 0;

	if (file) {
		ret = read_file(settings, file, path, err);
		fclose(file);
	} else if (settings->file || errno != ENOENT) {
		return weir_err_set(err, "settings %.200s: %s", path, strerror(errno));
	}
	if (ret)
		return ret;
	if (!settings->server)
		settings->server = FLEET_URL;
	if (!settings->state)
		settings->state = FLEET_STATE;
	if (!settings->host) {
		gethostname(settings->name, sizeof(settings->name) - 1);
		settings->host = settings->name;
	}
	return check(settings, err);
}

void fleet_settings_free(struct fleet_settings *settings)
{
	free(settings->text);
}
