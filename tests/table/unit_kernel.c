// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir_table_test: unit tests of the table in a kernel, around the module's own
 * files. Loading it runs one program, named by its parameter; what it says is in
 * the kernel's log, as TAP. It is loaded only if no test failed.
 */
#include <linux/bottom_half.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/topology.h>

#include "thread.h"
#include "unit_kernel.h"

#define UNSET U64_MAX

static char *program = "table_model";
module_param(program, charp, 0444);
MODULE_PARM_DESC(program, "table_model, table_move or table_threads");

/* As the environment's in user space */
static unsigned long long seed = UNSET, run = UNSET, percent = UNSET;
module_param(seed, ullong, 0444);
MODULE_PARM_DESC(seed, "UNIT_SEED: other random runs");
module_param(run, ullong, 0444);
MODULE_PARM_DESC(run, "UNIT_RUN: one of them");
module_param(percent, ullong, 0444);
MODULE_PARM_DESC(percent, "UNIT_PERCENT: so many of them");

atomic_t watched_allocations;
void (*shim_resched)(void);
u64 (*shim_clock)(void);

static bool failed;	/* any thread writes it */

u64 unit_number(const char *name, u64 otherwise)
{
	u64 number = UNSET;

	if (!strcmp(name, "UNIT_SEED"))
		number = seed;
	else if (!strcmp(name, "UNIT_RUN"))
		number = run;
	else if (!strcmp(name, "UNIT_PERCENT"))
		number = percent;
	return number == UNSET ? otherwise : number;
}

/* The thread of a test ends here. Context: no lock held. */
void unit_fail(void)
{
	struct thread *thread = kthread_data(current);

	WRITE_ONCE(failed, true);
	while (rcu_preempt_depth())
		rcu_read_unlock();
	while (softirq_count())
		local_bh_enable();
	/* objtool wants to be told of functions that never return. */
	if (thread)
		kthread_complete_and_exit(&thread->done, 0);
}

void thread_go(unsigned int cpu)
{
	cpu = cpumask_local_spread(cpu, NUMA_NO_NODE);
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

static int thread_main(void *arg)
{
	struct thread *thread = arg;

	thread->run(thread->arg);
	kthread_complete_and_exit(&thread->done, 0);
}

void thread_start(struct thread *thread, void (*run)(void *arg), void *arg)
{
	struct task_struct *task;

	init_completion(&thread->done);
	thread->run = run;
	thread->arg = arg;
	task = kthread_run(thread_main, thread, "weir_test");
	if (!IS_ERR(task))
		return;
	WRITE_ONCE(failed, true);
	complete(&thread->done);
}

void thread_join(struct thread *thread)
{
	/* No wait is so long that the kernel complains of it. */
	while (!wait_for_completion_timeout(&thread->done, 10 * HZ))
		;
}

static void run_test(void *arg)
{
	const struct CMUnitTest *test = arg;

	test->run(NULL);
}

/* Returns how many failed. */
int unit_run(const char *group, const struct CMUnitTest *test, unsigned int n)
{
	unsigned int i, bad = 0;
	struct thread thread;

	print_message("1..%u\n", n);
	for (i = 0; i < n; i++) {
		failed = false;
		/* What a test that failed left behind stays. */
		atomic_set(&watched_allocations, 0);
		thread_start(&thread, run_test, (void *)&test[i]);
		thread_join(&thread);
		bad += failed;
		print_message("%sok %u - %s: %s\n", failed ? "not " : "", i + 1,
			      group, test[i].name);
	}
	return bad;
}

static int __init unit_init(void)
{
	static const struct {
		const char *name;
		int (*main)(void);
	} programs[] = {
		{ "table_model", table_model },
		{ "table_move", table_move },
		{ "table_threads", table_threads },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(programs); i++)
		if (!strcmp(programs[i].name, program))
			return programs[i].main() ? -EIO : 0;
	return -EINVAL;
}

static void __exit unit_exit(void)
{
}

module_init(unit_init);
module_exit(unit_exit);

MODULE_DESCRIPTION("Unit tests of weir's table");
MODULE_LICENSE("GPL");
