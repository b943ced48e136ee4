/*
 * The interpreter against bash: each line is run by both in a fresh copy of the same directory, and
 * both must write the same and end with the same status. Without bash the table has its results.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include "src/sandbox/execute.h"
#include "src/shell/parse.h"
#include "tests/lib/corpus.h"
#include "tests/lib/run.h"
#include "tests/lib/scratch.h"

struct row {
	const char *text, *out;
	int status;
};

static const char *const allowed[] = {":", "[", "break", "cat", "cd", "command", "continue", "cp",
	"echo", "exit", "export", "false", "grep", "head", "ls", "mkdir", "mv", "nosuch-program",
	"printenv", "printf", "pwd", "read", "rm", "seq", "set", "sleep", "sort", "tail", "tee",
	"test", "touch", "tr", "true", "uniq", "wait", "wc"};
static struct program programs[] = {{.name = "nosuch-program", .options = "", .operands = ""},
	{.name = "printenv", .options = "", .operands = "text*"},
	{.name = "exit", .options = "", .operands = "number"},
	{.name = "break", .options = "", .operands = "number"},
	{.name = "continue", .options = "", .operands = "number"},
	{.name = "wait", .options = "", .operands = ""}};
static char path[] = "PATH=/usr/bin:/bin", lang[] = "LANG=C.UTF-8", home[] = "HOME=/nonexistent";
static char *environment[] = {path, lang, home, NULL};
static struct policy policy = {.name = "test",
	.allow = {(const char **)allowed, COUNT(allowed)},
	.programs = programs,
	.n_programs = COUNT(programs),
	.write = true};

static void make_fixture(const char *dir)
{
	static const char *const files[][2] = {{"a.txt", "one\ntwo\nthree\n"},
		{"b.txt", "left right end\n"}, {"back.txt", "x\\y \\\\z\n"},
		{"sp ace.txt", "spaced\n"}, {".hidden", "h\n"}, {"sub/inner.txt", "inner\n"},
		{"sub/deep/low.txt", "low\n"}};

	if (path_exists(dir))
		tree_remove(dir);
	for (size_t i = 0; i < COUNT(files); i++)
		tree_write(path_join(&arena, dir, files[i][0]), str_of(files[i][1]));
}

/* Standard output of a process that interprets the line, or the denial. */
struct result {
	struct buf out;
	int status;
	struct verdict denied;
};

static _Noreturn void interpret_here(const struct root *root, const char *text, int to)
{
	struct arena a = {0};
	struct verdict v = {0};
	struct execution x = {.policy = &policy,
		.root = root,
		.text = str_of(text),
		.cwd = "",
		.timeout_s = 0,
		.cancel = -1};
	struct node *tree;
	int null = open("/dev/null", O_RDWR), status;
	char line[1024];

	if (shell_parse(&a, str_of(text), &tree, &v) == 0) {
		x.tree = tree;
		(void)dup2(null, 0);
		(void)dup2(to, 1);
		(void)dup2(null, 2);
		status = interpret(&a, &x, environment, &v);
		if (!v.denied)
			_exit(status);
	}
	(void)snprintf(line, sizeof(line), "denied: %s: %s\n", rule_id(v.rule), v.reason);
	(void)!write(to, line, strlen(line));
	_exit(200);
}

static void run_ours(const char *dir, const char *text, struct result *r)
{
	struct root root;
	struct error err;
	int ends[2], raw;
	pid_t pid;

	assert_int_equal(root_open(&arena, dir, &root, &err), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		interpret_here(&root, text, ends[1]);
	close(ends[1]);
	buf_clear(&r->out);
	assert_int_equal(sys_read_all(&r->out, ends[0], 1 << 24, "output", &err), 0);
	close(ends[0]);
	assert_int_equal(waitpid(pid, &raw, 0), pid);
	r->status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
	root_close(&root);
}

static bool same(const struct row *row, const char *who, struct str out, int status)
{
	if (status == row->status && str_is(out, row->out))
		return true;
	print_error("%s: %s\n  wanted %d '%s'\n  got    %d '%.*s'\n", who, row->text, row->status,
		row->out, status, (int)out.n, out.n ? out.p : "");
	return false;
}

static bool bash_agrees(const struct row *row)
{
	static const char *const env[] = {"env", "-i", "PATH=/usr/bin:/bin", "LANG=C.UTF-8",
		"HOME=/nonexistent", "bash", "--noprofile", "--norc", "-c"};
	const char *argv[COUNT(env) + 2] = {0};
	struct run r = {.argv = argv, .cwd = at("bash"), .limit_s = WAIT_LIMIT_S};
	bool good;

	memcpy(argv, env, sizeof(env));
	argv[COUNT(env)] = row->text;
	make_fixture(at("bash"));
	run(&r);
	good = same(row, "bash", (struct str){r.out.s, r.out.len}, r.status);
	run_release(&r);
	return good;
}

struct comparison {
	bool bash;
	size_t rows, bad;
};

static void compare_row(const json *object, void *data)
{
	const struct row row = {json_get_str(object, "command"), json_get_str(object, "output"),
		(int)json_get_int(object, "status", -1)};
	struct result r = {.out = BUF_INIT};
	struct comparison *c = data;

	make_fixture(at("ours"));
	run_ours(at("ours"), row.text, &r);
	c->rows++;
	c->bad += !same(&row, "interpret", (struct str){r.out.s, r.out.len}, r.status);
	c->bad += c->bash && !bash_agrees(&row);
	buf_release(&r.out);
}

SCRATCH_TEST(each_line_does_what_bash_does)
{
	struct comparison c = {.bash = access("/bin/bash", X_OK) == 0};

	if (!c.bash)
		print_message("bash is not installed: compared with the table alone\n");
	corpus_each("interpret.jsonl", compare_row, &c);
	assert_true(c.rows > 400);
	assert_int_equal(c.bad, 0);
}
