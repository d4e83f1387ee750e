/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of the module, which are asked for too often to run weir each time. */
#ifndef FLEET_MODULE_H
#define FLEET_MODULE_H

#include "err.h"
#include "model.h"

struct fleet_module {
	int fd;			/* -1: closed */
	uint16_t family;
	uint32_t seq;
};

/* How the counts of a budget are to be read, as the module says it. */
struct fleet_budget {
	uint64_t budget, slot_ns, phase_ns;
	uint32_t mode, slots, width;
};

/* A message of a dump: a limit at some time, and sources. */
struct fleet_dump {
	uint64_t clock_ns, since_ns;
	unsigned int budgets;
	struct fleet_budget budget[WEIR_BUDGETS_MAX];
	const void *attrs;	/* all of it */
	size_t size;
};

/* Numbers of a budget are of the current slot and those before it. */
struct fleet_dumped {
	struct weir_prefix source;
	unsigned int count[WEIR_BUDGETS_MAX];
	uint64_t numbers[WEIR_BUDGETS_MAX][WEIR_WHEEL_MAX];
};

/* All return 0, or -errno with a sentence. */
int fleet_module_open(struct fleet_module *module, struct weir_err *err);
void fleet_module_close(struct fleet_module *module);

typedef void fleet_dump_message(const struct fleet_dump *dump, void *data);
/* Ask for sources of a limit that changed since then, and have at least such a count. */
int fleet_module_dump(struct fleet_module *module, const char *limit, uint64_t since_ns,
		      uint64_t least, fleet_dump_message *message, void *data,
		      struct weir_err *err);
/* Its next source; @at is 0 at first. Sources of a link are left out. */
bool fleet_dump_next(const struct fleet_dump *dump, size_t *at, struct fleet_dumped *to);

/* A shared limit is joined for so long from now; with 0 it is alone. */
int fleet_module_join(struct fleet_module *module, const char *limit, uint32_t ms,
		      struct weir_err *err);

/* A request that adds to counts, in the current slots of a message. */
struct fleet_addition {
	char data[61440] __attribute__((aligned(8)));
	size_t size, head;	/* of the request; without sources */
	unsigned int budgets;
	uint8_t width[WEIR_BUDGETS_MAX];
};

void fleet_addition_begin(struct fleet_addition *addition, const struct fleet_dump *dump);
/* False: there is no room, send it. */
bool fleet_addition_put(struct fleet_addition *addition, const struct weir_prefix *source,
			const uint64_t amount[]);
/* Send it, if it has sources, and empty it. */
int fleet_addition_send(struct fleet_addition *addition, struct fleet_module *module,
			struct weir_err *err);

#endif
