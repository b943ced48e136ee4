/* protocol.c: every order of the calls of two loops, to a depth. */
#include "src/base/clock.h"
#include "tests/lib/wire.h"
#include "tests/model/scenario.h"

enum transition_kind {
	TRANSITION_STEP,
	TRANSITION_RETURNED,
	TRANSITION_TAKE_OVER,
	TRANSITION_RECORD,
	TRANSITION_CLOCK,     /* passes the end of the lease */
	TRANSITION_POWER_CUT, /* a power cut while nothing runs */
};

enum caller { CALLER_A, CALLER_B, CALLER_UNNAMED, CALLER_ALL };

struct transition {
	unsigned char kind, caller;
	unsigned short action;   /* MOVE_RECORD: index in the audit's actions */
	unsigned short crash_at; /* call to the disk before which the machine stops; 0: none */
	unsigned short power;    /* 0: only the process dies; else a seed of what is lost */
};

/* Actions whose answers are tried; earlier ones have the same future. */
enum { ANSWERABLE = 4, TRANSITIONS_MAX = 64 };

static const char *const caller_names[CALLER_ALL] = {"A", "B", NULL};

/* ---- the key of a state ---- */

static unsigned long number_of(const char *id)
{
	const char *slash = strrchr(id, '/');

	return slash ? strtoul(slash + 1, NULL, 10) : 0;
}

/* The highest number of actions of the same state. */
static unsigned long last_number(const struct audit *a, const char *id)
{
	size_t n = (size_t)(strrchr(id, '/') - id) + 1;
	unsigned long last = 0;

	for (size_t i = 0; i < a->n; i++)
		if (strncmp(a->actions[i].id, id, n) == 0 && number_of(a->actions[i].id) > last)
			last = number_of(a->actions[i].id);
	return last;
}

/* The id with the count of later actions for its number. */
static void add_id(const struct audit *a, struct buf *out, const char *id)
{
	if (!strrchr(id, '/'))
		return;
	buf_add(out, (struct str){id, (size_t)(strrchr(id, '/') - id)});
	buf_addf(out, "-%lu ", last_number(a, id) - number_of(id));
}

static void add_actions(const struct audit *a, struct buf *out)
{
	size_t first = a->n > ANSWERABLE ? a->n - ANSWERABLE : 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct audit_action *x = &a->actions[i];

		if (i < first && !x->outstanding)
			continue;
		add_id(a, out, x->id);
		buf_addf(out, "%s%d%d%d,", x->owner, x->outstanding, x->answered, x->used);
	}
}

/* Keys of the frontmatter that decide nothing or are in the key in another form. */
static bool is_skipped(struct str line)
{
	static const char *const keys[] = {
		"started:", "last_updated:", "actions_dispatched:", "attempts:"};

	for (size_t i = 0; i < COUNT(keys); i++)
		if (str_starts(line, keys[i]))
			return true;
	return false;
}

/* Numbers of actions and of logs do not decide. */
static void add_action_line(const struct audit *a, struct buf *out, struct str line)
{
	CLEANUP(json_free) json *j = NULL;
	struct error ignored;
	const char *answered;

	if (json_parse(&j, line, &ignored) < 0)
		return;
	answered = json_get_str(j, "answered");
	add_id(a, out, json_get_str(j, "id"));
	buf_addf(out, "%s%s%s;", json_get_str(j, WIRE_WRITES), answered ? "=" : "",
		answered ? answered : "");
	buf_addf(out, "%d ", json_get(j, "carried") != NULL);
}

static void add_document(const struct audit *a, struct str text, struct buf *out)
{
	struct str line;

	while (str_line(&text, &line)) {
		if (str_starts(line, "{\"action\":"))
			add_action_line(a, out, line);
		else if (!is_skipped(line) && line.n) {
			buf_add(out, line);
			buf_addc(out, '\n');
		}
	}
}

enum { REVISIONS = 32 }; /* more than the calls of one path make */

/* What a stopped call left on the disk: a staged document, a torn journal. */
static void add_leftovers(const struct scenario *p, struct buf *out)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, staged = BUF_INIT;
	struct disk *d = sim_disk_of(p->simulator);
	const char *slash = strrchr(p->simulator->path, '/');
	char name[256];

	if (sim_disk_get(d, p->journal, &text))
		buf_addf(out, "torn %d ", text.len != p->audit.journal.len);
	buf_clear(&text);
	for (int rev = 1; rev <= REVISIONS; rev++) {
		(void)snprintf(name, sizeof(name), "%.*s/.%s.new%d",
			(int)(slash - p->simulator->path), p->simulator->path, slash + 1, rev);
		buf_clear(&staged);
		if (sim_disk_get(d, name, &staged))
			buf_addf(out, "staged %d ",
				str_eq(buf_str(&staged), buf_str(&p->audit.document)));
	}
	if (sim_disk_get(sim_disk_of(p->simulator), p->simulator->path, &text) &&
		!str_eq(buf_str(&text), buf_str(&p->audit.document))) {
		buf_adds(out, "behind ");
		add_document(&p->audit, buf_str(&text), out);
	}
}

static void state_key(const struct scenario *p, unsigned crashes, char out[DIGEST_TEXT])
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	const struct audit *a = &p->audit;

	buf_addf(&key, "%u %d%d '%s' %d ", crashes, p->crashed, a->acknowledged != a->journal.len,
		a->owner, p->simulator->now <= p->over_after);
	buf_addf(&key, "%d ", p->simulator->now < p->valid_until);
	add_id(a, &key, p->loops[0].last);
	add_id(a, &key, p->loops[1].last);
	add_actions(a, &key);
	add_document(a, buf_str(&a->document), &key);
	add_leftovers(p, &key);
	digest_text(buf_str(&key), out);
}

/* ---- transitions ---- */

static void state_init(
	struct scenario *to, const struct simulate_plan *plan, struct simulate_counts *counts)
{
	*to = (struct scenario){.plan = plan, .counts = counts};
	scenario_begin(to);
	to->loops[0].owner = caller_names[CALLER_A];
	to->loops[1].owner = caller_names[CALLER_B];
}

static void state_copy(struct scenario *to, const struct scenario *from)
{
	*to = *from;
	to->simulator = simulator_copy(from->simulator);
	to->oracle = (struct oracle){.audit = &to->audit};
	if (to->plan->plant_fault)
		to->plan->plant_fault(to->simulator, 0);
	to->journal = arena_dup(&to->simulator->arena, str_of(from->journal));
	to->audit = (struct audit){0};
	audit_copy(&to->audit, &from->audit);
	to->call_text = (struct buf)BUF_INIT;
	to->earlier = (struct buf)BUF_INIT;
	memset(to->submissions, 0, sizeof(to->submissions));
}

static void state_release(struct scenario *p)
{
	scenario_end(p);
}

static bool may_lose_data(const struct scenario *p)
{
	return p->audit.acknowledged != p->audit.journal.len || p->crashed;
}

static unsigned transitions_from(const struct scenario *p, struct transition *transitions)
{
	size_t n = p->audit.n, first = n > ANSWERABLE ? n - ANSWERABLE : 0;
	unsigned k = 0;

	for (unsigned char caller = CALLER_A; caller <= CALLER_B; caller++) {
		transitions[k++] = (struct transition){.kind = TRANSITION_STEP, .caller = caller};
		transitions[k++] =
			(struct transition){.kind = TRANSITION_TAKE_OVER, .caller = caller};
		if (p->loops[caller].last[0])
			transitions[k++] =
				(struct transition){.kind = TRANSITION_RETURNED, .caller = caller};
	}
	transitions[k++] = (struct transition){.kind = TRANSITION_STEP, .caller = CALLER_UNNAMED};
	for (size_t i = first; i < n; i++)
		for (unsigned char caller = CALLER_A; caller <= CALLER_UNNAMED; caller++)
			transitions[k++] = (struct transition){.kind = TRANSITION_RECORD,
				.caller = caller,
				.action = (unsigned short)i};
	if (p->audit.owner[0] && p->simulator->now <= p->over_after)
		transitions[k++] = (struct transition){.kind = TRANSITION_CLOCK};
	if (may_lose_data(p))
		transitions[k++] = (struct transition){.kind = TRANSITION_POWER_CUT};
	return k;
}

static void step(struct scenario *p, const struct transition *m)
{
	CLEANUP(json_free) json *array = NULL;
	struct error err = {0};
	struct loop unnamed = {0},
		    *l = m->caller == CALLER_UNNAMED ? &unnamed : &p->loops[m->caller];
	struct simulator_call how = {.take_over = m->kind == TRANSITION_TAKE_OVER,
		.returned = m->kind == TRANSITION_RETURNED,
		.returned_id = m->kind == TRANSITION_RETURNED ? l->last : NULL};
	const char *id;

	if (scenario_step(p, l, &how, &array, &err) < 0) {
		if (p->stopped)
			l->last[0] = '\0';
		return;
	}
	id = json_get_str(json_first(array), "id");
	(void)snprintf(l->last, sizeof(l->last), "%s", id ? id : "");
}

/* Each caller has its own text and always the same. */
static void record(struct scenario *p, const struct transition *m)
{
	struct submission f = {.owner = caller_names[m->caller], .valid = true};
	struct error err = {0};

	memcpy(f.id, p->audit.actions[m->action].id, sizeof(f.id));
	buf_addf(&f.text, "passed: by %s\n{\"status\":\"passed\",\"action\":\"continue\"}",
		f.owner ? f.owner : "unnamed");
	(void)scenario_record(p, &f, &err);
	buf_release(&f.text);
}

static unsigned transition_apply(struct scenario *p, const struct transition *m)
{
	unsigned before = sim_disk_calls(sim_disk_of(p->simulator));

	p->turn++;
	p->crash_at = m->crash_at;
	p->crash_power = m->power;
	switch ((enum transition_kind)m->kind) {
	case TRANSITION_CLOCK:
		p->simulator->now = p->over_after + 1;
		scenario_note(p, "the lease expires");
		break;
	case TRANSITION_POWER_CUT:
		scenario_cut_power(p);
		p->crashed = false;
		break;
	case TRANSITION_RECORD:
		record(p, m);
		break;
	default:
		step(p, m);
	}
	p->crash_at = 0;
	if (p->stopped)
		p->crashed = !m->power;
	return sim_disk_calls(sim_disk_of(p->simulator)) - before;
}

/* Steps and good answers by one caller, until the end. */
static void run_to_end(struct scenario *p, struct transition first, struct protocol_counts *counts)
{
	p->fault_free = true;
	(void)transition_apply(p, &first);
	counts->progress++;
	if (!p->audit.fault[0] && !p->loops[first.caller].last[0] && !audit_is_final(&p->audit))
		audit_fail(&p->audit, "'%s' is locked out", caller_names[first.caller]);
	for (unsigned i = 0; i < 40 && !audit_is_final(&p->audit) && !p->audit.fault[0]; i++) {
		struct transition m = {.kind = TRANSITION_RETURNED, .caller = first.caller};

		for (size_t k = 0; k < p->audit.n; k++) {
			struct transition r = {.kind = TRANSITION_RECORD,
				.caller = first.caller,
				.action = (unsigned short)k};

			if (p->audit.actions[k].outstanding && !p->audit.actions[k].answered)
				(void)transition_apply(p, &r);
		}
		(void)transition_apply(p, &m);
	}
	if (!audit_is_final(&p->audit))
		audit_fail(&p->audit, "'%s' reaches no end", caller_names[first.caller]);
}

static void try_exit(const struct scenario *p, struct transition first, bool wait,
	struct protocol_counts *counts)
{
	struct scenario exit_run;

	state_copy(&exit_run, p);
	if (wait)
		exit_run.simulator->now = exit_run.over_after + 10;
	run_to_end(&exit_run, first, counts);
	if (exit_run.audit.fault[0])
		audit_fail((struct audit *)&p->audit, "%s", exit_run.audit.fault);
	state_release(&exit_run);
}

static void check_progress(const struct scenario *p, struct protocol_counts *counts)
{
	try_exit(p, (struct transition){.kind = TRANSITION_TAKE_OVER, .caller = CALLER_B}, false,
		counts);
	try_exit(p, (struct transition){.kind = TRANSITION_STEP, .caller = CALLER_A}, true, counts);
}

/* ---- the search ---- */

/* Choices of what is lost in each power cut. */
enum { POWER_CUTS = 2 };

/* An agent and a script together, then one agent: the smallest workflow with partial answers and a
 * second state. */
static const char workflow_text[] =
	"---\n"
	"limits: {max_actions: 1000, consecutive_failures: 100}\n"
	"states:\n"
	"  work:\n"
	"    all:\n"
	"      - {agent: one, skill: s, writes: Left, results: {passed: good, failed: bad}}\n"
	"      - {command: make, writes: Right, results: {passed: good, failed: bad}}\n"
	"  check:\n"
	"    agent: two\n"
	"    skill: s\n"
	"    writes: Last\n"
	"    results: {passed: good, failed: bad}\n"
	"---\n"
	"```mermaid\nstateDiagram-v2\n"
	"[*] --> init\ninit --> work : start\nwork --> check : good\nwork --> failed : bad\n"
	"check --> done : good\ncheck --> failed : bad\ndone --> [*]\nfailed --> [*]\n```\n";

/* A state, and how many transitions were left when it was reached: with more left it is explored
 * again. */
struct visited_state {
	char key[DIGEST_TEXT];
	unsigned char left; /* + 1; 0: a free slot */
};

struct protocol_search {
	const struct protocol_plan *plan;
	struct protocol_counts *counts;
	struct visited_state *table;
	size_t size; /* a power of two */
	struct transition path[64];
	unsigned n_path;
	bool broken;
};

static size_t slot_of(const struct visited_state *table, size_t size, const char *key)
{
	char head[16];
	size_t at;

	memcpy(head, key, 15);
	head[15] = '\0';
	for (at = strtoul(head, NULL, 16) & (size - 1); table[at].left; at = (at + 1) & (size - 1))
		if (memcmp(table[at].key, key, DIGEST_TEXT) == 0)
			break;
	return at;
}

static void grow_table(struct protocol_search *s)
{
	size_t size = s->size ? s->size * 2 : 4096;
	struct visited_state *table = xmalloc(size * sizeof(*table));

	memset(table, 0, size * sizeof(*table));
	for (size_t i = 0; i < s->size; i++)
		if (s->table[i].left)
			table[slot_of(table, size, s->table[i].key)] = s->table[i];
	free(s->table);
	s->table = table;
	s->size = size;
}

/* False when the state was explored as deep before. *fresh: it is new. */
static bool enter_state(struct protocol_search *s, const char *key, unsigned left, bool *fresh)
{
	struct visited_state *t;

	if (s->counts->states * 2 >= s->size)
		grow_table(s);
	t = &s->table[slot_of(s->table, s->size, key)];
	*fresh = !t->left;
	if (t->left > left) {
		s->counts->known++;
		return false;
	}
	memcpy(t->key, key, DIGEST_TEXT);
	t->left = (unsigned char)(left + 1);
	s->counts->states += *fresh;
	return true;
}

static void explore_from(
	struct protocol_search *s, const struct scenario *from, unsigned left, unsigned crashes);

static bool has_failed(struct protocol_search *s, const struct scenario *p)
{
	if (!p->audit.fault[0])
		return false;
	s->broken = true;
	(void)snprintf(s->counts->fault, sizeof(s->counts->fault), "%s", p->audit.fault);
	return true;
}

/* One transition on a copy of `from`, and the states after it. Returns the number of disk calls. */
static unsigned try_transition(struct protocol_search *s, const struct scenario *from,
	struct transition m, unsigned left, unsigned crashes)
{
	char key[DIGEST_TEXT];
	struct scenario to;
	unsigned calls;
	bool fresh;

	state_copy(&to, from);
	s->path[s->n_path++] = m;
	calls = transition_apply(&to, &m);
	s->counts->transitions++;
	s->counts->crashes += m.crash_at > 0;
	if (!has_failed(s, &to)) {
		state_key(&to, crashes, key);
		if (enter_state(s, key, left - 1, &fresh)) {
			if (fresh)
				check_progress(&to, s->counts);
			if (!has_failed(s, &to))
				explore_from(s, &to, left - 1, crashes);
		}
	}
	if (!s->broken)
		s->n_path--;
	state_release(&to);
	return calls;
}

static void explore_from(
	struct protocol_search *s, const struct scenario *from, unsigned left, unsigned crashes)
{
	struct transition transitions[TRANSITIONS_MAX];
	unsigned n = left ? transitions_from(from, transitions) : 0;

	for (unsigned i = 0; i < n && !s->broken; i++) {
		unsigned calls = try_transition(s, from, transitions[i], left, crashes);

		if (transitions[i].kind == TRANSITION_POWER_CUT || !crashes)
			continue;
		for (unsigned k = 1; k <= calls && !s->broken; k++)
			for (unsigned power = 0; power <= POWER_CUTS && !s->broken; power++) {
				struct transition m = transitions[i];

				m.crash_at = (unsigned short)k;
				m.power = (unsigned short)power;
				(void)try_transition(s, from, m, left, crashes - 1);
			}
	}
}

/* Repeats the path to the failed check with a trace. */
static void trace_failure(
	const struct protocol_search *s, const struct simulate_plan *plan, struct buf *trace)
{
	struct protocol_counts ignored = {0};
	struct simulate_counts counts = {0};
	struct scenario p;

	state_init(&p, plan, &counts);
	p.trace = trace;
	for (unsigned i = 0; i < s->n_path; i++)
		(void)transition_apply(&p, &s->path[i]);
	if (!p.audit.fault[0])
		check_progress(&p, &ignored);
	scenario_note(&p, "BROKEN: %s", s->counts->fault);
	state_release(&p);
}

int protocol_check(const struct protocol_plan *plan, struct protocol_counts *counts,
	struct buf *trace, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct simulate_counts ignored = {0};
	struct simulate_plan scenario_plan = {.plant_fault = plan->plant_fault};
	struct protocol_search s = {.plan = plan, .counts = counts};
	int64_t begun = clock_ticks();
	struct workflow w;
	struct scenario start;

	*counts = (struct protocol_counts){0};
	if (plan->depth >= COUNT(s.path))
		return error_set(err, ERR_USAGE, "the depth must be below %zu", COUNT(s.path));
	if (workflow_parse(&a, "protocol.md", str_of(workflow_text), &w, err) < 0)
		return -1;
	scenario_plan.workflow = &w;
	state_init(&start, &scenario_plan, &ignored);
	explore_from(&s, &start, plan->depth, plan->crashes);
	state_release(&start);
	if (s.broken)
		trace_failure(&s, &scenario_plan, trace);
	clock_fix(-1);
	free(s.table);
	counts->ms = clock_ticks() - begun;
	return 0;
}
