#include "src/base/json.h"
#include "src/sys/path.h"
#include "src/store/store.h"
#include "tests/crash/checks.h"
#include "tests/lib/match.h"
#include "tests/lib/run.h"
#include "tests/lib/tree.h"

struct figures figures;

/* ---- documents ---- */

void document_now(const struct stage *s, char sum[DIGEST_TEXT])
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	sum[0] = '\0';
	if (tree_read(s->document, &text))
		digest_text(buf_str(&text), sum);
}

static bool is_known(const struct stage *s, const char *sum)
{
	for (size_t i = 0; i < s->n_known; i++)
		if (strcmp(s->known[i], sum) == 0)
			return true;
	return false;
}

static void learn_document(struct stage *s, const char *sum)
{
	if (!is_known(s, sum) && s->n_known < STAGE_DOCUMENTS)
		memcpy(s->known[s->n_known++], sum, DIGEST_TEXT);
}

int journal_read(struct stage *s, bool learn, char last[DIGEST_TEXT], struct error *err)
{
	CLEANUP(store_close) struct store *store = NULL;
	CLEANUP(store_history_close) struct store_history *h = NULL;
	struct store_commit c;
	unsigned by_hand = 0;
	int rc;

	last[0] = '\0';
	if (!path_exists(arena_printf(&s->arena, "%s/%s.events.jsonl", s->directory, s->id)))
		return 0;
	if (store_open(&store, store_backend(), s->directory, s->id, STORE_HISTORY, 0, err) < 0 ||
		store_history(store, &(struct store_range){.texts = true}, &h, err) != STORE_OK)
		return -1;
	while ((rc = store_history_next(h, &c, err)) > 0) {
		by_hand += str_is(str_of(c.actor), "hand");
		if (!c.document)
			continue;
		last[0] = '\0';
		if (!c.removed)
			digest_text(c.text, last);
		if (learn)
			learn_document(s, last);
	}
	if (learn)
		s->by_hand = by_hand;
	if (rc == 0 && by_hand > s->by_hand)
		rc = error_set(err, ERR_CHECK, "people are said to have edited the document");
	return rc;
}

/* ---- all state ---- */

/* Events about the effects of a run are left out: after a kill behind a commit of git, the next run
 * finds nothing to commit. A refusal may occur twice. */
static bool is_event_left_out(const struct stage *s, struct str line)
{
	return str_find(line, STR("\"type\":\"effect\"")) < line.n ||
	       (s->scene->keeps && str_find(line, STR("\"type\":\"refusal\"")) < line.n);
}

static void add_event(const struct stage *s, struct buf *out, struct str line)
{
	size_t at = s->scene->gives_back ? str_find(line, STR(",\"fence\":")) : line.n;

	buf_add(out, str_sub(line, 0, at));
	if (at < line.n) {
		struct str rest = str_sub(line, at + 1, line.n);

		buf_add(out, str_sub(rest, str_find(rest, STR(",")), rest.n));
	}
	buf_addc(out, '\n');
}

static void add_events(const struct stage *s, struct buf *out, struct str text)
{
	struct str line;
	unsigned n = 0;

	while (str_line(&text, &line)) {
		char start[32];

		if (!str_starts(line, "{\"seq\":"))
			continue;
		(void)snprintf(start, sizeof(start), "{\"seq\":%u,", ++n);
		if (!str_starts(line, start))
			buf_addf(out, "(this should be event %u)", n);
		if (is_event_left_out(s, line))
			continue;
		add_event(s, out, str_sub(line, str_find(line, STR("\"ts\":")), line.n));
	}
}

/* One that says how long a branch took is told after the branch is recorded: a kill loses it. A
 * tick that was killed has a number, and what it told last is told again. */
static void add_told(struct buf *out, struct str text)
{
	struct str line, before = {0};

	while (str_line(&text, &line)) {
		struct str told = str_sub(line, 0, str_find(line, STR(",\"tick\":")));

		/* A tick after a kill counts what is left to do. */
		if (str_starts(line, "{\"type\":\"OrchestratorTick\""))
			continue;
		if (str_find(line, STR("\"durationMs\":")) == line.n && !str_eq(told, before))
			buf_addf(out, "%.*s\n", (int)told.n, told.p);
		before = told;
	}
}

static void add_file(const struct stage *s, struct buf *out, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	(void)tree_read(path, &text);
	if (str_ends(str_of(path), ".events.jsonl"))
		add_events(s, out, buf_str(&text));
	else if (str_ends(str_of(path), "/_events.jsonl") || str_ends(str_of(path), "/.tick.json"))
		add_told(out, buf_str(&text));
	else
		buf_add(out, buf_str(&text));
}

/* The ticket of one who waited at the gate: a number. It does not count when its process has ended.
 */
static bool is_ticket(struct str name)
{
	size_t at = str_find(name, STR(".merge-gate/"));

	return at < name.n && name.p[name.n - 1] >= '0' && name.p[name.n - 1] <= '9';
}

/* The refused texts are there as often as there were refusals. The sandbox keeps copies of the
 * system's files. */
static bool is_left_out(const struct stage *s, struct str name)
{
	return str_starts(name, "sandbox/") || is_ticket(name) ||
	       str_ends(
		       name, "/triage-history.jsonl") || /* the probe has it, without repetitions */
	       (s->scene->keeps && str_find(name, STR("/logs/")) < name.n);
}

/* The text before the last commit, under a name with its revision; and the mark of a journal, which
 * a later process makes if it cannot be made. */
static bool is_staged(struct str name)
{
	return str_find(name, STR(".md.new")) < name.n || str_ends(name, ".begun");
}

static void add_tree(const struct stage *s, struct buf *out, bool plain)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT, text = BUF_INIT;
	struct arena a = {0};
	const char *state = path_join(&a, s->live, "state");
	struct str rest, name;

	if (path_exists(state))
		tree_list(state, &names);
	for (rest = buf_str(&names); str_line(&rest, &name);) {
		const char *path = path_join(&a, state, arena_dup(&a, name));

		if (is_left_out(s, name) || (!plain && is_staged(name)))
			continue;
		buf_addf(out, "=== %.*s\n", (int)name.n, name.p);
		if (str_ends(name, ".lock")) /* is for people */
			continue;
		if (!plain) {
			add_file(s, out, path);
			continue;
		}
		buf_clear(&text);
		(void)tree_read(path, &text);
		buf_add(out, buf_str(&text));
	}
	arena_release(&a);
}

void picture_add(const struct stage *s, struct buf *out)
{
	add_tree(s, out, false);
}

void picture_sum(const struct stage *s, char sum[DIGEST_TEXT])
{
	CLEANUP(buf_release) struct buf all = BUF_INIT;

	add_tree(s, &all, true);
	digest_text(buf_str(&all), sum);
}

/* ---- after a fault ---- */

static void check_torn(struct stage *s, char last[DIGEST_TEXT], struct buf *fault)
{
	char sum[DIGEST_TEXT];
	struct error err;

	document_now(s, sum);
	if (!is_known(s, sum))
		buf_adds(fault, "the document is none that any commit left\n");
	if (journal_read(s, false, last, &err) < 0)
		buf_addf(fault, "the journal cannot be read: %s\n", err.text);
	else if (last[0] && !is_known(s, last))
		buf_adds(fault, "the journal's document is another one\n");
}

static void check_refused_text(struct stage *s, const char *path, struct buf *fault)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!tree_read(path, &text) || !str_eq(buf_str(&text), buf_str(&s->input)))
		buf_addf(fault, "what was refused is not in '%s'\n", path);
}

/* A refusal names the file of the refused text, or says that it was not kept. */
static void check_refusal(struct stage *s, const struct trace *t, struct buf *fault)
{
	static const char kept[] = "what was offered is kept in ";
	struct str err = buf_str(&t->err), path;
	size_t at = str_find(err, STR(kept));

	if (t->status != 4 || !err.n)
		return;
	if (at == err.n && str_find(err, STR("what was offered is not kept: ")) == err.n)
		buf_addf(fault, "nobody knows what became of the text: '%s'\n", err.p);
	path = str_trim(str_sub(err, at == err.n ? at : at + sizeof(kept) - 1, err.n));
	if (path.n)
		check_refused_text(s, arena_dup(&s->arena, path), fault);
}

bool has_told(const struct stage *s, const struct trace *t)
{
	const char *told = s->scene->told;

	if (told)
		return *told && t->out.s && strstr(t->out.s, told);
	return t->status == 0 || (t->out.len && t->out.s[t->out.len - 1] == '\n');
}

void check_files(struct stage *s, const struct trace *t, struct buf *fault)
{
	size_t before = fault->len;
	char last[DIGEST_TEXT];

	check_torn(s, last, fault);
	figures.torn += fault->len > before;
	before = fault->len;
	if (s->scene->keeps)
		check_refusal(s, t, fault);
	if (!s->scene->status && has_told(s, t) && strcmp(last, s->last) != 0)
		buf_addf(fault, "it printed '%s' and had not committed it\n",
			t->out.s ? t->out.s : "");
	figures.lost += fault->len > before;
}

/* Calls f for each event of this type in the journal. */
static void each_event(struct stage *s, const char *type,
	void (*f)(struct stage *, const json *, struct buf *seen, struct buf *fault),
	struct buf *fault)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, seen = BUF_INIT;
	struct str rest, line;

	(void)tree_read(arena_printf(&s->arena, "%s/%s.events.jsonl", s->directory, s->id), &text);
	for (rest = buf_str(&text); str_line(&rest, &line);) {
		CLEANUP(json_free) json *event = NULL;
		struct error ignored;

		if (str_starts(line, "{\"seq\":") && json_parse(&event, line, &ignored) == 0 &&
			str_is(str_of(json_get_str(event, "type")), type))
			f(s, event, &seen, fault);
	}
}

/* An answer to the same action under the same fence as an earlier one. */
static void check_once(struct stage *s, const json *event, struct buf *seen, struct buf *fault)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;

	(void)s;
	buf_addf(&key, "<%s %lld>", json_get_str(event, "action"),
		(long long)json_get_int(event, "fence", 0));
	if (str_find(buf_str(seen), buf_str(&key)) < seen->len) {
		buf_addf(fault, "%s %s came twice\n", json_get_str(event, "type"), key.s);
		figures.twice++;
	}
	buf_add(seen, buf_str(&key));
}

/* The refused text is kept, complete, in the file that the event names. */
static void check_kept(struct stage *s, const json *event, struct buf *seen, struct buf *fault)
{
	const char *kept = json_get_str(event, "kept");

	(void)seen;
	if (kept)
		check_refused_text(s, arena_printf(&s->arena, "%s/%s", s->directory, kept), fault);
}

static void check_events(struct stage *s, struct buf *fault)
{
	each_event(s, "dispatch", check_once, fault);
	each_event(s, "answer", check_once, fault);
	if (s->scene->keeps)
		each_event(s, "refusal", check_kept, fault);
}

void check_end(struct stage *s, struct buf *fault)
{
	CLEANUP(buf_release) struct buf now = BUF_INIT, probe = BUF_INIT;

	picture_add(s, &now);
	if (!str_eq(buf_str(&now), buf_str(&s->picture))) {
		buf_adds(fault, "the end state is another one\n");
		diff_add(fault, buf_str(&s->picture), buf_str(&now));
	}
	check_events(s, fault);
	if (!s->scene->probe)
		return;
	stage_shell(s, s->scene->probe, &probe);
	if (!str_eq(buf_str(&probe), buf_str(&s->probe))) {
		buf_adds(fault, "the repository came out otherwise\n");
		diff_add(fault, buf_str(&s->probe), buf_str(&probe));
	}
}

static void compare_rerun(struct stage *s, const struct run *r, struct buf *fault)
{
	char last[DIGEST_TEXT];
	struct error err;

	if (r->status != s->scene->status && !(s->scene->again && r->status == s->scene->again))
		buf_addf(fault, "the run after it: exit status %d: %s\n", r->status,
			r->err.s ? r->err.s : "");
	else if (s->scene->prints && !str_eq(buf_str(&r->out), buf_str(&s->out)))
		buf_addf(fault, "the run after it printed %s\n", r->out.s ? r->out.s : "nothing");
	else if (journal_read(s, false, last, &err) < 0)
		buf_addf(fault, "the journal cannot be read: %s\n", err.text);
	else
		check_end(s, fault);
}

/*
 * Evidence is collected for what is not saved yet, and once. `last`: the document before the run.
 * Undisturbed, the index that git has just written for a commit tells that the files are those of
 * the commit; after a kill, and in a copy, it does not, and `git status` is asked.
 */
static void check_questions(
	struct stage *s, const char *last, struct asked asked, struct buf *fault)
{
	bool saved = strcmp(last, s->last) == 0;
	struct asked most = saved ? s->again : s->asked;

	most.local += !saved;
	if (asked.local <= most.local && asked.remote <= most.remote)
		return;
	buf_addf(fault,
		"the run after it asked git %u times, not %u, and remote and forge %u times, "
		"not %u\n",
		asked.local, most.local, asked.remote, most.remote);
	figures.again++;
}

void check_rerun(struct stage *s, struct buf *fault)
{
	size_t before = fault->len;
	struct asked asked = stage_asked(s);
	char last[DIGEST_TEXT];
	struct error ignored;
	struct run r;

	if (journal_read(s, false, last, &ignored) < 0)
		last[0] = '\0';
	stage_run(s, &r);
	compare_rerun(s, &r, fault);
	figures.lost += fault->len > before;
	check_questions(s, last, stage_asked_since(s, asked), fault);
	run_release(&r);
}

void check_history(struct stage *s, struct buf *fault)
{
	const char *const argv[] = {"dev-team", "history", "verify", s->document, NULL};
	struct run r = {.argv = argv,
		.cwd = arena_printf(&s->arena, "%s/work", s->live),
		.limit_s = WAIT_LIMIT_S};

	run(&r);
	if (r.status) {
		buf_addf(fault, "the history does not play: exit status %d: %s%s\n", r.status,
			r.out.s ? r.out.s : "", r.err.s ? r.err.s : "");
		figures.lost++;
	}
	run_release(&r);
}
