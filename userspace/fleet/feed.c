// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that wait for changes of keys, and a queue. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "feed.h"

#define MOST	4096	/* changes that wait; NATS holds back more */
#define NEXT_MS	1000

static void signal_fd(struct fleet_feed *feed)
{
	const uint64_t one = 1;
	ssize_t ret = write(feed->fd, &one, sizeof(one));

	(void)ret;	/* it is readable all the same */
}

void fleet_feed_lose(void *data)
{
	struct fleet_feed *feed = data;

	pthread_mutex_lock(&feed->lock);
	feed->lost = true;
	pthread_cond_broadcast(&feed->room);
	pthread_mutex_unlock(&feed->lock);
	signal_fd(feed);
}

bool fleet_feed_lost(struct fleet_feed *feed)
{
	bool lost;

	pthread_mutex_lock(&feed->lock);
	lost = feed->lost;
	pthread_mutex_unlock(&feed->lock);
	return lost;
}

/* @entry: NULL stands for the end of what was there at first. */
static struct fleet_change *make_change(kvEntry *entry)
{
	const char *key = entry ? kvEntry_Key(entry) : "";
	int size = entry ? kvEntry_ValueLen(entry) : 0;
	struct fleet_change *change = calloc(1, sizeof(*change) + strlen(key) + 1);

	if (!change)
		return NULL;
	strcpy(change->key, key);
	change->complete = !entry;
	if (!entry)
		return change;
	change->deleted = kvEntry_Operation(entry) != kvOp_Put;
	change->revision = kvEntry_Revision(entry);
	change->created_ns = kvEntry_Created(entry);
	change->size = size > 0 ? size : 0;
	change->value = malloc(change->size + 1);
	if (!change->value) {
		free(change);
		return NULL;
	}
	memcpy(change->value, change->size ? kvEntry_Value(entry) : "", change->size);
	change->value[change->size] = '\0';
	return change;
}

static void put(struct fleet_feed *feed, struct fleet_change *change)
{
	pthread_mutex_lock(&feed->lock);
	while (feed->count >= MOST && !feed->lost)
		pthread_cond_wait(&feed->room, &feed->lock);
	*feed->last = change;
	feed->last = &change->next;
	feed->count++;
	pthread_mutex_unlock(&feed->lock);
	signal_fd(feed);
}

static void *follow(void *data)
{
	struct fleet_watch *watch = data;
	struct fleet_change *change;
	natsStatus status;
	kvEntry *entry;

	while (!fleet_feed_lost(watch->feed)) {
		entry = NULL;
		status = kvWatcher_Next(&entry, watch->watcher, NEXT_MS);
		if (status == NATS_TIMEOUT)
			continue;
		if (status)
			break;
		change = make_change(entry);
		kvEntry_Destroy(entry);
		if (!change)
			break;
		change->watch = watch - watch->feed->watch;
		put(watch->feed, change);
	}
	fleet_feed_lose(watch->feed);
	nats_ReleaseThreadMemory();
	return NULL;
}

int fleet_feed_open(struct fleet_feed *feed, struct weir_err *err)
{
	memset(feed, 0, sizeof(*feed));
	feed->last = &feed->first;
	pthread_mutex_init(&feed->lock, NULL);
	pthread_cond_init(&feed->room, NULL);
	feed->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (feed->fd >= 0)
		return 0;
	weir_err_set(err, "eventfd: %s", strerror(errno));
	return -EIO;
}

int fleet_feed_watch(struct fleet_feed *feed, struct fleet_bucket *bucket, const char *keys,
		     struct weir_err *err)
{
	struct fleet_watch *watch = &feed->watch[feed->watches];
	natsStatus status = kvStore_Watch(&watch->watcher, bucket->store, keys, NULL);

	if (status)
		return fleet_bus_error(bucket->bus, status, keys, err);
	watch->feed = feed;
	if (pthread_create(&watch->thread, NULL, follow, watch)) {
		kvWatcher_Destroy(watch->watcher);
		weir_err_set(err, "no thread can be had");
		return -EIO;
	}
	feed->watches++;
	return 0;
}

struct fleet_change *fleet_feed_take(struct fleet_feed *feed)
{
	struct fleet_change *change;
	uint64_t count;
	ssize_t ret;

	pthread_mutex_lock(&feed->lock);
	change = feed->first;
	if (change) {
		feed->first = change->next;
		if (!feed->first)
			feed->last = &feed->first;
		feed->count--;
		pthread_cond_broadcast(&feed->room);
	} else {
		ret = read(feed->fd, &count, sizeof(count));
		(void)ret;	/* it was not readable */
	}
	pthread_mutex_unlock(&feed->lock);
	return change;
}

void fleet_change_free(struct fleet_change *change)
{
	free(change->value);
	free(change);
}

void fleet_feed_close(struct fleet_feed *feed)
{
	struct fleet_change *change;
	unsigned int i;

	fleet_feed_lose(feed);
	for (i = 0; i < feed->watches; i++)
		kvWatcher_Stop(feed->watch[i].watcher);
	for (i = 0; i < feed->watches; i++) {
		pthread_join(feed->watch[i].thread, NULL);
		kvWatcher_Destroy(feed->watch[i].watcher);
	}
	while ((change = fleet_feed_take(feed)))
		fleet_change_free(change);
	close(feed->fd);
	pthread_cond_destroy(&feed->room);
	pthread_mutex_destroy(&feed->lock);
}
