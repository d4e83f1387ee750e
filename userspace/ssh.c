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
#define ADVICE_SIZE	160

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

/* Is the exemption certain to hold for the peer, until it ends? */
static bool spares(const struct weir_exempt *exempt, const struct ssh *ssh, const char *limit)
{
	return !exempt->block && weir_prefix_holds(&exempt->prefix, &ssh->peer) &&
	       (!*exempt->limit || !strcmp(exempt->limit, limit)) &&
	       (!*exempt->dev || !strcmp(exempt->dev, ssh->dev));
}

/* The exemption that spares the peer longest, of those that end; or NULL. */
static const struct weir_exempt *spared_until(const struct weir_config *config,
					      const struct ssh *ssh, const char *limit)
{
	const struct weir_exempt *at = config->exempts, *last = NULL;

	for (; at < config->exempts + config->exempt_count; at++)
		if (at->for_ms && spares(at, ssh, limit) && (!last || at->for_ms > last->for_ms))
			last = at;
	return last;
}

/* Whether the configuration exempts the peer for good, also without the exemption @but, or NULL. */
static bool spared_then(const struct weir_config *config, const struct ssh *ssh,
			const char *limit, const struct weir_exempt *but)
{
	const struct weir_exempt *exempt;
	unsigned int i;

	for (i = 0; i < config->exempt_count; i++) {
		exempt = &config->exempts[i];
		if (!exempt->for_ms && (!but || weir_config_compare(exempt, but)) &&
		    spares(exempt, ssh, limit))
			return true;
	}
	return false;
}

/* The configuration being applied, or that in force; or NULL. */
static const struct weir_config *config_of(struct weir_tool *tool)
{
	return tool->config ? tool->config : weir_there(tool, true);
}

/* Would the limit apply to the packet? Its lists are those of the configuration applied, or now. */
static bool meets(struct weir_tool *tool, const struct weir_match *packet,
		  const struct weir_match *match)
{
	const struct weir_config *config;

	if (!(match->has & (WEIR_COND_FROM_LIST | WEIR_COND_TO_LIST)))
		return weir_packet_meets(packet, match);
	config = config_of(tool);
	return config && weir_config_meets(config, packet, match);
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

int weir_own_allowed(struct weir_tool *tool)
{
	if (!tool->meets_own || tool->force || tool->confirm)
		return WEIR_EXIT_OK;
	if (tool->check) {
		/* A batch may exempt the caller before. */
		if (!tool->batch)
			weir_note(tool, "note", "without '-confirm 60s' or '-force' this is refused");
		return WEIR_EXIT_OK;
	}
	weir_err_set(&tool->err, "not done: with '-confirm 60s' it is taken back unless you confirm it; with '-force' it stays");
	return WEIR_EXIT_REFUSED;
}

/* Does another configuration leave the peer less of a limit, by its list of budgets? */
static bool shrinks(const struct weir_config *was, const struct weir_limit *limit_was,
		    const struct weir_config *config, const struct weir_limit *limit,
		    const struct ssh *ssh)
{
	const struct weir_member *before = weir_config_budget(was, limit_was, &ssh->peer);
	const struct weir_member *after = weir_config_budget(config, limit, &ssh->peer);

	return (after ? after->budget : limit->budgets[0].amount.count) <
	       (before ? before->budget : limit_was->budgets[0].amount.count);
}

/* Does a limit that is in force apply to the connection in the same words? */
static bool met_before(struct weir_tool *tool, const struct ssh *ssh,
		       const struct weir_limit *limit)
{
	struct weir_match packet = packet_of(ssh);
	struct weir_err err = tool->err;
	char text[WEIR_DIFFERS_SIZE];
	const struct weir_limit *was;
	struct weir_config *there;

	there = weir_tool_reach(tool) ? NULL : weir_there(tool, true);
	was = there ? weir_config_find(there, limit->name) : NULL;
	tool->err = err;
	return was && was->action == WEIR_ACTION_DROP &&
	       (!weir_limit_differs(limit, was, text) || !strcmp(text, "comment")) &&
	       weir_config_meets(there, &packet, &was->match) &&
	       !(tool->config && shrinks(there, was, tool->config, limit, ssh)) &&
	       !spared_then(there, ssh, was->name, NULL);
}

/* The prefix that is blocked already and has the peer under the limit, or NULL. */
static const struct weir_exempt *blocked_by(const struct weir_config *config,
					    const struct ssh *ssh, const struct weir_limit *limit)
{
	const struct weir_exempt *at;
	unsigned int i;

	for (i = 0; config && i < config->exempt_count; i++) {
		at = &config->exempts[i];
		if (at->block && weir_prefix_holds(&at->prefix, &ssh->peer) &&
		    (!*at->limit || !strcmp(at->limit, limit->name)) &&
		    (!*at->dev || !*ssh->dev || !strcmp(at->dev, ssh->dev)))
			return at;
	}
	return NULL;
}

static const char *which(const struct weir_limit *limit)
{
	return limit->match.has & ~limit->match.invert & WEIR_COND_SYN ? "new" : "own";
}

/*
 * How to exempt the peer from what is said. A file replaces the exemptions in force, so it has to
 * have this one itself; a saved state cannot.
 */
static const char *advice(const struct weir_tool *tool, const struct ssh *ssh, const char *what,
			  char text[ADVICE_SIZE])
{
	char buf[WEIR_TEXT_SIZE];

	snprintf(text, ADVICE_SIZE, "; to exempt %s%sexempt add %.50s%s%s%s", what,
		 tool->config ? ", the file needs '" : ": weir ",
		 weir_text_prefix(NULL, &ssh->peer, buf), *ssh->dev ? " dev " : "", ssh->dev,
		 tool->config ? "'" : "");
	return tool->saved ? "" : text;
}

/* Say that a limit, which matches the connection, applies to it; false: that is no harm. */
static bool warn_limit(struct weir_tool *tool, const struct ssh *ssh,
		       const struct weir_limit *limit, const struct weir_config *config)
{
	char buf[WEIR_TEXT_SIZE], block[WEIR_TEXT_SIZE] = "", how[ADVICE_SIZE], sentence[300];
	const struct weir_exempt *by = blocked_by(config, ssh, limit);

	if (!by && limit->blocks_only)
		return false;
	if (by)
		snprintf(block, sizeof(block), ", which the blocked prefix %.50s covers",
			 weir_text_prefix(NULL, &by->prefix, buf));
	snprintf(sentence, sizeof(sentence),
		 " applies to your %s ssh connections%s%s", which(limit), block,
		 advice(tool, ssh, "them", how));
	weir_note_of(tool, "warning", limit->name, sentence);
	return true;
}

/* It applies again, or from when the exemption @end has gone, which may be NULL. */
static void warn_again(struct weir_tool *tool, const struct ssh *ssh,
		       const struct weir_limit *limit, const struct weir_exempt *end)
{
	char buf[WEIR_TEXT_SIZE], time[WEIR_TEXT_SIZE] = "", sentence[160];

	if (end && end->for_ms)
		weir_text_time(end->for_ms * 1000000, time);
	snprintf(sentence, sizeof(sentence),
		 " applies to your %s ssh connections %s%s: no other exemption holds %.50s",
		 which(limit), *time ? "after " : "again", time,
		 weir_text_prefix(NULL, &ssh->peer, buf));
	weir_note_of(tool, "warning", limit->name, sentence);
}

void weir_note_ssh(struct weir_tool *tool, const struct weir_limit *limit)
{
	const struct ssh *ssh = limit->action == WEIR_ACTION_DROP ? own(tool) : NULL;
	const struct weir_config *config;
	const struct weir_exempt *end;
	struct weir_match packet;

	if (!ssh)
		return;
	packet = packet_of(ssh);
	if (!meets(tool, &packet, &limit->match))
		return;
	config = config_of(tool);
	if (config && spared_then(config, ssh, limit->name, NULL))
		return;
	end = config ? spared_until(config, ssh, limit->name) : NULL;
	/* That of a file has a warning of its own. */
	if (end && !tool->config)
		warn_again(tool, ssh, limit, end);
	if (end)
		return;
	if (warn_limit(tool, ssh, limit, tool->config ? NULL : config))
		tool->meets_own |= !met_before(tool, ssh, limit);
}

void weir_warn_lists(struct weir_tool *tool, const struct weir_config *was,
		     const struct weir_config *config)
{
	const struct ssh *ssh = own(tool);
	const struct weir_limit *limit;
	struct weir_match packet;

	if (!ssh)
		return;
	packet = packet_of(ssh);
	for (limit = config->limits; limit < config->limits + config->limit_count; limit++)
		if (limit->action == WEIR_ACTION_DROP &&
		    weir_config_meets(config, &packet, &limit->match) &&
		    (!weir_config_meets(was, &packet, &limit->match) ||
		     shrinks(was, limit, config, limit, ssh)) &&
		    !spared_then(config, ssh, limit->name, NULL))
			tool->meets_own |= warn_limit(tool, ssh, limit, config);
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

static void warn_block(struct weir_tool *tool, const struct weir_exempt *block, bool source)
{
	const struct ssh *ssh = own(tool);
	const struct weir_config *config;
	const struct weir_limit *limit;
	char how[ADVICE_SIZE], buf[WEIR_TEXT_SIZE];
	struct weir_match packet;

	if (block->prefix.family && !block->prefix.len && !*block->dev)
		weir_note(tool, "warning", "%s is every %s source: all packets that match %s are dropped",
			  weir_text_prefix(NULL, &block->prefix, buf),
			  block->prefix.family == AF_INET ? "IPv4" : "IPv6",
			  *block->limit ? "the limit" : "a limit");
	if (!ssh || (*block->dev && *ssh->dev && strcmp(block->dev, ssh->dev)) ||
	    !(source || weir_prefix_holds(&block->prefix, &ssh->peer)))
		return;
	config = config_of(tool);
	if (!config)
		return;
	if (!source && !config->limit_count)
		weir_note(tool, "warning", "this blocks your own ssh connection as soon as a limit applies to it");
	packet = packet_of(ssh);
	for (limit = config->limits; limit < config->limits + config->limit_count; limit++) {
		if ((*block->limit && strcmp(block->limit, limit->name)) ||
		    limit->action != WEIR_ACTION_DROP || !is_blocked(block, limit, source, ssh) ||
		    !weir_packet_meets(&packet, &limit->match) ||
		    spared_then(config, ssh, limit->name, NULL))
			continue;
		weir_note(tool, "warning",
			  "this blocks your own ssh connection under limit '%s'%s",
			  limit->name, advice(tool, ssh, "it", how));
		tool->meets_own = true;
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
	const struct weir_config *config;
	const struct weir_limit *limit;
	struct weir_match packet;

	if (!ssh || (end && !weir_prefix_holds(&end->prefix, &ssh->peer)))
		return;
	config = config_of(tool);
	if (!config)
		return;
	packet = packet_of(ssh);
	for (limit = config->limits; limit < config->limits + config->limit_count; limit++) {
		if (limit->action != WEIR_ACTION_DROP ||
		    !weir_config_meets(config, &packet, &limit->match) ||
		    (end ? !spares(end, ssh, limit->name) :
		     !spared_then(config, ssh, limit->name, NULL)) ||
		    (end && spared_then(config, ssh, limit->name, end)))
			continue;
		warn_again(tool, ssh, limit, end);
		tool->meets_own |= !(end && end->for_ms);
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
