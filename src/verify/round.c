/*
 * When the machine stops and when another takes over, while expand.c goes through the outcomes of a
 * node: once for each kind of thing that is met, or it would never end.
 */
#include "src/verify/round.h"

static const char *kind_at(const struct round *r, size_t i)
{
	return r->n ? r->kinds[i] : key_kind_in(r->k->nodes[r->node].key);
}

/* What is recorded of the first `n` actions. */
static size_t offers_of(struct round *r, size_t n, struct offer **offers)
{
	size_t found = 0;

	*offers = arena_alloc(&r->arena, (n + 1) * sizeof(**offers));
	for (size_t i = 0; i < n; i++)
		if (!r->chosen[i]->silent)
			(*offers)[found++] =
				(struct offer){json_get_str(json_at(r->printed, i), "id"),
					r->chosen[i]->word, r->chosen[i]->text};
	return found;
}

/* What a save has to do with: of the action the state, of the others how many there are and how
 * many answers are there already, in this array and from before. */
static void add_shape(const struct round *r, size_t i, const json *action, struct buf *out)
{
	const char *trigger = json_get_str(action, "trigger"), *kind = kind_at(r, i);
	size_t answered = 0;

	for (size_t j = 0; j < i; j++)
		answered += !r->chosen[j]->silent;
	buf_addf(out, "%s %s %s, %zu of %zu, %d", r->k->nodes[r->node].state,
		json_get_str(action, "write_section"), trigger ? trigger : "", answered, r->n,
		strstr(kind, KEY_CARRIED) != NULL);
}

/* Once for each kind of state and form: the counters are nothing to `record`. */
void round_crash_answer(struct round *r, size_t i, const struct stage *at)
{
	CLEANUP(buf_release) struct buf kind = BUF_INIT;
	struct deed deed = {.action = json_at(r->printed, i), .form = r->chosen[i]};
	struct offer *offers;

	buf_addf(&kind, "crash %s ", deed.form->name);
	add_shape(r, i, deed.action, &kind);
	if (!walk_first(r->k, kind.s))
		return;
	deed.what = arena_printf(&r->arena, "'record' of '%s'", deed.form->name);
	deed.n_offers = offers_of(r, i + 1, &offers);
	deed.offers = offers;
	crash_deed(r->k, r->node, at, &deed);
}

/* Each form of each action once for each that it is a part of. */
static bool first_of_forms(struct round *r, const struct buf *kind)
{
	bool first = !r->n && walk_first(r->k, kind->s);

	for (size_t i = 0; i < r->n; i++)
		first |= walk_first(r->k,
			arena_printf(&r->arena, "%zu %s, %s", i, r->chosen[i]->name, kind->s));
	return first;
}

/* Where it leads from which state, in what world, by which form of an answer: once for each. */
void round_crash_step(struct round *r, const struct stage *at, const struct arrival *a)
{
	CLEANUP(buf_release) struct buf kind = BUF_INIT;
	struct deed deed = {.what = r->op == LABEL_ANSWERS ? "'step --returned'" : "'step'",
		.step = {.returned = r->op == LABEL_ANSWERS}};
	const struct stage_world *w = &at->world;
	struct offer *offers;

	buf_addf(&kind, "crash %u %u %u%d%d%d%d%d%d, %s to ", r->op, a->flags, w->specs,
		w->find_fails, w->commit_fails, w->push_fails, w->nothing_to_commit, w->no_remote,
		w->checks, r->k->nodes[r->node].state);
	key_open_in(a->key ? a->key : "nowhere", &kind);
	if (!first_of_forms(r, &kind))
		return;
	deed.n_offers = offers_of(r, r->n, &offers);
	deed.offers = offers;
	crash_deed(r->k, r->node, at, &deed);
}

/* With some of the actions answered, others not; `n` of them are decided. */
void round_take_over(struct round *r, size_t n, const struct stage *at)
{
	CLEANUP(buf_release) struct buf kind = BUF_INIT, shape = BUF_INIT;
	CLEANUP(stage_free) struct stage *there = NULL;
	struct take_over t = {.node = r->node};
	struct offer *offers;
	size_t open = 0;

	while (open < n && !r->chosen[open]->silent)
		open++;
	buf_addf(&kind, "take-over %d ", r->running != NULL);
	key_open_in(kind_at(r, n), &kind);
	if (open == r->n || !walk_first(r->k, kind.s))
		return;
	buf_addf(&shape, "crash take-over %d ", r->running != NULL);
	add_shape(r, n, json_at(r->printed, open), &shape);
	t.crashes = walk_first(r->k, shape.s);
	t.good = &r->forms[open].list[0];
	t.n_offers = offers_of(r, n, &offers);
	t.offers = offers;
	there = stage_copy(at);
	there->world.running = r->running;
	check_take_over(r->k, there, &t);
}

void round_crash_user(struct round *r, const struct stage *at, const struct deed *set)
{
	CLEANUP(buf_release) struct buf kind = BUF_INIT;

	buf_addf(&kind, "crash 'set %s' ", set->key);
	key_open_in(kind_at(r, 0), &kind);
	if (walk_first(r->k, kind.s))
		crash_deed(r->k, r->node, at, set);
}

/* The same once more, and another one; once for each kind of state and form. */
void round_answer_again(struct round *r, size_t i, const struct stage *at)
{
	CLEANUP(buf_release) struct buf kind = BUF_INIT;
	const json *action = json_at(r->printed, i);

	buf_addf(&kind, "second %s %s %s", r->kinds[i], json_get_str(action, "write_section"),
		r->chosen[i]->name);
	if (walk_first(r->k, kind.s))
		check_second(r->k, r->node, at, action, r->chosen[i]);
}
