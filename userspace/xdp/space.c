// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The XDP programs of a network namespace. libxdp keeps descriptors of programs open, which hold
 * the module, so each is done by a process of its own.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "xdp/xdp.h"

/* What that process tells. */
struct answer {
	struct weir_err err;
	unsigned int count;
	struct weir_xdp early[WEIR_EARLY_MAX];
};

typedef int work(struct weir_tool *tool, struct weir_space *space, struct answer *answer);

static int do_apart(struct weir_tool *tool, struct weir_space *space, work *work,
		    struct answer *copy)
{
	struct answer *answer = mmap(NULL, sizeof(*answer), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = WEIR_EXIT_OUTPUT, ret;
	pid_t pid = answer == MAP_FAILED ? -1 : fork();

	if (!pid) {
		status = work(tool, space, answer);
		answer->err = tool->err;
		_exit(status);
	}
	weir_err_set(&tool->err, WEIR_NO_MEMORY);
	if (pid > 0) {
		while (waitpid(pid, &ret, 0) < 0 && errno == EINTR)
			;
		status = WIFEXITED(ret) ? WEXITSTATUS(ret) : WEIR_EXIT_OUTPUT;
		tool->err = answer->err;
		if (!WIFEXITED(ret))
			weir_err_set(&tool->err, "the process for its XDP programs was ended by signal %d",
				     WTERMSIG(ret));
		if (copy)
			*copy = *answer;
	}
	if (answer != MAP_FAILED)
		munmap(answer, sizeof(*answer));
	return status;
}

static int list(struct weir_tool *tool, struct weir_space *space, struct answer *answer)
{
	answer->count = weir_xdp_list(tool, answer->early);
	return WEIR_EXIT_OK;
}

int weir_space_list(struct weir_tool *tool, struct weir_space *space)
{
	static struct answer answer;
	int status = do_apart(tool, space, list, &answer);

	if (status)
		return status;
	space->early = malloc((answer.count + 1) * sizeof(*space->early));
	if (!space->early) {
		weir_err_set(&tool->err, WEIR_NO_MEMORY);
		return WEIR_EXIT_OUTPUT;
	}
	space->early_count = answer.count;
	memcpy(space->early, answer.early, answer.count * sizeof(*space->early));
	return WEIR_EXIT_OK;
}

static int detach(struct weir_tool *tool, struct weir_space *space, struct answer *answer)
{
	union weir_model model;
	int status = WEIR_EXIT_OK;
	unsigned int i;

	tool->exist = true;
	for (i = 0; !status && i < space->early_count; i++) {
		model.xdp = space->early[i];
		status = weir_xdp_detach(tool, NULL, &model);
	}
	return status;
}

int weir_space_detach(struct weir_tool *tool, struct weir_space *space)
{
	return space->early_count ? do_apart(tool, space, detach, NULL) : WEIR_EXIT_OK;
}

static int attach(struct weir_tool *tool, struct weir_space *space, struct answer *answer)
{
	int status = WEIR_EXIT_OK;
	unsigned int i;

	tool->detached = space;
	for (i = 0; i < space->early_count; i++)
		status = weir_xdp_apply(tool, &space->early[i]) ?: status;
	return status;
}

int weir_space_attach(struct weir_tool *tool, struct weir_space *space)
{
	return space->early_count ? do_apart(tool, space, attach, NULL) : WEIR_EXIT_OK;
}
