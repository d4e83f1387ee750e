// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir xdp: attach the program that asks the module before the stack. Where libxdp is
 * installed, its dispatcher runs it before other programs of the device.
 */

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

#ifdef WEIR_XDP
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <linux/if_link.h>

#define PROGRAM	"weir_xdp"
#define BTF	"/sys/kernel/btf/weir"

/* The program as clang made it. */
extern const char object_begin[], object_end[];

__asm__(".pushsection .rodata\n"
	"object_begin: .incbin \"bpf/weir_xdp.o\"\n"
	"object_end: .popsection\n");

/* What is used of libxdp.so.1; the modes are those of enum weir_xdp_mode. */
static struct {
	struct xdp_program *(*from_bpf_obj)(struct bpf_object *object, const char *section);
	int (*attach)(struct xdp_program *program, int ifindex, int mode, unsigned int flags);
	int (*detach)(struct xdp_program *program, int ifindex, int mode, unsigned int flags);
	const char *(*name)(const struct xdp_program *program);
	uint32_t (*id)(const struct xdp_program *program);
	struct xdp_multiprog *(*of)(int ifindex);
	struct xdp_program *(*next)(const struct xdp_program *program,
				    const struct xdp_multiprog *all);
	int (*mode)(const struct xdp_multiprog *all);
	void (*close)(struct xdp_multiprog *all);
	long (*error)(const void *ptr);
	void *(*print)(void *to);
} xdp;

/* The last complaint of libbpf. */
static char complaint[256];

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
		"xdp_program__from_bpf_obj", "xdp_program__attach", "xdp_program__detach",
		"xdp_program__name", "xdp_program__id", "xdp_multiprog__get_from_ifindex",
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

static bool is_ours(uint32_t id)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	int fd = id ? bpf_prog_get_fd_by_id(id) : -1;
	bool ours = fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) &&
		    !strcmp(info.name, PROGRAM);

	if (fd >= 0)
		close(fd);
	return ours;
}

/* Is the program alone on the device? */
static bool find_alone(struct weir_xdp *at, int ifindex)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);

	if (bpf_xdp_query(ifindex, 0, &query))
		return false;
	at->mode = is_ours(query.drv_prog_id) ? WEIR_XDP_NATIVE : WEIR_XDP_GENERIC;
	at->program = at->mode == WEIR_XDP_NATIVE ? query.drv_prog_id : query.skb_prog_id;
	return is_ours(at->program);
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
	while ((program = xdp.next(program, all)) && strcmp(xdp.name(program), PROGRAM))
		;
	if (program) {
		at->program = xdp.id(program);
		at->mode = xdp.mode(all);
		ret = detach ? xdp.detach(program, ifindex, at->mode, 0) : 0;
	}
	xdp.close(all);
	return ret;
}

static struct bpf_object *open_object(void)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = PROGRAM);

	return bpf_object__open_mem(object_begin, object_end - object_begin, &opts);
}

/* In the dispatcher of libxdp; returns a negative errno if there is none. */
static int attach_chained(const struct weir_xdp *at, int ifindex)
{
	struct bpf_object *object = open_object();
	struct xdp_program *program;

	if (!object)
		return -errno;
	program = xdp.from_bpf_obj(object, "xdp.frags");
	return xdp.error(program) ?: xdp.attach(program, ifindex, at->mode, 0);
}

/* Alone; -EBUSY if there is another program. */
static int attach_alone(const struct weir_xdp *at, int ifindex)
{
	struct bpf_object *object = open_object();
	int ret;

	if (!object)
		return -errno;
	ret = bpf_object__load(object);
	if (!ret)
		ret = bpf_xdp_attach(ifindex, bpf_program__fd(bpf_object__find_program_by_name
							      (object, PROGRAM)),
				     XDP_FLAGS_UPDATE_IF_NOEXIST |
				     (at->mode == WEIR_XDP_NATIVE ? XDP_FLAGS_DRV_MODE :
								    XDP_FLAGS_SKB_MODE), NULL);
	bpf_object__close(object);
	return ret;
}

static int refused(struct weir_tool *tool, const struct weir_xdp *at, int ret, bool chains)
{
	if (ret == -EOPNOTSUPP || ret == -EINVAL)
		weir_err_set(&tool->err, "the driver of '%s' cannot run this program%s", at->dev,
			     at->mode == WEIR_XDP_NATIVE ? "; 'mode generic' works everywhere" : "");
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
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/net/%s/master", dev);
	if (!access(path, F_OK))
		weir_note(tool, "warning",
			  "'%s' belongs to a bridge, bond or VRF: nothing is dropped early", dev);
}

static int no_such_device(struct weir_tool *tool, const char *dev)
{
	weir_err_set(&tool->err, "there is no device '%s'", dev);
	return WEIR_EXIT_REFUSED;
}

int weir_xdp_attach(struct weir_tool *tool, const struct weir_command *command,
		    union weir_model *model)
{
	struct weir_xdp *at = &model->xdp, found = *at;
	int ifindex = if_nametoindex(at->dev), ret = -ENOENT;
	bool chains = open_libraries();

	if (!ifindex)
		return no_such_device(tool, at->dev);
	if (access(BTF, F_OK)) {
		weir_err_set(&tool->err, "the module has no BTF, so no XDP program can call it; build it with pahole for a kernel with BTF");
		return WEIR_EXIT_REFUSED;
	}
	if (!at->mode)
		at->mode = WEIR_XDP_NATIVE;
	if (!find(&found, chains, false)) {
		if (tool->exist && found.mode == at->mode)
			return WEIR_EXIT_OK;
		weir_err_set(&tool->err, "the program is attached to '%s' already", at->dev);
		return WEIR_EXIT_REFUSED;
	}
	if (chains)
		ret = attach_chained(at, ifindex);
	if (ret)
		ret = attach_alone(at, ifindex);
	if (ret)
		return refused(tool, at, ret, chains);
	note_unsure(tool, at->dev);
	return WEIR_EXIT_OK;
}

int weir_xdp_detach(struct weir_tool *tool, const struct weir_command *command,
		    union weir_model *model)
{
	struct weir_xdp *at = &model->xdp;
	bool chains = open_libraries();
	int ret;

	if (!if_nametoindex(at->dev))
		return no_such_device(tool, at->dev);
	ret = find(at, chains, true);
	if (!ret || (ret == -ENOENT && tool->exist))
		return WEIR_EXIT_OK;
	if (ret != -ENOENT)
		return refused(tool, at, ret, chains);
	weir_err_set(&tool->err, "the program is not attached to '%s'", at->dev);
	return WEIR_EXIT_REFUSED;
}

int weir_xdp_show(struct weir_tool *tool, const struct weir_command *command,
		  union weir_model *model)
{
	struct if_nameindex *devices = if_nameindex(), *device;
	bool chains = open_libraries();
	struct weir_xdp at = { 0 };

	weir_out_begin(&tool->out, NULL, '[');
	for (device = devices; device && device->if_index; device++) {
		snprintf(at.dev, sizeof(at.dev), "%s", device->if_name);
		if (!find(&at, chains, false))
			command->show(&tool->out, &at);
	}
	weir_out_end(&tool->out, ']');
	if (devices)
		if_freenameindex(devices);
	return WEIR_EXIT_OK;
}

#else

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

#endif
