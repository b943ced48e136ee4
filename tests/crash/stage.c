#include "src/sys/path.h"
#include "tests/crash/checks.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"

static char *scratch; /* of all scenes, one after the other */

static char *in_dir(struct stage *s, const char *name)
{
	return arena_printf(&s->arena, "%s/%s", s->dir, name);
}

static const char prelude[] = "set -e; export STATE=$DEV_TEAM_STATE_DIR/org/repo\n";

void stage_shell(struct stage *s, const char *script, struct buf *out)
{
	const char *const argv[] = {
		"sh", "-c", arena_printf(&s->arena, "%s%s", prelude, script), NULL};
	struct run r = {.argv = argv,
		.cwd = arena_printf(&s->arena, "%s/work", s->live),
		.limit_s = WAIT_LIMIT_S};

	run(&r);
	if (r.status)
		die("'%s': the setup failed: %s%s", s->scene->name, r.out.s ? r.out.s : "",
			r.err.s ? r.err.s : "");
	if (out) {
		buf_clear(out);
		buf_add(out, buf_str(&r.out));
	}
	run_release(&r);
}

static void copy(const char *from, const char *to)
{
	if (path_exists(to))
		tree_remove(to);
	if (path_exists(from))
		tree_copy(from, to);
}

/* The repository is made once and copied for each scene: a copy costs less than ten programs. */
static void lay_out(struct stage *s)
{
	static const char repository[] =
		"git init -q --template= -b main .\n"
		"git init -q --template= --bare -b main ../origin.git\n"
		"git remote add origin https://example.org/org/repo.git\n"
		"git config url.\"$PWD/../origin.git\".pushInsteadOf "
		"https://example.org/org/repo.git\n"
		"mkdir scripts && printf 'true\\n' >scripts/validate.sh\n"
		"printf '# Spec for T-1\\n' >_spec_T.md && git add . && git commit -q -m 'first "
		"commit'\n"
		"git push -q origin main && git checkout -q -b T-1\n";

	const char *made = in_dir(s, "made");

	setenv("DEV_TEAM_STATE_DIR", s->state, 1);
	setenv("HOME", s->live, 1);
	setenv("FORGE", s->live, 1);                                            /* for ssh.sh */
	setenv("UPSTREAM", arena_printf(&s->arena, "%s/upstream", s->live), 1); /* a database */
	if (path_exists(made)) {
		tree_copy(made, s->live);
		stage_shell(s, "git update-index -q --refresh\n", NULL);
		return;
	}
	tree_mkdirs(arena_printf(&s->arena, "%s/work", s->live));
	tree_write(arena_printf(&s->arena, "%s/.gitconfig", s->live),
		STR("[user]\n\tname = Test\n\temail = test@example.org\n[gc]\n\tauto = 0\n"));
	stage_shell(s, repository, NULL);
	tree_copy(s->live, made);
}

/* Only a scene with a probe changes more than the state. */
static const char *changing(const struct stage *s)
{
	return s->scene->probe ? "" : "/state";
}

void stage_restore(struct stage *s, const char *which)
{
	struct arena a = {0};

	copy(arena_printf(&a, "%s/%s%s", s->dir, which, changing(s)),
		arena_printf(&a, "%s%s", s->live, changing(s)));
	arena_release(&a);
}

void stage_keep(struct stage *s)
{
	struct arena a = {0};

	tree_mkdirs(arena_printf(&a, "%s/killed", s->dir));
	copy(arena_printf(&a, "%s%s", s->live, changing(s)),
		arena_printf(&a, "%s/killed%s", s->dir, changing(s)));
	arena_release(&a);
}

int stage_trace(struct stage *s, struct trace *t)
{
	t->argv = s->argv;
	t->cwd = arena_printf(&s->arena, "%s/work", s->live);
	t->input = buf_str(&s->input);
	t->who = s->scene->who;
	return trace_run(t);
}

/* How often git has written this to GIT_TRACE. */
static unsigned count_traced(struct str text, const char *what)
{
	struct str line;
	unsigned n = 0;

	while (str_line(&text, &line))
		n += str_find(line, str_of(what)) < line.n;
	return n;
}

struct asked stage_asked(struct stage *s)
{
	CLEANUP(buf_release) struct buf git = BUF_INIT, forge = BUF_INIT;
	struct asked n = {0};

	if (!s->scene->counts)
		return n;
	(void)tree_read(arena_printf(&s->arena, "%s/git.trace", s->live), &git);
	(void)tree_read(arena_printf(&s->arena, "%s/" STAGE_ASKED, s->live), &forge);
	for (size_t i = 0; i < forge.len; i++)
		n.remote += forge.s[i] == '\n';
	n.remote += count_traced(buf_str(&git), "built-in: git ls-remote ");
	n.local = count_traced(buf_str(&git), "built-in: git status ");
	return n;
}

struct asked stage_asked_since(struct stage *s, struct asked before)
{
	struct asked n = stage_asked(s);

	return (struct asked){n.local - before.local, n.remote - before.remote};
}

void stage_run(struct stage *s, struct run *r)
{
	const char *next = s->scene->next;
	const char *const script[] = {
		"sh", "-c", next ? arena_printf(&s->arena, "%s%s", prelude, next) : "", NULL};

	*r = (struct run){.argv = next ? script : s->argv,
		.cwd = arena_printf(&s->arena, "%s/work", s->live),
		.input = buf_str(&s->input),
		.limit_s = WAIT_LIMIT_S};
	run(r);
}

static void learn_questions(struct stage *s)
{
	struct run r;
	struct asked before = stage_asked(s);

	stage_run(s, &r);
	s->again = stage_asked_since(s, before);
	run_release(&r);
}

/* In the input of a scene, `@/` is the directory of the documents. */
static void make_input(struct stage *s)
{
	struct str rest = str_of(s->scene->input ? s->scene->input : "");

	while (rest.n) {
		size_t at = str_find(rest, STR("@/"));

		buf_add(&s->input, str_sub(rest, 0, at));
		if (at < rest.n)
			buf_addf(&s->input, "%s/", s->directory);
		rest = str_sub(rest, at < rest.n ? at + 2 : at, rest.n);
	}
}

static void make_words(struct stage *s)
{
	const struct scene *scene = s->scene;
	size_t n = 0;

	s->argv[n++] = "dev-team";
	for (const char *const *w = scene->words; *w; w++)
		s->argv[n++] =
			**w == '@' ? arena_printf(&s->arena, "%s/%s", s->directory, *w + 1) : *w;
	for (unsigned i = 0; i <= (scene->repeat ? scene->repeat - 1 : 0); i++)
		make_input(s);
}

static void learn_next(struct stage *s, struct buf *fault)
{
	char last[DIGEST_TEXT];
	struct error err;
	struct run r;

	stage_run(s, &r);
	if (r.status || journal_read(s, true, last, &err) < 0)
		buf_addf(fault, "what comes next: exit status %d: %s\n", r.status,
			r.err.s ? r.err.s : "");
	run_release(&r);
}

static void learn(struct stage *s, const struct trace *t, struct buf *fault)
{
	struct error err;

	if (t->status != s->scene->status)
		buf_addf(fault, "undisturbed: exit status %d: %s", t->status, t->err.s);
	s->calls = t->count;
	s->first_effect = t->first_effect;
	buf_add(&s->out, buf_str(&t->out));
	if (journal_read(s, true, s->last, &err) < 0)
		buf_addf(fault, "undisturbed: the journal cannot be read: %s\n", err.text);
	if (s->scene->told && (*s->scene->told ? !has_told(s, t) : !strcmp(s->last, s->known[0])))
		buf_addf(fault, "undisturbed: it does nothing: %s\n", t->out.s ? t->out.s : "");
	if (s->scene->next)
		learn_next(s, fault);
	picture_add(s, &s->picture);
	if (s->scene->probe)
		stage_shell(s, s->scene->probe, &s->probe);
	if (s->scene->counts)
		learn_questions(s);
}

int stage_open(struct stage *s, const struct scene *scene, struct buf *fault)
{
	struct trace t = {.act = TRACE_COUNT};
	int rc;

	if (!scratch)
		scratch = tree_scratch("crash");
	*s = (struct stage){.scene = scene, .dir = scratch, .n_known = 1};
	s->live = in_dir(s, "live");
	s->state = in_dir(s, "live/state");
	s->directory = in_dir(s, "live/state/org/repo");
	s->id = scene->id ? scene->id : "T-1";
	s->document = arena_printf(&s->arena, "%s/%s.md", s->directory, s->id);
	make_words(s);
	lay_out(s);
	stage_shell(s, scene->setup, NULL);
	tree_copy(s->live, in_dir(s, "before"));
	stage_restore(s, "before"); /* as every later run: git has not seen these files before */
	document_now(s, s->known[0]);
	if (scene->counts)
		setenv("GIT_TRACE", arena_printf(&s->arena, "%s/git.trace", s->live), 1);
	s->asked = stage_asked(s);
	rc = stage_trace(s, &t);
	s->asked = stage_asked_since(s, s->asked);
	if (rc == 0)
		learn(s, &t, fault);
	trace_release(&t);
	return rc < 0 ? 1 : fault->len ? -1 : 0;
}

void stage_close(struct stage *s)
{
	static const char *const parts[] = {"live", "before", "killed"};

	unsetenv("GIT_TRACE");
	for (size_t i = 0; i < COUNT(parts); i++)
		if (path_exists(in_dir(s, parts[i])))
			tree_remove(in_dir(s, parts[i]));
	buf_release(&s->input);
	buf_release(&s->picture);
	buf_release(&s->probe);
	buf_release(&s->out);
	arena_release(&s->arena);
}

void stage_end(void)
{
	if (scratch)
		tree_remove(scratch);
	free(scratch);
}
