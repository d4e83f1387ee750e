// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts of shared limits, between the module, the books and NATS. Each limit has its books, an
 * interval at which its counts are read, and a subject of its own: weir.GROUP.counts.LIMIT. What
 * others say there waits in a queue, for the library delivers it in a thread of its own. It is
 * charged when it comes, in the slots of the last dump. All that is done in another thread, so that
 * counts do not wait for weir, nor for answers of the server.
 *
 * Books begin anew with each connection, and when the limit's budgets change: then nobody is told
 * twice, nor what nobody can tell apart any more.
 *
 * A limit is joined while its counts are told, and another host is heard, or there is none. The
 * module believes that for LEASE_MS, so that an agent that is killed leaves a limit that is alone.
 */

#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "block.h"
#include "books.h"
#include "canary.h"
#include "child.h"
#include "fleet.h"
#include "module.h"
#include "shares.h"

#define LIMITS_MAX	1024	/* so far: messages for one that is gone may be on their way */
#define QUEUE_MAX	4096	/* messages that wait */
#define INTERVALS	50	/* in the shortest window */
#define SLOT_BASE	1000	/* number of the first slot of books: there are some before it */
#define HEARD_MS	10000	/* in which a peer says something */
#define LEASE_MS	5000	/* for which the module has a limit joined */
#define RENEW_MS	1000
#define IDLE_MS		60000
#define NEVER		INT64_MAX

struct limit {
	struct limit *next;
	struct fleet_shares *shares;
	char name[WEIR_NAME_SIZE];
	char subject[FLEET_NAME_SIZE + FLEET_KEY_SIZE + 16];
	natsSubscription *subscription;
	struct fleet_books *books;	/* or NULL */
	struct fleet_shape shape;
	struct fleet_books_counts before;	/* of earlier books */
	struct fleet_room in_books, in_message;
	uint64_t begin_ns[WEIR_BUDGETS_MAX];	/* of slot SLOT_BASE, by the module's clock */
	uint64_t since_ns, since_next_ns;
	uint16_t interval_ms;
	int64_t due_ms;
	int64_t read_ms;		/* when the last dump began */
	int64_t checked_ms;
	int64_t heard_ms;		/* when a peer was heard last, or 0; over all books */
	bool joined;
	int64_t renew_ms;
	struct fleet_addition addition;
	bool wanted;			/* it is still shared */
	bool failed;			/* until the next fleet_shares_refresh() */
	char said[sizeof(((struct weir_err *)0)->text)];
};

struct message {
	struct message *next;
	struct limit *limit;
	natsMsg *msg;
};

struct fleet_shares {
	char host[FLEET_HOST_SIZE], group[FLEET_NAME_SIZE];
	pthread_t thread;
	int fd;				/* readable: there is something to do */
	pthread_mutex_t lock;		/* protects the next 10 fields, and limits */
	bool ends;
	struct fleet_bus *bus;		/* or NULL: this host is alone */
	struct fleet_module module;
	struct limit *limits;
	unsigned int count;
	int64_t late_ms;	/* the most that an announcement was late */
	unsigned int others;	/* hosts that should be heard */
	uint64_t beyond;	/* LIMITS_MAX; grows while there are such limits */
	struct fleet_room in_limits, in_queue;
	pthread_mutex_t queue;		/* protects the next 4 fields; taken last */
	struct message *first, **last;
	unsigned int waiting;
	uint64_t overrun;		/* messages for which there was no room */
};

static void wake(const struct fleet_shares *shares)
{
	const uint64_t one = 1;
	ssize_t ret;

	ret = write(shares->fd, &one, sizeof(one));
	(void)ret;	/* it is readable all the same */
}

/* In a thread of the library. */
static void arrived(natsConnection *connection, natsSubscription *subscription, natsMsg *msg,
		    void *data)
{
	struct limit *limit = data;
	struct fleet_shares *shares = limit->shares;
	struct message *message;

	/* A consumer delivers here what its maker writes to another subject, which stays. */
	if (strcmp(natsMsg_GetSubject(msg), limit->subject)) {
		natsMsg_Destroy(msg);
		return;
	}
	message = malloc(sizeof(*message));
	pthread_mutex_lock(&shares->queue);
	if (!message || shares->waiting == QUEUE_MAX) {
		shares->overrun++;
		natsMsg_Destroy(msg);
		free(message);
	} else {
		*message = (struct message){ .limit = limit, .msg = msg };
		*shares->last = message;
		shares->last = &message->next;
		shares->waiting++;
	}
	pthread_mutex_unlock(&shares->queue);
	wake(shares);
}

static struct message *take(struct fleet_shares *shares)
{
	struct message *message;

	pthread_mutex_lock(&shares->queue);
	message = shares->first;
	if (message) {
		shares->first = message->next;
		if (!shares->first)
			shares->last = &shares->first;
		shares->waiting--;
	}
	pthread_mutex_unlock(&shares->queue);
	return message;
}

static uint64_t get_overrun(struct fleet_shares *shares)
{
	uint64_t overrun;

	pthread_mutex_lock(&shares->queue);
	overrun = shares->overrun;
	pthread_mutex_unlock(&shares->queue);
	return overrun;
}

static void free_message(struct message *message)
{
	natsMsg_Destroy(message->msg);
	free(message);
}

static void sum(struct fleet_books_counts *to, const struct fleet_books_counts *from)
{
	to->announced += from->announced;
	to->left_out += from->left_out;
	to->heard += from->heard;
	to->capped += from->capped;
	to->no_room += from->no_room;
	to->malformed += from->malformed;
	to->babbled += from->babbled;
	to->repeated += from->repeated;
	to->lost += from->lost;
}

static void end_books(struct limit *limit)
{
	if (limit->books)
		sum(&limit->before, fleet_books_counts(limit->books));
	fleet_books_free(limit->books);
	limit->books = NULL;
	limit->since_ns = 0;
}

/* If the module does not answer, it does so when the time is over. */
static void separate(struct limit *limit)
{
	struct weir_err unused;

	if (limit->joined)
		fleet_module_join(&limit->shares->module, limit->name, 0, &unused);
	limit->joined = false;
	limit->renew_ms = 0;
}

static void leave(struct limit *limit)
{
	natsSubscription_Destroy(limit->subscription);
	limit->subscription = NULL;
	end_books(limit);
	limit->heard_ms = 0;
	separate(limit);
}

void fleet_shares_free(struct fleet_shares *shares)
{
	struct message *message;
	struct limit *limit;

	if (!shares)
		return;
	pthread_mutex_lock(&shares->lock);
	shares->ends = true;
	pthread_mutex_unlock(&shares->lock);
	wake(shares);
	pthread_join(shares->thread, NULL);
	while ((message = take(shares)))
		free_message(message);
	while ((limit = shares->limits)) {
		shares->limits = limit->next;
		free(limit);
	}
	fleet_module_close(&shares->module);
	pthread_mutex_destroy(&shares->queue);
	pthread_mutex_destroy(&shares->lock);
	close(shares->fd);
	free(shares);
}

void fleet_shares_join(struct fleet_shares *shares, struct fleet_bus *bus)
{
	struct limit *limit;

	pthread_mutex_lock(&shares->lock);
	shares->bus = bus;
	shares->others = 1;
	for (limit = shares->limits; limit && !bus; limit = limit->next)
		leave(limit);
	pthread_mutex_unlock(&shares->lock);
}

void fleet_shares_expect(struct fleet_shares *shares, unsigned int others)
{
	pthread_mutex_lock(&shares->lock);
	shares->others = others;
	pthread_mutex_unlock(&shares->lock);
}

static void say_once(struct limit *limit, const char *text)
{
	if (!strcmp(limit->said, text))
		return;
	snprintf(limit->said, sizeof(limit->said), "%s", text);
	fleet_say("counts of limit '%s' are not shared: %s", limit->name, text);
}

static struct limit *find(struct fleet_shares *shares, const char *name)
{
	struct limit *limit;

	for (limit = shares->limits; limit; limit = limit->next)
		if (!strcmp(limit->name, name))
			return limit;
	if (shares->count == LIMITS_MAX || strlen(name) >= sizeof(limit->name))
		return NULL;
	limit = calloc(1, sizeof(*limit));
	if (!limit)
		return NULL;
	strcpy(limit->name, name);
	snprintf(limit->subject, sizeof(limit->subject), "weir.%s.counts.", shares->group);
	if (!fleet_escape(limit->subject, sizeof(limit->subject), name, "")) {
		free(limit);
		return NULL;
	}
	limit->shares = shares;
	limit->next = shares->limits;
	shares->limits = limit;
	shares->count++;
	return limit;
}

/* In the configuration in force. */
static void mark_wanted(struct fleet_shares *shares, const json_t *limits)
{
	const char *name, *sharing;
	struct limit *limit;
	json_t *json;
	size_t i;

	for (limit = shares->limits; limit; limit = limit->next)
		limit->wanted = false;
	json_array_foreach(limits, i, json) {
		name = json_string_value(json_object_get(json, "limit"));
		sharing = json_string_value(json_object_get(json, "sharing"));
		if (!name || !sharing || strcmp(sharing, "shared"))
			continue;
		limit = find(shares, name);
		if (limit)
			limit->wanted = true;
		else
			shares->beyond++;
	}
	fleet_room(&shares->in_limits, shares->beyond, "all shared limits", "");
}

/* Of those that are wanted. */
static int subscribe(struct fleet_shares *shares, struct weir_err *err)
{
	struct limit *limit;
	natsStatus status;

	for (limit = shares->limits; limit; limit = limit->next) {
		if (limit->failed)
			limit->due_ms = 0;
		limit->failed = false;
		if (!limit->wanted && limit->subscription)
			leave(limit);
		if (!limit->wanted || limit->subscription)
			continue;
		status = natsConnection_Subscribe(&limit->subscription, shares->bus->connection,
						  limit->subject, arrived, limit);
		if (status)
			return fleet_bus_error(shares->bus, status, limit->subject, err);
		limit->due_ms = 0;
	}
	return 0;
}

int fleet_shares_refresh(struct fleet_shares *shares, struct weir_err *err)
{
	const char *const words[] = { "-json", "limit", "show", NULL };
	json_t *limits = fleet_weir_json(words);
	int ret;

	pthread_mutex_lock(&shares->lock);
	if (limits)
		mark_wanted(shares, limits);
	ret = subscribe(shares, err);
	pthread_mutex_unlock(&shares->lock);
	json_decref(limits);
	wake(shares);
	return ret;
}

/* When the next limit is due. */
static int64_t next_due(const struct fleet_shares *shares)
{
	const struct limit *limit;
	int64_t next = NEVER;

	for (limit = shares->limits; limit; limit = limit->next)
		if (limit->subscription && !limit->failed && limit->due_ms < next)
			next = limit->due_ms;
	return next;
}

/* Counts in slots that are as long as each other; a total has one that does not end. */
static bool read_shape(const struct fleet_dump *dump, struct fleet_shape *shape)
{
	const struct fleet_budget *budget;
	unsigned int i;

	memset(shape, 0, sizeof(*shape));
	shape->budgets = dump->budgets;
	for (i = 0; i < dump->budgets; i++) {
		budget = &dump->budget[i];
		if ((budget->mode != WEIR_MODE_STRICT && budget->mode != WEIR_MODE_LENIENT) ||
		    !budget->slots || budget->slots > WEIR_SLOTS_MAX || !budget->budget)
			return false;
		shape->ring[i] = (struct fleet_ring){
			.budget = budget->budget,
			.slot_ns = budget->slot_ns ? budget->slot_ns : NEVER,
			.reach = budget->slots - (budget->mode == WEIR_MODE_LENIENT),
		};
	}
	return dump->budgets;
}

static uint16_t interval_of(const struct fleet_shape *shape)
{
	uint64_t shortest = NEVER, window, ms;
	unsigned int i;

	for (i = 0; i < shape->budgets; i++) {
		window = shape->ring[i].slot_ns;
		if (shape->ring[i].reach)
			window *= shape->ring[i].reach;
		shortest = window < shortest ? window : shortest;
	}
	ms = shortest / INTERVALS / 1000000;
	return ms < FLEET_INTERVAL_MIN_MS ? FLEET_INTERVAL_MIN_MS :
	       ms > FLEET_INTERVAL_MAX_MS ? FLEET_INTERVAL_MAX_MS : ms;
}

static void begin_books(struct limit *limit, const struct fleet_shape *shape,
			const struct fleet_dump *dump)
{
	uint64_t run = (uint64_t)random() << 32 ^ random() ^ (uint64_t)fleet_wall_ms() << 20;
	unsigned int i;

	end_books(limit);
	limit->shape = *shape;
	limit->interval_ms = interval_of(shape);
	limit->books = fleet_books_new(limit->shares->host, run, shape, limit->interval_ms);
	for (i = 0; i < dump->budgets; i++)
		limit->begin_ns[i] = dump->clock_ns - dump->budget[i].phase_ns;
}

/* The number of the slot that holds at @ns. */
static uint64_t slot_at(const struct limit *limit, unsigned int i, uint64_t ns)
{
	int64_t since = ns - limit->begin_ns[i], slot_ns = limit->shape.ring[i].slot_ns;
	int64_t slot = since / slot_ns - (since % slot_ns < 0) + SLOT_BASE;

	return slot > 0 ? slot : 0;
}

static void take_dump(const struct fleet_dump *dump, void *data)
{
	struct fleet_clock clock[WEIR_BUDGETS_MAX] = { 0 };
	const uint64_t *numbers[WEIR_BUDGETS_MAX];
	static struct fleet_dumped dumped;
	struct limit *limit = data;
	struct fleet_shape shape;
	size_t at = 0;
	unsigned int i;

	if (!read_shape(dump, &shape)) {
		say_once(limit, "a budget of it is not counted in slots of one length");
		limit->failed = true;
		return;
	}
	if (!limit->books || memcmp(&shape, &limit->shape, sizeof(shape)))
		begin_books(limit, &shape, dump);
	if (!limit->books)
		return;
	if (!limit->since_next_ns)
		limit->since_next_ns = dump->since_ns;
	for (i = 0; i < shape.budgets; i++) {
		/* Slots begin at whole ticks, of which a slot has many. */
		clock[i].slot = slot_at(limit, i, dump->clock_ns - dump->budget[i].phase_ns +
						  dump->budget[i].slot_ns / 2);
		clock[i].phase_ns = dump->budget[i].phase_ns;
		clock[i].since = slot_at(limit, i, limit->since_ns);
		numbers[i] = dumped.numbers[i];
	}
	fleet_books_clock(limit->books, clock, limit->read_ms);
	fleet_addition_begin(&limit->addition, dump);
	while (fleet_dump_next(dump, &at, &dumped))
		fleet_books_dumped(limit->books, &dumped.source, numbers, dumped.count);
}

/* The module does not answer: try again later. */
static void give_up(struct limit *limit, const char *text)
{
	say_once(limit, text);
	fleet_module_close(&limit->shares->module);
	end_books(limit);
	limit->joined = false;
	limit->failed = true;
}

struct charging {
	struct limit *limit;
	struct weir_err err;
	int ret;
};

static void add(const struct weir_prefix *source, const uint64_t amount[], void *data)
{
	struct charging *charging = data;
	struct fleet_addition *addition = &charging->limit->addition;

	if (charging->ret || fleet_addition_put(addition, source, amount))
		return;
	charging->ret = fleet_addition_send(addition, &charging->limit->shares->module,
					    &charging->err);
	fleet_addition_put(addition, source, amount);
}

static void charge(struct limit *limit)
{
	struct charging charging = { .limit = limit };

	fleet_books_charge(limit->books, fleet_now_ms(), add, &charging);
	if (!charging.ret)
		charging.ret = fleet_addition_send(&limit->addition, &limit->shares->module,
						   &charging.err);
	if (charging.ret)
		give_up(limit, charging.err.text);
}

static void announce(struct limit *limit)
{
	static struct fleet_writer writer;
	int64_t now_ms = fleet_now_ms(), age_ms = now_ms - limit->read_ms;
	struct fleet_shares *shares = limit->shares;

	if (limit->due_ms && now_ms - limit->due_ms > shares->late_ms)
		shares->late_ms = now_ms - limit->due_ms;

	if (fleet_books_announce(limit->books, age_ms < UINT16_MAX ? age_ms : UINT16_MAX, &writer))
		natsConnection_Publish(shares->bus->connection, limit->subject,
				       writer.data, writer.size);
}

static void keep_joined(struct limit *limit)
{
	int64_t now_ms = fleet_now_ms();
	struct weir_err err;

	if (fleet_books_peers(limit->books, now_ms, now_ms - limit->checked_ms))
		limit->heard_ms = now_ms;
	limit->checked_ms = now_ms;
	if (limit->shares->others && (!limit->heard_ms || now_ms - limit->heard_ms > HEARD_MS)) {
		if (limit->joined)
			fleet_say("limit '%s' is alone: no other host is heard", limit->name);
		separate(limit);
		return;
	}
	if (now_ms < limit->renew_ms)
		return;
	limit->renew_ms = now_ms + RENEW_MS;
	limit->joined = true;
	if (fleet_module_join(&limit->shares->module, limit->name, LEASE_MS, &err))
		give_up(limit, err.text);
}

static void keep_room(struct limit *limit)
{
	const struct fleet_books_counts *counts = fleet_books_counts(limit->books);

	fleet_room(&limit->in_books, counts->no_room, "all sources in the books of limit ",
		   limit->name);
	fleet_room(&limit->in_message, counts->left_out, "all sources in a message of limit ",
		   limit->name);
}

/* Read what the module counted, announce, and charge. */
static void run_limit(struct limit *limit)
{
	uint64_t least = limit->books ? fleet_books_least(limit->books) : 1;
	struct fleet_module *module = &limit->shares->module;
	struct weir_err err = { 0 };
	int ret = 0;

	limit->read_ms = fleet_now_ms();
	limit->since_next_ns = 0;
	if (module->fd < 0)
		ret = fleet_module_open(module, &err);
	if (!ret)
		ret = fleet_module_dump(module, limit->name, limit->since_ns, least, take_dump,
					limit, &err);
	if (ret && ret != -EINTR) {
		give_up(limit, err.text);
		return;
	}
	if (limit->failed || !limit->books) {
		end_books(limit);
		return;
	}
	*limit->said = '\0';
	if (!ret)
		limit->since_ns = limit->since_next_ns;
	announce(limit);
	charge(limit);
	if (limit->books) {
		keep_room(limit);
		keep_joined(limit);
	}
	/* Late ones are left out. */
	limit->due_ms += limit->interval_ms;
	if (limit->due_ms <= limit->read_ms)
		limit->due_ms = limit->read_ms + limit->interval_ms;
}

/* Take what came, and announce what is due. */
static void run(struct fleet_shares *shares)
{
	struct message *message;
	struct limit *limit;

	while ((message = take(shares))) {
		if (message->limit->books)
			fleet_books_hear(message->limit->books, natsMsg_GetData(message->msg),
					 natsMsg_GetDataLength(message->msg), fleet_now_ms());
		free_message(message);
	}
	fleet_room(&shares->in_queue, get_overrun(shares), "all messages of other hosts", "");
	for (limit = shares->limits; limit; limit = limit->next) {
		if (!limit->subscription || limit->failed)
			continue;
		if (fleet_now_ms() >= limit->due_ms)
			run_limit(limit);
		else if (limit->books)
			charge(limit);
	}
}

static void *work(void *data)
{
	struct fleet_shares *shares = data;
	struct pollfd file = { .fd = shares->fd, .events = POLLIN };
	int64_t left;
	uint64_t count;
	ssize_t ret;

	pthread_mutex_lock(&shares->lock);
	while (!shares->ends) {
		left = next_due(shares) - fleet_now_ms();
		pthread_mutex_unlock(&shares->lock);
		poll(&file, 1, left < 0 ? 0 : left < IDLE_MS ? left : IDLE_MS);
		ret = read(shares->fd, &count, sizeof(count));
		(void)ret;	/* it was not readable */
		pthread_mutex_lock(&shares->lock);
		run(shares);
	}
	pthread_mutex_unlock(&shares->lock);
	return NULL;
}

struct fleet_shares *fleet_shares_new(const char *host, const char *group)
{
	struct fleet_shares *shares = calloc(1, sizeof(*shares));

	if (!shares)
		return NULL;
	snprintf(shares->host, sizeof(shares->host), "%s", host);
	snprintf(shares->group, sizeof(shares->group), "%s", group);
	shares->module.fd = -1;
	shares->last = &shares->first;
	pthread_mutex_init(&shares->lock, NULL);
	pthread_mutex_init(&shares->queue, NULL);
	shares->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (shares->fd >= 0 && !pthread_create(&shares->thread, NULL, work, shares))
		return shares;
	close(shares->fd);
	free(shares);
	return NULL;
}

void fleet_shares_count(struct fleet_shares *shares, struct fleet_share_counts *counts, bool tell)
{
	struct fleet_books_counts all = { 0 };
	const struct limit *limit;
	unsigned int peers;

	*counts = (struct fleet_share_counts){ 0 };
	pthread_mutex_lock(&shares->lock);
	for (limit = shares->limits; limit; limit = limit->next) {
		sum(&all, &limit->before);
		counts->alone += limit->wanted && !limit->joined;
		if (!limit->books)
			continue;
		sum(&all, fleet_books_counts(limit->books));
		counts->limits += limit->joined;
		if (!counts->interval_ms || limit->interval_ms < counts->interval_ms)
			counts->interval_ms = limit->interval_ms;
		peers = fleet_books_peers(limit->books, fleet_now_ms(), HEARD_MS);
		counts->peers = peers > counts->peers ? peers : counts->peers;
	}
	counts->late_ms = shares->late_ms;
	if (tell)
		shares->late_ms = 0;
	counts->announced = all.announced;
	counts->left_out = all.left_out;
	counts->heard = all.heard;
	counts->capped = all.capped + all.no_room;
	counts->malformed = all.malformed;
	counts->repeated = all.repeated + all.babbled;
	counts->lost = all.lost + get_overrun(shares);
	pthread_mutex_unlock(&shares->lock);
}
