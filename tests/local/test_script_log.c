/* The log of a script whose secrets are masked. */
#include <fcntl.h>
#include "src/local/script.h"
#include "src/sys/process.h"
#include "src/sys/secrets.h"
#include "tests/lib/scratch.h"

static char *logged(const char *script, size_t max)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	int fd = open(at("log"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	const struct process p = {
		.argv = argv, .output = fd, .output_max = max, .output_cut = "\n(cut)\n"};
	struct process_end end;
	struct error err;

	assert_true(fd >= 0);
	assert_int_equal(script_run_logged(&arena, &p, &end, &err), 0);
	assert_int_equal(end.status, 3);
	close(fd);
	return scratch_read("log");
}

SCRATCH_TEST(a_masked_log_is_cut_once_at_its_limit)
{
	static const char script[] =
		"printf 'one hunter22-long\\ntwo\\n'; printf three >&2; printf four; exit 3";

	assert_string_equal(logged(script, 100), "one hunter22-long\ntwo\nthreefour");
	secrets_know(STR("hunter22-long"));
	assert_string_equal(logged(script, 100), "one ****\ntwo\nthreefour");
	assert_string_equal(logged(script, 22), "one ****\ntwo\nthreefour");
	assert_string_equal(logged(script, 10), "one ****\nt\n(cut)\n");
}

SCRATCH_TEST(a_secret_in_a_line_that_comes_in_pieces_is_masked)
{
	struct masked_output m = {.max = 1 << 20};

	m.fd = open(at("log"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	secrets_know(STR("hunter22-long"));
	secrets_add(&arena, &m.secrets, NULL, NULL);
	masked_output_add(&m, repeated("", "x", 200000, "hunt"));
	masked_output_add(&m, STR("er22-long\n"));
	masked_output_end(&m);
	close(m.fd);
	assert_true(str_ends(str_of(scratch_read("log")), "xxx****\n"));
}
