// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * weir upgrade: replace the module by another one, which goes on with the configuration and state
 * of every network namespace and with the XDP programs. All that can be known before is checked
 * before; after that, the new one has to take everything, or the old one is put back with it.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "state/kmod.h"
#include "state/program.h"
#include "state/state.h"
#include "tool/spaces.h"
#include "xdp/ours.h"

/* The kernel frees XDP programs some time after they were detached. */
#define TRIES		2000
#define PAUSE_NS	1000000

/* Before all other hooks; loopback was dropped if the host talks to itself. */
#define TABLE	"weir_closed"
#define RULES	\
	"table inet " TABLE " {\n" \
	"	chain closed {\n" \
	"		type filter hook prerouting priority -2147483648;\n" \
	"		iifname != \"lo\" drop\n" \
	"	}\n" \
	"}\n"

/* For how long changes wait, at most: after that they may be lost. As long as a step takes. */
#define FREEZE_S	120

/* Grace periods are most of the time that it takes to remove a module. */
#define EXPEDITED	"/sys/kernel/rcu_expedited"

struct upgrade {
	struct weir_tool *tool;
	const struct weir_upgrade *words;
	struct weir_kmod old, new;
	struct weir_spaces spaces;
	struct weir_upgraded told;
	struct weir_kmod_params params;
	bool same;		/* nothing is to be done */
	bool force;		/* -force was given */
	bool last;		/* no other module can be tried */
	unsigned int lost;	/* namespaces of which only the state has what was in force */
	int here;		/* the initial network namespace, or -1 */
	int dir;		/* of the states, locked, or -1 */
	unsigned int closed;	/* in how many namespaces */
	uint64_t closed_at, saved_at, removed_at, in_force_at;
};

/* What can be known of the modules. */
static int check_modules(struct upgrade *up)
{
	struct weir_err *err = &up->tool->err;
	int ret;

	if (weir_kmod_read(&up->new, up->words->file, err) ||
	    weir_kmod_check(&up->new, &up->old, err))
		return WEIR_EXIT_WORDS;
	if (weir_kmod_running(&up->old, err))
		return WEIR_EXIT_UNREACHABLE;
	up->same = weir_kmod_is(&up->new, &up->old);
	if (up->same && !up->words->old)
		up->old = up->new;
	ret = *up->old.path ? 0 : weir_kmod_find(&up->old, up->words->old, err);
	if (ret == -ENOENT && up->tool->force)
		ret = 0;
	if (ret)
		return ret == -ENOENT ? WEIR_EXIT_REFUSED : WEIR_EXIT_WORDS;
	if (weir_kmod_check(&up->new, &up->old, err))
		return WEIR_EXIT_WORDS;
	up->same &= !up->tool->force;
	snprintf(up->told.from, sizeof(up->told.from), "%s", up->old.version);
	snprintf(up->told.to, sizeof(up->told.to), "%s", up->new.version);
	snprintf(up->told.module, sizeof(up->told.module), "%s", up->new.path);
	snprintf(up->told.old, sizeof(up->told.old), "%s", up->old.path);
	return WEIR_EXIT_OK;
}

/* A table takes at most seven eighths of the memory that is available once the old one is freed. */
static int check_memory(struct upgrade *up)
{
	FILE *file = fopen("/proc/meminfo", "re");
	uint64_t kib = UINT64_MAX >> 10, largest = 0;
	char line[128];
	unsigned int i;

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "MemAvailable: %" SCNu64, &kib);
	if (file)
		fclose(file);
	for (i = 0; i < up->spaces.count; i++)
		largest = MAX(largest, up->spaces.list[i].largest);
	if (kib << 10 >= largest / 7 || up->tool->force)
		return WEIR_EXIT_OK;
	weir_err_set(&up->tool->err, "%llu MiB of memory are available: another module might have none for a limit of %llu MiB; free a seventh of that, or try it with -force",
		     (unsigned long long)kib >> 10, (unsigned long long)largest >> 20);
	return WEIR_EXIT_REFUSED;
}

static int check_spaces(struct upgrade *up)
{
	struct weir_tool *tool = up->tool;
	struct weir_spaces *spaces = &up->spaces;
	/* the kernel may not have freed them yet */
	unsigned int users, ours = weir_xdp_clean(tool, NULL, true), i;
	int status = weir_spaces_find(tool, spaces);

	if (status)
		return status;
	up->told.spaces = spaces->list;
	up->told.space_count = spaces->count;
	if (spaces->found < spaces->told && !tool->force) {
		weir_err_set(&tool->err, "%u network namespaces with limits were not found among the names in %s and the processes, descriptors and mounts in /proc: their limits would be lost; -force gives them up",
			     spaces->told - spaces->found, WEIR_NETNS_DIR);
		return WEIR_EXIT_REFUSED;
	}
	for (i = 0; i < spaces->count; i++)
		ours += spaces->list[i].early_count;
	users = weir_kmod_users();
	if (users <= ours)
		return WEIR_EXIT_OK;
	weir_err_set(&tool->err, "the module is in use by %u others: a dump, of which /proc/net/netlink of some network namespace has a 1 in column Dump, or an XDP program that 'weir xdp show' does not list",
		     users - ours);
	return WEIR_EXIT_REFUSED;
}

static int check_nft(struct upgrade *up)
{
	static const char *const argv[] = { "nft", "-c", "-f", "-", NULL };
	char text[200];
	int status = up->words->closed ?
		     weir_program_run(argv, RULES, text, sizeof(text)) : 0;

	if (!status)
		return WEIR_EXIT_OK;
	if (status == 127)
		weir_err_set(&up->tool->err, "'-closed' requires nft; install nftables");
	else
		weir_err_set(&up->tool->err, "'-closed' requires nft, which says: %s", text);
	return WEIR_EXIT_REFUSED;
}

#define OTHER	"another 'weir upgrade' is running"

/* Is another one running, or did one not finish? */
static int check_dir(struct upgrade *up)
{
	struct weir_err *err = &up->tool->err;

	up->dir = open(WEIR_UPGRADE_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (up->dir < 0 && errno == ENOENT)
		return WEIR_EXIT_OK;
	if (up->dir < 0)
		weir_err_set(err, "cannot open " WEIR_UPGRADE_DIR ": %s", strerror(errno));
	else if (flock(up->dir, LOCK_EX | LOCK_NB))
		weir_err_set(err, OTHER);
	else
		weir_err_set(err, "an upgrade was interrupted, and left states in %s; restore or remove them: see UPGRADE in weir(8)",
			     WEIR_UPGRADE_DIR);
	return WEIR_EXIT_REFUSED;
}

static int check(struct upgrade *up)
{
	struct weir_tool *tool = up->tool;
	int status;

	if (tool->netns) {
		weir_err_set(&tool->err, "the module is that of all network namespaces; omit '-netns'");
		return WEIR_EXIT_WORDS;
	}
	status = check_dir(up);
	if (!status)
		status = check_modules(up);
	if (!status && geteuid()) {
		weir_err_set(&tool->err, "permission denied: run it as root");
		status = WEIR_EXIT_REFUSED;
	}
	return status;
}

/* Find what another module is to go on with. */
static int plan(struct upgrade *up)
{
	int status;

	up->here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	status = check_spaces(up);
	if (!status)
		status = check_memory(up);
	return status ? status : check_nft(up);
}

static int make_dir(struct upgrade *up)
{
	if (mkdir(WEIR_UPGRADE_DIR, 0700)) {
		weir_err_set(&up->tool->err, errno == EEXIST ? OTHER : "cannot make %s: %s",
			     WEIR_UPGRADE_DIR, strerror(errno));
		return WEIR_EXIT_REFUSED;
	}
	up->dir = open(WEIR_UPGRADE_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	flock(up->dir, LOCK_EX);
	return WEIR_EXIT_OK;
}

static void remove_dir(struct upgrade *up)
{
	unsigned int i;

	for (i = 0; i < up->spaces.count; i++)
		unlink(up->spaces.list[i].state);
	rmdir(WEIR_UPGRADE_DIR);
}

/* Do something in the first @count namespaces, until it fails; with the last module, in all. */
static int in_each(struct upgrade *up, unsigned int count,
		   int (*what)(struct upgrade *up, struct weir_space *space))
{
	int status = WEIR_EXIT_OK, ret;
	unsigned int i;

	for (i = 0; (!status || up->last) && i < count; i++) {
		ret = weir_space_enter(up->tool, &up->spaces.list[i]);
		if (!ret)
			ret = what(up, &up->spaces.list[i]);
		if (ret && up->last)
			weir_complain(up->tool, "upgrade");
		status = ret ? ret : status;
	}
	weir_space_enter(up->tool, &(struct weir_space){ .fd = up->here });
	return status;
}

static int in_all(struct upgrade *up, int (*what)(struct upgrade *up, struct weir_space *space))
{
	return in_each(up, up->spaces.count, what);
}

/* The programs call the module, and keep it. */
static int detach(struct upgrade *up, struct weir_space *space)
{
	return weir_space_detach(up->tool, space);
}

static int attach(struct upgrade *up, struct weir_space *space)
{
	return weir_space_attach(up->tool, space);
}

static int wait_unused(struct upgrade *up)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int tries;

	for (tries = 0; tries < TRIES && weir_kmod_users(); tries++)
		nanosleep(&pause, NULL);
	if (tries < TRIES)
		return WEIR_EXIT_OK;
	weir_err_set(&up->tool->err, "the module is still in use");
	return WEIR_EXIT_REFUSED;
}

static int nft(struct upgrade *up, const char *input)
{
	static const char *const argv[] = { "nft", "-f", "-", NULL };
	char text[200];

	if (!weir_program_run(argv, input, text, sizeof(text)))
		return WEIR_EXIT_OK;
	weir_err_set(&up->tool->err, "nft: %s", text);
	return WEIR_EXIT_REFUSED;
}

static int close_space(struct upgrade *up, struct weir_space *space)
{
	up->closed++;
	return nft(up, RULES);
}

static int open_space(struct upgrade *up, struct weir_space *space)
{
	struct weir_err err = up->tool->err;

	if (space->lost)
		return WEIR_EXIT_OK;
	if (nft(up, "delete table inet " TABLE "\n"))
		weir_note(up->tool, "warning", "all packets are still dropped in the %s namespace %.200s: %.200s; by hand: nft delete table inet %s",
			  *space->name ? "network" : "initial", space->name, up->tool->err.text,
			  TABLE);
	up->tool->err = err;
	return WEIR_EXIT_OK;
}

static void open_all(struct upgrade *up)
{
	in_each(up, up->closed, open_space);
	if (up->closed)
		up->told.closed_ns = weir_clock_ns(CLOCK_MONOTONIC) - up->closed_at;
	up->closed = 0;
}

static int check_state(struct upgrade *up, struct weir_space *space)
{
	struct weir_tool *tool = up->tool;

	if (!weir_restore_check(tool, space->state))
		return WEIR_EXIT_OK;
	weir_err_set(&tool->err, "what is in force in the %s namespace %.200s could not be restored%s",
		     *space->name ? "network" : "initial", space->name,
		     up->force ? ", and is given up" : "; -force gives it up");
	if (!up->force)
		return WEIR_EXIT_REFUSED;
	weir_complain(tool, "upgrade");
	unlink(space->state);
	*space->state = '\0';
	return WEIR_EXIT_OK;
}

static int save(struct upgrade *up, struct weir_space *space)
{
	int status;

	strcpy(space->state, WEIR_UPGRADE_DIR "/state");
	if (*space->name)
		snprintf(space->state, sizeof(space->state), WEIR_UPGRADE_DIR "/state.%" PRIu64,
			 space->inode);
	weir_kmod_freeze(&up->params, FREEZE_S);
	up->tool->detached = space;
	status = weir_tool_reach(up->tool);
	if (!status)
		status = weir_save_state(up->tool, space->state);
	up->tool->detached = NULL;
	return status ? status : check_state(up, space);
}

static int restore(struct upgrade *up, struct weir_space *space)
{
	int status;

	weir_kmod_freeze(&up->params, FREEZE_S);
	status = *space->state ? weir_restore_again(up->tool, space->state, false) : WEIR_EXIT_OK;
	space->lost = status;
	up->lost += space->lost;
	return status;
}

/* Load a module and give it everything. */
static int bring(struct upgrade *up, const struct weir_kmod *kmod)
{
	int status, ret;

	up->in_force_at = 0;
	up->lost = up->spaces.count;
	weir_kmod_freeze(&up->params, FREEZE_S);
	if (weir_kmod_load(kmod, &up->params, &up->tool->err))
		return WEIR_EXIT_REFUSED;
	up->lost = 0;
	status = in_all(up, restore);
	if (status && !up->last)
		return status;
	up->in_force_at = weir_clock_ns(CLOCK_MONOTONIC);
	ret = in_all(up, attach);
	return status ? status : ret;
}

/* The new one did not take everything. */
static int put_back(struct upgrade *up)
{
	struct weir_err *err = &up->tool->err;
	int status = WEIR_EXIT_REFUSED;

	if (!*up->old.path)
		return weir_err_set(err, "the file of the old module is unknown");
	if (up->in_force_at) {
		/* what was counted since; the states so far stay otherwise */
		in_all(up, detach);
		wait_unused(up);
		in_all(up, save);
		up->removed_at = weir_clock_ns(CLOCK_MONOTONIC);
	}
	up->last = true;
	if (!weir_kmod_is_loaded() || !weir_kmod_unload(err))
		status = bring(up, &up->old);
	return status;
}

/* Shorten grace periods, or no longer; is that a change? */
static bool expedite(bool on)
{
	int fd = open(EXPEDITED, O_RDWR | O_CLOEXEC);
	char was = on ? '1' : '0';
	bool done;

	done = fd >= 0 && read(fd, &was, 1) == 1 && was == (on ? '0' : '1') &&
	       pwrite(fd, on ? "1" : "0", 1, 0) == 1;
	if (fd >= 0)
		close(fd);
	return done;
}

/* What there is to be done before the module is removed; undo() takes it back. */
static int prepare(struct upgrade *up)
{
	int status = in_all(up, detach);

	if (!status)
		status = wait_unused(up);
	up->closed_at = weir_clock_ns(CLOCK_MONOTONIC);
	if (!status && up->words->closed)
		status = in_all(up, close_space);
	up->saved_at = weir_clock_ns(CLOCK_MONOTONIC);
	if (!status)
		status = in_all(up, save);
	up->removed_at = weir_clock_ns(CLOCK_MONOTONIC);
	if (!status && weir_kmod_unload(&up->tool->err))
		status = WEIR_EXIT_REFUSED;
	return status;
}

static void undo(struct upgrade *up)
{
	struct weir_err err = up->tool->err;

	open_all(up);
	if (in_all(up, attach))
		weir_note(up->tool, "warning", "XDP programs were not attached again: %.300s",
			  up->tool->err.text);
	up->tool->err = err;
}

static int replace(struct upgrade *up)
{
	struct weir_tool *tool = up->tool;
	char time[WEIR_TEXT_SIZE];
	int status = prepare(up);
	const char *what;

	if (status) {
		undo(up);
		return status;
	}
	status = bring(up, &up->new);
	if (!status) {
		open_all(up);
		return status;
	}
	weir_complain(tool, "upgrade");
	status = put_back(up);
	if (!status || up->in_force_at)
		open_all(up);
	if (status && !up->in_force_at)
		weir_complain(tool, "upgrade");
	if (up->lost) {
		what = up->words->closed ? "all packets are dropped" : "nothing is limited";
		if (up->in_force_at)
			weir_err_set(&tool->err, "the old module is back, but in %u network namespaces %s; the states are in %s: see UPGRADE in weir(8)",
				     up->lost, what, WEIR_UPGRADE_DIR);
		else
			weir_err_set(&tool->err, "the old module could not be put back, so %s; the states are in %s: see UPGRADE in weir(8)",
				     what, WEIR_UPGRADE_DIR);
		return WEIR_EXIT_UNREACHABLE;
	}
	if (status) {
		weir_err_set(&tool->err, "limits, counts and blocks are in force, but not all XDP programs are attached: see 'weir xdp show'");
		return WEIR_EXIT_REFUSED;
	}
	weir_err_set(&tool->err, "the old module is back, with everything; packets were %s for %s",
		     up->told.closed_ns ? "dropped" : "not limited",
		     weir_text_time(up->told.closed_ns ? up->told.closed_ns :
				    up->in_force_at - up->removed_at, time));
	return WEIR_EXIT_REFUSED;
}

/* Exchange the modules, while changes wait. */
static int exchange(struct upgrade *up)
{
	bool force = up->tool->force, quiet = up->tool->quiet, expedited;
	int status;

	weir_kmod_params(&up->params);
	weir_kmod_freeze(&up->params, FREEZE_S);
	status = plan(up);
	if (!status) {
		up->force = force;
		up->tool->force = true;
		up->tool->quiet = true;
		expedited = expedite(true);
		status = replace(up);
		if (expedited)
			expedite(false);
		up->tool->force = force;
		up->tool->quiet = quiet;
	}
	weir_kmod_freeze(&up->params, 0);
	if (!up->lost)
		remove_dir(up);
	return status;
}

static int run(struct upgrade *up)
{
	sigset_t all, was;
	int status;

	/* What nobody reads, or cannot be written, ends nothing either. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &was);
	status = make_dir(up);
	if (!status)
		status = exchange(up);
	sigprocmask(SIG_SETMASK, &was, NULL);
	if (!up->words->closed) {
		up->told.unlimited_ns = up->in_force_at - up->removed_at;
		up->told.uncounted_ns = up->removed_at - up->saved_at;
	}
	return status;
}

static void show_space(struct weir_out *out, const struct weir_space *space)
{
	weir_out_begin(out, NULL, '{');
	if (!*space->name)
		weir_out_text(out, "initial");
	weir_set_show(&weir_space_fields, WEIR_RESULT, out, space);
	weir_out_text(out, "\n");
	weir_out_end(out, '}');
}

static void show_gap(struct weir_out *out, const struct weir_upgraded *told)
{
	char gap[WEIR_TEXT_SIZE], before[WEIR_TEXT_SIZE];

	if (told->closed_ns)
		weir_out_text(out, "packets were dropped for %s\n",
			      weir_text_time(told->closed_ns, gap));
	else
		weir_out_text(out, "packets were not limited for %s, nor counted for %s before that\n",
			      weir_text_time(told->unlimited_ns, gap),
			      weir_text_time(told->uncounted_ns, before));
}

static void show(struct upgrade *up)
{
	const struct weir_upgraded *told = &up->told;
	struct weir_out *out = &up->tool->out;
	unsigned int i;

	weir_out_begin(out, NULL, '[');
	weir_out_begin(out, NULL, '{');
	weir_set_show(&weir_upgraded_fields, WEIR_RESULT | (out->json ? WEIR_EVENT : 0), out, told);
	weir_out_text(out, "\n");
	weir_out_begin(out, "namespaces", '[');
	for (i = 0; i < told->space_count; i++)
		show_space(out, &told->spaces[i]);
	weir_out_end(out, ']');
	if (!up->tool->check && !up->same)
		show_gap(out, told);
	weir_out_end(out, '}');
	weir_out_end(out, ']');
}

int weir_upgrade(struct weir_tool *tool, const struct weir_command *command,
		 union weir_model *model)
{
	struct upgrade up = { .tool = tool, .words = &model->upgrade, .here = -1, .dir = -1 };
	struct rlimit most;
	int status;

	tool->nl.upgrades = true;
	/* each namespace takes a descriptor */
	if (!getrlimit(RLIMIT_NOFILE, &most)) {
		most.rlim_cur = most.rlim_max;
		setrlimit(RLIMIT_NOFILE, &most);
	}
	status = check(&up);
	if (!status && !up.same)
		status = tool->check ? plan(&up) : run(&up);
	if (!status && up.same)
		weir_note(tool, "note", "nothing was done: this module is loaded already; with -force, it is loaded anew");
	if (!status)
		show(&up);
	weir_spaces_free(&up.spaces);
	if (up.here >= 0)
		close(up.here);
	if (up.dir >= 0)
		close(up.dir);
	return status;
}
