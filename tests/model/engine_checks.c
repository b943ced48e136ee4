#include "src/base/clock.h"
#include "tests/model/engine_checks.h"
#include "tests/lib/wire.h"

/* Owners of the take-over. */
#define FIRST  "A"
#define SECOND "B"

/* ---- bookkeeping ---- */

bool engine_checks_first(struct engine_checks *c, const char *situation)
{
	bool added;

	(void)explore_texts_add(&c->situations, &c->arena, situation, &added);
	return added;
}

static const char *keep(struct engine_checks *c, const char *text)
{
	return text ? arena_dup(&c->arena, str_of(text)) : NULL;
}

void engine_checks_fail(struct engine_checks *c, uint32_t node, const char *what,
	const char *detail, const struct recorded_answers *answers)
{
	struct failed_check f = {.node = node,
		.text = arena_printf(&c->arena, "%s%s%s", what, *detail ? ": " : "", detail)};

	if (c->failed.n == MAX_FAILED)
		return;
	for (size_t i = 0; answers && i < answers->n; i++)
		vec_push_in(&c->arena, &f.answers,
			(struct recorded_answer){keep(c, answers->items[i].action),
				keep(c, answers->items[i].word), keep(c, answers->items[i].text)});
	vec_push(&c->failed, f);
}

bool engine_checks_same(const struct simulator *a, const struct simulator *b)
{
	CLEANUP(buf_release) struct buf one = BUF_INIT, other = BUF_INIT;

	return sim_disk_get(sim_disk_of(a), a->path, &one) &&
	       sim_disk_get(sim_disk_of(b), b->path, &other) &&
	       str_eq(buf_str(&one), buf_str(&other));
}

void trial_begin(
	struct trial *t, struct engine_checks *c, uint32_t node, const struct simulator *at)
{
	*t = (struct trial){.checks = c,
		.simulator = simulator_copy(at),
		.changes = c->graph->nodes.items[node].changes};
}

void trial_end(struct trial *t)
{
	simulator_free(&t->simulator);
}

int trial_call(
	struct trial *t, const struct simulator_call *call, json **printed, struct error *err)
{
	t->checks->graph->calls++;
	return oracle_call(&t->checks->oracle, t->simulator, call, printed, err);
}

const char *trial_key(struct arena *a, const struct trial *t)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;

	explore_key_now(&t->checks->graph->rules, t->simulator, t->changes, &key);
	return arena_dup(a, buf_str(&key));
}

struct simulator_call record_call(
	const char *owner, const json *action, const struct explore_answer *answer)
{
	return (struct simulator_call){.owner = owner,
		.action = json_get_str(action, "id"),
		.word = answer->word,
		.text = str_of(answer->text)};
}

/* The one answer as a list. */
static struct recorded_answers only(struct recorded_answer *answer)
{
	return (struct recorded_answers){answer, 1, 1};
}

static struct recorded_answer recorded(const json *action, const struct explore_answer *answer)
{
	return (struct recorded_answer){json_get_str(action, "id"), answer->word, answer->text};
}

/* The first `n` chosen answers. */
static struct recorded_answers recorded_of(struct explore_round *r, size_t n)
{
	struct recorded_answers list = {0};

	for (size_t i = 0; i < n; i++)
		if (!r->chosen[i]->silent)
			vec_push_in(
				&r->arena, &list, recorded(json_at(r->printed, i), r->chosen[i]));
	return list;
}

/* The document's key without the counters, which `record` does not look at. */
static const char *state_key(struct explore_round *r, const struct simulator *at)
{
	const struct explore_node *n = &r->graph->nodes.items[r->node];
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	const char *state;

	explore_key_now(&r->graph->rules, at, n->changes, &key);
	state = strstr(key.s, EXPLORE_KEY_STATE);
	return state ? arena_dup(&r->arena, str_of(state + strlen(EXPLORE_KEY_STATE))) : n->key;
}

/* Of a key, adds the state and what is outstanding there and how it is answered. */
static void add_open(struct buf *out, const char *key)
{
	const char *state = strstr(key, EXPLORE_KEY_STATE), *open;

	state = state ? state + strlen(EXPLORE_KEY_STATE) : key;
	open = strstr(state, EXPLORE_KEY_OUTSTANDING);
	buf_add(out, str_sub(str_of(state), 0, strcspn(state, " ")));
	buf_adds(out, open ? open + strlen(EXPLORE_KEY_OUTSTANDING) : "");
}

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

/* What a save depends on: the state and the action, how many answers the array has, and whether
 * some were kept from before. */
static void add_shape(
	struct buf *out, struct explore_round *r, size_t i, const json *action, const char *key)
{
	size_t answered = 0;

	for (size_t j = 0; j < i; j++)
		answered += !r->chosen[j]->silent;
	buf_addf(out, "%s %s %s, %zu of %zu, %d", r->graph->nodes.items[r->node].state,
		json_get_str(action, WIRE_WRITES), text_or_empty(json_get_str(action, "trigger")),
		answered, r->n, strstr(key, EXPLORE_KEY_CARRIED) != NULL);
}

/* ---- answers ---- */

/* Records an answer on a copy; the oracle compares what follows. `owner` may be NULL. */
static void try_record(struct engine_checks *c, uint32_t node, const struct simulator *at,
	const char *owner, const json *action, const struct explore_answer *answer)
{
	struct simulator_call call = record_call(owner, action, answer);
	CLEANUP(trial_end) struct trial t;
	struct error err;

	trial_begin(&t, c, node, at);
	c->refused += trial_call(&t, &call, NULL, &err) < 0;
}

/* Also while the machine stops, once for each state, action and reason. */
static void try_refusal(struct engine_checks *c, struct explore_round *r,
	const struct simulator *at, const json *action, const struct explore_answer *answer)
{
	struct recorded_answer one = recorded(action, answer);
	struct recorded_answers answers = only(&one);
	struct checked_call call = {.what = answer->name,
		.call = record_call(NULL, action, answer),
		.answers = &answers};

	try_record(c, r->node, at, NULL, action, answer);
	if (engine_checks_first(c,
		    arena_printf(&r->arena, "refused %s %s %s %s",
			    r->graph->nodes.items[r->node].state, json_get_str(action, WIRE_WRITES),
			    text_or_empty(json_get_str(action, "trigger")), answer->name)))
		engine_checks_crash(c, r->node, at, &call);
}

/* `T-1/implementing/3` -> `T-1/implementing/2`, which was answered or abandoned; or an id that was
 * never given out. */
static json *late_action(struct explore_round *r, const json *action)
{
	json *copy = json_copy(action);
	const char *id = json_get_str(action, "id"), *slash = strrchr(id, '/');
	unsigned long n = strtoul(slash + 1, NULL, 10);

	json_set(copy, "id",
		json_string(str_of(arena_printf(
			&r->arena, "%.*s/%lu", (int)(slash - id), id, n > 1 ? n - 1 : n + 100))));
	return copy;
}

static bool is_outstanding(const struct simulator *at, const json *action)
{
	CLEANUP(buf_release) struct buf id = BUF_INIT, doc = BUF_INIT;

	buf_addf(&id, "\"id\":\"%s\"", json_get_str(action, "id"));
	return sim_disk_get(sim_disk_of(at), at->path, &doc) &&
	       str_find(buf_str(&doc), buf_str(&id)) < doc.len;
}

static void try_refusals(struct engine_checks *c, struct explore_round *r,
	const struct simulator *at, const json *action)
{
	bool decision = json_get_str(action, "trigger") != NULL;
	const char *first = explore_result_word(&r->arena, action, 0);
	const char *other = explore_result_word(&r->arena, action, 1);
	const struct explore_answer list[] = {
		{.name = "an unknown word", .word = "no_such_word", .text = "A text."},
		{.name = "an empty text", .word = first, .text = " \n"},
		{.name = "a text that is not UTF-8", .word = first, .text = "A\xfftext."},
		{.name = "a word that the text contradicts",
			.word = first,
			.text = arena_printf(&r->arena, "A text.\n{\"%s\": \"%s\"}",
				decision ? "action" : "status", text_or_empty(other))},
		{.name = "no word", .text = "A text."},
	};
	static const struct explore_answer late = {.name = "a late answer", .text = "A text."};
	CLEANUP(json_free) json *old = late_action(r, action);

	for (size_t i = 0; i < COUNT(list); i++)
		if (i != 3 || other)
			try_refusal(c, r, at, action, &list[i]);
	if (!is_outstanding(at, old))
		try_refusal(c, r, at, old, &late);
}

/* Action `i` has its answer: the same once more, and another one. */
static void try_second(
	struct engine_checks *c, struct explore_round *r, size_t i, const struct simulator *after)
{
	const json *action = json_at(r->printed, i);
	struct explore_answer other = *r->chosen[i];

	other.text = json_get_str(action, "trigger")
			     ? "Another.\n{\"action\": \"continue\", \"reason\": \"another\"}"
			     : "Another text.";
	try_record(c, r->node, after, NULL, action, r->chosen[i]);
	try_record(c, r->node, after, NULL, action, &other);
}

static void crash_answer(struct engine_checks *c, struct explore_round *r, size_t i,
	const struct simulator *at, const char *key)
{
	CLEANUP(buf_release) struct buf situation = BUF_INIT;
	struct recorded_answers answers = recorded_of(r, i + 1);
	const json *action = json_at(r->printed, i);
	struct checked_call call = {.call = record_call(NULL, action, r->chosen[i]),
		.answers = &answers,
		.what = arena_printf(&r->arena, "'record' of '%s'", r->chosen[i]->name)};

	buf_addf(&situation, "crash %s ", r->chosen[i]->name);
	add_shape(&situation, r, i, action, key);
	if (engine_checks_first(c, situation.s))
		engine_checks_crash(c, r->node, at, &call);
}

/* `key`: of the document before it. `after`: with the answer to action `i`, NULL: it was refused.
 */
static void on_answer(struct engine_checks *c, struct explore_round *r, size_t i,
	const struct simulator *at, const char *key, const struct simulator *after)
{
	crash_answer(c, r, i, at, key);
	if (after &&
		engine_checks_first(c, arena_printf(&r->arena, "second %s %s %s", key,
					       json_get_str(json_at(r->printed, i), WIRE_WRITES),
					       r->chosen[i]->name)))
		try_second(c, r, i, after);
}

/* Answers that say the same as one of the action's words in another form. */
static void other_forms(struct explore_round *r, const json *action, struct explore_answers *out)
{
	const char *expected = explore_expected_text(json_get_str(action, WIRE_WRITES)), *word;
	bool decision = json_get_str(action, "trigger") != NULL;

	if (strcmp(json_get_str(action, "action"), WIRE_SCRIPT_ACTION) == 0) {
		vec_push_in(&r->arena, out,
			(struct explore_answer){.name = "timed out",
				.word = "failed",
				.text = "failed \xe2\x80\x94 timed out after 600 s \xe2\x80\x94 "
					"log: /state/logs/script.log"});
		return;
	}
	for (size_t i = 0; (word = explore_result_word(&r->arena, action, i)); i++)
		vec_push_in(&r->arena, out,
			(struct explore_answer){
				.name = arena_printf(
					&r->arena, decision ? "%s, in prose" : "json: %s", word),
				.word = decision ? word : NULL,
				.text = decision ? "The decision."
						 : arena_printf(&r->arena,
							   "%s\n\nA text.\n{\"status\": \"%s\"}",
							   text_or_empty(expected), word)});
}

/* The first `i` actions are answered: records each other form of an answer to the next one. */
static void try_other_forms(struct engine_checks *c, struct explore_round *r, size_t i,
	const struct simulator *at, const char *key)
{
	const struct explore_answer *chosen = r->chosen[i];
	struct explore_answers forms = {0};

	if (!engine_checks_first(c, arena_printf(&r->arena, "forms %s", key)))
		return;
	other_forms(r, json_at(r->printed, i), &forms);
	for (size_t n = 0; n < forms.n; n++) {
		r->chosen[i] = &forms.items[n];
		try_record(c, r->node, at, NULL, json_at(r->printed, i), &forms.items[n]);
		crash_answer(c, r, i, at, key);
	}
	r->chosen[i] = chosen;
}

/* ---- take-overs ---- */

/* One owner holds the work item, and another takes it over. */
struct takeover {
	struct engine_checks *checks;
	uint32_t node;
	const struct explore_answer *good; /* to the first action that is open */
	struct recorded_answers answers;   /* recorded before */
	struct trial first, second;        /* before and after the take-over */
	json *asked, *asked_again;         /* printed to the first and to the second owner */
};

static void fail_takeover(const struct takeover *t, const char *what, const char *detail)
{
	engine_checks_fail(t->checks, t->node, what, detail, &t->answers);
}

/* A step of `owner` is refused and changes nothing. */
static void check_locked_out(
	const struct takeover *t, const struct simulator *at, const char *owner)
{
	CLEANUP(trial_end) struct trial trial;
	CLEANUP(json_free) json *printed = NULL;
	struct simulator_call call = {.owner = owner};
	struct error err;

	trial_begin(&trial, t->checks, t->node, at);
	if (trial_call(&trial, &call, &printed, &err) == 0)
		fail_takeover(t, "a step is admitted while another owner holds the work item",
			text_or_empty(owner));
	else if (err.code != ERR_STATE)
		fail_takeover(t, "a step is refused for another reason than the owner", err.text);
	else if (!engine_checks_same(trial.simulator, at))
		fail_takeover(t, "a refused step has changed the document", text_or_empty(owner));
}

/* The answers of either owner, and answers under the ids of the owner who lost it. */
static void try_answers(const struct takeover *t)
{
	static const struct explore_answer late = {.name = "late", .text = "A text."};
	const struct simulator *after = t->second.simulator;

	for (const json *a = json_first(t->asked); a; a = json_next(a)) {
		try_record(t->checks, t->node, after, FIRST, a, &late);
		try_record(t->checks, t->node, after, NULL, a, &late);
	}
	if (t->good->silent)
		return;
	try_record(t->checks, t->node, t->first.simulator, FIRST, json_first(t->asked), t->good);
	try_record(t->checks, t->node, after, SECOND, json_first(t->asked_again), t->good);
}

static void crash_takeover(const struct takeover *t)
{
	struct checked_call take = {.what = "'step --take-over'",
		.call = {.owner = SECOND, .take_over = true},
		.next = {.owner = SECOND, .take_over = true},
		.answers = &t->answers};
	struct checked_call record = {.what = "'record --owner'",
		.call = record_call(FIRST, json_first(t->asked), t->good),
		.next = {.owner = FIRST},
		.answers = &t->answers};

	engine_checks_crash(t->checks, t->node, t->first.simulator, &take);
	take.next = (struct simulator_call){.owner = FIRST};
	engine_checks_crash(t->checks, t->node, t->first.simulator, &take);
	if (!t->good->silent)
		engine_checks_crash(t->checks, t->node, t->first.simulator, &record);
}

static bool take_over(struct takeover *t, const struct simulator *at)
{
	struct simulator_call hold = {.owner = FIRST}, take = {.owner = SECOND, .take_over = true};
	struct error err;

	trial_begin(&t->first, t->checks, t->node, at);
	if (trial_call(&t->first, &hold, &t->asked, &err) < 0) {
		fail_takeover(t, "a step of an owner fails", err.text);
		return false;
	}
	if (!json_get(json_first(t->asked), "id"))
		return false; /* the run has ended */
	trial_begin(&t->second, t->checks, t->node, t->first.simulator);
	if (trial_call(&t->second, &take, &t->asked_again, &err) < 0) {
		fail_takeover(t, "a take-over fails", err.text);
		return false;
	}
	return true;
}

static void check_takeover(const struct takeover *t)
{
	CLEANUP(trial_end) struct trial again;
	CLEANUP(json_free) json *printed = NULL;
	struct simulator_call call = {.owner = SECOND};
	struct error err;

	check_locked_out(t, t->first.simulator, SECOND);
	check_locked_out(t, t->first.simulator, NULL);
	check_locked_out(t, t->second.simulator, FIRST);
	trial_begin(&again, t->checks, t->node, t->second.simulator);
	if (trial_call(&again, &call, &printed, &err) < 0)
		fail_takeover(t, "the step after a take-over fails", err.text);
	try_answers(t);
}

/* ---- nodes ---- */

/* Records a change by the troubleshooter and steps. */
static void try_change(struct engine_checks *c, struct explore_round *r, const struct simulator *at,
	const struct explore_answer *answer)
{
	struct simulator_call step = {.returned = true},
			      record = record_call(NULL, json_first(r->printed), answer);
	CLEANUP(trial_end) struct trial t;
	CLEANUP(json_free) json *printed = NULL;
	struct error err;

	trial_begin(&t, c, r->node, at);
	(void)trial_call(&t, &record, NULL, &err);
	(void)trial_call(&t, &step, &printed, &err);
	c->changes++;
}

static void try_changes(
	struct engine_checks *c, struct explore_round *r, const struct simulator *at)
{
	const struct explore_answers *list = explore_choices(&r->arena, at, r->printed, true);

	for (size_t i = 0; i < list->n; i++)
		if (list->items[i].change)
			try_change(c, r, at, &list->items[i]);
}

/* It ends the run whatever was asked, and a second time changes nothing. */
static void try_cancel(struct engine_checks *c, struct explore_round *r, const struct simulator *at)
{
	const struct recorded_answers none = {0};
	struct checked_call cancel = {.what = "a cancel",
		.call = {.cancel = true},
		.next = {.returned = true},
		.answers = &none};
	CLEANUP(simulator_free) struct simulator *ended = NULL;
	CLEANUP(json_free) json *printed = NULL, *again = NULL;
	CLEANUP(trial_end) struct trial t;
	struct error err;

	trial_begin(&t, c, r->node, at);
	if (trial_call(&t, &cancel.call, &printed, &err) < 0) {
		engine_checks_fail(c, r->node, "a cancel fails", err.text, NULL);
		return;
	}
	ended = simulator_copy(t.simulator);
	if (!json_str_is(json_first(printed), "reason", "cancelled by the user"))
		engine_checks_fail(c, r->node, "a cancel does not end the run", "", NULL);
	else if (trial_call(&t, &cancel.call, &again, &err) == 0 || err.code != ERR_STATE ||
		 !engine_checks_same(t.simulator, ended))
		engine_checks_fail(c, r->node, "a second cancel is not refused", "", NULL);
	if (engine_checks_first(c, "crash cancel"))
		engine_checks_crash(c, r->node, at, &cancel);
	c->cancels++;
}

/* No action has its answer yet. */
static void try_node(struct engine_checks *c, struct explore_round *r, const struct simulator *at,
	const char *key)
{
	if (!engine_checks_first(c, key))
		return;
	for (const json *a = json_first(r->printed); a; a = json_next(a))
		try_refusals(c, r, at, a);
	try_cancel(c, r, at);
	if (!r->graph->nodes.items[r->node].changes && json_get(json_first(r->printed), "trigger"))
		try_changes(c, r, at);
}

/* The first `n` actions are answered or not: another owner takes over. */
static void on_prefix(struct engine_checks *c, struct explore_round *r, size_t n,
	const struct simulator *at, const char *key)
{
	CLEANUP(buf_release) struct buf situation = BUF_INIT, shape = BUF_INIT;
	CLEANUP(simulator_free) struct simulator *there = simulator_copy(at);
	struct takeover t = {.checks = c, .node = r->node};
	size_t open = 0;

	if (!n)
		try_node(c, r, at, key);
	if (n < r->n)
		try_other_forms(c, r, n, at, key);
	while (open < n && !r->chosen[open]->silent)
		open++;
	buf_addf(&situation, "take-over %d ", r->running != NULL);
	add_open(&situation, key);
	if (open == r->n || !engine_checks_first(c, situation.s))
		return;
	buf_addf(&shape, "crash take-over %d ", r->running != NULL);
	add_shape(&shape, r, n, json_at(r->printed, open), key);
	t.good = &r->choices[open].items[0];
	t.answers = recorded_of(r, n);
	there->environment.running = r->running;
	if (take_over(&t, there)) {
		check_takeover(&t);
		if (engine_checks_first(c, shape.s))
			crash_takeover(&t);
	}
	t.checks->takeovers++;
	json_free(&t.asked);
	json_free(&t.asked_again);
	trial_end(&t.first);
	trial_end(&t.second);
}

/* ---- steps ---- */

/* The key after the step without a failing effect, or why it fails. */
static const char *key_after(
	struct trial *t, struct explore_round *r, const struct simulator_call *step)
{
	CLEANUP(json_free) json *printed = NULL;
	struct error err;

	t->simulator->environment =
		(struct simulator_environment){.specs = 1, .running = r->running};
	return trial_call(t, step, &printed, &err) < 0 ? arena_dup(&r->arena, str_of(err.text))
						       : trial_key(&r->arena, t);
}

/* A step whose effect failed leads, when it is repeated, where it would have led. */
static void try_again(struct engine_checks *c, struct explore_round *r, const struct simulator *at,
	const struct simulator_call *step)
{
	CLEANUP(trial_end) struct trial t, good;
	CLEANUP(json_free) json *failed = NULL;
	const char *key;
	struct error err;

	trial_begin(&t, c, r->node, at);
	trial_begin(&good, c, r->node, at);
	(void)trial_call(&t, step, &failed, &err);
	key = key_after(&t, r, step);
	if (strcmp(key, key_after(&good, r, step)) != 0)
		engine_checks_fail(c, r->node, "a step that failed leads elsewhere", key, NULL);
}

/* Each answer to each action is part of a stopped step for every end that it leads to. */
static bool first_of_answers(
	struct engine_checks *c, struct explore_round *r, const char *situation)
{
	bool first = !r->n && engine_checks_first(c, situation);

	for (size_t i = 0; i < r->n; i++)
		first |= engine_checks_first(
			c, arena_printf(&r->arena, "%zu %s, %s", i, r->chosen[i]->name, situation));
	return first;
}

static bool effect_fails(const struct simulator_environment *env)
{
	return env->specs != 1 || env->find_fails || env->commit_fails || env->push_fails ||
	       env->enter_fails;
}

/* `after`: NULL: the step failed. */
static void on_step(struct engine_checks *c, struct explore_round *r, const struct simulator *at,
	const struct simulator *after, const struct simulator_call *step)
{
	const struct simulator_environment *env = &at->environment;
	CLEANUP(buf_release) struct buf situation = BUF_INIT;
	struct recorded_answers answers = recorded_of(r, r->n);
	struct checked_call call = {.what = step->returned ? "'step --returned'" : "'step'",
		.call = *step,
		.answers = &answers};

	if (c->oracle.difference[0])
		r->graph->complete = false; /* one is enough */
	if (!after && effect_fails(env))
		try_again(c, r, at, step);
	buf_addf(&situation, "crash %u %u%d%d%d%d%d%d%d%u%d, %s to ", r->input, env->specs,
		env->find_fails, env->commit_fails, env->push_fails, env->enter_fails,
		env->nothing_to_commit, env->no_remote, env->checks, env->refuted, env->moved,
		r->graph->nodes.items[r->node].state);
	add_open(&situation, after ? state_key(r, after) : "nowhere");
	if (first_of_answers(c, r, situation.s))
		engine_checks_crash(c, r->node, at, &call);
}

static void on_user(struct engine_checks *c, struct explore_round *r, const struct simulator *at,
	const struct simulator_call *set)
{
	CLEANUP(buf_release) struct buf situation = BUF_INIT;
	struct checked_call call = {
		.what = arena_printf(&r->arena, "'context set %s'", set->key), .call = *set};

	buf_addf(&situation, "crash 'set %s' ", set->key);
	add_open(&situation, r->graph->nodes.items[r->node].key);
	if (engine_checks_first(c, situation.s))
		engine_checks_crash(c, r->node, at, &call);
}

static struct engine_checks *running; /* those of the graph that is being built */

static size_t index_of(const struct explore_round *r, const char *action)
{
	size_t i = 0;

	while (strcmp(json_get_str(json_at(r->printed, i), "id"), action) != 0)
		i++;
	return i;
}

/* Each call of the exploration, with the checks before and after it. */
static int checked_invoke(
	struct simulator *s, const struct simulator_call *call, json **printed, struct error *err)
{
	struct engine_checks *c = running;
	struct explore_round *r = c->graph->round;
	CLEANUP(simulator_free) struct simulator *at = simulator_copy(s);
	const struct simulator *after;
	size_t i = call->action ? index_of(r, call->action) : r->n;
	const char *key = !call->key && r->n ? state_key(r, at) : "";
	int rc;

	if (call->key)
		on_user(c, r, at, call);
	else if (r->n && (i == r->n || r->chosen[i] == r->choices[i].items))
		on_prefix(c, r, i, at, key); /* once for the answers to an action */
	rc = oracle_call(&c->oracle, s, call, printed, err);
	after = rc < 0 ? NULL : s;
	if (call->action)
		on_answer(c, r, i, at, key, after);
	else if (!call->key && (r->printed || !r->node))
		on_step(c, r, at, after, call);
	return rc;
}

void engine_checks_run(struct engine_checks *c, struct explore_graph *g, const struct workflow *w,
	const struct simulator_kind *kind, bool quick)
{
	const struct explore_options options = {.states = EXPLORE_STATES};

	*c = (struct engine_checks){.graph = g, .kind = *kind, .quick = quick};
	c->kind.invoke = checked_invoke;
	running = c;
	explore_graph_build(g, w, &options, &c->kind);
	clock_fix(-1);
}

void engine_checks_release(struct engine_checks *c)
{
	vec_release(&c->failed);
	explore_texts_release(&c->situations);
	arena_release(&c->arena);
}
