// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir xdp: attach the program that asks the module before the stack. Where libxdp is
 * installed, its dispatcher runs it before other programs of the device.
 */

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "xdp/off.h"
#include "xdp/ours.h"
#include "xdp/xdp.h"

#ifdef WEIR_XDP
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <linux/if_link.h>

/* The program as clang made it. */
extern const char object_begin[], object_end[];

__asm__(".pushsection .rodata\n"
	"object_begin: .incbin \"bpf/weir_xdp.o\"\n"
	"object_end: .popsection\n");

/* What is used of libxdp.so.1; the modes are those of enum weir_xdp_mode. */
static struct {
	struct xdp_program *(*from_bpf_obj)(struct bpf_object *object, const char *section);
	void (*free)(struct xdp_program *program);
	int (*attach)(struct xdp_program *program, int ifindex, int mode, unsigned int flags);
	int (*detach)(struct xdp_program *program, int ifindex, int mode, unsigned int flags);
	uint32_t (*id)(const struct xdp_program *program);
	struct xdp_multiprog *(*of)(int ifindex);
	struct xdp_program *(*next)(const struct xdp_program *program,
				    const struct xdp_multiprog *all);
	int (*mode)(const struct xdp_multiprog *all);
	void (*close)(struct xdp_multiprog *all);
	long (*error)(const void *ptr);
	void *(*print)(void *to);
} xdp;

/* The last complaint of libbpf, which has what the kernel says of a program that it refuses. */
static char complaint[256];
#define KERNEL	"Kernel error message: "

static int note_complaint(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(complaint, sizeof(complaint), fmt, ap);
	complaint[strcspn(complaint, "\n")] = '\0';
	return 0;
}

/* Returns whether there is a libxdp. */
static bool open_libraries(void)
{
	static const char *const names[] = {
		"xdp_program__from_bpf_obj", "xdp_program__close", "xdp_program__attach",
		"xdp_program__detach", "xdp_program__id", "xdp_multiprog__get_from_ifindex",
		"xdp_multiprog__next_prog", "xdp_multiprog__attach_mode", "xdp_multiprog__close",
		"libxdp_get_error", "libxdp_set_print",
	};
	void *library = dlopen("libxdp.so.1", RTLD_NOW), **call = (void **)&xdp;
	size_t i;

	libbpf_set_print(note_complaint);
	for (i = 0; library && i < sizeof(names) / sizeof(names[0]); i++) {
		call[i] = dlsym(library, names[i]);
		if (!call[i])
			library = NULL;
	}
	if (library)
		xdp.print(NULL);
	return library;
}

/* Is the program alone on the device? */
static bool find_alone(struct weir_xdp *at, int ifindex)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);

	if (bpf_xdp_query(ifindex, 0, &query))
		return false;
	at->mode = weir_xdp_is_ours(query.drv_prog_id) ? WEIR_XDP_NATIVE : WEIR_XDP_GENERIC;
	at->program = at->mode == WEIR_XDP_NATIVE ? query.drv_prog_id : query.skb_prog_id;
	return weir_xdp_is_ours(at->program);
}

/*
 * Find the program on a device: fill @at, and detach it if wanted. Returns 0, -ENOENT, or
 * the negative errno of the detachment.
 */
static int find(struct weir_xdp *at, bool chains, bool detach)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, old);
	int ifindex = if_nametoindex(at->dev), ret = -ENOENT;
	struct xdp_program *program = NULL;
	struct xdp_multiprog *all;

	if (find_alone(at, ifindex)) {
		if (!detach)
			return 0;
		old.old_prog_fd = bpf_prog_get_fd_by_id(at->program);
		ret = bpf_xdp_detach(ifindex, XDP_FLAGS_REPLACE |
				     (at->mode == WEIR_XDP_NATIVE ? XDP_FLAGS_DRV_MODE :
								    XDP_FLAGS_SKB_MODE), &old);
		close(old.old_prog_fd);
		return ret;
	}
	all = chains ? xdp.of(ifindex) : NULL;
	if (!all || xdp.error(all))
		return -ENOENT;
	while ((program = xdp.next(program, all)) && !weir_xdp_is_ours(xdp.id(program)))
		;
	if (program) {
		at->program = xdp.id(program);
		at->mode = xdp.mode(all);
		ret = detach ? xdp.detach(program, ifindex, at->mode, 0) : 0;
	}
	xdp.close(all);
	return ret;
}

/* For a device, whose name it has. */
static struct bpf_object *open_object(const char *dev)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = WEIR_XDP_PROGRAM);
	struct bpf_object *object;

	object = bpf_object__open_mem(object_begin, object_end - object_begin, &opts);
	if (object)
		weir_xdp_name(object, dev);
	return object;
}

/* In the dispatcher of libxdp; returns a negative errno if there is none. */
static int attach_chained(const struct weir_xdp *at, int ifindex)
{
	struct bpf_object *object = open_object(at->dev);
	struct xdp_program *program;
	int watch, ret;

	if (!object)
		return -errno;
	program = xdp.from_bpf_obj(object, "xdp.frags");
	ret = xdp.error(program);
	if (!ret) {
		watch = weir_xdp_watch(ifindex);
		ret = xdp.attach(program, ifindex, at->mode, 0);
		weir_xdp_watched(watch, ret ? 0 : xdp.id(program));
		xdp.free(program);
	}
	bpf_object__close(object);
	return ret;
}

/* Alone; -EBUSY if there is another program. */
static int attach_alone(const struct weir_xdp *at, int ifindex)
{
	struct bpf_object *object = open_object(at->dev);
	int ret;

	if (!object)
		return -errno;
	ret = bpf_object__load(object);
	if (!ret)
		ret = bpf_xdp_attach(ifindex, bpf_program__fd(bpf_object__find_program_by_name
							      (object, WEIR_XDP_PROGRAM)),
				     XDP_FLAGS_UPDATE_IF_NOEXIST |
				     (at->mode == WEIR_XDP_NATIVE ? XDP_FLAGS_DRV_MODE :
								    XDP_FLAGS_SKB_MODE), NULL);
	bpf_object__close(object);
	return ret;
}

static int refused(struct weir_tool *tool, const struct weir_xdp *at, int ret, bool chains)
{
	const char *reason = strstr(complaint, KERNEL);

	if (ret == -EOPNOTSUPP || ret == -EINVAL)
		weir_err_set(&tool->err, "the driver of '%s' cannot run this program%s%s%s",
			     at->dev, reason ? ": " : "", reason ? reason + strlen(KERNEL) : "",
			     at->mode == WEIR_XDP_NATIVE && strcmp(at->dev, "lo") ?
			     "; try 'mode generic'" : "");
	else if (reason && strstr(reason, "upper device"))
		weir_err_set(&tool->err, "a device above '%s', as its bridge, has an XDP program: detach that first",
			     at->dev);
	else if (ret == -EBUSY || ret == -EEXIST)
		weir_err_set(&tool->err, "'%s' has another XDP program%s", at->dev,
			     chains ? "" : "; libxdp would chain both, install it");
	else if (ret == -EPERM || ret == -EACCES)
		weir_err_set(&tool->err, WEIR_NL_EPERM);
	else
		weir_err_set(&tool->err, "%s%s%s", strerror(-ret), *complaint ? ": " : "",
			     complaint);
	return WEIR_EXIT_REFUSED;
}

/* The module says of each packet whether it is sure; say where it never is. */
static void note_unsure(struct weir_tool *tool, const char *dev)
{
	char why[WEIR_OFF_SIZE];

	if (weir_xdp_taken(dev, why))
		weir_note(tool, "warning", "'%s' %s: nothing is dropped early", dev, why);
}

/* Attach it where it is not, in the given mode; 0 or a negative errno. */
static int attach_new(const struct weir_xdp *at, bool chains)
{
	int ifindex = if_nametoindex(at->dev);

	return chains && !attach_chained(at, ifindex) ? 0 : attach_alone(at, ifindex);
}

static int attach(struct weir_tool *tool, const struct weir_xdp *at, bool chains)
{
	int ret;

	*complaint = '\0';
	ret = attach_new(at, chains);
	if (ret)
		return refused(tool, at, ret, chains);
	if (!tool->detached)
		note_unsure(tool, at->dev);
	return WEIR_EXIT_OK;
}

/* Without CAP_SYS_ADMIN the kernel gives no module's BTF, nor tells whose a program is. */
static int check_device(struct weir_tool *tool, const char *dev)
{
	uint32_t id;

	if (!if_nametoindex(dev))
		weir_err_set(&tool->err, "there is no device '%s'", dev);
	else if (bpf_btf_get_next_id(0, &id) && errno == EPERM)
		weir_err_set(&tool->err, "permission denied: XDP programs of the module require CAP_SYS_ADMIN on the host; for weir.service see SERVICE in weir(8)");
	else
		return WEIR_EXIT_OK;
	return WEIR_EXIT_REFUSED;
}

/* Can the program be attached to the device at all? Sets the mode. */
static int prepare(struct weir_tool *tool, struct weir_xdp *at)
{
	int status = check_device(tool, at->dev);

	if (status)
		return status;
	if (access(WEIR_XDP_BTF, F_OK)) {
		weir_err_set(&tool->err, "the module has no BTF, so no XDP program can call it; build it with pahole for a kernel with BTF");
		return WEIR_EXIT_REFUSED;
	}
	if (!at->mode)
		at->mode = WEIR_XDP_NATIVE;
	return WEIR_EXIT_OK;
}

int weir_xdp_attach(struct weir_tool *tool, const struct weir_command *command,
		    union weir_model *model)
{
	struct weir_xdp *at = &model->xdp, found = *at;
	bool chains = open_libraries();
	int status;

	weir_xdp_clean(tool, NULL, false);
	status = prepare(tool, at);
	if (status)
		return status;
	if (find(&found, chains, false))
		return attach(tool, at, chains);
	if (tool->exist && found.mode == at->mode)
		return WEIR_EXIT_OK;
	weir_err_set(&tool->err, "the program is attached to '%s' already%s", at->dev,
		     found.mode == at->mode ? "" : ", in another mode; detach it first");
	return WEIR_EXIT_REFUSED;
}

int weir_xdp_detach(struct weir_tool *tool, const struct weir_command *command,
		    union weir_model *model)
{
	struct weir_xdp *at = &model->xdp;
	bool chains = open_libraries();
	unsigned int removed = weir_xdp_clean(tool, at->dev, false);
	int ret;

	if (removed && !if_nametoindex(at->dev))
		return WEIR_EXIT_OK;
	ret = check_device(tool, at->dev);
	if (ret)
		return ret;
	ret = find(at, chains, true);
	if (!ret || (ret == -ENOENT && (tool->exist || removed)))
		return WEIR_EXIT_OK;
	if (ret != -ENOENT)
		return refused(tool, at, ret, chains);
	weir_err_set(&tool->err, "the program is not attached to '%s'", at->dev);
	return WEIR_EXIT_REFUSED;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct weir_xdp *)a)->dev, ((const struct weir_xdp *)b)->dev);
}

unsigned int weir_xdp_list(struct weir_tool *tool, struct weir_xdp *list)
{
	struct if_nameindex *devices = weir_xdp_is_called() ? if_nameindex() : NULL, *device;
	bool chains = devices && open_libraries();
	unsigned int count = 0;

	for (device = devices; device && device->if_index && count < WEIR_EARLY_MAX; device++) {
		list[count] = (struct weir_xdp){ .mode = 0 };
		snprintf(list[count].dev, sizeof(list[count].dev), "%s", device->if_name);
		count += !find(&list[count], chains, false);
	}
	if (devices)
		if_freenameindex(devices);
	if (weir_xdp_hidden)
		weir_note(tool, "warning",
			  "there are XDP programs, but to see whose takes CAP_SYS_ADMIN");
	qsort(list, count, sizeof(*list), compare);
	return count;
}

unsigned int weir_xdp_look(struct weir_tool *tool, struct weir_xdp *list)
{
	unsigned int count = weir_xdp_list(tool, list), i;
	bool without = count && weir_without_limits(tool);

	for (i = 0; i < count; i++) {
		if (without)
			strcpy(list[i].off, "there are no limits");
		else
			weir_xdp_off(list[i].dev, list[i].off);
	}
	return count;
}

int weir_xdp_show(struct weir_tool *tool, const struct weir_command *command,
		  union weir_model *model)
{
	static struct weir_xdp list[WEIR_EARLY_MAX];
	unsigned int count, i;

	weir_xdp_clean(tool, NULL, false);
	count = weir_xdp_look(tool, list);
	weir_out_begin(&tool->out, NULL, '[');
	for (i = 0; i < count; i++)
		command->show(&tool->out, &list[i]);
	weir_out_end(&tool->out, ']');
	return WEIR_EXIT_OK;
}

/* Have the mode on a device that was before. */
static void put_back(const struct weir_xdp *at, bool chains)
{
	struct weir_xdp was = *at;

	find(&was, chains, true);
	was.mode = at->was;
	if (was.mode)
		attach_new(&was, chains);
}

int weir_xdp_apply(struct weir_tool *tool, struct weir_xdp *at)
{
	bool chains = open_libraries();
	struct weir_xdp found = *at;
	int status = prepare(tool, at);

	at->was = status ? at->mode : find(&found, chains, false) ? 0 : found.mode;
	if (at->was == at->mode)
		return status;
	if (at->was)
		find(&found, chains, true);
	status = attach(tool, at, chains);
	if (status) {
		put_back(at, chains);
		at->was = at->mode;
	}
	return status;
}

void weir_xdp_undo(const struct weir_config *config)
{
	bool chains = config->early_count && open_libraries();
	const struct weir_xdp *at;

	for (at = config->early; at < config->early + config->early_count; at++)
		if (at->was != at->mode)
			put_back(at, chains);
}

void weir_xdp_prune(struct weir_tool *tool, const struct weir_config *config)
{
	static struct weir_xdp list[WEIR_EARLY_MAX];
	unsigned int count = weir_xdp_list(tool, list), gone = 0, i, j;
	int ret;
	bool chains = count && open_libraries();
	const char *dev = NULL;

	for (i = 0; i < count; i++) {
		for (j = 0; j < config->early_count &&
		     strcmp(config->early[j].dev, list[i].dev); j++)
			;
		if (j < config->early_count)
			continue;
		ret = tool->check ? 0 : find(&list[i], chains, true);
		if (ret) {
			refused(tool, &list[i], ret, chains);
			weir_note(tool, "warning", "the XDP program stays on '%s': %s", list[i].dev,
				  tool->err.text);
			continue;
		}
		dev = list[i].dev;
		gone++;
	}
	if (gone == 1)
		weir_note(tool, "note", "early drops on '%s' end, as the file does not have 'early dev %s'",
			  dev, dev);
	else if (gone)
		weir_note(tool, "note", "early drops on %u devices end, as the file does not have them",
			  gone);
	if (!tool->check)
		weir_xdp_clean(tool, NULL, false);
}

#endif
