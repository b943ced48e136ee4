#include <stdarg.h>
#include "src/schema/scan.h"
#include "src/schema/schema_internal.h"

/* A schema of forms within forms can ask for more than anybody waits for. */
enum { BUDGET = 20000000 };

/* From the whole down to the spot. */
static void put_pointer(struct checker *c, struct buf *out, const struct spot *s)
{
	if (!s->up)
		return;
	put_pointer(c, out, s->up);
	if (s->key)
		buf_adds(out, pointer_add(c->arena, "", s->key));
	else
		buf_addf(out, "/%zu", s->index);
}

/* A fixed word anywhere; kinds and words of the value itself that is asked for its form. */
static bool mismatch(const struct checker *c, const char *keyword, const struct spot *s)
{
	if (strcmp(keyword, "const") == 0)
		return true;
	return s->value == c->form &&
	       (strcmp(keyword, "type") == 0 || strcmp(keyword, "enum") == 0);
}

static void list_fault(
	struct checker *c, const char *keyword, const struct spot *s, const char *text)
{
	CLEANUP(buf_release) struct buf at = BUF_INIT;

	put_pointer(c, &at, s);
	c->values[c->listed] = s->value;
	c->list[c->listed++] = (struct schema_fault){arena_dup(c->arena, buf_str(&at)), keyword,
		arena_dup(c->arena, str_of(text)), 0, 0};
}

static bool silent(const struct checker *c)
{
	return c->mute || c->listed == FAULTS_MAX;
}

const char *hold_shown(const struct checker *c, const json *value)
{
	return silent(c) ? "" : value_shown(c->arena, value);
}

const char *hold_shown_text(const struct checker *c, const char *text)
{
	return silent(c) ? "" : text_shown(c->arena, text);
}

void hold_fault(struct checker *c, const struct rule *r, const struct spot *s, const char *fmt, ...)
{
	CLEANUP(free_ptr) char *text = NULL;
	const char *keyword = r ? r->keyword->name : "false";
	va_list ap;

	c->tally.n++;
	c->tally.mismatches += mismatch(c, keyword, s);
	if (silent(c))
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		base_oom();
	va_end(ap);
	list_fault(c, keyword, s, text);
}

static void out_of_budget(struct checker *c, const struct spot *s)
{
	c->budget = -1; /* told once */
	while (s->up)
		s = s->up;
	c->tally.n++;
	c->tally.mismatches++;
	if (c->listed < FAULTS_MAX)
		list_fault(c, "", s, "it takes too long to hold it to this schema");
}

void hold_node(struct checker *c, const struct node *n, const struct spot *s)
{
	unsigned kinds = value_kinds(s->value);

	if (c->budget < 0)
		return;
	if (c->budget-- == 0) {
		out_of_budget(c, s);
		return;
	}
	if (n->never)
		hold_fault(c, NULL, s, "nothing may stand here");
	for (const struct rule *r = n->rules; r; r = r->next)
		if (r->keyword->check && (!r->keyword->kinds || (r->keyword->kinds & kinds)))
			r->keyword->check(c, n, r, s);
}

struct tally hold_quietly(struct checker *c, const struct node *n, const struct spot *s)
{
	struct tally before = c->tally, got;
	const json *form = c->form;
	bool mute = c->mute;

	c->tally = (struct tally){0};
	c->mute = true;
	c->form = s->value;
	hold_node(c, n, s);
	c->mute = mute;
	c->form = form;
	got = c->tally;
	c->tally = before;
	return got;
}

/* Their order is that of the schema as yet: each behind those of the values before it. */
static void in_order(const struct checker *c, const json *j, struct schema_faults *out)
{
	for (size_t i = 0; i < c->listed; i++)
		if (c->values[i] == j)
			out->list[out->n++] = c->list[i];
	for (const json *m = json_first(j); m && out->n < c->listed; m = json_next(m))
		in_order(c, m, out);
}

size_t schema_check(
	struct arena *a, const struct schema *s, const json *instance, struct schema_faults *out)
{
	struct checker c = {.arena = a, .budget = BUDGET};
	struct spot whole = {.value = instance};

	c.list = arena_alloc(a, FAULTS_MAX * sizeof(*c.list));
	c.values = arena_alloc(a, FAULTS_MAX * sizeof(const json *));
	hold_node(&c, s->root, &whole);
	*out = (struct schema_faults){.list = arena_alloc(a, FAULTS_MAX * sizeof(*out->list))};
	in_order(&c, instance, out);
	return c.tally.n;
}

int schema_check_text(struct arena *a, const struct schema *s, const char *file, struct str text,
	struct schema_faults *out, struct error *err)
{
	CLEANUP(json_free) json *instance = NULL;

	*out = (struct schema_faults){0};
	if (json_read(&instance, file, text, err) < 0)
		return -1;
	(void)schema_check(a, s, instance, out);
	for (size_t i = 0; i < out->n; i++)
		(void)json_locate(text, out->list[i].at, &out->list[i].line, &out->list[i].col);
	return 0;
}
