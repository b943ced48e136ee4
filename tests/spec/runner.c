/*
 * Runs the cases of markdown files (tests/spec/README.md) and prints TAP.
 *
 *     runner FILE.md...                cases that must hold
 *     runner --test FILE.md...         those of `make test` only
 *     runner --proof FILE.md...        those of `make proof` only: a case that says
 *                                      "proof: WHY", and files `proof-*`
 *     runner --must-fail FILE.md...    cases that must fail: each says "fails with: TEXT"
 *     STORE=memory runner FILE.md...   on stores in memory; a case that says "needs files: WHY"
 *                                      must fail there
 */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"
#include "tests/spec/cases.h"
#include "tests/lib/match.h"
#include "tests/lib/wire.h"

#define FAILS "fails with: "
#define PROOF "proof: "

/* Which cases are played. */
enum wanted { WANTED_ALL, WANTED_TEST, WANTED_PROOF, WANTED_TO_FAIL };

static unsigned file_cases;

struct rig {
	const char *bin_dir; /* of the program tested */
	char *root;          /* of the project */
	char *plugin;        /* the same, with workflows that require no evidence */
	char *path, *tmp;    /* PATH and TMPDIR */
	char *repository;    /* to copy */
	bool memory;         /* the stores of the program tested are in memory */
};

struct play {
	const struct rig *rig;
	const char *file;
	char *dir; /* the scratch directory */
	struct arena arena;
	struct buf errors; /* standard error of the last console block */
	struct buf fault;  /* the failures; empty: none */
};

static void set_environment(const struct play *p)
{
	struct arena a = {0};
	const char *asan = getenv("ASAN_OPTIONS");
	const char *const vars[][2] = {
		{"PATH", arena_printf(&a, "%s:%s", p->rig->bin_dir, p->rig->path)},
		{"HOME", arena_printf(&a, "%s/home", p->dir)},
		{"TMPDIR", arena_printf(&a, "%s/tmp", p->dir)},
		{"DEV_TEAM_STATE_DIR", arena_printf(&a, "%s/state", p->dir)},
		{"DEV_TEAM_ROOT", p->rig->plugin},
		{"DEV_TEAM_NOW", "2026-11-21T01:34:55Z"},
		{"DIR", p->dir},
		{"ROOT", p->rig->root},
		{"LC_ALL", "C.UTF-8"},
		{"TZ", "UTC"},
		{"GIT_CONFIG_NOSYSTEM", "1"},
		{"GIT_ALLOW_PROTOCOL", "file"}, /* an origin at another host is never asked */
		{"GIT_TEMPLATE_DIR", ""},
		{"GIT_CONFIG_GLOBAL", arena_printf(&a, "%s/home/.gitconfig", p->dir)},
		{"GIT_AUTHOR_DATE", "2026-11-21T01:34:55Z"},
		{"GIT_COMMITTER_DATE", "2026-11-21T01:34:55Z"},
		{"ASAN_OPTIONS", arena_dup(&a, str_of(asan ? asan : ""))},
	};

	clearenv();
	for (size_t i = 0; i < COUNT(vars); i++)
		setenv(vars[i][0], vars[i][1], 1);
	arena_release(&a);
}

static void begin(struct play *p)
{
	p->dir = tree_scratch("spec");
	set_environment(p);
	tree_mkdirs(arena_printf(&p->arena, "%s/tmp", p->dir));
	tree_write(arena_printf(&p->arena, "%s/home/.gitconfig", p->dir),
		STR("[user]\n\tname = Test\n\temail = test@example.org\n[init]\n\tdefaultBranch = "
		    "main\n[core]\n\tfsync = none\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = "
		    "false\n"
		    "[receive]\n\tautogc = false\n"));
}

static void end(struct play *p, const struct rig *rig)
{
	setenv("TMPDIR", rig->tmp, 1);
	tree_remove(p->dir);
	free(p->dir);
	buf_release(&p->errors);
	buf_release(&p->fault);
	arena_release(&p->arena);
}

/* Output as cases write it: the scratch directory is $DIR, a missing last newline is visible. */
static struct str portable(struct play *p, struct str text)
{
	CLEANUP(buf_release) struct buf one = BUF_INIT, plugin = BUF_INIT, two = BUF_INIT;

	replace_all(&one, text, str_of(p->dir), STR("$DIR"));
	replace_all(&plugin, buf_str(&one), str_of(p->rig->plugin), STR("$ROOT"));
	replace_all(&two, buf_str(&plugin), str_of(p->rig->root), STR("$ROOT"));
	if (two.len && two.s[two.len - 1] != '\n')
		buf_adds(&two, "\n(no newline)\n");
	return arena_str(&p->arena, buf_str(&two));
}

static bool compare(
	struct play *p, unsigned line, const char *what, struct str want, struct str got)
{
	if (match_lines(want, got))
		return true;
	buf_addf(&p->fault, "%s:%u: %s is not as expected\n", p->file, line, what);
	diff_add(&p->fault, want, got);
	return false;
}

static bool play_command(struct play *p, const struct command *c)
{
	const char *const argv[] = {"sh", "-c", c->text.p, NULL};
	struct run r = {.argv = argv, .cwd = p->dir, .limit_s = WAIT_LIMIT_S};
	bool good;

	run(&r);
	good = compare(p, c->line, "standard output", c->expected, portable(p, buf_str(&r.out)));
	if (r.timed_out || r.status != c->status)
		buf_addf(&p->fault, "%s:%u: exit status %d, expected %d%s\n", p->file, c->line,
			r.status, c->status, r.timed_out ? " (time limit)" : "");
	good = good && !r.timed_out && r.status == c->status;
	if (!good)
		buf_addf(&p->fault, "standard error:\n%s", r.err.len ? r.err.s : "(none)\n");
	buf_add(&p->errors, buf_str(&r.err));
	run_release(&r);
	return good;
}

static bool play_console(struct play *p, const struct block *b, const struct block *next)
{
	struct str body = b->body, want = {0};
	unsigned line = b->line + 1;
	struct command c;
	struct error err;
	int rc;

	buf_clear(&p->errors);
	while ((rc = command_next(&p->arena, p->file, &body, &line, &c, &err)) > 0)
		if (!play_command(p, &c))
			return false;
	if (rc < 0) {
		buf_addf(&p->fault, "%s:%u: %s\n", p->file, err.line, err.text);
		return false;
	}
	if (next && next->kind == BLOCK_STDERR)
		want = next->body;
	return compare(p, b->line, "standard error", want, portable(p, buf_str(&p->errors)));
}

/* A path of a block: below the scratch directory. */
static char *place(struct play *p, struct str path)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	replace_all(&b, path, STR("$DIR/"), STR(""));
	return arena_printf(&p->arena, "%s/%s", p->dir, b.s);
}

static bool play_file(struct play *p, const struct block *b)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	replace_all(&text, b->body, STR("$DIR"), str_of(p->dir));
	tree_write(place(p, b->path), buf_str(&text));
	return true;
}

/* A repository with one commit, made by the first case that needs one. */
static const char *repository(struct play *p, const struct block *b)
{
	static const char script[] =
		"git init -q . && git commit -q --allow-empty -m 'first commit'";
	const char *const argv[] = {"sh", "-c", script, NULL};
	struct run r = {.argv = argv, .cwd = p->rig->repository, .limit_s = WAIT_LIMIT_S};

	if (path_exists(arena_printf(&p->arena, "%s/.git/refs/heads/main", r.cwd)))
		return r.cwd;
	run(&r);
	if (r.status)
		buf_addf(&p->fault, "%s:%u: cannot make the repository: %s\n", p->file, b->line,
			r.err.len ? r.err.s : "");
	run_release(&r);
	return r.cwd;
}

static bool play_repo(struct play *p, const struct block *b)
{
	CLEANUP(buf_release) struct buf config = BUF_INIT;
	const char *from = repository(p, b), *to = place(p, b->path), *file;
	struct str url = str_trim(b->body);

	if (p->fault.len)
		return false;
	tree_mkdirs(to);
	tree_copy(path_join(&p->arena, from, ".git"), path_join(&p->arena, to, ".git"));
	if (!url.n)
		return true;
	file = path_join(&p->arena, to, ".git/config");
	(void)tree_read(file, &config);
	buf_addf(&config,
		"[remote \"origin\"]\n\turl = %.*s\n\tfetch = "
		"+refs/heads/*:refs/remotes/origin/*\n",
		(int)url.n, url.p);
	tree_write(file, buf_str(&config));
	return true;
}

static bool play_expect(struct play *p, const struct block *b)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str got;

	if (!tree_read(place(p, b->path), &text)) {
		buf_addf(&p->fault, "%s:%u: there is no file '%.*s'\n", p->file, b->line,
			(int)b->path.n, b->path.p);
		return false;
	}
	got = portable(p, buf_str(&text));
	if (str_eq(got, b->body))
		return true;
	buf_addf(&p->fault, "%s:%u: the file is not as expected\n", p->file, b->line);
	diff_add(&p->fault, b->body, got);
	return false;
}

static bool play_block(struct play *p, const struct spec_case *c, size_t i)
{
	const struct block *b = &c->blocks[i];

	switch (b->kind) {
	case BLOCK_FILE:
		return play_file(p, b);
	case BLOCK_REPO:
		return play_repo(p, b);
	case BLOCK_CONSOLE:
		return play_console(p, b, i + 1 < c->n ? b + 1 : NULL);
	case BLOCK_EXPECT:
		return play_expect(p, b);
	case BLOCK_STDERR: /* compared with the console block before it */
		return true;
	}
	return false;
}

/* The text after `mark`, with which a line of the case's prose begins; empty when there is none. */
static struct str reason_of(struct str prose, const char *mark)
{
	struct str line;

	while (str_line(&prose, &line))
		if (str_starts(line, mark))
			return str_sub(line, strlen(mark), line.n);
	return (struct str){0};
}

static void verdict(
	const char *file, struct str title, bool must_fail, struct str reason, struct str fault)
{
	bool good = !fault.n;

	if (must_fail)
		good = fault.n && reason.n && str_find(fault, reason) < fault.n;
	tap(good, "%.*s: %.*s", (int)path_base(file).n, path_base(file).p, (int)title.n, title.p);
	if (!good)
		tap_note(fault.n ? fault : STR("this case must fail and did not"));
}

static void play_case(
	const struct rig *rig, const char *file, const struct spec_case *c, bool must_fail)
{
	struct play p = {.rig = rig, .file = file};

	begin(&p);
	for (size_t i = 0; i < c->n; i++)
		if (!play_block(&p, c, i))
			break;
	if (rig->memory && reason_of(c->prose, "needs files: ").n)
		file_cases += tap(p.fault.len > 0, "%s: %.*s: fails without files",
			path_base(file).p, (int)c->title.n, c->title.p);
	else
		verdict(file, c->title, must_fail, reason_of(c->prose, FAILS), buf_str(&p.fault));
	end(&p, rig);
}

static bool is_wanted(const char *file, const struct spec_case *c, enum wanted wanted)
{
	bool proof = str_starts(path_base(file), "proof-") || reason_of(c->prose, PROOF).n;

	return (wanted != WANTED_TEST || !proof) && (wanted != WANTED_PROOF || proof);
}

static void play_file_of_cases(const struct rig *rig, const char *file, enum wanted wanted)
{
	bool must_fail = wanted == WANTED_TO_FAIL;
	CLEANUP(buf_release) struct buf written = BUF_INIT, text = BUF_INIT;
	struct arena a = {0};
	struct spec_file f;
	struct error err;
	char line[2048] = "no such file";

	if (tree_read(file, &written))
		wire_expand(&text, buf_str(&written));
	if (!text.len) {
		verdict(file, str_of(file), false, (struct str){0}, str_of(line));
	} else if (cases_parse(&a, file, buf_str(&text), &f, &err) < 0) {
		error_format(&err, line, sizeof(line));
		verdict(file, STR("the file"), must_fail, reason_of(buf_str(&text), FAILS),
			str_of(line));
	} else {
		for (size_t i = 0; i < f.n; i++)
			if (is_wanted(file, &f.cases[i], wanted))
				play_case(rig, file, &f.cases[i], must_fail);
	}
	arena_release(&a);
}

int main(int argc, char **argv)
{
	static const char *const options[] = {[WANTED_TEST] = "--test",
		[WANTED_PROOF] = "--proof",
		[WANTED_TO_FAIL] = "--must-fail"};
	enum wanted wanted = WANTED_ALL;
	struct arena a = {0};
	struct rig rig;

	rig = (struct rig){.bin_dir = run_find_build(),
		.root = realpath(".", NULL),
		.memory = run_on_memory()};
	rig.repository = tree_scratch("repository");
	rig.plugin = run_plugin_without_evidence(rig.root);
	rig.path = arena_dup(&a, str_of(getenv("PATH")));
	rig.tmp = arena_dup(&a, str_of(getenv("TMPDIR")));
	for (size_t i = WANTED_TEST; i < COUNT(options) && argc > 1; i++)
		if (strcmp(argv[1], options[i]) == 0)
			wanted = (enum wanted)i;
	for (int i = wanted == WANTED_ALL ? 1 : 2; i < argc; i++)
		if (!str_is(path_base(argv[i]), "README.md"))
			play_file_of_cases(&rig, argv[i], wanted);
	if (rig.memory)
		tap_notef("figures: %u cases need files", file_cases);
	tree_remove(rig.repository);
	free(rig.repository);
	tree_remove(rig.plugin);
	free(rig.plugin);
	free(rig.root);
	arena_release(&a);
	return tap_end();
}
