/* Crashes in the midst of one invocation, and what the next one makes of them. */
#include "src/sys/digest.h"
#include "tests/model/engine_checks.h"

enum { MAX_JUDGED = 64, TIMESTAMP = 16 }; /* TIMESTAMP: bytes of the shortest, 20270115T080000Z */

/* ---- outcomes ---- */

static const char *const outcome_names[OUTCOME_PARTS] = {
	"another state", "another array", "other dispatches", "another document"};

/* The length of a timestamp at `i`, with the numbers behind it in names of files; 0: none. */
static size_t timestamp_at(struct str s, size_t i)
{
	size_t n = 0;

	while (i + n < s.n && strchr("0123456789-:TZ", s.p[i + n]))
		n++;
	return n >= TIMESTAMP && s.p[i] == '2' && s.p[i + 1] == '0' ? n : 0;
}

/* Adds the text without timestamps. */
static void add_text(struct buf *out, struct str text)
{
	struct str line;

	while (str_line(&text, &line)) {
		for (size_t i = 0, n; i < line.n; i += n ? n : 1) {
			n = timestamp_at(line, i);
			buf_addc(out, n ? '@' : line.p[i]);
		}
		buf_addc(out, '\n');
	}
}

/* Adds the dispatched ids, one a line. *twice: the first that is there already. */
static void add_dispatches(struct arena *a, struct buf *out, struct str journal, const char **twice)
{
	static const char opening[] = "\"type\":\"dispatch\",\"action\":";
	struct str line;

	buf_addc(out, '\n');
	while (str_line(&journal, &line)) {
		size_t from = str_find(line, str_of(opening)) + strlen(opening), n;
		const char *id;

		if (from >= line.n)
			continue;
		n = str_find(str_sub(line, from, line.n), STR(",\""));
		id = arena_printf(a, "\n%.*s\n", (int)n, line.p + from);
		if (!*twice && str_find(buf_str(out), str_of(id)) < out->len)
			*twice = arena_dup(a, str_sub(line, from, from + n));
		buf_adds(out, id + 1);
	}
}

void step_outcome_of(struct arena *a, struct trial *t, const struct simulator_call *call,
	struct step_outcome *out)
{
	CLEANUP(buf_release) struct buf printed = BUF_INIT, shown = BUF_INIT, ids = BUF_INIT;
	CLEANUP(buf_release) struct buf document = BUF_INIT, journal = BUF_INIT, text = BUF_INIT;
	struct simulator_environment *env = &t->simulator->environment;
	CLEANUP(json_free) json *array = NULL;
	struct error err;

	*out = (struct step_outcome){.part = {"", "", "", ""}};
	*env = (struct simulator_environment){.specs = 1, .running = env->running};
	if (trial_call(t, call, &array, &err) < 0) {
		add_text(&text, str_of(err.text));
		out->part[OUTCOME_STATE] = arena_dup(a, str_trim(buf_str(&text)));
		return;
	}
	out->part[OUTCOME_STATE] = trial_key(a, t);
	json_print(&printed, array);
	add_text(&shown, buf_str(&printed));
	out->part[OUTCOME_PRINTED] = arena_dup(a, buf_str(&shown));
	(void)sim_disk_get(sim_disk_of(t->simulator), t->simulator->journal, &journal);
	add_dispatches(a, &ids, buf_str(&journal), &out->twice);
	out->part[OUTCOME_DISPATCHES] = arena_dup(a, buf_str(&ids));
	(void)sim_disk_get(sim_disk_of(t->simulator), t->simulator->path, &document);
	add_text(&text, buf_str(&document));
	out->part[OUTCOME_DOCUMENT] = arena_dup(a, buf_str(&text));
}

enum outcome_part step_outcome_diff(const struct step_outcome *a, const struct step_outcome *b)
{
	enum outcome_part i = 0;

	while (i < OUTCOME_PARTS && strcmp(a->part[i], b->part[i]) == 0)
		i++;
	return i;
}

/* ---- crashes ---- */

/* After one disk call is before the next; after the last one the invocation has succeeded. */
static const struct crash_kind {
	enum sim_fault fault;
	bool power;
	const char *name;
} crash_kinds[] = {
	{SIM_STOP, false, "killed before"},
	{SIM_STOP_HALF, false, "killed in the midst of"},
	{SIM_STOP, true, "the power fails before"},
	{SIM_STOP_HALF, true, "the power fails in the midst of"},
};

struct crash {
	struct engine_checks *checks;
	uint32_t node;
	const struct simulator *at;
	const struct checked_call *call;
	struct arena arena;
	struct buf journal_before, journal_after; /* without a crash */
	struct step_outcome before, after;        /* of the next step, without a crash */
	bool repeatable; /* the caller repeats a `record` or `context set` that did not end */
	char judged[MAX_JUDGED][DIGEST_TEXT]; /* disks that were judged */
	size_t n_judged;
	const struct crash_kind *kind;
	unsigned disk_call;
	bool failed;
};

static int make_call(struct trial *t, const struct checked_call *c, struct error *err)
{
	CLEANUP(json_free) json *printed = NULL;

	return trial_call(t, &c->call, &printed, err);
}

static void fail_crash(struct crash *c, const char *what, const char *detail)
{
	if (!c->failed)
		engine_checks_fail(c->checks, c->node, what,
			arena_printf(&c->arena, "%s, %s disk call %u: %s", c->call->what,
				c->kind->name, c->disk_call, detail),
			c->call->answers);
	c->failed = true;
}

/* The same bytes on the disk have the same outcome. */
static bool was_judged(struct crash *c, const struct simulator *s, bool succeeded)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT, all = BUF_INIT;
	struct str rest, line;
	char sum[DIGEST_TEXT];

	sim_disk_list(sim_disk_of(s), &names);
	rest = buf_str(&names);
	while (str_line(&rest, &line)) {
		buf_add(&all, line);
		buf_addc(&all, '\n');
		(void)sim_disk_get(sim_disk_of(s), arena_dup(&c->arena, line), &all);
	}
	digest_text(buf_str(&all), sum);
	sum[0] = succeeded ? '!' : sum[0];
	for (size_t i = 0; i < c->n_judged; i++)
		if (strcmp(c->judged[i], sum) == 0)
			return true;
	if (c->n_judged < MAX_JUDGED)
		memcpy(c->judged[c->n_judged++], sum, sizeof(sum));
	return false;
}

static bool check_journal(struct crash *c, const struct simulator *s, bool succeeded)
{
	const struct buf *kept = succeeded ? &c->journal_after : &c->journal_before;
	CLEANUP(buf_release) struct buf journal = BUF_INIT;

	(void)sim_disk_get(sim_disk_of(s), s->journal, &journal);
	if (journal.len >= kept->len && (!kept->len || !memcmp(journal.s, kept->s, kept->len)))
		return true;
	fail_crash(c, "a crash loses what was acknowledged",
		succeeded ? "this call" : "calls before it");
	return false;
}

/* `other` may be NULL. */
static void compare(struct crash *c, const struct step_outcome *got,
	const struct step_outcome *expected, const struct step_outcome *other, const char *next)
{
	enum outcome_part part = step_outcome_diff(got, expected);

	if (got->twice)
		fail_crash(c, "an action is dispatched twice after a crash", got->twice);
	if (part == OUTCOME_PARTS || (other && step_outcome_diff(got, other) == OUTCOME_PARTS))
		return;
	fail_crash(c, "a crash leaves neither the state before nor the state after",
		arena_printf(&c->arena, "%s leads to %s, %.300s", next, outcome_names[part],
			got->part[part]));
}

/* The caller, who does not know the outcome, repeats the call. */
static void check_repeat(struct crash *c, const struct simulator *at)
{
	CLEANUP(trial_end) struct trial t;
	struct step_outcome got;
	struct error err;

	trial_begin(&t, c->checks, c->node, at);
	if (make_call(&t, c->call, &err) < 0) {
		fail_crash(c, "a call that a crash has stopped cannot be repeated", err.text);
		return;
	}
	step_outcome_of(&c->arena, &t, &c->call->next, &got);
	compare(c, &got, &c->after, NULL, "the same call and a step");
}

static void judge(struct crash *c, struct trial *t, bool succeeded)
{
	struct step_outcome got;

	c->checks->crashes++;
	if (was_judged(c, t->simulator, succeeded) || !check_journal(c, t->simulator, succeeded))
		return;
	if (c->repeatable && !succeeded)
		check_repeat(c, t->simulator);
	step_outcome_of(&c->arena, t, &c->call->next, &got);
	compare(c, &got, &c->after, succeeded ? NULL : &c->before, "the next step");
}

/* False when the invocation makes fewer disk calls, or a check failed. */
static bool crash_at(struct crash *c)
{
	CLEANUP(trial_end) struct trial t;
	struct error err;
	bool stopped;

	trial_begin(&t, c->checks, c->node, c->at);
	sim_disk_seed(sim_disk_of(t.simulator), c->disk_call);
	sim_disk_plan(sim_disk_of(t.simulator), c->disk_call, c->kind->fault);
	(void)make_call(&t, c->call, &err);
	stopped = sim_disk_stopped(sim_disk_of(t.simulator));
	sim_disk_plan(sim_disk_of(t.simulator), 0, SIM_NONE);
	sim_disk_restart(sim_disk_of(t.simulator), c->kind->power);
	judge(c, &t, !stopped);
	return stopped && !c->failed;
}

/* The outcome without a crash. */
static void set_expectations(struct crash *c)
{
	CLEANUP(trial_end) struct trial before, after;
	struct error err;

	trial_begin(&before, c->checks, c->node, c->at);
	trial_begin(&after, c->checks, c->node, c->at);
	(void)sim_disk_get(sim_disk_of(c->at), c->at->journal, &c->journal_before);
	step_outcome_of(&c->arena, &before, &c->call->next, &c->before);
	c->repeatable = make_call(&after, c->call, &err) == 0 &&
			(c->call->call.action || c->call->call.key);
	(void)sim_disk_get(
		sim_disk_of(after.simulator), after.simulator->journal, &c->journal_after);
	step_outcome_of(&c->arena, &after, &c->call->next, &c->after);
}

void engine_checks_crash(struct engine_checks *checks, uint32_t node, const struct simulator *at,
	const struct checked_call *call)
{
	struct crash c = {.checks = checks, .node = node, .at = at, .call = call};

	if (checks->quick)
		return;
	checks->oracle.paused = true;
	set_expectations(&c);
	for (size_t i = 0; i < COUNT(crash_kinds); i++) {
		c.kind = &crash_kinds[i];
		for (c.disk_call = 1; !c.failed && crash_at(&c); c.disk_call++)
			;
	}
	checks->oracle.paused = false;
	buf_release(&c.journal_before);
	buf_release(&c.journal_after);
	arena_release(&c.arena);
}
