#include "src/explore/walk.h"

static bool same_document(const struct stage *a, const struct stage *b)
{
	CLEANUP(buf_release) struct buf one = BUF_INIT, other = BUF_INIT;

	return stage_document(a, &one) && stage_document(b, &other) &&
	       str_eq(buf_str(&one), buf_str(&other));
}

/* An answer that must be refused, and change nothing. */
static void refused(struct walk *k, uint32_t node, const struct stage *at, const json *action,
	const struct form *f, const char *what)
{
	CLEANUP(play_end) struct play p;
	struct offer offer = {json_get_str(action, "id"), f->word, f->text};
	struct error err;

	play_begin(&p, k, node, at);
	if (play_form(&p, action, f, &err) == 0)
		walk_broken_by(k, node, "an answer is taken that must be refused", what, &offer, 1);
	else if (!same_document(p.stage, at))
		walk_broken_by(k, node, "an answer that was refused has changed the document", what,
			&offer, 1);
	k->refused++;
}

/* `T-1/implementing/3` -> `T-1/implementing/2`, which is answered or was given up; or one that
 * never was. */
static json *late(const json *action)
{
	json *copy = json_copy(action);
	const char *id = json_get_str(action, "id"), *slash = strrchr(id, '/');
	char other[300];
	unsigned long n = slash ? strtoul(slash + 1, NULL, 10) : 0;

	(void)snprintf(other, sizeof(other), "%.*s/%lu", slash ? (int)(slash - id) : 0, id,
		n > 1 ? n - 1 : n + 100);
	json_set(copy, "id", json_string(str_of(other)));
	return copy;
}

static bool outstanding(const struct stage *at, const json *action)
{
	CLEANUP(buf_release) struct buf id = BUF_INIT, doc = BUF_INIT;

	buf_addf(&id, "\"id\":\"%s\"", json_get_str(action, "id"));
	return stage_document(at, &doc) && str_find(buf_str(&doc), buf_str(&id)) < doc.len;
}

static void refusals(struct walk *k, uint32_t node, const struct stage *at, const json *action)
{
	static const struct form fits = {.name = "late", .text = "So it is."};
	CLEANUP(json_free) json *other = late(action);
	struct arena a = {0};
	struct forms list;

	forms_refused(&a, action, &list);
	for (size_t i = 0; i < list.n; i++)
		refused(k, node, at, action, &list.list[i], list.list[i].name);
	if (!outstanding(at, other))
		refused(k, node, at, other, &fits, "a late answer");
	arena_release(&a);
}

bool check_node(struct walk *k, uint32_t node, const struct stage *at, const json *printed)
{
	CLEANUP(buf_release) struct buf kind = BUF_INIT;
	CLEANUP(context_close) struct context_file f = {0};
	struct error err;

	if (stage_look(at, &f, &err) == 0)
		key_kind(&k->rules, &f.doc, 0, &kind);
	if (!kind.len || !walk_first(k, kind.s))
		return false;
	for (const json *a = json_first(printed); a; a = json_next(a))
		refusals(k, node, at, a);
	return true;
}

void check_second(struct walk *k, uint32_t node, const struct stage *at, const json *action,
	const struct form *given)
{
	CLEANUP(play_end) struct play p;
	struct offer offer = {json_get_str(action, "id"), given->word, given->text},
		     twice[] = {offer, offer};
	struct form other = *given;
	struct error err;

	play_begin(&p, k, node, at);
	if (play_form(&p, action, given, &err) < 0)
		walk_broken_by(
			k, node, "the same answer a second time is refused", err.text, twice, 2);
	else if (!same_document(p.stage, at))
		walk_broken_by(k, node, "the same answer a second time changes the document", "",
			twice, 2);
	other.text = json_get_str(action, "trigger")
			     ? "Now so.\n{\"action\": \"continue\", \"reason\": \"now so\"}"
			     : "Now so.";
	refused(k, node, at, action, &other, "a second, other answer");
}

/* One invocation in which the machine stops. */
struct crash {
	struct walk *k;
	uint32_t node;
	const json *printed, *action; /* action NULL: a step */
	const struct form *form;
	bool power;
};

static int invoke(const struct crash *c, struct play *p, struct error *err)
{
	CLEANUP(json_free) json *printed = NULL;

	return c->action ? play_form(p, c->action, c->form, err)
			 : play_step(p, true, &printed, err);
}

/* What the next step makes of it: the key, and the ids that it prints. */
static char *outcome_of(struct arena *a, struct play *p)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free) json *printed = NULL;
	struct error err;

	if (play_step(p, false, &printed, &err) < 0)
		return arena_dup(a, str_of(err.text));
	buf_add(&text, buf_str(&p->key));
	for (const json *j = json_first(printed); j; j = json_next(j))
		if (json_get_str(j, "id"))
			buf_addf(&text, " %s", json_get_str(j, "id"));
	return arena_dup(a, buf_str(&text));
}

/* True while there is a call `n` at which it can stop. */
static bool crash_at(const struct crash *c, const struct stage *at, unsigned n, const char *before,
	const char *after)
{
	CLEANUP(play_end) struct play p;
	struct arena a = {0};
	struct error err;
	const char *got;
	bool stopped;

	play_begin(&p, c->k, c->node, at);
	stage_fault(p.stage, n, c->power ? SIM_STOP_HALF : SIM_STOP);
	(void)invoke(c, &p, &err);
	stopped = sim_disk_stopped(p.stage->disk);
	stage_restart(p.stage, c->power);
	stage_fault(p.stage, 1, SIM_NONE);
	got = outcome_of(&a, &p);
	if (strcmp(got, before) != 0 && strcmp(got, after) != 0)
		walk_broken(c->k, c->node, "a crash leaves neither what was nor what comes", got);
	c->k->crashes++;
	arena_release(&a);
	return stopped;
}

static void crash_everywhere(struct crash *c, const struct stage *at)
{
	CLEANUP(play_end) struct play untouched, done;
	struct arena a = {0};
	const char *before, *after;
	struct error err;

	play_begin(&untouched, c->k, c->node, at);
	play_begin(&done, c->k, c->node, at);
	before = outcome_of(&a, &untouched);
	if (invoke(c, &done, &err) == 0) {
		after = outcome_of(&a, &done);
		for (int power = 0; power < 2; power++) {
			c->power = power;
			for (unsigned n = 1; crash_at(c, at, n, before, after); n++)
				;
		}
	}
	arena_release(&a);
}

void check_crashes(struct walk *k, uint32_t node, const struct stage *at, const json *printed,
	const struct form *const *forms)
{
	CLEANUP(buf_release) struct buf kind = BUF_INIT;
	CLEANUP(play_end) struct play p;
	struct crash c = {.k = k, .node = node, .printed = printed};
	const char *trigger = json_get_str(json_first(printed), "trigger");
	struct error err;
	size_t i = 0;

	buf_addf(&kind, "crash %s %s %zu", k->nodes[node].state, trigger ? trigger : "",
		json_len(printed));
	play_begin(&p, k, node, at);
	if (!walk_first(k, kind.s))
		return;
	for (const json *a = json_first(printed); a; a = json_next(a), i++) {
		c.action = a;
		c.form = forms[i];
		crash_everywhere(&c, p.stage);
		if (play_form(&p, a, forms[i], &err) < 0)
			return;
	}
	c.action = NULL;
	crash_everywhere(&c, p.stage);
}
