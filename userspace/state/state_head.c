// SPDX-License-Identifier: GPL-2.0-or-later
/* What a saved state begins with: when and where it was, and the configuration as text. */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "state/state.h"
#include "state/state_file.h"

static void read_boot_id(char id[WEIR_BOOT_ID_SIZE])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t size;

	memset(id, 0, WEIR_BOOT_ID_SIZE);
	if (fd < 0)
		return;
	size = read(fd, id, WEIR_BOOT_ID_SIZE - 1);
	id[size < 0 ? 0 : strcspn(id, "\n")] = '\0';
	close(fd);
}

void weir_saved_clocks(struct weir_saved_head *head)
{
	*head = (struct weir_saved_head){ .wall_ns = weir_clock_ns(CLOCK_REALTIME),
					  .boot_ns = weir_clock_ns(CLOCK_BOOTTIME) };
	read_boot_id(head->boot_id);
}

int weir_saved_now(struct weir_tool *tool, struct weir_saved_head *head)
{
	struct weir_stats stats;
	int status = weir_get_stats(tool, &stats);

	if (status)
		return status;
	if (!stats.clock_ns || !stats.tick_ns) {
		weir_err_set(&tool->err, WEIR_OLD_MODULE);
		return WEIR_EXIT_REFUSED;
	}
	weir_saved_clocks(head);
	head->clock_ns = stats.clock_ns;
	head->tick_ns = stats.tick_ns;
	return WEIR_EXIT_OK;
}

static void put_early(struct weir_tool *tool, struct weir_config *config)
{
	const struct weir_space *detached = tool->detached;

	config->early_count = detached ? detached->early_count :
			      weir_xdp_list(tool, config->early);
	if (detached)
		memcpy(config->early, detached->early,
		       detached->early_count * sizeof(*config->early));
}

int weir_config_text(struct weir_tool *tool, struct weir_config *config, char **text, size_t *size)
{
	struct weir_out out = { .to = open_memstream(text, size) };
	int ret;

	if (out.to) {
		weir_config_sort(config);
		put_early(tool, config);
		weir_show_config(&out, config);
		ret = weir_out_flush(&out);
		fclose(out.to);
		if (!ret)
			return WEIR_EXIT_OK;
	}
	weir_err_set(&tool->err, WEIR_NO_MEMORY);
	return WEIR_EXIT_OUTPUT;
}
