/*
 * differential: what our parser accepts is run by bash, with a recorder in the place of every
 * program and of every builtin. Only the commands that our tree names may ever be started, with the
 * words that it names.
 *
 *     differential LINES RECORDER
 *
 * In bubblewrap without network and with a file system that cannot be written, where it is
 * installed; else in a private directory, with a PATH that has the recorders alone. The texts hold
 * plain names and files of the working directory only.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"
#include "tests/policy/live/generate.h"
#include "src/shell/parse.h"

enum { BATCH = 500, SHOWN = 10, SEED = 20240301 };

struct differ {
	struct arena arena;
	const char *dir, *recorder;
	bool bwrap;
	size_t made, accepted, started, wrong, silent;
};

/* Everything that bash would do itself becomes a command that is looked up. */
static const char driver[] =
	"set -m\n"
	"command_not_found_handle() { \"$DT_STUBS/.recorder\" \"$@\"; }\n"
	"for f in texts/*; do\n"
	"export DT_RECORD=$PWD/records/${f##*/} DT_TEXT=$PWD/$f\n"
	"(cd cwd; ulimit -t 2 -f 1024; enable -n : [ alias bg bind break builtin caller cd command "
	"compgen complete compopt continue declare dirs disown echo eval exec exit export false fc "
	"fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd "
	"read readarray readonly return set shift shopt source suspend test times trap true type "
	"typeset ulimit umask unalias unset wait; . \"$DT_TEXT\") </dev/null >/dev/null 2>&1 &\n"
	"wait $!\n"
	"done 2>/dev/null\n";

static const char *in_dir(struct differ *d, const char *name)
{
	return path_join(&d->arena, d->dir, name);
}

static void lay_out(struct differ *d)
{
	static const char *const names[] = {".recorder", "ls", "cat", "git", "echo", "make", "test",
		"cd", "printf", "grep", "true", "false", "export", "read", "set", "rm", "sort",
		"tee", "wc", "[", ":"};

	tree_mkdirs(in_dir(d, "stubs"));
	tree_mkdirs(in_dir(d, "cwd"));
	tree_write(in_dir(d, "driver"), str_of(driver));
	for (size_t i = 0; i < COUNT(names); i++)
		if (symlink(d->recorder, path_join(&d->arena, in_dir(d, "stubs"), names[i])) < 0)
			die("cannot link '%s'", names[i]);
}

/* Whether argv[from..] of a record can be what words[at..] become. */
static bool fits(const struct node *n, size_t at, const char *const *argv, size_t argc)
{
	for (; at < n->n_words; at++) {
		const struct word *w = &n->words[at];
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		bool whole = true;

		buf_reserve(&text, 1);
		for (size_t i = 0; i < w->n; i++) {
			if (w->parts[i].kind == PART_TEXT)
				buf_add(&text, w->parts[i].text);
			else
				whole &= w->parts[i].quoted;
		}
		if (w->dynamic && !whole) { /* none, one or several */
			for (size_t k = 0; k <= argc; k++)
				if (fits(n, at + 1, argv + k, argc - k))
					return true;
			return false;
		}
		if (!argc || (!w->dynamic && strcmp(text.s, argv[0]) != 0))
			return false;
		argv++;
		argc--;
	}
	return argc == 0;
}

static bool named(const struct node *n, const char *const *argv, size_t argc);

static bool named_in_word(const struct word *w, const char *const *argv, size_t argc)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->parts[i].kind == PART_OUTPUT && named(w->parts[i].node, argv, argc))
			return true;
	return false;
}

/* Whether some command of the tree can have started this. */
static bool named(const struct node *n, const char *const *argv, size_t argc)
{
	if (!n)
		return false;
	if (n->kind == NODE_COMMAND && n->n_words && fits(n, 0, argv, argc))
		return true;
	for (size_t i = 0; i < n->n; i++)
		if (named(n->children[i], argv, argc))
			return true;
	for (size_t i = 0; i < n->n_words; i++)
		if (named_in_word(&n->words[i], argv, argc))
			return true;
	for (size_t i = 0; i < n->n_assignments; i++)
		if (named_in_word(&n->assignments[i].value, argv, argc))
			return true;
	for (size_t i = 0; i < n->n_redirects; i++)
		if (named_in_word(&n->redirects[i].word, argv, argc))
			return true;
	for (size_t i = 0; i < n->n_arms; i++) {
		for (size_t k = 0; k < n->arms[i].n; k++)
			if (named_in_word(&n->arms[i].patterns[k], argv, argc))
				return true;
		if (named(n->arms[i].body, argv, argc))
			return true;
	}
	return false;
}

static void complain(struct differ *d, struct str text, const char *const *argv, size_t argc)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	if (d->wrong++ >= SHOWN)
		return;
	for (size_t i = 0; i < argc; i++) {
		buf_addc(&line, ' ');
		buf_add_shell(&line, str_of(argv[i]));
	}
	tap_notef("bash started%s for", line.s ? line.s : " nothing");
	tap_note(text);
}

static void check_record(
	struct differ *d, const struct node *tree, struct str text, struct str record)
{
	const char *argv[1024];
	size_t argc = 0;

	for (const char *p = record.p; p < record.p + record.n && argc < COUNT(argv);
		p += strlen(p) + 1)
		argv[argc++] = p + 1;
	d->started++;
	if (!named(tree, argv, argc))
		complain(d, text, argv, argc);
}

/* Records: each word as =WORD NUL, a lone NUL behind the last. */
static void check_records(struct differ *d, const char *name)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT, records = BUF_INIT;
	struct verdict v = {0};
	struct node *tree;
	size_t from = 0;

	if (!tree_read(path_join(&a, in_dir(d, "texts"), name), &text))
		die("a text is gone");
	if (!tree_read(path_join(&a, in_dir(d, "records"), name), &records)) {
		d->silent++;
		return;
	}
	if (shell_parse(&a, buf_str(&text), &tree, &v) < 0)
		die("a text is denied that was accepted");
	for (size_t i = 0; i < records.len; i++) {
		if (records.s[i] == '\0') {
			check_record(d, tree, buf_str(&text), str_sub(buf_str(&records), from, i));
			from = i + 1;
			continue;
		}
		i += strlen(records.s + i);
	}
}

static void run_batch(struct differ *d)
{
	const char *stubs = in_dir(d, "stubs");
	const char *path = arena_printf(&d->arena, "PATH=%s", stubs);
	const char *where = arena_printf(&d->arena, "DT_STUBS=%s", stubs);
	const char *argv[] = {"bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/",
		"--dev", "/dev", "--proc", "/proc", "--bind", d->dir, d->dir, "--chdir", d->dir,
		"env", "-i", path, where, "LC_ALL=C.UTF-8", "/bin/bash", "--norc", "--noprofile",
		"driver", NULL};
	struct run r = {.argv = d->bwrap ? argv : argv + 15, .cwd = d->dir, .limit_s = 240};

	run(&r);
	if (r.timed_out || (r.status >= 124 && r.status <= 127))
		die("cannot run the texts: %d %s", r.status, r.err.s ? r.err.s : "");
	run_release(&r);
}

static void batch(struct differ *d, uint64_t from, uint64_t to)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, names = BUF_INIT;
	struct str rest, name;

	tree_mkdirs(in_dir(d, "texts"));
	tree_mkdirs(in_dir(d, "records"));
	for (uint64_t i = from; i < to; i++) {
		CLEANUP(arena_release) struct arena a = {0};
		struct verdict v = {0};
		struct node *tree;

		generate(&text, SEED, i, GENERATE_TAME);
		d->made++;
		if (shell_parse(&a, buf_str(&text), &tree, &v) < 0)
			continue;
		d->accepted++;
		tree_write(path_join(&a, in_dir(d, "texts"),
				   arena_printf(&a, "%08llu", (unsigned long long)i)),
			buf_str(&text));
	}
	run_batch(d);
	tree_list(in_dir(d, "texts"), &names);
	for (rest = buf_str(&names); str_line(&rest, &name);)
		check_records(d, arena_dup(&d->arena, name));
	tree_remove(in_dir(d, "texts"));
	tree_remove(in_dir(d, "records"));
}

int main(int argc, char **argv)
{
	static const char *const bwrap[] = {
		"bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "true", NULL};
	static const char *const bash[] = {"/bin/bash", "-c", "enable -n cd", NULL};
	uint64_t lines = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	struct differ d = {0};
	char *dir;

	if (argc != 3)
		die("usage: differential LINES RECORDER");
	if (!run_succeeds(bash)) {
		tap_skip("bash starts only what our tree names", "there is no /bin/bash");
		return tap_end();
	}
	dir = tree_scratch("differential");
	d.dir = dir;
	d.recorder = path_absolute(&d.arena, argv[2]);
	d.bwrap = run_succeeds(bwrap);
	lay_out(&d);
	for (uint64_t i = 0; i < lines; i += BATCH)
		batch(&d, i, i + BATCH < lines ? i + BATCH : lines);
	tap(d.wrong == 0, "bash starts only what our tree names");
	tap(d.started > d.accepted / 2, "and it does start something");
	tap_notef("figures: differential%s: %zu texts, %zu accepted and run, %zu programs started, "
		  "%zu of them not in the tree; %zu texts started nothing",
		d.bwrap ? " in bubblewrap" : "", d.made, d.accepted, d.started, d.wrong, d.silent);
	tree_remove(dir);
	free(dir);
	arena_release(&d.arena);
	return tap_end();
}
