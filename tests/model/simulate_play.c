#include "tests/model/simulate_play.h"
#include "tests/lib/wire.h"

static unsigned some(struct play *p, unsigned of_ten, unsigned most)
{
	return dice_below(&p->dice, 10) < of_ten ? 1 + dice_below(&p->dice, most) : 0;
}

/* Which faults this run has, and how often. One in eight has none from outside. */
static void roll_odds(struct play *p)
{
	bool calm = dice_below(&p->dice, 8) == 0;

	p->odds = (struct odds){.silent = some(p, 4, 300),
		.malformed = some(p, 3, 300),
		.late = some(p, 3, 300),
		.twice = some(p, 3, 200),
		.foreign = some(p, 2, 100),
		.bad_word = some(p, 8, 500)};
	if (calm)
		return;
	p->odds.disk = some(p, 6, 150);
	p->odds.blackout = some(p, 3, 100);
	p->odds.clock = some(p, 3, 200);
	p->odds.effect = some(p, 2, 150);
	p->odds.edit = some(p, 3, 100);
	p->odds.second = some(p, 4, 200);
	p->odds.take_over = some(p, 4, 100);
}

static bool good(const struct play *p)
{
	return !p->audit.fault[0];
}

static const char *text_of(const json *object, const char *key)
{
	const char *text = json_get_str(object, key);

	return text ? text : "";
}

static bool is_done(const json *array)
{
	return strcmp(text_of(json_first(array), "action"), "done") == 0;
}

/* What a person does about a run that waits for one. */
static void help(struct play *p, const json *done)
{
	struct error err = {0};
	char answer[32];

	if (!json_get(done, "question")) {
		(void)call_set(p, "troubleshooter_calls", "0", &err);
		return;
	}
	if (!p->fair && dice_chance(&p->dice, 100))
		return; /* not today */
	(void)snprintf(answer, sizeof(answer), "Yes, n%u.", ++p->texts);
	(void)call_set(p, WIRE_INPUT_KEY, answer, &err);
}

static void mend(struct play *p)
{
	struct error err = {0};

	if (p->earlier.len) {
		(void)call_restore(p, &err);
		return;
	}
	sim_disk_remove(p->simulator->disk, p->simulator->path);
	audit_edit(&p->audit, NULL);
	p->broken_by_hand = false;
	trace_note(p, "a person removes the broken document");
}

static void remember(struct play *p)
{
	if (p->fair || !p->odds.edit || !p->audit.exists || p->audit.edited ||
		(p->earlier.len && !dice_chance(&p->dice, 200)))
		return;
	buf_clear(&p->earlier);
	buf_add(&p->earlier, buf_str(&p->audit.document));
}

/* Agents come back in any order; some later, some twice. */
static void deliver(struct play *p)
{
	struct error err = {0};

	for (unsigned i = 0; i < p->n_flights && good(p); i++) {
		struct flight *f = &p->flights[i];
		bool again = f->sent && !p->fair && dice_chance(&p->dice, p->odds.twice / 8);

		if ((f->sent && !again) || f->due > p->turn)
			continue;
		if (again) {
			count_fault(p, FAULT_TWICE);
			if (dice_chance(&p->dice, 500))
				buf_addf(&f->text, "\nAnd n%u.", ++p->texts);
		}
		if (!f->sent || again)
			f->sent = call_record(p, f, &err) == 0 || dice_chance(&p->dice, 500);
	}
}

/* Somebody who has no business here answers. */
static void intrude(struct play *p)
{
	struct flight f = {.fit = false, .owner = "stranger"};
	struct error err = {0};
	unsigned n = (unsigned)p->audit.n;

	count_fault(p, FAULT_FOREIGN);
	if (n && dice_chance(&p->dice, 500))
		memcpy(f.id, p->audit.actions[dice_below(&p->dice, n)].id, sizeof(f.id));
	else
		(void)snprintf(f.id, sizeof(f.id), "%.9s/%.40s/%u",
			dice_chance(&p->dice, 500) ? p->simulator->id : "X-9", p->audit.state,
			1000 + dice_below(&p->dice, 9));
	if (!p->audit.owner[0])
		f.owner = NULL;
	f.fit = audit_find(&p->audit, f.id) && !f.owner;
	buf_addf(&f.text, "n%u of a stranger", ++p->texts);
	if (!f.fit || f.owner)
		(void)call_record(p, &f, &err);
	buf_release(&f.text);
}

static void begin_flights(struct play *p, const struct loop *l, const json *array)
{
	for (const json *a = json_first(array); a; a = json_next(a)) {
		bool waiting = strcmp(text_of(a, "id"), p->running) == 0;

		if (!waiting)
			(void)answer_new(p, a, l->owner);
	}
	p->sums->actions += json_len(array);
}

/* One turn of a loop as docs/action-protocol.md has it. True when the run is at an end. */
static bool turn_of(struct play *p, struct loop *l)
{
	CLEANUP(json_free) json *array = NULL;
	struct error err = {0};
	bool take_over = p->fair ? !p->audit.owner[0] || strcmp(p->audit.owner, "A") != 0
				 : dice_chance(&p->dice, p->odds.take_over);
	struct simulator_call how = {.returned = l->last[0] != '\0',
		.returned_id = l->last[0] && dice_chance(&p->dice, 800) ? l->last : NULL,
		.take_over = take_over};

	if (take_over && !p->fair && l->owner)
		count_fault(p, FAULT_TAKE_OVER);
	if (p->broken_by_hand && dice_chance(&p->dice, p->fair ? 1000 : 700))
		mend(p);
	if (!good(p))
		return false;
	if (call_step(p, l, &how, &array, &err) < 0) {
		l->last[0] = '\0'; /* after an interruption: without --returned */
		return false;
	}
	l->last[0] = '\0';
	if (!good(p))
		return false;
	remember(p);
	if (is_done(array)) {
		if (!audit_ended(&p->audit))
			help(p, json_first(array));
		return audit_ended(&p->audit);
	}
	(void)snprintf(l->last, sizeof(l->last), "%s", text_of(json_first(array), "id"));
	begin_flights(p, l, array);
	return false;
}

static void disturb(struct play *p)
{
	world_clock(p);
	if (dice_chance(&p->dice, p->odds.blackout))
		world_blackout(p);
	if (good(p) && dice_chance(&p->dice, p->odds.edit))
		world_edit(p);
	if (good(p) && dice_chance(&p->dice, p->odds.foreign))
		intrude(p);
}

/* Until the end, or until it has cost what it may. */
static bool go_wild(struct play *p)
{
	bool end = false;

	while (good(p) && !end && p->audit.n < p->plan->max_actions &&
		p->turn < 4 * p->plan->max_actions) {
		bool second = dice_chance(&p->dice, p->odds.second);

		if (second)
			count_fault(p, FAULT_SECOND);
		p->turn++;
		disturb(p);
		if (good(p))
			end = turn_of(p, &p->loops[second]);
		deliver(p);
	}
	return good(p) && audit_ended(&p->audit) && !p->audit.edited;
}

/* From wherever it is, with agents that do their work, it must come to an end. */
static void go_straight(struct play *p)
{
	struct loop l = {.owner = p->loops[0].owner ? "A" : NULL};

	p->fair = true;
	p->running[0] = '\0';
	p->n_flights = p->oldest = 0;
	trace_note(p, "from here on all goes well");
	if (!l.owner && p->audit.owner[0])
		p->simulator->now = p->maybe + 10;
	for (unsigned i = 0; i < TURNS_TO_END && good(p); i++) {
		p->turn++;
		p->simulator->now += 10;
		if (turn_of(p, &l))
			return;
		deliver(p);
	}
	audit_broken(&p->audit, "no end within %d turns in which all went well: state '%s'",
		TURNS_TO_END, p->audit.state);
}

/* Whoever asks again gets the same, and nothing moves any more. */
static void check_end(struct play *p)
{
	CLEANUP(json_free) json *array = NULL;
	struct error err = {0};
	struct loop l = {.owner = "C"};

	p->fair = true;
	if (call_step(p, &l, &(struct simulator_call){.returned = true}, &array, &err) < 0 ||
		!is_done(array))
		audit_broken(&p->audit, "an end is not told again: %.200s", err.text);
	else if (p->audit.changed)
		audit_broken(&p->audit, "a step after the end changes the document");
	for (unsigned i = 0; i < p->n_flights && good(p); i += 6)
		(void)call_record(p, &p->flights[i], &err);
}

/* What was said to be kept is still there, after all power cuts. */
static void check_kept(struct play *p)
{
	for (unsigned i = 0; i < p->n_kept && good(p); i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		char sum[DIGEST_TEXT] = "";

		if (sim_disk_get(p->simulator->disk, p->kept[i].path, &text))
			digest_text(buf_str(&text), sum);
		if (strcmp(sum, p->kept[i].sum) != 0)
			audit_broken(&p->audit, "a refused answer was kept in '%s' and is lost",
				p->kept[i].path);
	}
}

static void run(struct play *p)
{
	enum simulate_end kind = END_LIMIT;

	if (p->plan->sabotage)
		p->plan->sabotage(p->simulator, 0);
	if (!go_wild(p) && good(p))
		go_straight(p);
	else
		kind = strcmp(p->audit.state, "done") == 0 ? END_SUCCESS : END_FAILED;
	if (good(p))
		check_end(p);
	check_kept(p);
	p->sums->ends[kind]++;
}

static void name_loops(struct play *p)
{
	static const char *const owners[4][2] = {{NULL, NULL}, {"A", "B"}, {"A", "B"}, {"A", NULL}};
	unsigned which = dice_below(&p->dice, 4);

	p->loops[0].owner = owners[which][0];
	p->loops[1].owner = owners[which][1];
}

void run_begin(struct play *p)
{
	p->simulator = simulator_new(p->plan->workflow, "T-1", &sim_disk_kind, dice_next(&p->dice));
	p->journal = arena_printf(&p->simulator->arena, "%.*s.events.jsonl",
		(int)strlen(p->simulator->path) - 3, p->simulator->path);
	p->ttl = (int64_t)p->plan->workflow->limits.lease_minutes * 60;
	audit_init(&p->audit, p->plan->workflow);
}

void run_end(struct play *p)
{
	for (unsigned i = 0; i < MAX_FLIGHTS; i++)
		buf_release(&p->flights[i].text);
	buf_release(&p->earlier);
	buf_release(&p->said);
	audit_release(&p->audit);
	simulator_free(&p->simulator);
}

bool play(const struct simulate_plan *plan, uint64_t seed, struct simulate_sums *sums,
	struct buf *trace, char fault[AUDIT_FAULT])
{
	struct play p = {.plan = plan, .sums = sums, .trace = trace, .dice = {seed}};
	bool held;

	roll_odds(&p);
	name_loops(&p);
	run_begin(&p);
	run(&p);
	sums->runs++;
	held = good(&p);
	memcpy(fault, p.audit.fault, AUDIT_FAULT);
	if (!held && trace)
		trace_note(&p, "BROKEN: %s", fault);
	run_end(&p);
	return held;
}
