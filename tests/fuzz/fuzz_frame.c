// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer on captured frames, as libpcap hands them over, and on what limit advise makes of
 * them. The first byte selects link type, unit and way to count; each frame begins with its length
 * and what passes before it. No frame is read beyond its end, no budget refuses more than was
 * sent, and the largest that is looked at refuses nothing.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "advice/advice.h"
#include "advice/frame.h"

#define TICK_NS	4000000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail_unless(bool good)
{
	if (!good)
		abort();
}

/* Copies are as long as what was captured, so that ASan sees what is behind. */
static uint32_t read_frame(int link, const uint8_t *data, size_t len, struct weir_match *packet)
{
	uint8_t *frame = malloc(len ? len : 1);
	uint32_t read;

	memcpy(frame, data, len);
	read = weir_frame_read(link, frame, len, len + 10, packet);
	free(frame);
	if (!read)
		return 0;
	fail_unless(packet->has & WEIR_COND_FROM && packet->from[0].family == packet->family);
	fail_unless(packet->family == AF_INET ? packet->from[0].len == 32 :
		    packet->family == AF_INET6 && packet->from[0].len == 128);
	fail_unless(!(packet->flags & ~(WEIR_COND_FRAG | WEIR_COND_SYN)));
	fail_unless(!(packet->flags & WEIR_COND_FRAG) || !(packet->has & WEIR_COND_DPORT));
	return read;
}

static void check_advice(const struct weir_demand *demand, const struct weir_limit *limit)
{
	static struct weir_advice advice;
	uint64_t before = UINT64_MAX;
	unsigned int i;

	advice = (struct weir_advice){ 0 };
	fail_unless(!weir_advise(demand, limit, TICK_NS, &advice));
	for (i = 0; i < advice.loss_count; i++) {
		fail_unless(advice.losses[i].packets <= advice.packets);
		fail_unless(advice.losses[i].sources <= advice.sources);
		fail_unless(advice.losses[i].hour_packets <= advice.losses[i].packets);
		fail_unless(!advice.losses[i].packets == !advice.losses[i].sources);
		before = advice.losses[i].packets;
	}
	fail_unless(!advice.loss_count || !before);
	fail_unless(!advice.packets || advice.proposal.budget_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int links[] = { 0, 1, 12, 101, 108, 113, 228, 276 };
	static struct weir_match packet;
	struct weir_limit limit = { .name = "fuzz", .budgets = { { .amount = { 5, 1000 } } } };
	struct weir_demand *demand;
	struct weir_err err;
	uint64_t ns = TICK_NS;
	uint32_t read;
	size_t len;
	int link;

	if (!size)
		return 0;
	link = links[data[0] & 7];
	fail_unless(weir_frame_known(link));
	limit.budgets[0].unit = data[0] >> 3 & 1;
	limit.budgets[0].amount.count *= limit.budgets[0].unit ? 1000 : 1;
	limit.budgets[0].mode = (data[0] >> 4 & 7) % WEIR_MODE_CALENDAR;
	if (limit.budgets[0].mode == WEIR_MODE_EXACT) {
		limit.budgets[0].unit = WEIR_UNIT_PACKETS;
		limit.budgets[0].amount.count = 5;
	}
	limit.budget_count = data[0] >> 7;
	demand = weir_demand_new(&limit, limit.budget_count, TICK_NS, &err);
	fail_unless(demand);
	for (data++, size--; size > 3; data += len, size -= len) {
		len = data[0] % 128 < size - 3 ? data[0] % 128 : size - 3;
		ns += (uint64_t)data[1] << (data[2] % 48);
		data += 3;
		size -= 3;
		read = read_frame(link, data, len, &packet);
		if (read)
			fail_unless(!weir_demand_add(demand, &packet.from[0], ns, 1, read));
	}
	fail_unless(!weir_demand_end(demand));
	check_advice(demand, &limit);
	weir_demand_free(demand);
	return 0;
}
