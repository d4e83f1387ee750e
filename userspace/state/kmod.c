// SPDX-License-Identifier: GPL-2.0-or-later
/* The module's file is read and loaded by the programs of kmod, which know all its forms. */

#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lang/value.h"
#include "state/kmod.h"
#include "state/program.h"

#define LOADED	"/sys/module/weir"
/* Where weir-dkms keeps the one that is loaded when another one is installed. */
#define KEPT	"/run/weir/loaded.ko*"
/* Where DKMS has those that it has built. */
#define BUILT	"/var/lib/dkms/weir/*/%s/*/module/weir.ko*"

/* For a reader of its attributes, or one that asks. */
#define TRIES		200
#define PAUSE_NS	1000000

bool weir_kmod_is_loaded(void)
{
	return !access(LOADED "/refcnt", F_OK);
}

/* A line of a file of the module's; "" if there is none. */
static void read_loaded(const char *name, char *text, size_t size)
{
	char path[sizeof(LOADED) + 64];
	FILE *file;

	*text = '\0';
	snprintf(path, sizeof(path), LOADED "/%s", name);
	file = fopen(path, "re");
	if (!file)
		return;
	if (!fgets(text, size, file))
		*text = '\0';
	text[strcspn(text, "\n")] = '\0';
	fclose(file);
}

int weir_kmod_running(struct weir_kmod *running, struct weir_err *err)
{
	*running = (struct weir_kmod){ .path = "" };
	if (!weir_kmod_is_loaded())
		return weir_err_set(err, "no module is loaded; 'modprobe weir' loads the one that is installed");
	read_loaded("version", running->version, sizeof(running->version));
	read_loaded("srcversion", running->srcversion, sizeof(running->srcversion));
	return 0;
}

/* One field of a module, by its path or name. */
static int ask(const char *module, const char *field, char *text, size_t size)
{
	const char *const argv[] = { "modinfo", "-F", field, module, NULL };

	return weir_program_run(argv, NULL, text, size);
}

static int check_file(const char *path, struct weir_err *err)
{
	struct stat is;

	if (stat(path, &is))
		return weir_err_set(err, "%.200s: cannot open: %s", path, strerror(errno));
	if (!S_ISREG(is.st_mode))
		return weir_err_set(err, "%.200s: no regular file", path);
	return 0;
}

int weir_kmod_read(struct weir_kmod *kmod, const char *path, struct weir_err *err)
{
	char text[256], real[PATH_MAX];
	int status;

	*kmod = (struct weir_kmod){ .installed = !path };
	if (path && check_file(path, err))
		return -EINVAL;
	if (path && (!realpath(path, real) || strlen(real) >= sizeof(kmod->path)))
		return weir_err_set(err, "%.200s: its path is too long", path);
	if (path)
		strcpy(kmod->path, real);
	status = path ? 0 : ask("weir", "filename", kmod->path, sizeof(kmod->path));
	if (status == 127)
		return weir_err_set(err, "there is no 'modinfo'; install kmod");
	if (status || !*kmod->path)
		return weir_err_set(err, "no module is installed for this kernel; install weir-dkms, or name a file");
	if (ask(kmod->path, "name", text, sizeof(text)) || strcmp(text, "weir"))
		return weir_err_set(err, "%.200s: not the module weir, or truncated", kmod->path);
	ask(kmod->path, "version", kmod->version, sizeof(kmod->version));
	ask(kmod->path, "srcversion", kmod->srcversion, sizeof(kmod->srcversion));
	ask(kmod->path, "vermagic", kmod->vermagic, sizeof(kmod->vermagic));
	return 0;
}

int weir_kmod_check(const struct weir_kmod *kmod, const struct weir_kmod *running,
		    struct weir_err *err)
{
	size_t length = strcspn(kmod->vermagic, " ");
	struct utsname kernel;

	uname(&kernel);
	if (strlen(kernel.release) != length || strncmp(kmod->vermagic, kernel.release, length))
		return weir_err_set(err, "%.200s: built for kernel %.*s, but this is %.64s",
				    kmod->path, (int)length, kmod->vermagic, kernel.release);
	if (*running->vermagic && strcmp(kmod->vermagic, running->vermagic))
		return weir_err_set(err, "%.200s: built for '%.64s', but this kernel is '%.64s'",
				    kmod->path, kmod->vermagic, running->vermagic);
	return 0;
}

bool weir_kmod_is(const struct weir_kmod *file, const struct weir_kmod *running)
{
	return *file->srcversion && !strcmp(file->srcversion, running->srcversion) &&
	       !strcmp(file->version, running->version);
}

/* Is it the file of the one that is loaded? Then that is filled in. */
static bool is_file_of(struct weir_kmod *running, const char *path)
{
	struct weir_kmod file;
	struct weir_err unused;

	if (weir_kmod_read(&file, path, &unused) || !weir_kmod_is(&file, running))
		return false;
	*running = file;
	return true;
}

static bool find_among(struct weir_kmod *running, const char *pattern)
{
	glob_t found;
	bool is = false;
	size_t i;

	if (glob(pattern, 0, NULL, &found))
		return false;
	for (i = 0; !is && i < found.gl_pathc; i++)
		is = is_file_of(running, found.gl_pathv[i]);
	globfree(&found);
	return is;
}

int weir_kmod_find(struct weir_kmod *running, const char *path, struct weir_err *err)
{
	struct utsname kernel;
	char built[256];

	if (path && check_file(path, err))
		return -EINVAL;
	if (path)
		return is_file_of(running, path) ? 0 :
		       weir_err_set(err, "%.200s: not the module that is loaded", path);
	uname(&kernel);
	snprintf(built, sizeof(built), BUILT, kernel.release);
	if (is_file_of(running, NULL) || find_among(running, KEPT) || find_among(running, built))
		return 0;
	weir_err_set(err, "the file of the loaded module (version %.40s, srcversion %.40s) was not found, so it could not be put back; name it with '-old FILE', or do without it with -force",
		     running->version, running->srcversion);
	return -ENOENT;
}

unsigned int weir_kmod_users(void)
{
	char text[32];

	read_loaded("refcnt", text, sizeof(text));
	return strtoul(text, NULL, 10);
}

int weir_kmod_unload(struct weir_err *err)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int tries;

	for (tries = 0; tries < TRIES; tries++) {
		if (!syscall(SYS_delete_module, "weir", O_NONBLOCK) || errno == ENOENT)
			return 0;
		if (errno != EAGAIN)
			break;
		nanosleep(&pause, NULL);
	}
	return weir_err_set(err, errno == EAGAIN ?
			    "the module is in use, for example by a dump" :
			    "cannot remove the module: %s", strerror(errno));
}

void weir_kmod_params(struct weir_kmod_params *params)
{
	char value[16];

	read_loaded("parameters/userns", value, sizeof(value));
	snprintf(params->userns, sizeof(params->userns), "userns=%s", *value == 'Y' ? "Y" : "N");
}

void weir_kmod_freeze(struct weir_kmod_params *params, unsigned int seconds)
{
	uint64_t now = weir_clock_ns(CLOCK_BOOTTIME) / WEIR_NS_PER_S;
	FILE *file = fopen(LOADED "/parameters/frozen_until", "we");

	snprintf(params->frozen, sizeof(params->frozen), "frozen_until=%" PRIu64,
		 seconds ? now + seconds : 0);
	if (!file)
		return;
	fputs(strchr(params->frozen, '=') + 1, file);
	fclose(file);
}

int weir_kmod_load(const struct weir_kmod *kmod, const struct weir_kmod_params *params,
		   struct weir_err *err)
{
	const char *const argv[] = {
		kmod->installed ? "modprobe" : "insmod", kmod->installed ? "weir" : kmod->path,
		params->userns, params->frozen, NULL
	};
	struct weir_kmod loaded;
	char text[256];

	if (weir_program_run(argv, NULL, text, sizeof(text)))
		return weir_err_set(err, "%.200s: does not load: %.200s", kmod->path, text);
	if (weir_kmod_running(&loaded, err))
		return -EINVAL;
	return strcmp(loaded.srcversion, kmod->srcversion) ?
	       weir_err_set(err, "%.200s: another process loaded another module", kmod->path) : 0;
}
