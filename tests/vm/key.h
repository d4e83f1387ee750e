/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The compiler includes this before the module's files when kernel-build.sh builds it for guests: the
 * module's keys are those of WEIR_KEY, so that the same sources share a bucket in each run.
 */
#ifndef TESTS_VM_KEY_H
#define TESTS_VM_KEY_H

/* As in the module, before the kernel's own */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/random.h>

static inline void weir_key_bytes(void *bytes, size_t size)
{
	u64 state = WEIR_KEY;
	u8 *byte = bytes;

	for (; size; size--) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		*byte++ = state >> 56;
	}
}

#define get_random_bytes weir_key_bytes

#endif /* TESTS_VM_KEY_H */
