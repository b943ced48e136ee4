/* scenario.c: one work item, from the first step to its end, with the faults that a seed decides.
 */
#include "src/config/violation.h"
#include "tests/lib/wire.h"
#include "tests/model/scenario.h"

/* ---- what occurs between calls ---- */

static bool draw_failure(struct scenario *p)
{
	bool does = random_chance(&p->random, p->rates.effect);

	if (does)
		count_fault(p, FAULT_EFFECT);
	return does;
}

void scenario_set_outcomes(struct scenario *p)
{
	struct simulator_environment *w = &p->simulator->environment;

	*w = (struct simulator_environment){
		.specs = 1, .running = p->running[0] ? p->running : NULL};
	if (p->fault_free || !p->rates.effect)
		return;
	w->specs = draw_failure(p) ? 2 * random_below(&p->random, 2) : 1;
	w->find_fails = draw_failure(p);
	w->commit_fails = draw_failure(p);
	w->push_fails = draw_failure(p);
	w->enter_fails = draw_failure(p);
	w->nothing_to_commit = random_chance(&p->random, 300);
	w->no_remote = random_chance(&p->random, 100);
	w->checks = (enum simulator_checks)random_below(&p->random, 3);
	w->refuted = draw_failure(p) ? 1u << random_below(&p->random, EVIDENCE_KINDS) : 0;
	w->moved = draw_failure(p);
}

/* By some seconds; or a jump past the end of a lease, or back. */
static void advance_clock(struct scenario *p)
{
	static const int jumps[] = {7199, 7201, 86400, 2592000, -30, -7300, -86400};

	if (!random_chance(&p->random, p->rates.clock)) {
		p->simulator->now += random_below(&p->random, 90);
		return;
	}
	p->simulator->now += jumps[random_below(&p->random, COUNT(jumps))];
	count_fault(p, FAULT_CLOCK);
	scenario_note(p, "the clock jumps");
}

/* Edits start from the text on the disk, which a power cut may have made unreadable again. */
static bool is_readable(struct str text)
{
	struct context c = {0};
	struct error ignored;
	bool good = context_parse(&c, "", text, &ignored) == 0;

	context_release(&c);
	return good;
}

static void put_document(struct scenario *p, const struct buf *text, const char *what)
{
	CLEANUP(buf_release) struct buf old = BUF_INIT;

	if (text && sim_disk_get(sim_disk_of(p->simulator), p->simulator->path, &old) &&
		str_eq(buf_str(text), buf_str(&old)))
		return; /* nothing is edited */
	if (text)
		sim_disk_put(sim_disk_of(p->simulator), p->simulator->path, buf_str(text));
	else
		sim_disk_remove(sim_disk_of(p->simulator), p->simulator->path);
	p->unreadable = text && !is_readable(buf_str(text));
	audit_note_edit(&p->audit, text);
	scenario_note(p, "a person %s", what);
}

/* Replaces the value behind a key of the frontmatter. */
static void set_key(struct buf *text, const char *key, const char *value)
{
	char opening[AUDIT_NAME];
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str all = buf_str(text);
	size_t at, end;
	struct buf old;

	(void)snprintf(opening, sizeof(opening), "\n%s:", key);
	at = str_find(all, str_of(opening));
	if (at == all.n)
		return;
	at += strlen(opening);
	end = at + str_find(str_sub(all, at, all.n), STR("\n"));
	buf_add(&out, str_sub(all, 0, at));
	buf_addf(&out, " %s", value);
	buf_add(&out, str_sub(all, end, all.n));
	old = *text;
	*text = out;
	out = old;
}

static void remove_section(struct buf *text, const char *sentinel)
{
	struct str all = buf_str(text);
	size_t at = str_find(all, str_of(sentinel)), end;
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct buf old;

	if (at == all.n)
		return;
	end = at + 1 + str_find(str_sub(all, at + 1, all.n), STR("\n<!-- section:"));
	buf_add(&out, str_sub(all, 0, at));
	buf_add(&out, str_sub(all, end, all.n));
	old = *text;
	*text = out;
	out = old;
}

static void add_section(struct scenario *p, struct buf *text)
{
	static const char *const sections[] = {"Notes", WIRE_VALIDATION, WIRE_NOTES, WIRE_SUMMARY,
		WIRE_BRIEF, WIRE_FIX " 1", WIRE_SIGNOFF_RESEARCH};
	static const char *const ends[] = {"", "", "{\"status\":\"passed\"}\n",
		"{\"status\":\"approved\"}\n", "{\"status\":\"fixed\"}\n",
		"{\"status\":\"briefed\"}\n", "{\"status\":\"implemented\"}\n"};
	const char *name = sections[random_below(&p->random, COUNT(sections))];
	char sentinel[AUDIT_NAME];

	(void)snprintf(sentinel, sizeof(sentinel), "<!-- section:%s -->", name);
	if (str_find(buf_str(text), str_of(sentinel)) == text->len)
		buf_addf(text, "\n%s\n\npassed: n%u, by hand\n%s", sentinel, ++p->texts,
			ends[random_below(&p->random, COUNT(ends))]);
}

static void make_good_edit(struct scenario *p, struct buf *text)
{
	const struct workflow *w = p->plan->workflow;
	const char *state = w->states[random_below(&p->random, (unsigned)w->n_states)].name;

	count_fault(p, FAULT_EDIT);
	switch (random_below(&p->random, 7)) {
	case 6:
		set_key(text, WIRE_INPUT_KEY, "yes");
		put_document(p, text, "answers what nobody has asked");
		return;
	case 0:
		set_key(text, "state", state);
		put_document(p, text, "sets the state");
		return;
	case 1:
		set_key(text, WIRE_FAILURES, "2");
		put_document(p, text, "sets a counter");
		return;
	case 2:
		remove_section(text, "<!-- section:Actions -->");
		put_document(p, text, "removes the section 'Actions'");
		return;
	case 3:
		if (p->earlier.len)
			put_document(p, &p->earlier, "puts an earlier document back");
		return;
	default:
		add_section(p, text);
		put_document(p, text, "writes into the document");
	}
}

static void make_bad_edit(struct scenario *p, struct buf *text)
{
	count_fault(p, FAULT_BREAK);
	switch (random_below(&p->random, 3)) {
	case 0:
		set_key(text, "state", "[");
		break;
	case 1:
		buf_adds(text, "\n<!-- section:Twice -->\n\n<!-- section:Twice -->\n");
		break;
	default:
		buf_clear(text);
		buf_adds(text, "What was here?\n");
	}
	put_document(p, text, "breaks the document");
}

static void edit_document(struct scenario *p)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	unsigned kind = random_below(&p->random, 10);

	if (!sim_disk_get(sim_disk_of(p->simulator), p->simulator->path, &text) || p->unreadable)
		return;
	if (kind == 0) {
		count_fault(p, FAULT_REMOVE);
		put_document(p, NULL, "removes the document");
	} else if (kind < 3) {
		make_bad_edit(p, &text);
	} else {
		make_good_edit(p, &text);
	}
}

void scenario_cut_power(struct scenario *p)
{
	count_fault(p, FAULT_POWER_CUT);
	scenario_note(p, "the power fails");
	sim_disk_restart(sim_disk_of(p->simulator), true);
	audit_read(&p->audit, sim_disk_of(p->simulator), p->journal, false);
}

/* ---- the answers of agents ---- */

/* A word of `result_format` ("a | b | c"); the first is the good one. */
static void pick_word(struct scenario *p, const json *action, char out[WORD_MAX])
{
	struct str rest = str_of(json_get_str(action, WIRE_FORMAT)), word = {0};
	unsigned n = 1, which;

	for (size_t i = 0; i < rest.n; i++)
		n += rest.p[i] == '|';
	which = random_chance(&p->random, p->fault_free ? 100 : p->rates.bad_word)
			? random_below(&p->random, n)
			: 0;
	for (unsigned i = 0; i <= which; i++) {
		size_t end = str_find(rest, STR("|"));

		word = str_trim(str_sub(rest, 0, end));
		rest = str_sub(rest, end < rest.n ? end + 1 : end, rest.n);
	}
	(void)snprintf(out, WORD_MAX, "%.*s", (int)word.n, word.p);
}

static const char *random_state(struct scenario *p)
{
	const struct workflow *w = p->plan->workflow;

	return w->states[random_below(&p->random, (unsigned)w->n_states)].name;
}

static void add_change(struct scenario *p, struct buf *b)
{
	switch (random_below(&p->random, 7)) {
	case 0:
		buf_addf(b, "{\"key\":\"state\",\"value\":\"%s\"}", random_state(p));
		return;
	case 1:
		buf_addf(b, "{\"key\":\"" WIRE_FIXES "\",\"value\":%u}",
			random_below(&p->random, 3));
		return;
	case 2:
		buf_addf(b, "{\"key\":\"" WIRE_REVIEW_FIXES "\",\"value\":\"0\"}");
		return;
	case 3:
		buf_addf(b, "{\"section\":\"" WIRE_NOTES "\",\"text\":\"Look at n%u.\"}", p->texts);
		return;
	case 4:
		buf_adds(b, "{\"section\":\"" WIRE_BRIEF "\",\"text\":\"\"}");
		return;
	case 5:
		buf_adds(b, "{\"key\":\"revision\",\"value\":1}");
		return;
	default:
		buf_addf(b, "\"n%u\"", p->texts);
	}
}

static void write_decision(struct scenario *p, const char *word, struct buf *b)
{
	unsigned n = p->fault_free ? 0 : random_below(&p->random, 3);

	buf_addf(b,
		"Looked into it, n%u.\n{\"action\":\"%s\",\"reason\":\"n%u\",\"state_changes\":[",
		p->texts, word, p->texts);
	for (unsigned i = 0; i < n; i++) {
		buf_adds(b, i ? "," : "");
		add_change(p, b);
	}
	buf_adds(b, "]}");
}

/* No tone of it is a result word, and the URL is what the step needs. */
static void write_prose(struct scenario *p, struct buf *b)
{
	static const char *const tones[] = {"Approved.", "Not approved.", "validated", "LGTM",
		"Changes requested.", "I could not do it.", "Done.", "<!-- section:Actions -->"};

	buf_addf(b, "# Report for %s, n%u\n\nhttps://example.com/acme/shop/pull/7\n",
		p->simulator->id, p->texts);
	if (random_chance(&p->random, 300))
		buf_addf(b, "%s\n", tones[random_below(&p->random, COUNT(tones))]);
	if (random_chance(&p->random, 3))
		for (unsigned i = 0; i < 1000; i++)
			buf_addf(b, "Line %u of n%u.\n", i, p->texts);
}

static bool is_script(const json *action)
{
	return strcmp(json_get_str(action, "action"), WIRE_SCRIPT_ACTION) == 0;
}

/* The policy denied a command; both consequences are drawn. */
static void add_violation(
	struct scenario *p, const json *action, const char *word, struct buf *text)
{
	if (p->fault_free || !json_get(action, "security") || strcmp(word, "failed") != 0 ||
		!random_chance(&p->random, 300))
		return;
	buf_addf(text, "\n{\"status\":\"failed\",\"violation\":\"%s\",\"rule\":\"write\"}",
		violation_name(random_chance(&p->random, 500) ? VIOLATION_HARD_ABORT
							      : VIOLATION_VALIDATION_FAIL));
}

/* The result word is an option, in the text, or both. */
static void write_answer(
	struct scenario *p, const json *action, const char *word, struct submission *f)
{
	bool beside = random_chance(&p->random, 600),
	     within = !beside || random_chance(&p->random, 200);

	if (json_get_str(action, "trigger")) {
		write_decision(p, word, &f->text);
	} else {
		if (is_script(action))
			buf_addf(&f->text, "%s: n%u", word, p->texts);
		else
			write_prose(p, &f->text);
		if (within)
			buf_addf(&f->text, "\n{\"status\":\"%s\"}", word);
		if (is_script(action))
			add_violation(p, action, word, &f->text);
	}
	if (beside)
		(void)snprintf(f->word, sizeof(f->word), "%s", word);
}

/* Each is refused, and its text is kept. */
static void make_malformed(struct scenario *p, const json *action, struct submission *f)
{
	struct str words = str_of(json_get_str(action, "result_format"));

	count_fault(p, FAULT_MALFORMED);
	f->valid = false;
	switch (random_below(&p->random, 5)) {
	case 0:
		(void)snprintf(f->word, sizeof(f->word), "perhaps");
		return;
	case 1:
		buf_add(&f->text, STR("\n\xff\xfe"));
		return;
	case 2:
		buf_clear(&f->text);
		return;
	case 3: /* no word */
		f->word[0] = '\0';
		buf_clear(&f->text);
		write_prose(p, &f->text);
		return;
	default: /* a word that the text contradicts */
		(void)snprintf(f->word, sizeof(f->word), "%s", "failed");
		words = str_trim(str_sub(words, 0, str_find(words, STR("|"))));
		buf_addf(&f->text, "\n{\"status\":\"%.*s\"}", (int)words.n, words.p);
	}
}

/* Replaces the oldest when there is no room. */
static struct submission *new_submission(struct scenario *p)
{
	struct submission *f;

	if (p->n_submissions < MAX_SUBMISSIONS) {
		f = &p->submissions[p->n_submissions++];
	} else {
		f = &p->submissions[p->oldest];
		p->oldest = (p->oldest + 1) % MAX_SUBMISSIONS;
	}
	buf_clear(&f->text);
	*f = (struct submission){.text = f->text, .valid = true};
	buf_reserve(&f->text, 256);
	return f;
}

static void make_late(struct scenario *p, const json *action, struct submission *f)
{
	count_fault(p, FAULT_LATE);
	f->due = p->turn + 1 + random_below(&p->random, 6);
	if (is_script(action) && random_chance(&p->random, 500))
		memcpy(p->running, f->id, sizeof(p->running));
}

static struct submission *submission_new(struct scenario *p, const json *action, const char *owner)
{
	const char *id = json_get_str(action, "id");
	char word[WORD_MAX];
	struct submission *f;

	if (!p->fault_free && random_chance(&p->random, p->rates.silent)) {
		count_fault(p, FAULT_SILENT);
		return NULL;
	}
	f = new_submission(p);
	p->texts++;
	(void)snprintf(f->id, sizeof(f->id), "%s", id);
	f->owner = random_chance(&p->random, 500) ? owner : NULL;
	f->due = p->turn;
	pick_word(p, action, word);
	write_answer(p, action, word, f);
	if (p->fault_free)
		return f;
	if (random_chance(&p->random, p->rates.malformed))
		make_malformed(p, action, f);
	if (random_chance(&p->random, p->rates.late))
		make_late(p, action, f);
	return f;
}

/* ---- the run ---- */

static unsigned random_rate(struct scenario *p, unsigned of_ten, unsigned most)
{
	return random_below(&p->random, 10) < of_ten ? 1 + random_below(&p->random, most) : 0;
}

/* One run in eight has no external fault. */
static void draw_rates(struct scenario *p)
{
	bool calm = random_below(&p->random, 8) == 0;

	p->rates = (struct fault_rates){.silent = random_rate(p, 4, 300),
		.malformed = random_rate(p, 3, 300),
		.late = random_rate(p, 3, 300),
		.twice = random_rate(p, 3, 200),
		.foreign = random_rate(p, 2, 100),
		.bad_word = random_rate(p, 8, 500)};
	if (calm)
		return;
	p->rates.disk = random_rate(p, 6, 150);
	p->rates.power_cut = random_rate(p, 3, 100);
	p->rates.clock = random_rate(p, 3, 200);
	p->rates.effect = random_rate(p, 2, 150);
	p->rates.edit = random_rate(p, 3, 100);
	p->rates.second = random_rate(p, 4, 200);
	p->rates.take_over = random_rate(p, 4, 100);
}

static bool passed(const struct scenario *p)
{
	return !p->audit.fault[0];
}

static const char *text_of(const json *object, const char *key)
{
	const char *text = json_get_str(object, key);

	return text ? text : "";
}

static bool is_end(const json *array)
{
	return strcmp(text_of(json_first(array), "action"), "done") == 0;
}

/* What the user does when the run waits for input. */
static void answer_question(struct scenario *p, const json *done)
{
	struct error err = {0};
	char answer[32];

	if (!json_get(done, "question")) {
		(void)scenario_set(p, "troubleshooter_calls", "0", &err);
		return;
	}
	if (!p->fault_free && random_chance(&p->random, 100))
		return; /* later */
	(void)snprintf(answer, sizeof(answer), "Yes, n%u.", ++p->texts);
	(void)scenario_set(p, WIRE_INPUT_KEY, answer, &err);
}

static void repair_document(struct scenario *p)
{
	struct error err = {0};

	if (p->earlier.len) {
		(void)scenario_restore(p, &err);
		return;
	}
	sim_disk_remove(sim_disk_of(p->simulator), p->simulator->path);
	audit_note_edit(&p->audit, NULL);
	p->unreadable = false;
	scenario_note(p, "a person removes the broken document");
}

static void save_earlier(struct scenario *p)
{
	if (p->fault_free || !p->rates.edit || !p->audit.exists || p->audit.edited ||
		(p->earlier.len && !random_chance(&p->random, 200)))
		return;
	buf_clear(&p->earlier);
	buf_add(&p->earlier, buf_str(&p->audit.document));
}

/* Agents answer in any order; some late, some twice. */
static void submit_answers(struct scenario *p)
{
	struct error err = {0};

	for (unsigned i = 0; i < p->n_submissions && passed(p); i++) {
		struct submission *f = &p->submissions[i];
		bool again =
			f->sent && !p->fault_free && random_chance(&p->random, p->rates.twice / 8);

		if ((f->sent && !again) || f->due > p->turn)
			continue;
		if (again) {
			count_fault(p, FAULT_TWICE);
			if (f->valid && random_chance(&p->random, 500))
				buf_addf(&f->text, "\nAnd n%u.", ++p->texts);
		}
		if (!f->sent || again)
			f->sent =
				scenario_record(p, f, &err) == 0 || random_chance(&p->random, 500);
	}
}

/* An answer from another owner, or to an unknown action. */
static void submit_foreign(struct scenario *p)
{
	static const char *const words[][2] = {{"/researching/", "briefed"},
		{"/implementing/", "implemented"}, {"/validating/", "passed"}, {"/fixing", "fixed"},
		{"", "approved"}};
	struct submission f = {.valid = false, .owner = "stranger"};
	struct error err = {0};
	unsigned n = (unsigned)p->audit.n, which = 0;

	count_fault(p, FAULT_FOREIGN);
	if (n && random_chance(&p->random, 500))
		memcpy(f.id, p->audit.actions[random_below(&p->random, n)].id, sizeof(f.id));
	else
		(void)snprintf(f.id, sizeof(f.id), "%.9s/%.40s/%u",
			random_chance(&p->random, 500) ? p->simulator->id : "X-9", p->audit.state,
			1000 + random_below(&p->random, 9));
	if (!p->audit.owner[0])
		f.owner = NULL;
	f.valid = audit_find(&p->audit, f.id) && !f.owner;
	while (!strstr(f.id, words[which][0]))
		which++;
	buf_addf(&f.text, "n%u of a stranger\n{\"status\":\"%s\",\"action\":\"continue\"}",
		++p->texts, words[which][1]);
	if (!f.valid || f.owner)
		(void)scenario_record(p, &f, &err);
	buf_release(&f.text);
}

/* Its agent is at work: an array of actions in an order names it again. */
static bool has_submission(const struct scenario *p, const char *id)
{
	for (unsigned i = 0; i < p->n_submissions; i++)
		if (!p->submissions[i].sent && strcmp(p->submissions[i].id, id) == 0)
			return true;
	return false;
}

static void create_submissions(struct scenario *p, const struct loop *l, const json *array)
{
	for (const json *a = json_first(array); a; a = json_next(a)) {
		bool waiting = strcmp(text_of(a, "id"), p->running) == 0;

		if (!waiting && !has_submission(p, text_of(a, "id")))
			(void)submission_new(p, a, l->owner);
	}
	p->counts->actions += json_len(array);
}

/* There a step takes what has arrived while other agents are at work. */
static bool is_ordered(const struct scenario *p)
{
	const struct workflow_state *st = workflow_state(p->plan->workflow, p->audit.state);

	return st && st->declared && st->declared->order;
}

/* One turn of a loop, as in docs/action-protocol.md. True when the run is over. */
static bool take_turn(struct scenario *p, struct loop *l)
{
	CLEANUP(json_free) json *array = NULL;
	struct error err = {0};
	bool take_over = p->fault_free ? !p->audit.owner[0] || strcmp(p->audit.owner, "A") != 0
				       : random_chance(&p->random, p->rates.take_over);
	struct simulator_call how = {
		.returned = l->last[0] && !(is_ordered(p) && random_chance(&p->random, 500)),
		.returned_id = l->last,
		.take_over = take_over,
		.cancel = p->turn == p->cancel_at};

	if (!how.returned || !random_chance(&p->random, 800))
		how.returned_id = NULL;
	if (take_over && !p->fault_free && l->owner)
		count_fault(p, FAULT_TAKE_OVER);
	if (p->unreadable && random_chance(&p->random, p->fault_free ? 1000 : 700))
		repair_document(p);
	if (!passed(p))
		return false;
	if (scenario_step(p, l, &how, &array, &err) < 0) {
		l->last[0] = '\0'; /* after an interruption: without --returned */
		return false;
	}
	l->last[0] = '\0';
	if (!passed(p))
		return false;
	save_earlier(p);
	if (is_end(array)) {
		if (!audit_is_final(&p->audit))
			answer_question(p, json_first(array));
		return audit_is_final(&p->audit);
	}
	(void)snprintf(l->last, sizeof(l->last), "%s", text_of(json_first(array), "id"));
	create_submissions(p, l, array);
	return false;
}

static void inject_faults(struct scenario *p)
{
	advance_clock(p);
	if (random_chance(&p->random, p->rates.power_cut))
		scenario_cut_power(p);
	if (passed(p) && random_chance(&p->random, p->rates.edit))
		edit_document(p);
	if (passed(p) && random_chance(&p->random, p->rates.foreign))
		submit_foreign(p);
}

/* Until the run is over or used up its actions. True when it is over. */
static bool run_with_faults(struct scenario *p)
{
	bool end = false;

	while (passed(p) && !end && p->audit.n < p->plan->max_actions &&
		p->turn < 4 * p->plan->max_actions) {
		bool second = random_chance(&p->random, p->rates.second);

		if (second)
			count_fault(p, FAULT_SECOND);
		p->turn++;
		inject_faults(p);
		if (passed(p))
			end = take_turn(p, &p->loops[second]);
		submit_answers(p);
	}
	return passed(p) && audit_is_final(&p->audit) && !p->audit.edited;
}

/* From any state, the run must reach an end once there are no more faults. */
static void run_without_faults(struct scenario *p)
{
	struct loop l = {.owner = p->loops[0].owner ? "A" : NULL};

	p->fault_free = true;
	p->running[0] = '\0';
	p->n_submissions = p->oldest = 0;
	scenario_note(p, "no more faults");
	if (!l.owner && p->audit.owner[0])
		p->simulator->now = p->over_after + 10;
	for (unsigned i = 0; i < TURNS_TO_END && passed(p); i++) {
		p->turn++;
		p->simulator->now += 10;
		if (take_turn(p, &l))
			return;
		submit_answers(p);
	}
	audit_fail(&p->audit, "no end within %d turns without faults: state '%s'", TURNS_TO_END,
		p->audit.state);
}

/* Another step prints the end again and changes nothing. */
static void check_end(struct scenario *p)
{
	CLEANUP(json_free) json *array = NULL;
	struct error err = {0};
	struct loop l = {.owner = "C"};

	p->fault_free = true;
	if (scenario_step(p, &l, &(struct simulator_call){.returned = true}, &array, &err) < 0 ||
		!is_end(array))
		audit_fail(&p->audit, "the end is not printed again: %.200s", err.text);
	else if (p->audit.changed)
		audit_fail(&p->audit, "a step after the end changes the document");
	for (unsigned i = 0; i < p->n_submissions && passed(p); i += 6)
		(void)scenario_record(p, &p->submissions[i], &err);
}

/* Texts that were reported to be kept survive all power cuts. */
static void check_kept_texts(struct scenario *p)
{
	for (unsigned i = 0; i < p->n_kept && passed(p); i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		char sum[DIGEST_TEXT] = "";

		if (sim_disk_get(sim_disk_of(p->simulator), p->kept[i].path, &text))
			digest_text(buf_str(&text), sum);
		if (strcmp(sum, p->kept[i].sum) != 0)
			audit_fail(&p->audit, "a refused answer was kept in '%s' and is lost",
				p->kept[i].path);
	}
}

static void run_phases(struct scenario *p)
{
	enum simulate_end kind = END_LIMIT;

	if (p->plan->plant_fault)
		p->plan->plant_fault(p->simulator, 0);
	if (!run_with_faults(p) && passed(p))
		run_without_faults(p);
	else
		kind = strcmp(p->audit.state, "done") == 0 ? END_SUCCESS : END_FAILED;
	if (passed(p))
		check_end(p);
	check_kept_texts(p);
	p->counts->ends[kind]++;
}

static void name_owners(struct scenario *p)
{
	static const char *const owners[4][2] = {{NULL, NULL}, {"A", "B"}, {"A", "B"}, {"A", NULL}};
	unsigned which = random_below(&p->random, 4);

	p->loops[0].owner = owners[which][0];
	p->loops[1].owner = owners[which][1];
}

void scenario_begin(struct scenario *p)
{
	p->simulator = simulator_new(p->plan->workflow, "T-1", &sim_disk_kind);
	sim_disk_seed(sim_disk_of(p->simulator), random_next(&p->random));
	p->journal = arena_printf(&p->simulator->arena, "%.*s.events.jsonl",
		(int)strlen(p->simulator->path) - 3, p->simulator->path);
	p->oracle.audit = &p->audit;
	p->ttl = (int64_t)p->plan->workflow->limits.lease_minutes * 60;
	audit_init(&p->audit, p->plan->workflow);
}

void scenario_end(struct scenario *p)
{
	for (unsigned i = 0; i < MAX_SUBMISSIONS; i++)
		buf_release(&p->submissions[i].text);
	buf_release(&p->earlier);
	buf_release(&p->call_text);
	audit_release(&p->audit);
	simulator_free(&p->simulator);
}

bool scenario_run(const struct simulate_plan *plan, uint64_t seed, struct simulate_counts *counts,
	struct buf *trace, char fault[AUDIT_FAULT])
{
	struct scenario p = {.plan = plan, .counts = counts, .trace = trace, .random = {seed}};
	bool held;

	if (seed % CANCELLED == 1)
		p.cancel_at = 1 + (unsigned)(seed / CANCELLED % plan->max_actions);
	draw_rates(&p);
	name_owners(&p);
	scenario_begin(&p);
	run_phases(&p);
	counts->runs++;
	held = passed(&p);
	memcpy(fault, p.audit.fault, AUDIT_FAULT);
	if (!held && trace)
		scenario_note(&p, "BROKEN: %s", fault);
	scenario_end(&p);
	return held;
}
