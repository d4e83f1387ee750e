// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir_fault: lets one function of the kernel fail that a module calls, where
 * the kernel's own fault injection knows no way. As with /proc/PID/fail-nth, the
 * nth call by one task fails, once: written to nth, counted down to 0.
 *
 * Calls from the kernel itself do not count; so this is for a guest whose only
 * other module is the one under test.
 */
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>

static char *symbol = "pcpu_alloc_noprof";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "function that fails");

static long result;
module_param(result, long, 0444);
MODULE_PARM_DESC(result, "what it then returns: 0 for a pointer, or a negative errno");

static int task;
module_param(task, int, 0644);
MODULE_PARM_DESC(task, "thread whose calls count");

static unsigned int nth;
module_param(nth, uint, 0644);
MODULE_PARM_DESC(nth, "call that fails, from 1; 0: none");

/* Return to the caller before the function has begun. */
static int __kprobes fault_pre(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long caller = *(unsigned long *)regs->sp;

	if (!nth || current->pid != task ||
	    caller < MODULES_VADDR || caller >= MODULES_END || --nth)
		return 0;
	regs->ax = result;
	regs->sp += sizeof(caller);
	regs->ip = caller;
	return 1;
}

/* A probe that has one is not turned into a jump, which could not return. */
static void __kprobes fault_post(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = { .pre_handler = fault_pre, .post_handler = fault_post };

static int __init fault_init(void)
{
	probe.symbol_name = symbol;
	return register_kprobe(&probe);
}

static void __exit fault_exit(void)
{
	unregister_kprobe(&probe);
}

module_init(fault_init);
module_exit(fault_exit);

MODULE_DESCRIPTION("Faults for the tests of weir");
MODULE_LICENSE("GPL");
