// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Warn of limits and blocks that would match the caller's own ssh connection. Its addresses are
 * in SSH_CONNECTION, from sshd. sudo drops the variable, so the environments of the
 * parent processes are searched too.
 */

#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "config.h"
#include "tool.h"
#include "value.h"

#define VARIABLE	"SSH_CONNECTION"
/* Bound on the parent processes searched. */
#define PARENTS_MAX	32

struct ssh {
	struct weir_prefix peer, host;
	uint16_t peer_port, host_port;
	char dev[WEIR_DEV_SIZE];	/* for a link-local peer, else "" */
};

static bool read_address(char *text, struct weir_prefix *prefix, char dev[WEIR_DEV_SIZE])
{
	char *zone = strchr(text, '%');
	struct weir_err err;
	struct weir_args args = { .err = &err };

	if (zone) {
		*zone++ = '\0';
		snprintf(dev, WEIR_DEV_SIZE, "%s", zone);
	}
	return !weir_parse_address(NULL, &args, text, prefix);
}

static bool parse(const char *text, struct ssh *ssh)
{
	char peer[80], host[80], dev[WEIR_DEV_SIZE];

	memset(ssh, 0, sizeof(*ssh));
	if (sscanf(text, "%79s %" SCNu16 " %79s %" SCNu16, peer,
		   &ssh->peer_port, host, &ssh->host_port) != 4)
		return false;
	return read_address(peer, &ssh->peer, ssh->dev) && read_address(host, &ssh->host, dev);
}

static pid_t parent_of(pid_t pid)
{
	char path[64], line[256];
	pid_t parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "PPid: %d", &parent) == 1)
			break;
	}
	fclose(file);
	return parent;
}

static bool find_in(pid_t pid, struct ssh *ssh)
{
	static const char name[] = VARIABLE "=";
	char path[64], *entry = NULL;
	bool found = false;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && getdelim(&entry, &room, '\0', file) > 0) {
		if (!strncmp(entry, name, sizeof(name) - 1))
			found = parse(entry + sizeof(name) - 1, ssh);
	}
	free(entry);
	fclose(file);
	return found;
}

static bool find(struct ssh *ssh)
{
	const char *text = getenv(VARIABLE);
	pid_t pid = getppid();
	int i;

	if (text)
		return parse(text, ssh);
	for (i = 0; pid > 1 && i < PARENTS_MAX; i++, pid = parent_of(pid)) {
		if (find_in(pid, ssh))
			return true;
	}
	return false;
}

/* The known properties of packets of this connection, or of a new one, that are no fragments. */
static struct weir_match packet_of(const struct ssh *ssh)
{
	struct weir_match packet = {
		.has = ~(uint64_t)(WEIR_COND_MARK | WEIR_COND_SYN),
		.family = ssh->peer.family, .proto = { IPPROTO_TCP },
		.from = { ssh->peer }, .to = { ssh->host },
		.sport = { { ssh->peer_port, ssh->peer_port } },
		.dport = { { ssh->host_port, ssh->host_port } },
	};

	strcpy(packet.dev, ssh->dev);
	if (!*ssh->dev)
		packet.has &= ~(uint64_t)WEIR_COND_DEV;	/* unknown */
	return packet;
}

/* Whether the kernel exempts the peer now, from all limits or from @limit. */
static bool spared_now(struct weir_tool *tool, const struct ssh *ssh, const char *limit)
{
	struct weir_exempt asked = { .prefix = ssh->peer };
	struct weir_request request = {
		.cmd = WEIR_CMD_EXEMPT_GET, .set = &weir_exempt_fields,
		.verb = WEIR_ON_GET, .model = &asked,
	};

	strcpy(asked.dev, ssh->dev);
	strcpy(asked.limit, limit);
	return tool->reached && !weir_nl_ask(&tool->nl, &request);
}

/* Is the exemption certain to hold for the peer? */
static bool spares(const struct weir_exempt *exempt, const struct ssh *ssh, const char *limit)
{
	return !exempt->block && weir_prefix_holds(&exempt->prefix, &ssh->peer) &&
	       (!*exempt->limit || !strcmp(exempt->limit, limit)) &&
	       (!*exempt->dev || !strcmp(exempt->dev, ssh->dev));
}

/* Whether the configuration exempts the peer, also without the exemption @but, or NULL. */
static bool spared_then(const struct weir_config *config, const struct ssh *ssh,
			const char *limit, const struct weir_exempt *but)
{
	const struct weir_exempt *exempt;
	unsigned int i;

	for (i = 0; i < config->exempt_count; i++) {
		exempt = &config->exempts[i];
		if ((!but || weir_config_compare(exempt, but)) && spares(exempt, ssh, limit))
			return true;
	}
	return false;
}

/* Would the limit apply to the packet? Its lists are those of the configuration applied, or now. */
static bool meets(struct weir_tool *tool, const struct weir_match *packet,
		  const struct weir_match *match)
{
	struct weir_config *now;
	bool met;

	if (!(match->has & (WEIR_COND_FROM_LIST | WEIR_COND_TO_LIST)))
		return weir_packet_meets(packet, match);
	if (tool->config)
		return weir_config_meets(tool->config, packet, match);
	now = calloc(1, sizeof(*now));
	met = now && !weir_get_config(tool, now, true) && weir_config_meets(now, packet, match);
	if (now)
		weir_config_clear(now);
	free(now);
	return met;
}

/* The caller's connection to this network namespace, or NULL. */
static const struct ssh *own(const struct weir_tool *tool)
{
	static struct ssh ssh;
	static int found = -1;

	if (found < 0 && !tool->elsewhere)
		found = find(&ssh);
	return found > 0 && !tool->elsewhere ? &ssh : NULL;
}

static const char *which(const struct weir_limit *limit)
{
	return limit->match.has & ~limit->match.invert & WEIR_COND_SYN ? "new" : "own";
}

void weir_note_ssh(struct weir_tool *tool, const struct weir_limit *limit, bool exists)
{
	const struct ssh *ssh = limit->action == WEIR_ACTION_DROP ? own(tool) : NULL;
	struct weir_match packet;
	char buf[WEIR_TEXT_SIZE], sentence[160];

	if (!ssh)
		return;
	packet = packet_of(ssh);
	if (!meets(tool, &packet, &limit->match) ||
	    (tool->config ? spared_then(tool->config, ssh, limit->name, NULL) :
	     spared_now(tool, ssh, exists ? limit->name : "")))
		return;
	snprintf(sentence, sizeof(sentence),
		 " applies to your %s ssh connections; to exempt them: weir exempt add %.50s%s%s",
		 which(limit), weir_text_prefix(NULL, &ssh->peer, buf),
		 *ssh->dev ? " dev " : "", ssh->dev);
	weir_note_of(tool, "warning", limit->name, sentence);
}

/* Do addresses of a prefix, or with @source of the source that it is of, include the peer's? */
static bool is_blocked(const struct weir_exempt *block, const struct weir_limit *limit,
		       bool source, const struct ssh *ssh)
{
	struct weir_prefix peer = ssh->peer, outer = block->prefix;
	uint8_t per = limit->per[outer.family == AF_INET6];

	if (!source || peer.family != outer.family || per >= outer.len)
		return weir_prefix_holds(&outer, &peer);
	weir_prefix_cut(&outer, per);
	return weir_prefix_holds(&outer, &peer);
}

/* The configuration being applied, or that in force; or NULL. */
static const struct weir_config *config_of(struct weir_tool *tool)
{
	static struct weir_config there;

	if (tool->config)
		return tool->config;
	return tool->reached && !weir_get_config(tool, &there, true) ? &there : NULL;
}

static void warn_block(struct weir_tool *tool, const struct weir_exempt *block, bool source)
{
	const struct ssh *ssh = own(tool);
	const struct weir_config *config;
	const struct weir_limit *limit;
	struct weir_match packet;
	char buf[WEIR_TEXT_SIZE];

	if (!ssh || (*block->dev && *ssh->dev && strcmp(block->dev, ssh->dev)) ||
	    !(source || weir_prefix_holds(&block->prefix, &ssh->peer)))
		return;
	config = config_of(tool);
	if (!config)
		return;
	packet = packet_of(ssh);
	for (limit = config->limits; limit < config->limits + config->limit_count; limit++) {
		if ((*block->limit && strcmp(block->limit, limit->name)) ||
		    limit->action != WEIR_ACTION_DROP || !is_blocked(block, limit, source, ssh) ||
		    !weir_packet_meets(&packet, &limit->match) ||
		    spared_then(config, ssh, limit->name, NULL))
			continue;
		weir_note(tool, "warning",
			  "this blocks your own ssh connection under limit '%s'; to exempt it: weir exempt add %.50s%s%s",
			  limit->name, weir_text_prefix(NULL, &ssh->peer, buf),
			  *ssh->dev ? " dev " : "", ssh->dev);
		return;
	}
}

void weir_warn_block(struct weir_tool *tool, const void *model)
{
	warn_block(tool, model, false);
}

void weir_warn_source(struct weir_tool *tool, const void *model)
{
	const struct weir_query *query = model;
	struct weir_exempt block = { .prefix = query->prefix };

	strcpy(block.dev, query->dev);
	strcpy(block.limit, query->limit);
	warn_block(tool, &block, true);
}

/* Warn if the peer is exempt now, or is about to be, but not once @end has gone: NULL is all. */
static void warn_end(struct weir_tool *tool, const struct weir_exempt *end)
{
	const struct ssh *ssh = own(tool);
	char buf[WEIR_TEXT_SIZE], time[WEIR_TEXT_SIZE] = "", sentence[160];
	const struct weir_config *config;
	const struct weir_limit *limit;
	struct weir_match packet;

	if (!ssh || (end && !weir_prefix_holds(&end->prefix, &ssh->peer)))
		return;
	config = config_of(tool);
	if (!config)
		return;
	packet = packet_of(ssh);
	weir_text_prefix(NULL, &ssh->peer, buf);
	if (end && end->for_ms)
		weir_text_time(end->for_ms * 1000000, time);
	for (limit = config->limits; limit < config->limits + config->limit_count; limit++) {
		if (limit->action != WEIR_ACTION_DROP ||
		    !weir_config_meets(config, &packet, &limit->match) ||
		    (end ? !spares(end, ssh, limit->name) :
		     !spared_then(config, ssh, limit->name, NULL)) ||
		    (end && spared_then(config, ssh, limit->name, end)))
			continue;
		snprintf(sentence, sizeof(sentence),
			 " applies to your %s ssh connections %s%s: no other exemption holds %.50s",
			 which(limit), *time ? "after " : "again", time, buf);
		weir_note_of(tool, "warning", limit->name, sentence);
	}
}

void weir_warn_exempt(struct weir_tool *tool, const void *model)
{
	const struct weir_exempt *exempt = model;

	if (exempt->for_ms)
		warn_end(tool, exempt);
}

void weir_warn_unexempt(struct weir_tool *tool, const void *model)
{
	warn_end(tool, model);
}

void weir_warn_flush(struct weir_tool *tool, const void *model)
{
	warn_end(tool, NULL);
}
