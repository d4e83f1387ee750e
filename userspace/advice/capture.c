// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files of captured packets, by libpcap. It is loaded when the first one is read: with it come nine
 * other libraries, which no other command needs.
 */

#include <stdlib.h>

#include "advice/capture.h"

#ifdef WEIR_PCAP

#include <dlfcn.h>
#include <pcap/pcap.h>

/* Debian's name, and that of others */
static const char *const libraries[] = { "libpcap.so.0.8", "libpcap.so.1" };

#define LIBRARIES	(sizeof(libraries) / sizeof(libraries[0]))
#define CALL(name)	__typeof__(pcap_##name) *name

struct weir_capture {
	void *library;
	pcap_t *pcap;
	CALL(open_offline_with_tstamp_precision);
	CALL(next_ex);
	CALL(geterr);
	CALL(datalink);
	CALL(datalink_val_to_name);
	CALL(close);
};

static bool load(struct weir_capture *capture)
{
	unsigned int i;

	for (i = 0; i < LIBRARIES && !capture->library; i++)
		capture->library = dlopen(libraries[i], RTLD_NOW);
	if (!capture->library)
		return false;
#define FIND(name)	(capture->name = dlsym(capture->library, "pcap_" #name))
	return FIND(open_offline_with_tstamp_precision) && FIND(next_ex) && FIND(geterr) &&
	       FIND(datalink) && FIND(datalink_val_to_name) && FIND(close);
#undef FIND
}

struct weir_capture *weir_capture_open(const char *path, struct weir_err *err)
{
	struct weir_capture *capture = calloc(1, sizeof(*capture));
	char why[PCAP_ERRBUF_SIZE] = "";

	if (!capture) {
		weir_err_set(err, WEIR_NO_MEMORY);
		return NULL;
	}
	if (!load(capture)) {
		weir_err_set(err, "captures are read by libpcap, which cannot be loaded (apt-get install libpcap0.8)");
		weir_capture_close(capture);
		return NULL;
	}
	capture->pcap = capture->open_offline_with_tstamp_precision(path,
							PCAP_TSTAMP_PRECISION_NANO, why);
	if (capture->pcap)
		return capture;
	weir_err_set(err, "%.400s", why);
	weir_capture_close(capture);
	return NULL;
}

int weir_capture_link(const struct weir_capture *capture)
{
	return capture->datalink(capture->pcap);
}

const char *weir_capture_link_name(const struct weir_capture *capture)
{
	return capture->datalink_val_to_name(weir_capture_link(capture));
}

int weir_capture_next(struct weir_capture *capture, struct weir_frame *frame, struct weir_err *err)
{
	struct pcap_pkthdr *header;
	const u_char *bytes;
	int ret = capture->next_ex(capture->pcap, &header, &bytes);

	if (ret == PCAP_ERROR_BREAK)
		return 0;
	if (ret != 1)
		return weir_err_set(err, "%.400s", capture->geterr(capture->pcap));
	/* By the precision that was asked for, tv_usec is ns. */
	*frame = (struct weir_frame){
		.bytes = bytes, .len = header->caplen, .size = header->len,
		.ns = (uint64_t)header->ts.tv_sec * 1000000000 + header->ts.tv_usec,
	};
	return 1;
}

void weir_capture_close(struct weir_capture *capture)
{
	if (capture->pcap)
		capture->close(capture->pcap);
	if (capture->library)
		dlclose(capture->library);
	free(capture);
}

#endif
