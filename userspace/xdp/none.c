// SPDX-License-Identifier: GPL-2.0-or-later
/* xdp.c of a weir that was built without clang or libbpf. */

#include "xdp/ours.h"
#include "xdp/xdp.h"

#ifndef WEIR_XDP

static int missing(struct weir_tool *tool)
{
	weir_err_set(&tool->err, "this weir was built without clang or libbpf, so it has no XDP program");
	return WEIR_EXIT_REFUSED;
}

int weir_xdp_attach(struct weir_tool *tool, const struct weir_command *command,
		    union weir_model *model)
{
	return missing(tool);
}

int weir_xdp_detach(struct weir_tool *tool, const struct weir_command *command,
		    union weir_model *model)
{
	return missing(tool);
}

int weir_xdp_show(struct weir_tool *tool, const struct weir_command *command,
		  union weir_model *model)
{
	return missing(tool);
}

int weir_xdp_apply(struct weir_tool *tool, struct weir_xdp *at)
{
	return missing(tool);
}

void weir_xdp_undo(const struct weir_config *config)
{
}

void weir_xdp_prune(struct weir_tool *tool, const struct weir_config *config)
{
}

unsigned int weir_xdp_list(struct weir_tool *tool, struct weir_xdp *list)
{
	return 0;
}

unsigned int weir_xdp_look(struct weir_tool *tool, struct weir_xdp *list)
{
	return 0;
}

unsigned int weir_xdp_clean(struct weir_tool *tool, const char *dev, bool everywhere)
{
	return 0;
}

#endif
