// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The XDP program of `weir xdp attach`: drop what the module would surely refuse.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

extern int weir_xdp_refuses(struct xdp_md *ctx) __ksym;

/* For libxdp's dispatcher: before other programs, which see what this one passes. */
struct {
	__uint(priority, 10);
	__uint(XDP_PASS, 1);
} _weir_xdp SEC(".xdp_run_config");

/*
 * libbpf gives the program this map. By it the tool knows the program from others of its name, and
 * the device, whose name and network namespace it writes there, also when that is gone.
 */
const struct {
	char dev[16];
	__u64 netns;
} of_weir SEC(".rodata.of_weir") __attribute__((used));

SEC("xdp.frags")
int weir_xdp(struct xdp_md *ctx)
{
	return weir_xdp_refuses(ctx) ? XDP_DROP : XDP_PASS;
}

/* The kernel lets no program under another licence call its functions. */
char _license[] SEC("license") = "GPL";
