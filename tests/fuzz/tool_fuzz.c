// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/mman.h>
#include <unistd.h>

#include "tool_fuzz.h"

static struct said said;
static size_t out_size, err_size;
static FILE *real_out, *real_err;

/* Set what the tool reads from stdin. */
void tool_input(const uint8_t *data, size_t size)
{
	static FILE *before;
	int fd;

	if (before)
		fclose(before);
	/* With a descriptor, which -batch polls. */
	fd = memfd_create("input", MFD_CLOEXEC);
	before = fd < 0 ? NULL : fdopen(fd, "r");
	if (!before || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET))
		abort();
	stdin = before;
}

/* Capture stdout and stderr. */
void said_begin(void)
{
	free(said.out);
	free(said.err);
	real_out = stdout;
	real_err = stderr;
	stdout = open_memstream(&said.out, &out_size);
	stderr = open_memstream(&said.err, &err_size);
	if (!stdout || !stderr)
		abort();
}

/* The captured texts, valid until the next said_begin(). */
const struct said *said_end(void)
{
	fclose(stdout);
	fclose(stderr);
	stdout = real_out;
	stderr = real_err;
	return &said;
}

void tool_fail(const char *what, const char *more, const char *most)
{
	fprintf(stderr, "fuzz: %s\n%s\n%s\n", what, more, most);
	abort();
}

static bool is_note(const char *line)
{
	return !strncmp(line, "weir: note: ", 12) || !strncmp(line, "weir: warning: ", 15);
}

static void check_sentence(const char *line, const char *end)
{
	if (strncmp(line, "weir: ", 6) || end - line < 12 || end[-1] == ' ' || end[-1] == ':')
		tool_fail("refused with half a sentence", line, "");
}

/* Besides notes there is at least one sentence, and at most @most. */
void tool_sentences(const char *err, unsigned int most)
{
	unsigned int sentences = 0;
	const char *line, *end;

	for (line = err; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			tool_fail("the last line does not end", err, "");
		/* a line of the file, and the marks below it */
		if (is_note(line) || *line == ' ')
			continue;
		check_sentence(line, end);
		sentences++;
	}
	if (!sentences || sentences > most)
		tool_fail(sentences ? "refused with too many sentences" :
			  "refused without a sentence", err, "");
}

/* There are only notes. */
void tool_notes(const char *err)
{
	while (*err) {
		if (!is_note(err) || !strchr(err, '\n'))
			tool_fail("done, and yet there is something to say", err, "");
		err = strchr(err, '\n') + 1;
	}
}
