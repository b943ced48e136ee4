#include "src/verify/round.h"

/* Of more actions at once than this, all but so many take the good way. */
enum { ALL_WAYS = 3, FEW = 8 };

static size_t most_others(const struct round *r)
{
	return r->n <= ALL_WAYS ? r->n : r->n <= FEW ? 2 : 1;
}

static struct arrival arrival_of(const struct round *r, unsigned flags)
{
	return (struct arrival){.node = r->node,
		.flags = flags,
		.first = r->n ? r->chosen[0] : NULL,
		.label = {.op = r->op, .n = r->n, .forms = r->chosen}};
}

/* What the failed step has saved, if anything, changes nothing of what comes when it is made again.
 */
static void play_again(struct round *r, struct play *p, uint32_t to)
{
	CLEANUP(json_free) json *printed = NULL;
	struct error err;

	p->stage->world = (struct stage_world){.specs = 1, .running = r->running};
	if (play_step(p, r->op == LABEL_ANSWERS, &printed, &err) < 0) {
		walk_broken(r->k, r->node, "a step that failed cannot be made again", err.text);
		return;
	}
	play_key(p, r->k->nodes[to].changes);
	if (strcmp(p->key.s, r->k->nodes[to].key) != 0)
		walk_broken(r->k, r->node, "a step that failed leads elsewhere when made again",
			p->key.s);
}

/* Something outside fails: nothing has happened; or it is not so good, but goes on. `to`: where it
 * leads when all is well. */
static void play_world(
	struct round *r, const struct stage *at, uint32_t to, const struct stage_world *world)
{
	CLEANUP(stage_free) struct stage *there = stage_copy(at);
	CLEANUP(play_end) struct play p;
	CLEANUP(json_free) json *printed = NULL;
	struct arrival a = arrival_of(r, 0);
	struct error err;

	there->world = *world;
	there->world.running = r->running;
	play_begin(&p, r->k, r->node, there);
	if (play_step(&p, r->op == LABEL_ANSWERS, &printed, &err) == 0)
		arrive(&a, &p, printed);
	else
		play_again(r, &p, to);
	round_crash_step(r, there, &a);
}

static void play_worlds(struct round *r, const struct stage *at, uint32_t to, unsigned asked)
{
	static const struct {
		unsigned effect;
		struct stage_world world;
	} worlds[] = {
		{EFFECT_FIND_SPEC, {.specs = 0}},
		{EFFECT_FIND_SPEC, {.specs = 2}},
		{EFFECT_FIND_SPEC, {.specs = 1, .find_fails = true}},
		{EFFECT_COMMIT_PUSH, {.specs = 1, .commit_fails = true}},
		{EFFECT_COMMIT_PUSH, {.specs = 1, .nothing_to_commit = true}},
		{EFFECT_PUSH, {.specs = 1, .push_fails = true}},
		{EFFECT_PUSH, {.specs = 1, .no_remote = true}},
		{EFFECT_PR_CHECKS, {.specs = 1, .checks = STAGE_CHECKS_RED}},
		{EFFECT_PR_CHECKS, {.specs = 1, .checks = STAGE_CHECKS_UNKNOWN}},
	};

	for (size_t i = 0; i < COUNT(worlds); i++)
		if (asked & worlds[i].effect)
			play_world(r, at, to, &worlds[i].world);
}

static void play_last(struct round *r, const struct stage *at, struct arrival *a, unsigned *asked)
{
	CLEANUP(stage_free) struct stage *there = stage_copy(at);
	CLEANUP(play_end) struct play p;
	CLEANUP(json_free) json *printed = NULL;
	struct error err;

	there->world.running = r->running;
	play_begin(&p, r->k, r->node, there);
	if (play_step(&p, r->op == LABEL_ANSWERS, &printed, &err) < 0)
		arrive_at_error(r->k, a, &err);
	else
		arrive(a, &p, printed);
	*asked = p.stage->world.asked;
	round_crash_step(r, there, a);
}

/* The same when the budget was extended as often as can be. */
static void play_extended(struct round *r, const struct stage *at)
{
	CLEANUP(stage_free) struct stage *other = play_budget(r->k, at, false);
	struct arrival a = arrival_of(r, EDGE_NOT_EXTENDED);
	unsigned asked;

	play_last(r, other, &a, &asked);
}

static void play_spent(struct round *r, const struct stage *at, struct arrival *a)
{
	CLEANUP(stage_free) struct stage *other = play_budget(r->k, at, true);
	unsigned asked;

	play_last(r, other, a, &asked);
}

/*
 * Whether the budget is spent is asked right before something is dispatched. What was to be
 * dispatched, and so the key of where it leads, says all that matters then, but for whether the
 * state has asked before; so one try a node will do.
 */
static void play_over(struct round *r, const struct stage *at, uint32_t to)
{
	struct arrival a = arrival_of(r, EDGE_BUDGET);
	const struct node *from = &r->k->nodes[r->node], *node = &r->k->nodes[to];
	bool same_state = strcmp(from->state, node->state) == 0, asked = from->asked;

	if (same_state && node->spent[asked]) {
		arrive_at(r->k, &a, node->spent[asked] - 1, node->spent_cost[asked]);
		return;
	}
	play_spent(r, at, &a);
	if (!same_state)
		return;
	r->k->nodes[to].spent[asked] = a.to + 1;
	r->k->nodes[to].spent_cost[asked] = a.cost;
}

/* All that was printed is answered, or is not: what comes of it. */
static void end_round(struct round *r, const struct stage *at)
{
	const char *trigger = r->n ? json_get_str(json_first(r->printed), "trigger") : NULL;
	bool budget = trigger && strcmp(trigger, BUDGET_TRIGGER) == 0;
	bool goes_on = budget && r->chosen[0]->text &&
		       str_find(str_of(r->chosen[0]->name), STR("continue")) == 0;
	struct arrival a = arrival_of(r, goes_on ? EDGE_EXTENDED : 0);
	unsigned asked;

	play_last(r, at, &a, &asked);
	if (!a.fresh_edge)
		return;
	play_worlds(r, at, a.to, asked);
	if (goes_on)
		play_extended(r, at);
	else if (a.cost)
		play_over(r, at, a.to);
}

static bool seen_key(struct round *r, const char ***keys, size_t *n, const char *key)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp((*keys)[i], key) == 0)
			return true;
	(*keys)[(*n)++] = arena_dup(&r->arena, str_of(key));
	return false;
}

static void choose(struct round *r, size_t i, const struct stage *at);

/* Records one form of an answer; false when it means the same as one before. */
static bool answer(struct round *r, size_t i, struct play *p, const char ***keys, size_t *n_keys)
{
	const json *action = json_at(r->printed, i);
	const struct form *f = r->chosen[i];
	struct offer offer = {json_get_str(action, "id"), f->word, f->text};
	struct error err;

	if (play_form(p, action, f, &err) < 0) {
		walk_broken_by(
			r->k, r->node, "an answer that fits is refused", err.text, &offer, 1);
		return false;
	}
	round_answer_again(r, i, p->stage);
	if (seen_key(r, keys, n_keys, p->key.s)) {
		r->k->merged++;
		return false;
	}
	return true;
}

static void choose_answer(
	struct round *r, size_t i, const struct stage *at, const char ***keys, size_t *n_keys)
{
	CLEANUP(play_end) struct play p;

	round_crash_answer(r, i, at);
	play_begin(&p, r->k, r->node, at);
	if (!answer(r, i, &p, keys, n_keys))
		return;
	r->k->differ |= r->chosen[i]->again;
	r->kinds[i + 1] = arena_dup(&r->arena, str_of(key_kind_in(p.key.s)));
	choose(r, i + 1, p.stage);
}

static void choose_one(struct round *r, size_t i, size_t form, const struct stage *at,
	const char ***keys, size_t *n_keys)
{
	const struct form *f = &r->forms[i].list[form];

	r->chosen[i] = f;
	r->others += form > 0;
	if (f->silent) {
		if (f->running)
			r->running = json_get_str(json_at(r->printed, i), "id");
		r->kinds[i + 1] = r->kinds[i];
		choose(r, i + 1, at);
		if (f->running)
			r->running = NULL;
	} else {
		choose_answer(r, i, at, keys, n_keys);
	}
	r->others -= form > 0;
}

static bool wanted(const struct round *r, size_t i, size_t f)
{
	if (r->k->plain && !r->forms[i].list[f].plain)
		return false;
	if (r->forms[i].list[f].again && !r->checked && !r->k->differ)
		return false;
	return !f || r->others < most_others(r);
}

static void choose(struct round *r, size_t i, const struct stage *at)
{
	const char **keys;
	size_t n_keys = 0;

	round_take_over(r, i, at);
	if (i == r->n) {
		end_round(r, at);
		return;
	}
	keys = arena_alloc(&r->arena, r->forms[i].n * sizeof(*keys));
	for (size_t f = 0; f < r->forms[i].n; f++)
		if (wanted(r, i, f) && !(r->forms[i].list[f].running && r->running))
			choose_one(r, i, f, at, &keys, &n_keys);
}

/* Sections in which the troubleshooter may write an answer in an agent's place. */
static const char *const *sections_of(struct round *r, const struct stage *at)
{
	CLEANUP(context_close) struct context_file f = {0};
	static const char *const none[] = {NULL};
	struct error err;

	return stage_look(at, &f, &err) < 0 ? none : key_sections(&r->arena, &f.doc);
}

/*
 * A crash behind the save and before the print, or a second window: step prints the same again and
 * changes nothing.
 */
static bool print_again(struct round *r, struct stage *at)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, after = BUF_INIT;
	const struct node *n = &r->k->nodes[r->node];
	struct stage_call call = {0};
	struct error err;

	r->k->plays++;
	if (stage_step(at, &call, &r->printed, &err) < 0) {
		walk_broken(r->k, r->node, "the next step fails", err.text);
		return false;
	}
	json_print(&text, r->printed);
	if (strcmp(text.s, n->printed) != 0) {
		walk_broken(r->k, r->node, "the next step prints something else", text.s);
		return false;
	}
	if (!stage_document(at, &after) || strcmp(after.s, n->doc) != 0)
		walk_broken(r->k, r->node, "the next step changes the document", "");
	return true;
}

/* One change by the troubleshooter: it must not stop the run, nor fill its budget up. */
static void try_change(struct round *r, const struct stage *at, const struct form *f)
{
	CLEANUP(play_end) struct play p;
	CLEANUP(json_free) json *printed = NULL;
	struct error err;

	play_begin(&p, r->k, r->node, at);
	if (play_form(&p, json_first(r->printed), f, &err) < 0 ||
		play_step(&p, true, &printed, &err) < 0)
		walk_broken(r->k, r->node,
			arena_printf(&r->arena, "after '%s' step fails", f->name), err.text);
	else if (arrive_refills(p.stage, f))
		walk_broken(
			r->k, r->node, "the troubleshooter can set back what is spent", f->name);
	r->k->changes++;
}

/* Where they are not walked, each change is tried at least once for each kind of call. */
static void try_changes(struct round *r, const struct stage *at)
{
	const json *first = json_first(r->printed);
	struct forms list;

	if (!r->checked || r->k->nodes[r->node].changes || !json_get(first, "trigger"))
		return;
	forms_of(&r->arena, r->k->w, first, true, sections_of(r, at), &list);
	for (size_t i = 0; i < list.n; i++)
		if (list.list[i].change)
			try_change(r, at, &list.list[i]);
}

static void serve(struct round *r, const struct stage *at)
{
	const struct node *n = &r->k->nodes[r->node];
	size_t i = 0;

	r->n = json_len(r->printed);
	r->forms = arena_alloc(&r->arena, r->n * sizeof(*r->forms));
	r->chosen = arena_alloc(&r->arena, (r->n + 1) * sizeof(*r->chosen));
	for (const json *a = json_first(r->printed); a; a = json_next(a)) {
		forms_of(&r->arena, r->k->w, a, n->changes > 0, sections_of(r, at), &r->forms[i++]);
	}
	r->checked = check_node(r->k, r->node, at, r->printed);
	try_changes(r, at);
	r->op = LABEL_ANSWERS;
	r->kinds = arena_alloc(&r->arena, (r->n + 1) * sizeof(*r->kinds));
	r->kinds[0] = key_kind_in(n->key);
	choose(r, 0, at);
}

/* A person does what the run waits for. */
static void user(struct round *r, const struct stage *at, enum label_op op)
{
	static const struct deed deeds[] = {
		[LABEL_USER] = {.what = "'context set troubleshooter_input'",
			.key = "troubleshooter_input",
			.value = "Go on."},
		[LABEL_RESET] = {.what = "'context set troubleshooter_calls'",
			.key = "troubleshooter_calls",
			.value = "0"},
	};
	CLEANUP(stage_free) struct stage *there = NULL;
	CLEANUP(play_end) struct play p;
	CLEANUP(json_free) json *printed = NULL;
	struct arrival a = {.node = r->node, .flags = EDGE_USER, .label = {.op = op}};
	struct error err;
	int rc;

	round_crash_user(r, at, &deeds[op]);
	play_begin(&p, r->k, r->node, at);
	rc = deed_do(&p, &deeds[op], &err);
	there = stage_copy(p.stage);
	if (rc < 0 || play_step(&p, false, &printed, &err) < 0)
		arrive_at_error(r->k, &a, &err);
	else
		arrive(&a, &p, printed);
	r->op = op;
	round_crash_step(r, there, &a);
}

void expand(struct walk *k, uint32_t node)
{
	struct round r = {.k = k, .node = node};
	CLEANUP(stage_free) struct stage *at = play_load(k, node);
	enum node_kind kind = k->nodes[node].kind;

	if (kind == NODE_START)
		end_round(&r, at);
	else if (kind == NODE_ERROR || !print_again(&r, at))
		;
	else if (kind == NODE_WORK)
		serve(&r, at);
	else if (kind == NODE_QUESTION)
		user(&r, at, LABEL_USER);
	else if (kind == NODE_GIVEN_UP)
		user(&r, at, LABEL_RESET);
	json_free(&r.printed);
	arena_release(&r.arena);
}
