// SPDX-License-Identifier: GPL-2.0-or-later
/* Key-value buckets, which are streams of JetStream. */

#include <string.h>

#include "bucket.h"

/* What hosts write is bounded, whatever they write: only operators can fill the server. */
static const struct kind {
	const char *name;		/* and behind it the group */
	int64_t revisions, keys, size;	/* of a key, in all, of a value in bytes; -1: no bound */
} kinds[] = {
	[FLEET_CONFIGS]	 = { "weir",	     64, -1, -1 },
	[FLEET_STATUSES] = { "weir-status",   1, -1, 16384 },
	[FLEET_BLOCKS]	 = { "weir-blocks-",  1, FLEET_BLOCKS_MOST, 512 },
};

int fleet_bucket_open(struct fleet_bucket *bucket, struct fleet_bus *bus, enum fleet_kind kind,
		      const char *group, struct weir_err *err)
{
	natsStatus status;

	memset(bucket, 0, sizeof(*bucket));
	bucket->bus = bus;
	bucket->name = bucket->stream + strlen("KV_");
	snprintf(bucket->stream, sizeof(bucket->stream), "KV_%s%s", kinds[kind].name, group ?: "");
	status = js_KeyValue(&bucket->store, bus->js, bucket->name);
	if (!status)
		return 0;
	if (status != NATS_NOT_FOUND)
		return fleet_bus_error(bus, status, bucket->name, err);
	weir_err_set(err, "there is no bucket '%s' yet: a push makes it", bucket->name);
	return -ENOENT;
}

static int answered(struct fleet_bucket *bucket, natsStatus status, jsErrCode code,
		    const char *what, struct weir_err *err)
{
	if (!status)
		return 0;
	fleet_bus_error(bucket->bus, status, what, err);
	/* Nobody leads a cluster just now: that is no refusal. */
	return code && status != NATS_NO_RESPONDERS ? -EREMOTEIO : -EIO;
}

/* Let so many servers keep a bucket that is there. */
static int keep(struct fleet_bucket *bucket, int64_t replicas, struct weir_err *err)
{
	jsCtx *js = bucket->bus->js;
	jsStreamInfo *info = NULL;
	jsErrCode code = 0;
	natsStatus status = js_GetStreamInfo(&info, js, bucket->stream, NULL, &code);
	bool alone = !status && replicas > 1 && !info->Cluster;

	if (!status && !alone && info->Config->Replicas != replicas) {
		info->Config->Replicas = replicas;
		status = js_UpdateStream(NULL, js, info->Config, NULL, &code);
	}
	jsStreamInfo_Destroy(info);
	if (!alone)
		return answered(bucket, status, code, bucket->name, err);
	weir_err_set(err, "a server that is in no cluster keeps one replica");
	return -EREMOTEIO;
}

/*
 * As the library makes a bucket, but without roll-ups: by one who may write any key may delete all
 * others.
 */
int fleet_bucket_make(struct fleet_bucket *bucket, struct fleet_bus *bus, enum fleet_kind kind,
		      const char *group, int64_t replicas, struct weir_err *err)
{
	int ret = fleet_bucket_open(bucket, bus, kind, group, err);
	char keys[sizeof(bucket->stream) + 8];
	const char *subject = keys;
	jsStreamConfig config;
	jsErrCode code = 0;
	natsStatus status;

	if (!ret && replicas)
		return keep(bucket, replicas, err);
	if (ret != -ENOENT)
		return ret;
	snprintf(keys, sizeof(keys), "$KV.%s.>", bucket->name);
	jsStreamConfig_Init(&config);
	config.Name = bucket->stream;
	config.Subjects = &subject;
	config.SubjectsLen = 1;
	config.MaxMsgsPerSubject = kinds[kind].revisions;
	config.MaxMsgs = kinds[kind].keys;
	config.MaxMsgSize = kinds[kind].size;
	config.Discard = js_DiscardNew;
	config.DenyDelete = kinds[kind].keys < 0;
	config.AllowDirect = true;
	config.Replicas = replicas ? replicas : 1;
	status = js_AddStream(NULL, bus->js, &config, NULL, &code);
	return answered(bucket, status, code, bucket->name, err) ?:
	       fleet_bucket_open(bucket, bus, kind, group, err);
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
	if (code != JSStreamWrongLastSequenceErr)
		return answered(bucket, status, code, key, err);
	weir_err_set(err, "%s: somebody else changed it meanwhile; try again", key);
	return -ESTALE;
}

int fleet_bucket_delete(struct fleet_bucket *bucket, const char *key, struct weir_err *err)
{
	natsStatus status = kvStore_Delete(bucket->store, key);

	return status ? fleet_bus_error(bucket->bus, status, key, err) : 0;
}

void fleet_bucket_forget(struct fleet_bucket *bucket, uint64_t revision)
{
	js_DeleteMsg(bucket->bus->js, bucket->stream, revision, NULL, NULL);
}

void fleet_bucket_author(struct fleet_bucket *bucket, uint64_t revision, char *author, size_t size)
{
	const char *text = NULL;
	natsMsg *msg = NULL;

	if (!js_GetMsg(&msg, bucket->bus->js, bucket->stream, revision, NULL, NULL))
		natsMsgHeader_Get(msg, FLEET_AUTHOR, &text);
	snprintf(author, size, "%s", text ? text : "");
	natsMsg_Destroy(msg);
}
