/*
 * policy_exec_rig.h: one command line, parsed, checked and run as `policy exec` does it, in a
 * directory of the test's own. Its output is in `out`.
 */
#ifndef DT_TESTS_POLICY_EXEC_RIG_H
#define DT_TESTS_POLICY_EXEC_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "src/sys/process.h"
#include "src/sandbox/execute.h"
#include "src/shell/parse.h"
#include "tests/lib/scratch.h"

extern struct host execute_host;
extern struct policy execute_allowed;
extern struct root execute_root;
extern struct execution_end execute_end_seen;
extern struct error execute_err;
extern struct buf execute_out;

/* Large enough for all tests; limits are tested elsewhere. */
void execute_policy(void);
int execute_begin(void **state);
int execute_end(void **state);

/* A file for the output of the run, which is read into `out` afterwards. */
int execute_output(void);
void execute_parse(const char *text, struct execution *x);

/* Only parsed: what the check before the run would have denied is denied during it. */
int execute_parsed(struct execution *x);
int execute_text(const char *text);
/* A program of the repository, which only the kernel's layers restrict. */
void execute_probe(const char *text);
void execute_fifo(const char *name);
int execute_rig_begin(void **state);

/* As on a host without the layers that end processes. */
int execute_rig_begin_bare(void **state);
int execute_rig_finish(void **state);

/* The line with a mark in the environment of its programs, unique to this test. */
const char *execute_marking(const char *line);

/* The number of processes with that mark. */
size_t execute_marked(void);
size_t execute_private_runs(void);
void execute_assert_no_child(void);
void execute_assert_out(const char *text);

/* Output of the run to `stop` makes the caller's descriptor readable. */
int execute_stopper(void);
void execute_assert_denied(enum rule rule, const char *word);

#define EXECUTE_TEST(name) UNIT_TEST(name, execute_rig_begin, execute_rig_finish)
/* The same, and again on a host without the layers that end processes. */
#define EXECUTE_TEST_TWICE(name)                                                                   \
	static void name(void **state);                                                            \
	UNIT_CASE(bare_##name, #name " (bare host)", name, execute_rig_begin_bare,                 \
		execute_rig_finish)                                                                \
	EXECUTE_TEST(name)

#endif
