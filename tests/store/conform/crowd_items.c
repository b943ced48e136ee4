/* The crowd on a hundred work items: step, record and context set, as many sessions would. */
#include <stdio.h>
#include <stdlib.h>
#include "src/base/clock.h"
#include "src/store/log.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"
#include "tests/store/conform/crowd.h"

enum { ITEMS = 100, STATES = 6, WIDTH = 3, ACTIONS = STATES * WIDTH };

/* What was acknowledged of one action. */
struct answer {
	unsigned recorded; /* how often */
	unsigned by, op;   /* by whom, the last time */
};

struct item {
	struct answer answer[ACTIONS];
	unsigned refused, set;
	unsigned last_set[CROWD]; /* the operation */
};

struct yard {
	char dir[512];
	struct item item[ITEMS];
};

struct worker {
	unsigned i, k;
	struct yard *yard;
	struct dice dice;
	struct arena a;
	bool known[ITEMS][ACTIONS]; /* printed by a step that this worker made */
};

static void write_workflow(const char *dir)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT, path = BUF_INIT;

	buf_adds(&b, "---\nlimits: {max_actions: 1000}\nstates:\n");
	for (unsigned i = 0; i < ACTIONS; i++) {
		if (i % WIDTH == 0)
			buf_addf(&b, "  s%u:\n    all:\n", i / WIDTH);
		buf_addf(&b,
			"      - {agent: a, skill: s, writes: Answer %u, results: {good: ok, bad: "
			"no}}\n",
			i);
	}
	buf_adds(&b, "---\n```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> s0 : start\n");
	for (unsigned s = 0; s < STATES; s++) {
		buf_addf(&b, "s%u --> failed : no\n", s);
		if (s + 1 < STATES)
			buf_addf(&b, "s%u --> s%u : ok\n", s, s + 1);
	}
	buf_addf(&b, "s%d --> done : ok\ndone --> [*]\nfailed --> [*]\n```\n", STATES - 1);
	buf_addf(&path, "%s/wf.md", dir);
	tree_write(path.s, buf_str(&b));
}

static char *file_of(struct worker *w, unsigned item)
{
	return arena_printf(&w->a, "%s/W-%u.md", w->yard->dir, item);
}

/* Any other exit status than `may` is the end. */
static int verb(
	struct worker *w, const char *const *argv, struct str input, int may, struct buf *out)
{
	struct run r = {.argv = argv, .cwd = w->yard->dir, .input = input};
	int status;

	run(&r);
	status = r.status;
	if (status && status != may)
		crowd_fail(w->i, "operation %u: %s %s: exit status %d: %s", w->k, argv[1], argv[3],
			status, r.err.len ? r.err.s : "");
	if (out)
		buf_add(out, buf_str(&r.out));
	run_release(&r);
	return status;
}

/* `W-7/s2/1` is action 6 of item 7; ACTIONS when it is none of ours. */
static unsigned action_of(const char *id, unsigned item)
{
	unsigned got = ITEMS, state = STATES, n = 0;

	if (!id || sscanf(id, "W-%u/s%u/%u", &got, &state, &n) != 3 || got != item ||
		state >= STATES || n < 1 || n > WIDTH)
		return ACTIONS;
	return state * WIDTH + n - 1;
}

static char *id_of(struct worker *w, unsigned item, unsigned action)
{
	return arena_printf(&w->a, "W-%u/s%u/%u", item, action / WIDTH, action % WIDTH + 1);
}

static void do_step(struct worker *w, unsigned item)
{
	const char *const argv[] = {"dev-team", "step", "--context-file", file_of(w, item),
		"--workflow", "wf.md", "--repo", ".", arena_printf(&w->a, "W-%u", item), NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	CLEANUP(json_free) json *array = NULL;
	struct error err = {0};

	verb(w, argv, STR(""), 0, &out);
	if (json_parse(&array, str_trim(buf_str(&out)), &err) < 0)
		crowd_fail(w->i, "a step prints no JSON: %s", err.text);
	for (const json *a = json_first(array); a; a = json_next(a)) {
		unsigned action = action_of(json_get_str(a, "id"), item);

		if (str_is(str_of(json_get_str(a, "action")), "done"))
			continue;
		if (action == ACTIONS)
			crowd_fail(w->i, "a step prints an action of nobody: %s", out.s);
		w->known[item][action] = true;
	}
}

static void answer_text(struct buf *out, unsigned item, unsigned action, unsigned by, unsigned op)
{
	for (unsigned line = 0; line < 8; line++)
		buf_addf(out, "item %u, action %u, by %u in operation %u, line %u\n", item, action,
			by, op, line);
}

/* One of the actions that this worker knows of; it does not know whether another was faster. */
static void do_record(struct worker *w, unsigned item)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	unsigned first = dice_throw(&w->dice, ACTIONS), action = ACTIONS;
	struct item *it = &w->yard->item[item];

	for (unsigned i = 0; i < ACTIONS && action == ACTIONS; i++)
		if (w->known[item][(first + i) % ACTIONS])
			action = (first + i) % ACTIONS;
	if (action == ACTIONS) {
		do_step(w, item);
		return;
	}
	w->known[item][action] = false;
	answer_text(&text, item, action, w->i, w->k);
	if (verb(w,
		    (const char *const[]){"dev-team", "record", "--context-file", file_of(w, item),
			    "--action", id_of(w, item, action), "--result", "good", NULL},
		    buf_str(&text), 4, NULL)) {
		__atomic_add_fetch(&it->refused, 1, __ATOMIC_SEQ_CST);
		/* Others are ahead: what else it knows of the item is old too. */
		memset(w->known[item], 0, sizeof(w->known[item]));
		return;
	}
	__atomic_add_fetch(&it->answer[action].recorded, 1, __ATOMIC_SEQ_CST);
	it->answer[action].by = w->i;
	it->answer[action].op = w->k;
}

/* A file that nobody has stepped yet is not there. */
static void do_set(struct worker *w, unsigned item)
{
	const char *const argv[] = {"dev-team", "context", "set", file_of(w, item),
		arena_printf(&w->a, "worker_%u", w->i), NULL};
	struct item *it = &w->yard->item[item];

	if (verb(w, argv, str_of(arena_printf(&w->a, "operation %u\n", w->k)), 3, NULL))
		return;
	__atomic_add_fetch(&it->set, 1, __ATOMIC_SEQ_CST);
	it->last_set[w->i] = w->k;
}

static void work(unsigned i, void *arg)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (!w)
		base_oom();
	*w = (struct worker){.i = i, .yard = arg, .dice = {i + 100}};
	for (w->k = 1; w->k <= crowd_ops(); w->k++) {
		unsigned item = dice_throw(&w->dice, ITEMS), what = dice_throw(&w->dice, 10);

		if (what < 3)
			do_step(w, item);
		else if (what < 9)
			do_record(w, item);
		else
			do_set(w, item);
		arena_release(&w->a);
	}
	free(w);
}

/* ---- the account ---- */

struct audit {
	unsigned dispatched, answered, refusals, sets, commits, events;
	unsigned bad_dispatch, bad_answer, bad_text, bad_refusal, bad_set, gaps, unread, done;
};

struct seen {
	unsigned dispatch[ACTIONS], answer[ACTIONS], refusals, sets;
	int64_t rev, seq;
	bool done;
};

static void see_event(struct seen *s, const json *e, unsigned item, struct audit *u)
{
	struct str type = str_of(json_get_str(e, "type"));
	unsigned action = action_of(json_get_str(e, "action"), item);

	u->events++;
	u->gaps += json_get_int(e, "seq", 0) != ++s->seq;
	if (str_is(type, "dispatch") && action < ACTIONS)
		s->dispatch[action]++;
	if (str_is(type, "answer") && action < ACTIONS)
		s->answer[action]++;
	s->refusals += str_is(type, "refusal");
	s->sets += str_is(type, "set");
	s->done |= str_is(type, "done");
}

static bool see_journal(
	struct seen *s, struct buf *document, const char *dir, unsigned item, struct audit *u)
{
	CLEANUP(store_log_close) struct store_log *log = NULL;
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	struct error err = {0};
	struct store_commit c;
	int more;

	buf_addf(&name, "W-%u", item);
	more = store_log_open(&log, disk_real(), dir, name.s, &err);
	while (more >= 0 && (more = store_log_next(log, &c, &err)) > 0) {
		u->commits++;
		u->gaps += c.rev != ++s->rev;
		for (const json *e = json_first(c.events); e; e = json_next(e))
			see_event(s, e, item, u);
		if (c.document_key) {
			buf_clear(document);
			buf_add(document, c.document);
		}
	}
	if (more < 0)
		tap_notef("item %u: %s", item, err.text);
	return more == 0;
}

static bool has(const struct buf *document, const struct buf *text)
{
	return str_find(buf_str(document), buf_str(text)) < document->len;
}

static void audit_answers(const struct item *it, const struct seen *s, unsigned item,
	const struct buf *document, struct audit *u)
{
	for (unsigned a = 0; a < ACTIONS; a++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		u->dispatched += s->dispatch[a];
		u->answered += s->answer[a];
		u->bad_dispatch +=
			s->dispatch[a] > 1 || (it->answer[a].recorded && !s->dispatch[a]);
		u->bad_answer += s->answer[a] != it->answer[a].recorded || s->answer[a] > 1;
		answer_text(&text, item, a, it->answer[a].by, it->answer[a].op);
		u->bad_text += it->answer[a].recorded && !has(document, &text);
	}
}

static void audit_item(struct yard *yard, unsigned item, struct audit *u)
{
	CLEANUP(buf_release) struct buf document = BUF_INIT, disk = BUF_INIT, path = BUF_INIT;
	const struct item *it = &yard->item[item];
	struct seen s = {0};

	buf_addf(&path, "%s/W-%u.md", yard->dir, item);
	if (!see_journal(&s, &document, yard->dir, item, u) || !tree_read(path.s, &disk) ||
		!str_eq(buf_str(&disk), buf_str(&document)))
		u->unread++;
	audit_answers(it, &s, item, &disk, u);
	u->refusals += s.refusals;
	u->bad_refusal += s.refusals != it->refused;
	u->sets += s.sets;
	u->bad_set += s.sets != it->set;
	u->done += s.done;
	for (unsigned i = 0; i < CROWD; i++) {
		CLEANUP(buf_release) struct buf line = BUF_INIT;

		buf_addf(&line, "\nworker_%u: operation %u\n", i, it->last_set[i]);
		u->bad_set += it->last_set[i] && !has(&disk, &line);
	}
}

/* Texts that were refused, each in a file of its own. */
static unsigned kept_texts(const char *dir)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;
	struct str rest, line;
	unsigned n = 0;

	tree_list(dir, &names);
	for (rest = buf_str(&names); str_line(&rest, &line);)
		n += str_find(line, STR("-refused-")) < line.n;
	return n;
}

static void prepare(struct yard *yard, const char *dir)
{
	const char *const init[] = {"git", "init", "-q", "--template=", ".", NULL};
	struct run git = {.argv = init};

	snprintf(yard->dir, sizeof(yard->dir), "%s/items", dir);
	tree_mkdirs(yard->dir);
	git.cwd = yard->dir;
	run(&git);
	if (git.status)
		die("git init failed");
	run_release(&git);
	write_workflow(yard->dir);
}

void crowd_on_items(const char *dir)
{
	struct yard *yard = crowd_share(sizeof(*yard));
	struct audit u = {0};
	unsigned good, kept;
	int64_t start, took;

	prepare(yard, dir);
	start = clock_ticks();
	good = crowd_run(work, yard);
	took = clock_ticks() - start;
	tap(good == CROWD, "%u of %d processes run %u verbs each", good, CROWD, crowd_ops());
	for (unsigned item = 0; item < ITEMS; item++)
		audit_item(yard, item, &u);
	tap(!u.unread, "%u of %d items are what their journals make them", ITEMS - u.unread, ITEMS);
	tap(u.dispatched && !u.bad_dispatch, "%u actions are dispatched once each", u.dispatched);
	tap(u.answered && !u.bad_answer, "%u answers are applied once each", u.answered);
	tap(!u.bad_text, "every answer that was acknowledged stands whole in its item");
	kept = kept_texts(yard->dir);
	tap(u.refusals && !u.bad_refusal && kept == u.refusals,
		"%u answers came too late, are logged, and %u are kept", u.refusals, kept);
	tap(u.sets && !u.bad_set, "%u values that were set are logged, the last ones stand",
		u.sets);
	tap(!u.gaps, "%u commits and %u events without a gap or a repeat", u.commits, u.events);
	tap_notef("figures: %u verbs of %d processes on %d items: %u actions, %u answers, %u too "
		  "late, "
		  "%u items done, %.1f s",
		CROWD * crowd_ops(), CROWD, ITEMS, u.dispatched, u.answered, u.refusals, u.done,
		(double)took / 1000);
}
