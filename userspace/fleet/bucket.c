// SPDX-License-Identifier: GPL-2.0-or-later
/* Key-value buckets, which are streams of JetStream. */

#include <errno.h>
#include <string.h>

#include "bucket.h"

#define HISTORY		64		/* revisions of a key; the most that a bucket has */
#define SMALL		512		/* bytes of a value of a bucket for so many keys */

int fleet_bucket_open(struct fleet_bucket *bucket, struct fleet_bus *bus, const char *name,
		      struct weir_err *err)
{
	natsStatus status;

	memset(bucket, 0, sizeof(*bucket));
	bucket->bus = bus;
	snprintf(bucket->name, sizeof(bucket->name), "%s", name);
	status = js_KeyValue(&bucket->store, bus->js, name);
	if (!status)
		return 0;
	if (status != NATS_NOT_FOUND)
		return fleet_bus_error(bus, status, name, err);
	weir_err_set(err, "there is no bucket '%s' yet: a push makes it", name);
	return -ENOENT;
}

/* Let so many servers keep a bucket that is there. */
static int keep(struct fleet_bucket *bucket, const char *stream, int64_t replicas,
		struct weir_err *err)
{
	jsStreamInfo *info = NULL;
	natsStatus status = js_GetStreamInfo(&info, bucket->bus->js, stream, NULL, NULL);

	if (!status && replicas > 1 && !info->Cluster) {
		jsStreamInfo_Destroy(info);
		weir_err_set(err, "a server that is in no cluster keeps one replica");
		return -EREMOTEIO;
	}
	if (!status && info->Config->Replicas != replicas) {
		info->Config->Replicas = replicas;
		status = js_UpdateStream(NULL, bucket->bus->js, info->Config, NULL, NULL);
	}
	jsStreamInfo_Destroy(info);
	return status ? fleet_bus_error(bucket->bus, status, bucket->name, err) : 0;
}

/*
 * As the library makes a bucket, but without roll-ups: by one who may write any key may delete all
 * others.
 */
int fleet_bucket_make(struct fleet_bucket *bucket, struct fleet_bus *bus, const char *name,
		      int64_t keys, int64_t replicas, struct weir_err *err)
{
	char stream[FLEET_BUCKET_SIZE + 8], keys_of[FLEET_BUCKET_SIZE + 8];
	const char *subject = keys_of;
	jsStreamConfig config;
	natsStatus status;
	int ret = fleet_bucket_open(bucket, bus, name, err);

	snprintf(stream, sizeof(stream), "KV_%s", name);
	if (!ret && replicas)
		return keep(bucket, stream, replicas, err);
	if (ret != -ENOENT)
		return ret;
	snprintf(keys_of, sizeof(keys_of), "$KV.%s.>", name);
	jsStreamConfig_Init(&config);
	config.Name = stream;
	config.Subjects = &subject;
	config.SubjectsLen = 1;
	config.MaxMsgsPerSubject = keys ? 1 : HISTORY;
	config.MaxMsgs = keys ? keys : -1;
	config.MaxMsgSize = keys ? SMALL : -1;
	config.Discard = js_DiscardNew;
	config.DenyDelete = !keys;
	config.AllowDirect = true;
	config.Replicas = replicas ? replicas : 1;
	status = js_AddStream(NULL, bus->js, &config, NULL, NULL);
	return status ? fleet_bus_error(bus, status, name, err) :
	       fleet_bucket_open(bucket, bus, name, err);
}

void fleet_bucket_close(struct fleet_bucket *bucket)
{
	kvStore_Destroy(bucket->store);
	bucket->store = NULL;
}

int fleet_bucket_put(struct fleet_bucket *bucket, const char *key, const char *value, size_t size,
		     uint64_t last, const char *author, uint64_t *revision, struct weir_err *err)
{
	jsPubOptions options;
	jsPubAck *ack = NULL;
	natsMsg *msg = NULL;
	jsErrCode code = 0;
	natsStatus status;
	char subject[512];

	snprintf(subject, sizeof(subject), "$KV.%s.%s", bucket->name, key);
	jsPubOptions_Init(&options);
	options.MaxWait = FLEET_WAIT_MS;
	options.ExpectNoMessage = !last;
	options.ExpectLastSubjectSeq = last == FLEET_ANY ? 0 : last;
	status = natsMsg_Create(&msg, subject, NULL, value, size);
	if (!status && author)
		status = natsMsgHeader_Set(msg, FLEET_AUTHOR, author);
	if (!status)
		status = js_PublishMsg(&ack, bucket->bus->js, msg, &options, &code);
	natsMsg_Destroy(msg);
	if (!status && revision)
		*revision = ack->Sequence;
	jsPubAck_Destroy(ack);
	if (!status)
		return 0;
	if (code == JSStreamWrongLastSequenceErr) {
		weir_err_set(err, "%s: somebody else changed it meanwhile; try again", key);
		return -ESTALE;
	}
	fleet_bus_error(bucket->bus, status, key, err);
	/* Nobody leads a cluster just now: that is no refusal. */
	return code && status != NATS_NO_RESPONDERS ? -EREMOTEIO : -EIO;
}

int fleet_bucket_delete(struct fleet_bucket *bucket, const char *key, struct weir_err *err)
{
	natsStatus status = kvStore_Delete(bucket->store, key);

	return status ? fleet_bus_error(bucket->bus, status, key, err) : 0;
}

void fleet_bucket_forget(struct fleet_bucket *bucket, uint64_t revision)
{
	char stream[FLEET_BUCKET_SIZE + 8];

	snprintf(stream, sizeof(stream), "KV_%s", bucket->name);
	js_DeleteMsg(bucket->bus->js, stream, revision, NULL, NULL);
}

void fleet_bucket_author(struct fleet_bucket *bucket, uint64_t revision, char *author, size_t size)
{
	char stream[FLEET_BUCKET_SIZE + 8];
	const char *text = NULL;
	natsMsg *msg = NULL;

	snprintf(stream, sizeof(stream), "KV_%s", bucket->name);
	if (!js_GetMsg(&msg, bucket->bus->js, stream, revision, NULL, NULL))
		natsMsgHeader_Get(msg, FLEET_AUTHOR, &text);
	snprintf(author, size, "%s", text ? text : "");
	natsMsg_Destroy(msg);
}
