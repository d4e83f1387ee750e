// SPDX-License-Identifier: GPL-2.0-or-later
/* Reproducible random numbers, by return probes. UML has no probes: there they stay random. */
#include <linux/kprobes.h>

#include "bench.h"
u32 bench_seed;

#ifdef CONFIG_KRETPROBES
static u32 series_next(void)
{
	bench_seed = bench_seed * 1664525 + 1013904223;
	return bench_seed;
}

struct random_bytes {
	u8 *to;
	size_t size;
};

static int random_bytes_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct random_bytes *bytes = (void *)ri->data;

	bytes->to = (u8 *)regs_get_kernel_argument(regs, 0);
	bytes->size = regs_get_kernel_argument(regs, 1);
	return 0;
}

static int random_bytes_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct random_bytes *bytes = (void *)ri->data;
	size_t i;

	for (i = 0; bench_seed && i < bytes->size; i++)
		bytes->to[i] = series_next() >> 24;
	return 0;
}

static int random_u32_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (bench_seed)
		regs_set_return_value(regs, series_next());
	return 0;
}

static struct kretprobe random_bytes = {
	.kp.symbol_name	= "get_random_bytes",
	.entry_handler	= random_bytes_entry,
	.handler	= random_bytes_return,
	.data_size	= sizeof(struct random_bytes),
};

static struct kretprobe random_u32 = {
	.kp.symbol_name	= "get_random_u32",
	.handler	= random_u32_return,
};

static struct kretprobe *probes[] = { &random_bytes, &random_u32 };

int seed_init(void)
{
	return register_kretprobes(probes, ARRAY_SIZE(probes));
}

void seed_exit(void)
{
	unregister_kretprobes(probes, ARRAY_SIZE(probes));
}
#else
int seed_init(void)
{
	return 0;
}

void seed_exit(void)
{
}
#endif
