/* run_children(): the order, the pipes and the end of the child processes of a run. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "src/run/run_internal.h"
#include "tests/lib/unit.h"

static struct buf seen;
static struct error err;

static void note_line(void *data, size_t item, struct str line)
{
	(void)data;
	buf_addf(&seen, "%zu: %.*s\n", item, (int)line.n, line.p);
}

static void note_end(void *data, size_t item, int status, struct str report)
{
	(void)data;
	buf_addf(&seen, "end %zu %d '%.*s'\n", item, WEXITSTATUS(status), (int)report.n, report.p);
}

/* `data`: the last item that is needed. */
static bool is_needless(void *data, size_t item)
{
	return item > *(const size_t *)data;
}

static int talk(void *data, size_t item, int report, int log)
{
	(void)data;
	(void)dprintf(log, "one\ntwo, ");
	(void)dprintf(log, "still two\nwithout an end");
	(void)dprintf(report, "done");
	return (int)item;
}

TEST(lines_and_reports_are_whole_and_what_is_not_needed_is_not_started)
{
	size_t last = 1;
	const struct run_children c = {.n = 4,
		.max = 1,
		.cancel = -1,
		.run = talk,
		.line = note_line,
		.ended = note_end,
		.cancelled = is_needless,
		.data = &last};

	assert_int_equal(run_children(&c, &err), 0);
	assert_string_equal(seen.s,
		"0: one\n0: two, still two\n0: without an end\nend 0 0 'done'\n"
		"1: one\n1: two, still two\n1: without an end\nend 1 1 'done'\n");
}

static int count_read_ends(void *data, size_t item, int report, int log)
{
	int n = 0;

	(void)data, (void)item, (void)report, (void)log;
	for (int fd = 0; fd < 256; fd++) {
		struct stat st;

		if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) &&
			(fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
			n++;
	}
	return n;
}

/* Else a write of a child would wait for ever once the process of the run is gone. */
TEST(a_child_has_no_read_end_of_a_pipe)
{
	const struct run_children c = {.n = 3,
		.max = 3,
		.cancel = -1,
		.run = count_read_ends,
		.line = note_line,
		.ended = note_end};
	int before = count_read_ends(NULL, 0, -1, -1);

	buf_clear(&seen);
	assert_int_equal(run_children(&c, &err), 0);
	for (int i = 0; i < 3; i++) {
		char end[32];

		(void)snprintf(end, sizeof(end), "end %d %d ''\n", i, before);
		assert_non_null(strstr(seen.s, end));
	}
	buf_release(&seen);
}
