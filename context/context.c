#include "context/internal.h"
#include "src/base/number.h"
#include "src/base/vec.h"

const struct key_row context_keys[] = {
	{"state", KEY_TEXT},
	{"work_item_id", KEY_TEXT},
	{"spec_path", KEY_TEXT},
	{"fix_iteration", KEY_COUNT},
	{"review_fix_iteration", KEY_COUNT},
	{"pr_url", KEY_TEXT},
	{"build_log", KEY_TEXT},
	{"test_log", KEY_TEXT},
	{"signoff_cycle_count", KEY_COUNT},
	{"consecutive_failures", KEY_COUNT},
	{"review_cycle_count", KEY_COUNT},
	{"troubleshooter_input", KEY_TEXT},
	{"pending_agent", KEY_TEXT},
	{"started", KEY_TEXT},
	{"last_updated", KEY_TEXT},
	{"actions_dispatched", KEY_COUNT},
	{"troubleshooter_calls", KEY_COUNT},
	{"budget_extensions", KEY_COUNT_LATER},
	{"attempts", KEY_MAP},
	{"revision", KEY_COUNT},
};
const size_t context_n_keys = COUNT(context_keys);

bool context_is_counter(const char *key)
{
	for (size_t i = 0; i < context_n_keys; i++)
		if (strcmp(context_keys[i].name, key) == 0)
			return context_keys[i].kind == KEY_COUNT ||
			       context_keys[i].kind == KEY_COUNT_LATER;
	return false;
}

static const char *first_value(const char *key, const char *id, const char *state, const char *now)
{
	if (strcmp(key, "state") == 0)
		return state;
	if (strcmp(key, "work_item_id") == 0)
		return id;
	if (strcmp(key, "started") == 0 || strcmp(key, "last_updated") == 0)
		return now;
	if (strcmp(key, "attempts") == 0)
		return "{}";
	return context_is_counter(key) ? "0" : "";
}

int context_new(struct context *c, const char *file, const char *id, const char *state,
	const char *now, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc;

	buf_adds(&text, "---\n");
	for (size_t i = 0; i < context_n_keys; i++) {
		const char *key = context_keys[i].name, *value = first_value(key, id, state, now);

		if (context_keys[i].kind == KEY_COUNT_LATER)
			continue;
		buf_addf(&text, "%s:%s", key, *value ? " " : "");
		if (strcmp(key, "work_item_id") == 0 || strcmp(key, "state") == 0)
			yml_add_scalar(&text, str_of(value));
		else
			buf_adds(&text, value);
		buf_addc(&text, '\n');
	}
	buf_addf(&text, "---\n\n# %s Dev Team Context\n", id);
	rc = context_parse(c, file, buf_str(&text), err);
	c->changed = rc == 0;
	return rc;
}

void context_release(struct context *c)
{
	buf_release(&c->own);
	arena_release(&c->arena);
	*c = (struct context){0};
}

struct field *context_field(const struct context *c, const char *key)
{
	for (size_t i = 0; i < c->n_fields; i++)
		if (str_is(c->fields[i].key, key))
			return &c->fields[i];
	return NULL;
}

struct field *context_add_field(struct context *c, struct str key)
{
	struct field *f;

	c->fields =
		vec_grow(&c->arena, c->fields, c->n_fields, &c->cap_fields, 1, sizeof(*c->fields));
	f = &c->fields[c->n_fields++];
	*f = (struct field){.key = arena_str(&c->arena, key), .value = {"", 0}};
	return f;
}

struct section *context_find_section(const struct context *c, struct str name)
{
	for (size_t i = 0; i < c->n_sections; i++)
		if (!c->sections[i].removed && str_eq(c->sections[i].name, name))
			return &c->sections[i];
	return NULL;
}

struct section *context_add_section(struct context *c, struct str name)
{
	struct section *s;

	c->sections = vec_grow(
		&c->arena, c->sections, c->n_sections, &c->cap_sections, 1, sizeof(*c->sections));
	s = &c->sections[c->n_sections++];
	*s = (struct section){.name = arena_str(&c->arena, name)};
	return s;
}

bool context_has(const struct context *c, const char *key)
{
	return context_field(c, key) != NULL;
}

struct str context_get(const struct context *c, const char *key)
{
	const struct field *f = context_field(c, key);

	return f ? f->value : (struct str){"", 0};
}

unsigned long context_count(const struct context *c, const char *key)
{
	uint64_t count;

	(void)number_digits(context_get(c, key), &count);
	return count;
}

/* Quotes are kept away from values that must read back as they are: maps are written by this file
 * alone. */
static void set_raw(struct context *c, const char *key, struct str value)
{
	struct field *f = context_field(c, key);

	if (f && str_eq(f->value, value))
		return;
	if (!f)
		f = context_add_field(c, str_of(key));
	f->value = arena_str(&c->arena, value);
	f->changed = c->changed = true;
}

void context_set(struct context *c, const char *key, struct str value)
{
	if (value.n || context_field(c, key))
		set_raw(c, key, value);
}

void context_set_count(struct context *c, const char *key, unsigned long value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%lu", value);
	if (value || context_get(c, key).n)
		set_raw(c, key, str_of(text));
}

static unsigned long count_of(const struct yml *node)
{
	uint64_t count;

	(void)number_digits(node->kind == YML_SCALAR ? node->text : STR(""), &count);
	return count;
}

/* As the file has it, in whichever style a person wrote it, or as it was set since. */
static const struct yml *attempts_of(struct context *c)
{
	const struct field *f = context_field(c, "attempts");
	struct yml *map = NULL;
	struct error ignored;

	if (f && f->node && !f->changed)
		return f->node;
	if (f && yml_parse(&c->arena, f->value, c->file, 1, &map, &ignored) < 0)
		return NULL;
	return map;
}

unsigned long context_attempts(const struct context *c, const char *state)
{
	const struct yml *map = attempts_of((struct context *)c),
			 *n = map ? yml_get(map, state) : NULL;

	return n ? count_of(n) : 0;
}

static unsigned long attempt_of(struct context *c, const char *state)
{
	const struct yml *map = attempts_of(c);

	for (size_t i = 0; map && map->kind == YML_MAP && i < map->n; i++)
		if (str_is(map->map[i].key->text, state))
			return count_of(map->map[i].value);
	return 0;
}

static void put_attempt(struct context *c, const char *state, unsigned long n)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct yml *map = attempts_of(c);
	size_t others = map && map->kind == YML_MAP ? map->n : 0;
	bool found = false;

	buf_addc(&text, '{');
	for (size_t i = 0; i < others; i++) {
		bool own = str_is(map->map[i].key->text, state);

		found |= own;
		buf_adds(&text, i ? ", " : "");
		yml_add_scalar(&text, map->map[i].key->text);
		buf_addf(&text, ": %lu", own ? n : count_of(map->map[i].value));
	}
	if (!found) {
		buf_adds(&text, others ? ", " : "");
		yml_add_scalar(&text, str_of(state));
		buf_addf(&text, ": %lu", n);
	}
	buf_addc(&text, '}');
	set_raw(c, "attempts", buf_str(&text));
}

unsigned long context_next_attempt(struct context *c, const char *state)
{
	unsigned long n = attempt_of(c, state) + 1;

	put_attempt(c, state, n);
	return n;
}

void context_raise_attempt(struct context *c, const char *state, unsigned long n)
{
	if (n > attempt_of(c, state))
		put_attempt(c, state, n);
}

static void learn_text(struct context *c, struct section *s)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (s->known)
		return;
	sentinel_unescape(&text, str_trim(str_sub(c->text, s->body, s->to)));
	s->text = arena_str(&c->arena, buf_str(&text));
	s->known = true;
}

struct str context_section(const struct context *c, const char *name)
{
	struct section *s = context_find_section(c, str_of(name));

	if (!s)
		return (struct str){"", 0};
	learn_text((struct context *)c, s); /* a cache: what can be seen of *c stays as it was */
	return s->text;
}

unsigned context_section_line(const struct context *c, const char *name)
{
	const struct section *s = context_find_section(c, str_of(name));
	unsigned line = 1, col;

	if (s && !s->added)
		text_place(c->text,
			(size_t)(str_trim(str_sub(c->text, s->body, s->to)).p - c->text.p), &line,
			&col);
	return line;
}

bool context_has_section(const struct context *c, const char *name)
{
	const struct section *s = context_find_section(c, str_of(name));

	if (!s)
		return false;
	return s->known ? s->text.n > 0 : str_trim(str_sub(c->text, s->body, s->to)).n > 0;
}

size_t context_sections(const struct context *c)
{
	return c->n_sections;
}

struct str context_section_name(const struct context *c, size_t i)
{
	return c->sections[i].removed ? (struct str){"", 0} : c->sections[i].name;
}

void context_put(struct context *c, const char *name, struct str text)
{
	struct section *s = context_find_section(c, str_of(name));

	text = str_trim(text);
	if (!s && !text.n)
		return;
	if (s && text.n) {
		learn_text(c, s);
		if (str_eq(s->text, text))
			return;
	}
	if (!s) {
		s = context_add_section(c, str_of(name));
		s->added = true;
	}
	s->text = arena_str(&c->arena, text);
	s->removed = text.n == 0;
	s->known = s->changed = c->changed = true;
}
