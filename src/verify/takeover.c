/*
 * Another takes the work item over: what is not answered is asked anew under other ids, what was
 * asked before is refused, and nothing else is another than it was.
 */
#include "src/verify/crashes.h"

#define FIRST "A" /* holds it */
#define OTHER "B" /* takes it over */

struct change_of_hands {
	struct walk *k;
	const struct take_over *t;
	struct play first, other; /* as it is for the one and, after that, for the other */
	json *asked, *anew;       /* what the one was asked, and then the other */
};

static void tell(const struct change_of_hands *c, const char *what, const char *detail)
{
	walk_broken_by(c->k, c->t->node, what, detail, c->t->offers, c->t->n_offers);
}

/* A step that must be refused, and change nothing. */
static void locked_out(const struct change_of_hands *c, const struct stage *at, const char *owner)
{
	CLEANUP(play_end) struct play p;
	CLEANUP(json_free) json *printed = NULL;
	struct stage_call call = {.owner = owner};
	struct error err;

	play_begin(&p, c->k, c->t->node, at);
	if (play_call(&p, &call, &printed, &err) == 0)
		tell(c, "a step is let in while another holds the work item", owner ? owner : "");
	else if (err.code != ERR_STATE)
		tell(c, "a step is kept out for another reason than the holder", err.text);
	else if (!check_same(p.stage, at))
		tell(c, "a step that was refused has changed the document", owner ? owner : "");
}

static void add_member(struct buf *out, const json *action, const char *key)
{
	const json *value = json_get(action, key);

	if (value)
		json_print(out, value);
}

/* The same but for the id and what is made of it. */
static bool same_request(const json *a, const json *b)
{
	static const char *const keys[] = {"action", "agent", "skill", "command", "trigger",
		"read_sections", "write_section", "result_format"};

	for (size_t i = 0; i < COUNT(keys); i++) {
		CLEANUP(buf_release) struct buf one = BUF_INIT, two = BUF_INIT;

		add_member(&one, a, keys[i]);
		add_member(&two, b, keys[i]);
		if (!str_eq(buf_str(&one), buf_str(&two)))
			return false;
	}
	return true;
}

static bool keeps_id(const struct change_of_hands *c, const json *action)
{
	const char *running = c->other.stage->world.running;

	return running && strcmp(running, json_get_str(action, "id")) == 0;
}

static void check_requests(const struct change_of_hands *c)
{
	static const struct form fits = {.name = "late", .text = "So it is."};
	const json *b = json_first(c->anew);

	if (json_len(c->asked) != json_len(c->anew))
		tell(c, "a take-over does not ask the same", "");
	for (const json *a = json_first(c->asked); a && b; a = json_next(a), b = json_next(b)) {
		const char *old = json_get_str(a, "id"), *id = json_get_str(b, "id");
		bool same = strcmp(old, id) == 0;

		if (!same_request(a, b))
			tell(c, "a take-over asks for something else", id);
		if (same != keeps_id(c, a))
			tell(c,
				same ? "a take-over leaves an old id in force"
				     : "a take-over asks anew for what is still at work",
				old);
		if (same)
			continue;
		check_refused(c->k, c->t->node, c->other.stage, FIRST, a, &fits, "of who lost it");
		check_refused(c->k, c->t->node, c->other.stage, NULL, a, &fits, "under an old id");
	}
}

/* The answer of the one leads where the answer of the other does. */
static void check_answer(const struct change_of_hands *c)
{
	CLEANUP(play_end) struct play one, two;
	struct error err;

	play_begin(&one, c->k, c->t->node, c->first.stage);
	play_begin(&two, c->k, c->t->node, c->other.stage);
	if (play_form_by(&one, FIRST, json_first(c->asked), c->t->good, &err) < 0 ||
		play_form_by(&two, OTHER, json_first(c->anew), c->t->good, &err) < 0)
		tell(c, "an answer of who holds the work item is refused", err.text);
	else if (strcmp(one.key.s, two.key.s) != 0)
		tell(c, "an answer leads elsewhere after a take-over", two.key.s);
}

static void crash_everywhere(const struct change_of_hands *c)
{
	struct deed take = {.what = "'step --take-over'",
		.step = {.owner = OTHER, .take_over = true},
		.next = {.owner = OTHER, .take_over = true},
		.offers = c->t->offers,
		.n_offers = c->t->n_offers};
	struct deed record = {.what = "'record --owner'",
		.action = json_first(c->asked),
		.form = c->t->good,
		.step = {.owner = FIRST},
		.next = {.owner = FIRST},
		.offers = c->t->offers,
		.n_offers = c->t->n_offers};

	crash_deed(c->k, c->t->node, c->first.stage, &take);
	take.next = (struct stage_call){.owner = FIRST};
	crash_deed(c->k, c->t->node, c->first.stage, &take);
	if (!c->t->good->silent)
		crash_deed(c->k, c->t->node, c->first.stage, &record);
}

static bool take_over(struct change_of_hands *c, const struct stage *at)
{
	struct stage_call hold = {.owner = FIRST}, take = {.owner = OTHER, .take_over = true};
	struct error err;

	play_begin(&c->first, c->k, c->t->node, at);
	if (play_call(&c->first, &hold, &c->asked, &err) < 0) {
		play_begin(&c->other, c->k, c->t->node, at);
		tell(c, "a step of an owner fails", err.text);
		return false;
	}
	play_begin(&c->other, c->k, c->t->node, c->first.stage);
	if (play_call(&c->other, &take, &c->anew, &err) < 0) {
		tell(c, "a take-over fails", err.text);
		return false;
	}
	if (strcmp(c->first.key.s, c->other.key.s) != 0)
		tell(c, "a take-over leads to another state", c->other.key.s);
	return true;
}

static void check_hands(const struct change_of_hands *c)
{
	CLEANUP(play_end) struct play again;
	CLEANUP(json_free) json *printed = NULL;
	CLEANUP(buf_release) struct buf one = BUF_INIT, two = BUF_INIT;
	struct stage_call call = {.owner = OTHER};
	struct error err;

	locked_out(c, c->first.stage, OTHER);
	locked_out(c, c->first.stage, NULL);
	locked_out(c, c->other.stage, FIRST);
	check_requests(c);
	play_begin(&again, c->k, c->t->node, c->other.stage);
	if (play_call(&again, &call, &printed, &err) == 0)
		json_print(&one, printed);
	json_print(&two, c->anew);
	if (!str_eq(buf_str(&one), buf_str(&two)))
		tell(c, "the step after a take-over prints something else", one.s ? one.s : "");
	if (!c->t->good->silent)
		check_answer(c);
}

void check_take_over(struct walk *k, const struct stage *at, const struct take_over *t)
{
	struct change_of_hands c = {.k = k, .t = t};

	if (take_over(&c, at)) {
		check_hands(&c);
		if (t->crashes)
			crash_everywhere(&c);
	}
	k->takeovers++;
	json_free(&c.asked);
	json_free(&c.anew);
	play_end(&c.first);
	play_end(&c.other);
}
