// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * netlink: messages to the family, made by lot, and a judge of the answers
 *
 *	-s SEED		of the lot
 *	-n COUNT	messages
 *	-f FIRST	number of the first one: messages do not depend on each other
 *	-c N		the configuration is compared around one message in N (8)
 *	-r		a reader: may change nothing
 *	-o		others change the configuration, too: it is not compared
 *	-v		print each message and its answer
 *
 * Every message must be answered: done, or refused by an error that has a
 * sentence, and then nothing has changed. Of some the answer is not waited for. The last line says how often; the
 * status is 1 if an answer was wrong, with the message on stderr.
 */
#include <errno.h>
#include <getopt.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "message.h"

static struct options {
	uint64_t seed, count, first;
	unsigned int compare;
	bool reader, others, verbose;
} options = { .seed = 1, .count = 1000, .compare = 8 };

static struct tally {
	uint64_t done[64], refused[64], error[200], silent, compared;
} tally;

static void show(const struct message *message, const struct answer *answer)
{
	size_t i;

	fprintf(stderr, "%s%s: ", message->op->name, message->dump ? " (dump)" : "");
	for (i = 0; i < message->len; i++)
		fprintf(stderr, "%02x", message->byte[i]);
	fprintf(stderr, "\n  -> ");
	if (!answer->ended)
		fprintf(stderr, "no answer\n");
	else
		fprintf(stderr, "%s: %s (offset %u, %u parts)\n", strerror(answer->error),
			answer->msg, answer->offset, answer->parts);
}

/* Errors that say enough by themselves: no right, no such operation. */
static bool speaks(int error)
{
	return error == EPERM || error == EOPNOTSUPP;
}

/* What is wrong with an answer, or NULL. */
static const char *judge(const struct message *message,
			 const struct answer *answer)
{
	if (!message->sound)
		return NULL;
	if (answer->wrong)
		return answer->wrong;
	if (!answer->ended)
		return "no answer";
	if (options.reader && message->op->admin && !answer->error)
		return "a reader may do that";
	if (!answer->error)
		return NULL;
	if (answer->error < 0 || answer->error >= (int)(sizeof(tally.error) / sizeof(*tally.error)))
		return "no such error";
	if (!*answer->msg && !speaks(answer->error))
		return "refused without a sentence";
	if (answer->offset >= message->len)
		return "the fault is pointed at behind the message";
	return NULL;
}

static void count(const struct message *message, const struct answer *answer)
{
	unsigned int cmd = message->op->cmd;

	if (!answer->ended) {
		tally.silent++;
	} else if (answer->error) {
		tally.refused[cmd]++;
		tally.error[answer->error]++;
	} else if (message->sound) {
		tally.done[cmd]++;
	}
}

static int fault(uint64_t n, const struct message *message,
		 const struct answer *answer, const char *what)
{
	fprintf(stderr, "netlink: seed %llu, message %llu: %s\n",
		(unsigned long long)options.seed, (unsigned long long)n, what);
	show(message, answer);
	return -1;
}

/* One message, -1 if its answer is wrong. */
static int step(struct channel *talk, struct channel *look, uint64_t n)
{
	static struct message message;
	uint64_t before = 0, after;
	struct answer answer;
	struct dice dice;
	const char *what;
	bool compare;

	dice_seed(&dice, options.seed, n);
	message_make(&message, &dice, talk->family, n);
	compare = !options.others && !dice_of(&dice, options.compare);
	if (!dice_of(&dice, 100))
		return channel_abandon(talk, message.byte, message.len);
	if (compare && channel_config(look, &before))
		return fault(n, &message, &answer, "the configuration cannot be read");
	if (channel_ask(talk, message.byte, message.len, n, message.op->set, &answer))
		return fault(n, &message, &answer, "the channel is broken");
	what = judge(&message, &answer);
	if (what)
		return fault(n, &message, &answer, what);
	if (options.verbose)
		show(&message, &answer);
	count(&message, &answer);
	if (!compare || (!options.reader && (!answer.error || !message.sound)))
		return 0;
	tally.compared++;
	if (channel_config(look, &after))
		return fault(n, &message, &answer, "the configuration cannot be read");
	return before == after ? 0 :
	       fault(n, &message, &answer, "refused, and the configuration has changed");
}

static void report(void)
{
	uint64_t done = 0, refused = 0;
	unsigned int i;

	for (i = 0; i < ops_count; i++) {
		printf("%-15s %8llu done %8llu refused\n", ops[i].name,
		       (unsigned long long)tally.done[ops[i].cmd],
		       (unsigned long long)tally.refused[ops[i].cmd]);
		done += tally.done[ops[i].cmd];
		refused += tally.refused[ops[i].cmd];
	}
	for (i = 0; i < sizeof(tally.error) / sizeof(*tally.error); i++)
		if (tally.error[i])
			printf("%8llu %s\n", (unsigned long long)tally.error[i], strerror(i));
	printf("seed=%llu done=%llu refused=%llu silent=%llu compared=%llu\n",
	       (unsigned long long)options.seed, (unsigned long long)done,
	       (unsigned long long)refused, (unsigned long long)tally.silent,
	       (unsigned long long)tally.compared);
}

static int run(void)
{
	struct channel talk, look;
	uint64_t n;
	int status = 0;

	if (channel_open(&talk) || channel_open(&look)) {
		fprintf(stderr, "netlink: no family: %s\n", strerror(errno));
		return -1;
	}
	for (n = options.first; !status && n < options.first + options.count; n++)
		status = step(&talk, &look, n);
	channel_close(&talk);
	channel_close(&look);
	if (!status)
		report();
	return status;
}

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "s:n:f:c:rov")) != -1) {
		switch (opt) {
		case 's': options.seed = strtoull(optarg, NULL, 0); break;
		case 'n': options.count = strtoull(optarg, NULL, 0); break;
		case 'f': options.first = strtoull(optarg, NULL, 0); break;
		case 'c': options.compare = atoi(optarg); break;
		case 'r': options.reader = true; break;
		case 'o': options.others = true; break;
		case 'v': options.verbose = true; break;
		default: return 2;
		}
	}
	return run() ? 1 : 0;
}
