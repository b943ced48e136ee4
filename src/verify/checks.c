#include "src/verify/crashes.h"

bool check_same(const struct stage *a, const struct stage *b)
{
	CLEANUP(buf_release) struct buf one = BUF_INIT, other = BUF_INIT;

	return stage_document(a, &one) && stage_document(b, &other) &&
	       str_eq(buf_str(&one), buf_str(&other));
}

void check_refused(struct walk *k, uint32_t node, const struct stage *at, const char *owner,
	const json *action, const struct form *f, const char *what)
{
	CLEANUP(play_end) struct play p;
	struct offer offer = {json_get_str(action, "id"), f->word, f->text};
	struct error err;

	play_begin(&p, k, node, at);
	if (play_form_by(&p, owner, action, f, &err) == 0)
		walk_broken_by(k, node, "an answer is taken that must be refused", what, &offer, 1);
	else if (!check_same(p.stage, at))
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

/* And the machine may stop while it is refused: why has nothing to do with what else is there. */
static void refused(struct walk *k, uint32_t node, const struct stage *at, const json *action,
	const struct form *f, const char *what)
{
	CLEANUP(buf_release) struct buf kind = BUF_INIT;
	const char *trigger = json_get_str(action, "trigger");
	struct offer offer = {json_get_str(action, "id"), f->word, f->text};
	struct deed deed = {
		.what = what, .action = action, .form = f, .offers = &offer, .n_offers = 1};

	check_refused(k, node, at, NULL, action, f, what);
	buf_addf(&kind, "refused %s %s %s %s", k->nodes[node].state,
		json_get_str(action, "write_section"), trigger ? trigger : "", what);
	if (walk_first(k, kind.s))
		crash_deed(k, node, at, &deed);
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
	else if (!check_same(p.stage, at))
		walk_broken_by(k, node, "the same answer a second time changes the document", "",
			twice, 2);
	other.text = json_get_str(action, "trigger")
			     ? "Now so.\n{\"action\": \"continue\", \"reason\": \"now so\"}"
			     : "Now so.";
	check_refused(k, node, at, NULL, action, &other, "a second, other answer");
}
