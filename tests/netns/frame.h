/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Build frames from the packet options of send. */
#ifndef FRAME_H
#define FRAME_H

#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_MAX	65600

/* The options of a packet. */
struct packet {
	uint8_t mac[6];
	int family;
	uint8_t source[16], destination[16];
	int proto;
	uint16_t sport, dport;
	const char *flags;
	unsigned int payload;
	unsigned int claimed;	/* bytes beyond those, by the header of IP */
	uint8_t raw[FRAME_MAX];
	int raw_len;		/* -1: none */
	uint8_t ttl;
	bool fragment, more;
	unsigned int offset;
	const char *extensions;
	int vid;		/* -1: none */
	unsigned int segment;	/* 0: none */
};

/* A frame, the offset of its network header, and its virtio-net header. */
struct frame {
	struct virtio_net_hdr offload;
	uint8_t byte[FRAME_MAX];
	size_t len;
	size_t network;
};

/* Build a packet in an empty frame; exits if it is too long. */
void frame_build(struct frame *frame, const struct packet *packet);
/* Set the source to SOURCE + (index << bit). */
void frame_source(struct frame *frame, const struct packet *packet,
		  uint32_t index, unsigned int bit);

#endif /* FRAME_H */
