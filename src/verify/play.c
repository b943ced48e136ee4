#include "src/verify/walk.h"

static void closing(void *data, const struct context *doc)
{
	struct play *p = data;

	buf_clear(&p->key);
	key_of(&p->walk->rules, doc, p->changes, &p->key);
}

struct stage *play_load(struct walk *k, uint32_t node)
{
	struct stage *s = stage_new(k->w, "T-1", 1);

	if (k->nodes[node].doc)
		stage_put_document(s, str_of(k->nodes[node].doc));
	return s;
}

void play_begin(struct play *p, struct walk *k, uint32_t node, const struct stage *at)
{
	*p = (struct play){.stage = stage_copy(at), .walk = k, .changes = k->nodes[node].changes};
	p->stage->closing = closing;
	p->stage->data = p;
	if (k->sabotage)
		k->sabotage(p->stage);
}

void play_end(struct play *p)
{
	stage_free(&p->stage);
	buf_release(&p->key);
}

int play_form_by(struct play *p, const char *owner, const json *action, const struct form *f,
	struct error *err)
{
	enum answer_fate fate;

	p->walk->plays++;
	return stage_record(
		p->stage, owner, json_get_str(action, "id"), f->word, str_of(f->text), &fate, err);
}

int play_form(struct play *p, const json *action, const struct form *f, struct error *err)
{
	return play_form_by(p, NULL, action, f, err);
}

int play_call(struct play *p, const struct stage_call *call, json **printed, struct error *err)
{
	p->walk->plays++;
	p->stage->world.asked = 0;
	return stage_step(p->stage, call, printed, err);
}

int play_step(struct play *p, bool returned, json **printed, struct error *err)
{
	return play_call(p, &(struct stage_call){.returned = returned}, printed, err);
}

void play_key(struct play *p, unsigned changes)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error err;

	if (changes == p->changes)
		return;
	p->changes = changes;
	if (stage_look(p->stage, &f, &err) == 0)
		closing(p, &f.doc);
}

struct stage *play_budget(struct walk *k, const struct stage *at, bool spent)
{
	struct stage *s = stage_copy(at);
	struct error err;
	char number[32];

	(void)snprintf(number, sizeof(number), "%lu", k->w->limits.max_actions);
	(void)stage_set(s, spent ? "actions_dispatched" : "budget_extensions",
		spent ? str_of(number) : STR("2"), &err);
	return s;
}
