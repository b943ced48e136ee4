#include <errno.h>
#include "src/base/path.h"
#include "tests/crash/scenes.h"
#include "tests/lib/match.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"

#define BOOT "dev-team step T-1 --workflow implement >/dev/null\n"
#define NEXT BOOT
#define RECORD(action, word)                                                                       \
	"printf '" word ": text of %s\\n' " action " |"                                            \
	" dev-team record --context-file \"$STATE/T-1.md\" --action T-1/" action " --result " word \
	" >/dev/null\n"
#define TO_VALIDATING                                                                              \
	BOOT RECORD("researching/1", "briefed") NEXT RECORD("implementing/1", "implemented")
#define FLOW                                                                                       \
	"cat >wf.md <<'END'\n"                                                                     \
	"---\n"                                                                                    \
	"states:\n"                                                                                \
	"  lint: {command: 'echo linted; echo done', timeout: 60, writes: Lint,\n"                 \
	"    results: {passed: clean, failed: bad}}\n"                                             \
	"  gates:\n"                                                                               \
	"    all:\n"                                                                               \
	"      - {agent: reviewer, skill: s, writes: A, results: {approved: ok, refused: bad}}\n"  \
	"      - {agent: reviewer, skill: s, writes: B, results: {approved: ok, refused: bad}}\n"  \
	"---\n"                                                                                    \
	"```mermaid\n"                                                                             \
	"stateDiagram-v2\n"                                                                        \
	"  [*] --> init\n"                                                                         \
	"  init --> lint : start\n"                                                                \
	"  lint --> gates : clean\n"                                                               \
	"  lint --> failed : bad\n"                                                                \
	"  gates --> done : ok\n"                                                                  \
	"  gates --> failed : bad\n"                                                               \
	"  done --> [*]\n"                                                                         \
	"  failed --> [*]\n"                                                                       \
	"```\n"                                                                                    \
	"END\n"                                                                                    \
	"git add wf.md && git commit -q -m flow\n"                                                 \
	"dev-team step G-1 --workflow wf.md >/dev/null\n"
#define GATE(action, word)                                                                         \
	"echo " word " | dev-team record --context-file \"$STATE/G-1.md\" --action G-1/" action    \
	" --result " word " >/dev/null\n"
#define TO_GATES FLOW GATE("lint/1", "passed") "dev-team step G-1 --workflow wf.md >/dev/null\n"

const struct scene scenes[] = {
	{.name = "step: a new work item",
		.setup = "",
		.words = {"step", "T-1", "--workflow", "implement"},
		.id = "T-1"},
	{.name = "step: after an answer",
		.setup = BOOT RECORD("researching/1", "briefed"),
		.words = {"step", "T-1", "--workflow", "implement"},
		.id = "T-1"},
	{.name = "step --returned: a silent agent",
		.setup = BOOT,
		.words = {"step", "T-1", "--workflow", "implement", "--returned=T-1/researching/1"},
		.id = "T-1"},
	{.name = "step: to a script state",
		.setup = TO_VALIDATING,
		.words = {"step", "T-1", "--workflow", "implement"},
		.id = "T-1"},
	{.name = "step: commit and push",
		.setup = TO_VALIDATING NEXT RECORD(
			"validating/1", "passed") "echo rest >left-over\n",
		.words = {"step", "T-1", "--workflow", "implement"},
		.id = "T-1",
		.most = 40,
		.varies = true,
		.probe = "git status --porcelain; git log --format=%s; git -C ../origin.git log "
			 "--format=%s --all"},
	{.name = "step: several at once, all answered, to the end",
		.setup = TO_GATES GATE("gates/1", "approved") GATE("gates/2", "approved"),
		.words = {"step", "G-1", "--workflow", "wf.md"},
		.id = "G-1"},
	{.name = "step --returned: several at once, one answered",
		.setup = TO_GATES GATE("gates/1", "approved"),
		.words = {"step", "G-1", "--workflow", "wf.md", "--returned=G-1/gates/1"},
		.id = "G-1"},
	{.name = "record",
		.setup = BOOT,
		.words = {"record", "--context-file", "@T-1.md", "--action", "T-1/researching/1",
			"--result", "briefed"},
		.input = "The brief.\n<!-- section:Forged -->\nEnd.\n",
		.id = "T-1"},
	{.name = "record: a long text",
		.setup = BOOT,
		.words = {"record", "--context-file", "@T-1.md", "--action", "T-1/researching/1",
			"--result", "briefed"},
		.input = "One line of a long text, of which there are many.\n",
		.repeat = 8000,
		.id = "T-1"},
	{.name = "context set",
		.setup = BOOT,
		.words = {"context", "set", "@T-1.md", "troubleshooter_input"},
		.input = "two\nlines: #1",
		.id = "T-1"},
	{.name = "exec",
		.setup = FLOW,
		.words = {"exec", "--context-file", "@G-1.md", "--action", "G-1/lint/1"},
		.varies = true,
		.id = "G-1"},
	{0},
};

static void shell(struct stage *s, const char *script, struct buf *out)
{
	static const char prelude[] = "set -e; export STATE=$DEV_TEAM_STATE_DIR/org/repo\n";
	const char *const argv[] = {
		"sh", "-c", arena_printf(&s->arena, "%s%s", prelude, script), NULL};
	struct run r = {.argv = argv, .cwd = arena_printf(&s->arena, "%s/work", s->live)};

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

	setenv("DEV_TEAM_STATE_DIR", arena_printf(&s->arena, "%s/state", s->live), 1);
	setenv("HOME", s->live, 1);
	tree_mkdirs(arena_printf(&s->arena, "%s/work", s->live));
	tree_write(arena_printf(&s->arena, "%s/.gitconfig", s->live),
		STR("[user]\n\tname = Test\n\temail = test@example.org\n[gc]\n\tauto = 0\n"));
	shell(s, repository, NULL);
	shell(s, s->scene->setup, NULL);
}

/*
 * Events with their numbers checked and left out, and without those that tell which outside effect
 * a run had: after a kill behind a commit, the next run finds nothing to commit.
 */
static void add_events(struct buf *out, struct str text)
{
	struct str line;
	unsigned n = 0;

	while (str_line(&text, &line)) {
		char start[32];
		size_t head = (size_t)snprintf(start, sizeof(start), "{\"seq\":%u,", ++n);

		if (!str_starts(line, start))
			buf_addf(out, "(this should be event %u)", n);
		else if (str_find(line, STR("\"type\":\"effect\"")) < line.n)
			continue;
		else
			line = str_sub(line, head, line.n);
		buf_add(out, line);
		buf_addc(out, '\n');
	}
}

static void add_file(struct buf *out, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	(void)tree_read(path, &text);
	if (str_ends(str_of(path), ".events.jsonl"))
		add_events(out, buf_str(&text));
	else
		buf_add(out, buf_str(&text));
}

/* All files of the state folder with their bytes; of lock files only the names. */
static void picture(const struct stage *s, struct buf *out)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;
	struct arena a = {0};
	const char *state = path_join(&a, s->live, "state");
	struct str rest, name;

	buf_clear(out);
	if (path_exists(state))
		tree_list(state, &names);
	for (rest = buf_str(&names); str_line(&rest, &name);) {
		buf_addf(out, "=== %.*s\n", (int)name.n, name.p);
		if (!str_ends(name, ".lock"))
			add_file(out, path_join(&a, state, arena_dup(&a, name)));
	}
	arena_release(&a);
}

static void read_document(const struct stage *s, struct buf *out)
{
	buf_clear(out);
	(void)tree_read(s->document, out);
}

void stage_restore(struct stage *s)
{
	tree_remove(s->live);
	tree_copy(path_join(&s->arena, s->dir, "before"), s->live);
}

int stage_trace(struct stage *s, struct trace *t)
{
	t->argv = s->argv;
	t->cwd = arena_printf(&s->arena, "%s/work", s->live);
	t->input = buf_str(&s->input);
	t->who = s->scene->who;
	return trace_run(t);
}

static void make_words(struct stage *s)
{
	size_t n = 0;

	s->argv[n++] = "dev-team";
	for (const char *const *w = s->scene->words; *w; w++)
		s->argv[n++] = **w == '@' ? arena_printf(&s->arena, "%s/state/org/repo/%s", s->live,
						    *w + 1)
					  : *w;
	for (unsigned i = 0; s->scene->input && i <= (s->scene->repeat ? s->scene->repeat - 1 : 0);
		i++)
		buf_adds(&s->input, s->scene->input);
}

/* A verb may save more than once. When its Nth rename fails, what the one before put there stands:
 * these are the only documents that may be seen between the old and the new. */
static void learn_states(struct stage *s)
{
	for (unsigned n = 2; s->n_states < COUNT(s->states); n++) {
		struct trace t = {.act = TRACE_FAIL, .kinds = CALL_RENAME, .at = n, .error = EIO};

		stage_restore(s);
		if (stage_trace(s, &t) == 0 && t.hit)
			read_document(s, &s->states[s->n_states++]);
		trace_release(&t);
		if (!t.hit)
			return;
	}
}

int stage_open(struct stage *s, const struct scene *scene, struct buf *fault)
{
	struct trace t = {.act = TRACE_COUNT};
	int rc;

	*s = (struct stage){.scene = scene, .dir = tree_scratch("crash")};
	s->live = path_join(&s->arena, s->dir, "live");
	s->document = arena_printf(&s->arena, "%s/state/org/repo/%s.md", s->live, scene->id);
	make_words(s);
	lay_out(s);
	tree_copy(s->live, path_join(&s->arena, s->dir, "before"));
	read_document(s, &s->old);
	rc = stage_trace(s, &t);
	if (rc == 0 && t.status)
		buf_addf(fault, "undisturbed: exit status %d: %s", t.status, t.err.s);
	s->calls = t.count;
	s->first_effect = t.first_effect;
	read_document(s, &s->new);
	picture(s, &s->picture);
	if (scene->probe)
		shell(s, scene->probe, &s->probe);
	trace_release(&t);
	if (rc == 0 && !fault->len)
		learn_states(s);
	return rc < 0 ? 1 : fault->len ? -1 : 0;
}

void stage_close(struct stage *s)
{
	tree_remove(s->dir);
	free(s->dir);
	buf_release(&s->input);
	buf_release(&s->old);
	buf_release(&s->new);
	for (size_t i = 0; i < s->n_states; i++)
		buf_release(&s->states[i]);
	buf_release(&s->picture);
	buf_release(&s->probe);
	arena_release(&s->arena);
}

void check_document(struct stage *s, struct buf *fault)
{
	CLEANUP(buf_release) struct buf now = BUF_INIT;
	bool known;

	read_document(s, &now);
	known = str_eq(buf_str(&now), buf_str(&s->old)) || str_eq(buf_str(&now), buf_str(&s->new));
	for (size_t i = 0; i < s->n_states && !known; i++)
		known = str_eq(buf_str(&now), buf_str(&s->states[i]));
	if (known)
		return;
	buf_adds(fault, "the document is neither the old nor the new one\n");
	diff_add(fault, buf_str(&s->new), buf_str(&now));
}

void check_end(struct stage *s, struct buf *fault)
{
	CLEANUP(buf_release) struct buf now = BUF_INIT, probe = BUF_INIT;

	picture(s, &now);
	if (!str_eq(buf_str(&now), buf_str(&s->picture))) {
		buf_adds(fault, "the end state is another one\n");
		diff_add(fault, buf_str(&s->picture), buf_str(&now));
	}
	if (!s->scene->probe)
		return;
	shell(s, s->scene->probe, &probe);
	if (!str_eq(buf_str(&probe), buf_str(&s->probe))) {
		buf_adds(fault, "the repository came out otherwise\n");
		diff_add(fault, buf_str(&s->probe), buf_str(&probe));
	}
}

void check_rerun(struct stage *s, struct buf *fault)
{
	struct run r = {.argv = s->argv,
		.cwd = arena_printf(&s->arena, "%s/work", s->live),
		.input = buf_str(&s->input),
		.limit_s = 60};

	run(&r);
	if (r.status)
		buf_addf(fault, "the run after it: exit status %d: %s\n", r.status,
			r.err.s ? r.err.s : "");
	else
		check_end(s, fault);
	run_release(&r);
}
