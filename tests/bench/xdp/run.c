// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run OBJECT PROGRAM DEVICE WARM COUNT [ENTRIES]: run an XDP program of peers.c with a UDP packet
 * that arrives on DEVICE, WARM times and then COUNT times. Prints the nanoseconds of one
 * run, which -icount makes instructions, and how many of COUNT were dropped. ENTRIES of the
 * peers' hashes, if not 131,072.
 * run OBJECT PROGRAM DEVICE: attach the program to the driver of DEVICE.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char frame[64] = {
	0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2, 0x08, 0x00,
	/* 10.0.0.0 to 192.0.2.1, id 65535, TTL 64 */
	0x45, 0, 0, 46, 0xff, 0xff, 0, 0, 64, 17, 0, 0, 10, 0, 0, 0, 192, 0, 2, 1,
	4, 0, 0, 9, 0, 26, 0, 0,
};

static void checksum(unsigned char *ip)
{
	unsigned int sum = 0, i;

	for (i = 0; i < 20; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	sum = ~((sum & 0xffff) + (sum >> 16));
	ip[10] = sum >> 8;
	ip[11] = sum;
}

static unsigned int measure(int fd, unsigned int ifindex, unsigned int repeat)
{
	struct xdp_md ctx = { .data_end = 60, .ingress_ifindex = ifindex };
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = 60,
		    .ctx_in = &ctx, .ctx_size_in = sizeof(ctx), .repeat = repeat);

	if (bpf_prog_test_run_opts(fd, &run))
		err(1, "cannot run");
	return run.duration;
}

static unsigned long long dropped(struct bpf_object *object)
{
	/* The variables of peers.c, in the order of the file. */
	struct {
		unsigned int next;
		unsigned long long dropped;
	} bss;
	unsigned int key = 0;

	if (bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(object, "peers.bss"), &key, &bss))
		err(1, "no .bss");
	return bss.dropped;
}

int main(int argc, char **argv)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "peers");
	struct bpf_program *program, *wanted;
	struct bpf_map *map;
	unsigned long long before;
	struct bpf_object *object;
	unsigned int ns, ifindex;

	if (argc != 7 && argc != 6 && argc != 4)
		errx(1, "run OBJECT PROGRAM DEVICE [WARM COUNT [ENTRIES]]");
	ifindex = if_nametoindex(argv[3]);
	object = bpf_object__open_file(argv[1], &opts);
	wanted = object ? bpf_object__find_program_by_name(object, argv[2]) : NULL;
	if (!ifindex || !wanted)
		errx(1, "no such device, object or program");
	bpf_object__for_each_program(program, object)
		bpf_program__set_autoload(program, program == wanted);
	bpf_object__for_each_map(map, object)
		if (argc == 7 && bpf_map__type(map) != BPF_MAP_TYPE_ARRAY)
			bpf_map__set_max_entries(map, atoi(argv[6]));
	if (bpf_object__load(object))
		errx(1, "cannot load");
	if (argc == 4) {
		if (bpf_xdp_attach(ifindex, bpf_program__fd(wanted), XDP_FLAGS_DRV_MODE, NULL))
			err(1, "cannot attach");
		return 0;
	}
	checksum(frame + 14);
	if (atoi(argv[4]))
		measure(bpf_program__fd(wanted), ifindex, atoi(argv[4]));
	before = dropped(object);
	ns = measure(bpf_program__fd(wanted), ifindex, atoi(argv[5]));
	printf("%u %llu\n", ns, dropped(object) - before);
	return 0;
}
