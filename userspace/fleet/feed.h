/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of the bucket's keys, in order, for a loop that polls. */
#ifndef FLEET_FEED_H
#define FLEET_FEED_H

#include <pthread.h>
#include <stdint.h>

#include "bucket.h"

#define FLEET_WATCHES	3

struct fleet_change {
	struct fleet_change *next;
	bool deleted;
	bool complete;		/* all that was there at first has come; there is no key */
	unsigned int watch;	/* which one, from 0 */
	uint64_t revision;
	int64_t created_ns;	/* by the server's clock */
	size_t size;
	char *value;		/* with a NUL byte behind it */
	char key[];
};

struct fleet_feed {
	int fd;			/* readable if there is something to take, or the feed is lost */
	pthread_mutex_t lock;	/* protects the next 5 fields */
	pthread_cond_t room;
	struct fleet_change *first, **last;
	unsigned int count;
	bool lost;
	/* constant while the threads run */
	unsigned int watches;
	struct fleet_watch {
		struct fleet_feed *feed;
		kvWatcher *watcher;
		pthread_t thread;
	} watch[FLEET_WATCHES];
};

/* 0, or -errno with a sentence. */
int fleet_feed_open(struct fleet_feed *feed, struct weir_err *err);
/* Begin with the newest values of the keys that match; 0, or -EIO with a sentence. */
int fleet_feed_watch(struct fleet_feed *feed, struct fleet_bucket *bucket, const char *keys,
		     struct weir_err *err);
/* The oldest change, which the caller frees; NULL: none. */
struct fleet_change *fleet_feed_take(struct fleet_feed *feed);
void fleet_change_free(struct fleet_change *change);
/* The connection is lost; also called by bus.c. */
void fleet_feed_lose(void *feed);
bool fleet_feed_lost(struct fleet_feed *feed);
/* End the threads and drop what was not taken. */
void fleet_feed_close(struct fleet_feed *feed);

#endif
