// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer on a saved state, which restore -check reads. The input is what stands behind its head
 * or, if the first byte is even, the configuration and messages of one with valid checksums. Either
 * it is good, and then bad with any byte changed, or it is refused with sentences.
 */
#include <fcntl.h>
#include <linux/genetlink.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state/state_file.h"

#include "tool_fuzz.h"

/* A message with what the tool looks for in it, as far as @kind has a bit for that. */
static size_t put_start(char *message, unsigned int kind)
{
	const struct nlattr limit = { .nla_len = 8, .nla_type = WEIR_A_STATE_LIMIT };
	const struct nlattr clock = { .nla_len = 12, .nla_type = WEIR_A_STATE_CLOCK_NS };
	size_t size = NLMSG_HDRLEN + GENL_HDRLEN;

	memset(message, 0, size + limit.nla_len + clock.nla_len);
	if (kind & 1) {
		memcpy(message + size, &limit, sizeof(limit));
		memcpy(message + size + sizeof(limit), "web", 4);
		size += limit.nla_len;
	}
	if (kind & 2) {
		memcpy(message + size, &clock, sizeof(clock));
		size += clock.nla_len;
	}
	return size;
}

/* Messages are as long as their first two bytes say, or as what is left. */
static void put_messages(struct weir_saved_writer *writer, const uint8_t *data, size_t size)
{
	static char message[65536] __attribute__((aligned(8)));
	uint32_t length, used;
	unsigned int kind;

	for (; size > 1; data += length, size -= length) {
		kind = data[1] >> 5;
		length = data[0] | (data[1] & 0x0f) << 8;
		data += 2;
		size -= 2;
		length = length < size ? length : size;
		used = kind & 4 ? put_start(message, kind) : 0;
		memcpy(message + used, data, length);
		used += length;
		if (kind & 4)
			memcpy(message, &used, sizeof(used));
		weir_saved_put(writer, WEIR_SAVED_MESSAGE, message, used);
	}
}

static void put_state(FILE *to, const uint8_t *data, size_t size, bool records)
{
	struct weir_saved_head head = { .wall_ns = 1, .boot_ns = 1, .clock_ns = 1, .tick_ns = 1 };
	const uint8_t *end = memchr(data, '\0', size);
	size_t config = end ? (size_t)(end - data) : size;
	struct weir_saved_writer writer;

	weir_saved_begin(&writer, to);
	weir_saved_put(&writer, WEIR_SAVED_HEAD, &head, sizeof(head));
	if (!records) {
		fwrite(data, size, 1, to);
		return;
	}
	weir_saved_put(&writer, WEIR_SAVED_CONFIG, data, config);
	if (end)
		put_messages(&writer, end + 1, size - config - 1);
	weir_saved_end(&writer);
}

static int check(const char *path)
{
	struct weir_tool tool = { .check = true, .read = weir_read };
	char restore[] = "restore", file[64], *words[] = { restore, file, NULL };
	const struct said *said;
	int status;

	strcpy(file, path);
	said_begin();
	tool.out.to = stdout;
	status = weir_run_words(&tool, words, 2, NULL);
	said = said_end();
	if (status)
		tool_sentences(said->err, WEIR_BAD_LINES + 2);
	else
		tool_notes(said->err);
	if (!status != !strncmp(said->out, "saved ", 6))
		tool_fail("what it has is not said, or is of a bad file", said->out, said->err);
	return status;
}

/* Change a byte, which may be anywhere. */
static void damage(int fd, off_t at, uint8_t by)
{
	uint8_t byte;

	if (pread(fd, &byte, 1, at) != 1)
		abort();
	byte ^= by ? by : 1;
	if (pwrite(fd, &byte, 1, at) != 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("state", MFD_CLOEXEC);
	FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
	struct stat is;
	char path[64];

	if (!to || fchmod(fd, 0600) || !size)
		goto out;
	put_state(to, data + 1, size - 1, !(*data & 1));
	fflush(to);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!check(path) && !fstat(fd, &is)) {
		damage(fd, (*data * 7919 + size) % is.st_size, size);
		if (!check(path))
			tool_fail("a damaged file is good", "", "");
	}
out:
	if (to)
		fclose(to);
	return 0;
}
