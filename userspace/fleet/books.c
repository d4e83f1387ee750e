// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Books of a limit that hosts share. The module counts what this host admitted and what was added
 * here for others in one ring of slots a source; the books hold the ring as it was last known, so
 * that what is more in a dump was admitted here since. That is announced.
 *
 * What a peer announces is added here, whatever the budget says: late by up to an interval, in
 * which N hosts could admit N times what is left. So each host also charges in advance what each
 * peer will probably admit until its next message: as much as it announced last, but of the room
 * that will be left then no more than its part of what all announced last. The next message
 * settles the difference. What was charged too much cannot be taken back: it is the peer's credit
 * as long as the slot lasts in which it was charged. Later it would leave the window before what
 * it stands for.
 *
 * Books begin without a past: what the first dump has is announced by nobody, for nobody can tell
 * who did. If it has more sources than the books, this is so for all slots up to its own.
 */

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"

#define CHAINS		16384	/* of sources */
#define PEER_CHAINS	256
#define LEAST_PART	8	/* of a budget, which all hosts together may leave unsaid */
#define BEAT_MS		5000	/* a host says at least so often that it is there, */
#define SILENT_MS	60000	/* or is forgotten */
#define MESSAGES_MOST	8	/* of a peer at once; one an interval is usual */

struct peer {
	struct peer *next;	/* of its chain */
	char host[FLEET_HOST_SIZE];
	uint64_t run;
	uint32_t number;	/* of the last message */
	uint64_t taken;		/* messages so far, over all runs */
	uint64_t begun;		/* those before the run */
	int64_t heard_ms, due_ms;
	int64_t allowed_ms;	/* how much of MESSAGES_MOST intervals is not used up */
	unsigned int shares;
	void *tree;		/* of them, by source */
};

/* What a peer has of a source. */
struct share {
	struct share *next;	/* of the source */
	struct source *source;
	struct peer *peer;
	uint64_t message;	/* of the peer, that had the source last */
	struct {
		uint64_t admitted;	/* in it */
		uint64_t credit, slot;	/* charged for what it has not announced yet; when */
	} of[];
};

struct count {
	uint64_t at;		/* slot */
	uint64_t fresh;		/* admitted here, and not announced yet */
	uint64_t last;		/* announced in the last message that had the source */
	uint64_t owed;		/* to be charged here */
	uint64_t read;		/* 1: it was in a dump */
	uint64_t ring[];
};

struct source {
	struct source *next;	/* of its chain */
	struct source *due;	/* of those to charge; itself: the last, NULL: none of them */
	struct share *shares;
	struct share *heard;	/* of the peer that was heard last; or NULL */
	struct weir_prefix prefix;
	uint64_t message;	/* of this host, that had it last */
	uint64_t numbers[];	/* a struct count for each budget */
};

struct fleet_books {
	struct fleet_shape shape;
	struct fleet_head head;
	struct fleet_clock clock[WEIR_BUDGETS_MAX];
	uint64_t begin[WEIR_BUDGETS_MAX];	/* slot of the first dump */
	int64_t clock_ms;
	bool begun;
	bool dumped;		/* once */
	bool partly;		/* then there was not enough room */
	uint64_t message;	/* as head.number, but also those with nothing to say */
	bool spoke;		/* the last one had something */
	int64_t beat_ms;	/* when to say something in any case */
	size_t at[WEIR_BUDGETS_MAX + 1];	/* of a count in struct source; the end */
	unsigned int sources, shares, peers;
	struct fleet_books_counts counts;
	struct source *due;
	struct source *chain[CHAINS];
	struct peer *peer[PEER_CHAINS];
};

struct fleet_books *fleet_books_new(const char *host, uint64_t run,
				    const struct fleet_shape *shape, uint16_t interval_ms)
{
	struct fleet_books *books = calloc(1, sizeof(*books));
	unsigned int i;

	if (!books)
		return NULL;
	books->shape = *shape;
	books->head.run = run;
	books->head.interval_ms = interval_ms;
	books->head.budgets = shape->budgets;
	snprintf(books->head.host, sizeof(books->head.host), "%s", host);
	for (i = 0; i < shape->budgets; i++)
		books->at[i + 1] = books->at[i] + sizeof(struct count) / sizeof(uint64_t) +
				   shape->ring[i].reach + 1;
	return books;
}

static int compare_shares(const void *a, const void *b)
{
	const struct share *one = a, *other = b;

	return (one->source > other->source) - (one->source < other->source);
}

/* The one that *@at points to. */
static void free_share(struct fleet_books *books, struct share **at)
{
	struct share *share = *at;

	*at = share->next;
	tdelete(share, &share->peer->tree, compare_shares);
	share->peer->shares--;
	books->shares--;
	free(share);
}

void fleet_books_free(struct fleet_books *books)
{
	struct source *source;
	struct peer *peer;
	unsigned int i;

	if (!books)
		return;
	for (i = 0; i < CHAINS; i++)
		while ((source = books->chain[i])) {
			books->chain[i] = source->next;
			while (source->shares)
				free_share(books, &source->shares);
			free(source);
		}
	for (i = 0; i < PEER_CHAINS; i++)
		while ((peer = books->peer[i])) {
			books->peer[i] = peer->next;
			free(peer);
		}
	free(books);
}

const struct fleet_books_counts *fleet_books_counts(const struct fleet_books *books)
{
	return &books->counts;
}

uint64_t fleet_books_least(const struct fleet_books *books)
{
	uint64_t least = UINT64_MAX, part;
	unsigned int i;

	for (i = 0; i < books->shape.budgets; i++) {
		part = books->shape.ring[i].budget / LEAST_PART / (books->peers + 1);
		least = part < least ? part : least;
	}
	return least ? least : 1;
}

unsigned int fleet_books_peers(const struct fleet_books *books, int64_t now_ms, int64_t within_ms)
{
	const struct peer *peer;
	unsigned int i, count = 0;

	for (i = 0; i < PEER_CHAINS; i++)
		for (peer = books->peer[i]; peer; peer = peer->next)
			count += now_ms - peer->heard_ms <= within_ms;
	return count;
}

static struct count *count_of(const struct fleet_books *books, struct source *source,
			      unsigned int i)
{
	return (struct count *)(source->numbers + books->at[i]);
}

static uint64_t *slot_of(struct count *count, const struct fleet_ring *ring, uint64_t slot)
{
	return &count->ring[slot % (ring->reach + 1)];
}

static void turn(struct count *count, const struct fleet_ring *ring, uint64_t slot)
{
	if (slot > count->at + ring->reach)
		memset(count->ring, 0, sizeof(uint64_t) * (ring->reach + 1));
	else
		while (count->at < slot)
			*slot_of(count, ring, ++count->at) = 0;
	if (slot > count->at)
		count->at = slot;
}

/* What of it is in the window when the current slot is @slot, which is not before count->at. */
static uint64_t sum(struct count *count, const struct fleet_ring *ring, uint64_t slot)
{
	uint64_t total = 0, s = slot > ring->reach ? slot - ring->reach : 0;

	if (s + ring->reach < count->at)
		s = count->at - ring->reach;
	for (; s <= count->at; s++)
		total += *slot_of(count, ring, s);
	return total;
}

static uint32_t hash_of(const void *data, size_t size)
{
	const unsigned char *byte = data;
	uint32_t hash = 2166136261u;

	while (size--)
		hash = (hash ^ *byte++) * 16777619u;
	return hash;
}

static struct source *find(const struct fleet_books *books, const struct weir_prefix *prefix)
{
	struct source *source;

	source = books->chain[hash_of(prefix, sizeof(*prefix)) % CHAINS];
	while (source && memcmp(&source->prefix, prefix, sizeof(*prefix)))
		source = source->next;
	return source;
}

/* Find it, or make it; NULL: there is no room. */
static struct source *find_or_make(struct fleet_books *books, const struct weir_prefix *prefix)
{
	struct source *source = find(books, prefix), **chain;
	unsigned int i;

	if (source)
		return source;
	if (books->sources < FLEET_SOURCES_MAX)
		source = calloc(1, sizeof(*source) +
				sizeof(uint64_t) * books->at[books->shape.budgets]);
	if (!source)
		return NULL;
	source->prefix = *prefix;
	for (i = 0; i < books->shape.budgets; i++)
		count_of(books, source, i)->at = books->clock[i].slot;
	chain = &books->chain[hash_of(prefix, sizeof(*prefix)) % CHAINS];
	source->next = *chain;
	*chain = source;
	books->sources++;
	return source;
}

static void set_due(struct fleet_books *books, struct source *source)
{
	if (source->due)
		return;
	source->due = books->due ? books->due : source;
	books->due = source;
}

void fleet_books_clock(struct fleet_books *books, const struct fleet_clock clock[], int64_t now_ms)
{
	unsigned int i;

	for (i = 0; i < books->shape.budgets; i++) {
		if (!books->begun)
			books->begin[i] = clock[i].slot;
		if (clock[i].slot >= books->clock[i].slot)
			books->clock[i] = clock[i];
	}
	books->clock_ms = now_ms;
	books->begun = true;
}

/*
 * A number may be less than it was: a charge was given back. The next ones make up for it. If it is
 * more in a slot in which nothing was counted, the module had forgotten the source, and begins it
 * from what it may have been.
 */
static void take_number(struct fleet_books *books, struct count *count, unsigned int i,
			uint64_t slot, uint64_t number)
{
	uint64_t *known = slot_of(count, &books->shape.ring[i], slot);

	if (number <= *known)
		return;
	if (books->dumped && (!books->partly || slot > books->begin[i]) &&
	    (!count->read || slot >= books->clock[i].since))
		count->fresh += number - *known;
	*known = number;
}

void fleet_books_dumped(struct fleet_books *books, const struct weir_prefix *prefix,
			const uint64_t *const numbers[], const unsigned int count[])
{
	struct source *source = find_or_make(books, prefix);
	struct count *is;
	unsigned int i, n;
	uint64_t slot;

	if (!source) {
		books->counts.no_room++;
		books->partly |= !books->dumped;
		return;
	}
	for (i = 0; i < books->shape.budgets; i++) {
		is = count_of(books, source, i);
		turn(is, &books->shape.ring[i], books->clock[i].slot);
		for (n = 0; n < count[i] && n <= books->shape.ring[i].reach; n++) {
			slot = books->clock[i].slot - n;
			take_number(books, is, i, slot, numbers[i][n]);
			if (!slot)
				break;
		}
		is->read = 1;
	}
}

/* Did the peer's last message have it, and is the next one not overdue? */
static bool is_live(const struct share *share, int64_t now_ms)
{
	const struct peer *peer = share->peer;
	int64_t interval_ms = peer->due_ms - peer->heard_ms;

	return share->message == peer->taken && now_ms <= peer->due_ms + interval_ms;
}

/* Forget shares that neither charge nor are charged; does any do? */
static bool keep_shares(struct fleet_books *books, struct source *source)
{
	struct share **at = &source->shares, *share, *before = NULL;
	bool live = false, credit;
	unsigned int i;

	while ((share = *at)) {
		credit = false;
		for (i = 0; i < books->shape.budgets; i++)
			credit |= share->of[i].credit && share->of[i].slot == books->clock[i].slot;
		if (is_live(share, books->clock_ms)) {
			live = true;
		} else if (!credit) {
			if (source->heard == share)
				source->heard = before;
			free_share(books, at);
			continue;
		}
		before = share;
		at = &share->next;
	}
	return live;
}

static bool has_ended(const struct fleet_books *books, struct source *source)
{
	struct count *count;
	unsigned int i;

	if (source->shares || source->due)
		return false;
	for (i = 0; i < books->shape.budgets; i++) {
		count = count_of(books, source, i);
		if (count->fresh || sum(count, &books->shape.ring[i], books->clock[i].slot))
			return false;
	}
	return true;
}

/* The largest part of a budget that is to be announced. */
static double weight(const struct fleet_books *books, struct source *source)
{
	double most = 0, part;
	unsigned int i;

	for (i = 0; i < books->shape.budgets; i++) {
		part = (double)count_of(books, source, i)->fresh / books->shape.ring[i].budget;
		most = part > most ? part : most;
	}
	return most;
}

struct ranked {
	struct source *source;
	double weight;
};

static int compare(const void *a, const void *b)
{
	const struct ranked *one = a, *other = b;

	return (one->weight < other->weight) - (one->weight > other->weight);
}

/* Sources with something to announce; those that have ended are forgotten. */
static unsigned int collect(struct fleet_books *books, struct ranked *ranked)
{
	struct source **at, *source;
	unsigned int i, count = 0;
	double part;

	for (i = 0; i < CHAINS; i++)
		for (at = &books->chain[i]; (source = *at);) {
			if (keep_shares(books, source))
				set_due(books, source);
			if (has_ended(books, source)) {
				*at = source->next;
				books->sources--;
				free(source);
				continue;
			}
			part = weight(books, source);
			if (part > 0)
				ranked[count++] = (struct ranked){ source, part };
			at = &source->next;
		}
	return count;
}

/* Put one; false: there is no room. */
static bool put(struct fleet_books *books, struct source *source, struct fleet_writer *to)
{
	struct fleet_record record = { .source = source->prefix };
	struct count *count;
	unsigned int i;

	for (i = 0; i < books->shape.budgets; i++) {
		count = count_of(books, source, i);
		record.admitted[i] = count->fresh < FLEET_ADMITTED_MAX ? count->fresh :
				     FLEET_ADMITTED_MAX;
	}
	if (!fleet_announce_put(to, &record))
		return false;
	for (i = 0; i < books->shape.budgets; i++) {
		count = count_of(books, source, i);
		count->last = count->fresh;
		count->fresh = 0;
	}
	source->message = books->message;
	return true;
}

static void forget_silent(struct fleet_books *books)
{
	struct peer **at, *peer;
	unsigned int i;

	for (i = 0; i < PEER_CHAINS; i++)
		for (at = &books->peer[i]; (peer = *at);) {
			if (peer->shares || books->clock_ms - peer->heard_ms <= SILENT_MS) {
				at = &peer->next;
				continue;
			}
			*at = peer->next;
			books->peers--;
			free(peer);
		}
}

bool fleet_books_announce(struct fleet_books *books, uint16_t age_ms, struct fleet_writer *to)
{
	struct ranked *ranked = malloc(sizeof(*ranked) * (books->sources + 1));
	unsigned int count, i;
	bool silent;

	if (!ranked)
		return false;
	books->dumped = true;
	count = collect(books, ranked);
	forget_silent(books);
	books->message++;
	/* One without sources says that there are none any more. */
	silent = !count && !books->spoke && books->clock_ms < books->beat_ms;
	books->spoke = count;
	if (!silent) {
		books->beat_ms = books->clock_ms + BEAT_MS;
		qsort(ranked, count, sizeof(*ranked), compare);
		books->head.number++;
		books->head.age_ms = age_ms;
		fleet_announce_begin(to, &books->head);
		for (i = 0; i < count && put(books, ranked[i].source, to); i++)
			;
		books->counts.announced += i;
		books->counts.left_out += count - i;
	}
	free(ranked);
	return !silent;
}

static struct peer *find_peer(struct fleet_books *books, const char *host)
{
	struct peer **chain = &books->peer[hash_of(host, strlen(host)) % PEER_CHAINS], *peer;

	for (peer = *chain; peer; peer = peer->next)
		if (!strcmp(peer->host, host))
			return peer;
	peer = books->peers < FLEET_PEERS_MAX ? calloc(1, sizeof(*peer)) : NULL;
	if (!peer)
		return NULL;
	strcpy(peer->host, host);
	peer->next = *chain;
	*chain = peer;
	books->peers++;
	return peer;
}

/* Is it a message that is to be taken? */
static bool expect(struct fleet_books *books, struct peer *peer, const struct fleet_head *head,
		   int64_t now_ms)
{
	int64_t most = (int64_t)MESSAGES_MOST * head->interval_ms;

	if (!peer->taken)
		peer->allowed_ms = most;
	peer->allowed_ms += peer->taken ? now_ms - peer->heard_ms : 0;
	peer->allowed_ms = peer->allowed_ms < most ? peer->allowed_ms : most;
	if (peer->taken && peer->run == head->run && head->number <= peer->number) {
		books->counts.repeated++;
		return false;
	}
	peer->heard_ms = now_ms;
	if (peer->allowed_ms < head->interval_ms / 2) {
		books->counts.babbled++;
		return false;
	}
	peer->allowed_ms -= head->interval_ms / 2;
	if (!peer->taken || peer->run != head->run)
		peer->begun = peer->taken;
	else
		books->counts.lost += head->number - peer->number - 1;
	peer->run = head->run;
	peer->number = head->number;
	peer->taken++;
	peer->due_ms = now_ms + head->interval_ms;
	if (head->age_ms < head->interval_ms)
		peer->due_ms -= head->age_ms;
	return true;
}

static bool has_room(const struct fleet_books *books, const struct peer *peer)
{
	return books->shares < FLEET_SHARES_MAX && peer->shares < FLEET_PEER_SOURCES_MAX;
}

/* Peers are heard in an order, which the list of a source is kept in. */
static struct share *find_share(struct fleet_books *books, struct source *source, struct peer *peer)
{
	struct share **next = source->heard ? &source->heard->next : &source->shares, **node;
	struct share *share = *next ? *next : source->shares, key = { .source = source };

	if (!share || share->peer != peer) {
		node = tfind(&key, &peer->tree, compare_shares);
		share = node ? *node : NULL;
	}
	if (!share && has_room(books, peer)) {
		share = calloc(1, sizeof(*share) + sizeof(*share->of) * books->shape.budgets);
		if (!share)
			return NULL;
		share->source = source;
		share->peer = peer;
		if (!tsearch(share, &peer->tree, compare_shares)) {
			free(share);
			return NULL;
		}
		share->next = *next;
		*next = share;
		peer->shares++;
		books->shares++;
	}
	source->heard = share;
	return share;
}

static uint64_t *credit_of(const struct fleet_books *books, struct share *share, unsigned int i)
{
	if (share->of[i].slot != books->clock[i].slot || share->message <= share->peer->begun)
		share->of[i].credit = 0;
	return &share->of[i].credit;
}

/* What a peer admitted is charged here, less what was in advance. */
static void settle(struct fleet_books *books, struct peer *peer, const struct fleet_record *record)
{
	struct source *source = has_room(books, peer) ? find_or_make(books, &record->source) :
							find(books, &record->source);
	struct share *share = source ? find_share(books, source, peer) : NULL;
	uint64_t admitted, *credit, used;
	unsigned int i;

	books->counts.heard++;
	/* no room, or the message had it before */
	if (!share || share->message == peer->taken) {
		books->counts.no_room += !share;
		books->counts.capped += !!share;
		return;
	}
	for (i = 0; i < books->shape.budgets; i++) {
		admitted = record->admitted[i];
		if (admitted > books->shape.ring[i].budget) {
			admitted = books->shape.ring[i].budget;
			books->counts.capped++;
		}
		credit = credit_of(books, share, i);
		used = admitted < *credit ? admitted : *credit;
		*credit -= used;
		count_of(books, source, i)->owed += admitted - used;
		share->of[i].admitted = admitted;
	}
	share->message = peer->taken;
	set_due(books, source);
}

int fleet_books_hear(struct fleet_books *books, const void *data, size_t size, int64_t now_ms)
{
	struct fleet_reader reader;
	struct fleet_record record;
	struct peer *peer;

	if (fleet_announce_read(&reader, data, size) ||
	    reader.head.budgets != books->shape.budgets) {
		books->counts.malformed++;
		return -EINVAL;
	}
	if (!strcmp(reader.head.host, books->head.host) || !books->begun)
		return 0;
	peer = find_peer(books, reader.head.host);
	if (!peer)
		books->counts.no_room++;
	if (!peer || !expect(books, peer, &reader.head, now_ms))
		return 0;
	while (fleet_announce_next(&reader, &record))
		settle(books, peer, &record);
	return 0;
}

/* Slots that will have passed when the peer is due. */
static uint64_t slots_until(const struct fleet_books *books, const struct peer *peer,
			    unsigned int i, int64_t now_ms)
{
	int64_t due_ms = peer->due_ms > now_ms ? peer->due_ms : now_ms;

	return (books->clock[i].phase_ns + (due_ms - books->clock_ms) * 1000000ull) /
	       books->shape.ring[i].slot_ns;
}

/* Charge in advance what peers will probably admit of a source. */
static void advance(struct fleet_books *books, struct source *source, unsigned int i,
		    int64_t now_ms)
{
	const struct fleet_ring *ring = &books->shape.ring[i];
	struct count *count = count_of(books, source, i);
	uint64_t all = 0, credits = 0, known, room = 0, next, *credit;
	uint64_t slot = books->clock[i].slot, until = UINT64_MAX, owed = 0, passed;
	struct share *share;

	if (source->message == books->message)
		all = count->last;
	for (share = source->shares; share; share = share->next) {
		credits += *credit_of(books, share, i);
		all += is_live(share, now_ms) ? share->of[i].admitted : 0;
	}
	for (share = source->shares; share; share = share->next) {
		if (!is_live(share, now_ms) || !share->of[i].admitted)
			continue;
		passed = slots_until(books, share->peer, i, now_ms);
		if (passed != until) {
			until = passed;
			known = sum(count, ring, slot + until) + count->owed;
			known -= credits < known ? credits : known;
			room = known < ring->budget ? ring->budget - known : 0;
		}
		next = share->of[i].admitted;
		if (room < all)
			next = (double)next * room / all;
		credit = &share->of[i].credit;
		if (next <= *credit)
			continue;
		owed += next - *credit;
		*credit = next;
		share->of[i].slot = slot;
	}
	count->owed += owed;
}

static void charge(struct fleet_books *books, struct source *source, int64_t now_ms,
		   fleet_books_add *add, void *data)
{
	uint64_t amount[WEIR_BUDGETS_MAX] = { 0 };
	struct count *count;
	bool any = false;
	unsigned int i;

	for (i = 0; i < books->shape.budgets; i++) {
		count = count_of(books, source, i);
		turn(count, &books->shape.ring[i], books->clock[i].slot);
		advance(books, source, i, now_ms);
		amount[i] = count->owed;
		*slot_of(count, &books->shape.ring[i], books->clock[i].slot) += count->owed;
		any |= count->owed;
		count->owed = 0;
	}
	if (any)
		add(&source->prefix, amount, data);
}

void fleet_books_charge(struct fleet_books *books, int64_t now_ms, fleet_books_add *add, void *data)
{
	struct source *source;

	while ((source = books->due)) {
		books->due = source->due == source ? NULL : source->due;
		source->due = NULL;
		charge(books, source, now_ms, add, data);
	}
}
