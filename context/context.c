#include "context/internal.h"
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/sys/path.h"

const struct key_row context_keys[] = {
	{"state", KEY_STATE, 0},
	{"work_item_id", KEY_ID, KEY_BY_MACHINE},
	{"spec_path", KEY_TEXT, 0},
	{"fix_iteration", KEY_COUNT, 0},
	{"review_fix_iteration", KEY_COUNT, 0},
	{"pr_url", KEY_TEXT, 0},
	{"build_log", KEY_TEXT, 0},
	{"test_log", KEY_TEXT, 0},
	{"signoff_cycle_count", KEY_COUNT, 0},
	{"consecutive_failures", KEY_COUNT, 0},
	{"review_cycle_count", KEY_COUNT, 0},
	{"troubleshooter_input", KEY_TEXT, 0},
	{"user_note", KEY_TEXT, KEY_LATER},
	{"pending_agent", KEY_TEXT, 0},
	{"started", KEY_TIME, 0},
	{"last_updated", KEY_TIME, 0},
	{"actions_dispatched", KEY_COUNT, 0},
	{"troubleshooter_calls", KEY_COUNT, 0},
	{"budget_extensions", KEY_COUNT, KEY_LATER},
	{"earlier_fixes", KEY_COUNT, KEY_LATER},
	{"attempts", KEY_MAP, KEY_BY_MACHINE},
	{"visits", KEY_MAP, KEY_BY_MACHINE | KEY_LATER},
	{"failures", KEY_MAP, KEY_BY_MACHINE | KEY_LATER},
	{"format", KEY_ANY, KEY_LATER | KEY_BY_MACHINE},
	{"outcome", KEY_ANY, KEY_LATER},
	{"landed", KEY_TEXT, KEY_LATER},
	{"cancelled", KEY_TEXT, KEY_LATER | KEY_BY_MACHINE},
	{"failed_node", KEY_TEXT, KEY_LATER | KEY_BY_MACHINE},
	{"question", KEY_ANY, KEY_LATER},
	{"question_trigger", KEY_ANY, KEY_LATER},
	{"wait_until", KEY_UNTIL, KEY_LATER},
	{"wait_reason", KEY_TEXT, KEY_LATER},
	{"usage_waits", KEY_COUNT, KEY_LATER},
	{"parent", KEY_TEXT, KEY_LATER | KEY_BY_MACHINE},
};
const size_t context_n_keys = COUNT(context_keys);

static const struct key_row *find_row(const char *key)
{
	for (size_t i = 0; i < context_n_keys; i++)
		if (strcmp(context_keys[i].name, key) == 0)
			return &context_keys[i];
	return NULL;
}

bool context_owns(struct str key)
{
	return find_row(key.p) || str_is(key, "<<");
}

bool context_is_counter(const char *key)
{
	const struct key_row *row = find_row(key);

	return row && row->kind == KEY_COUNT;
}

/* A `format` that is not a number is a key of the user's. */
static bool by_hand(const char *key, struct str value)
{
	const struct key_row *row = find_row(key);
	uint64_t ignored;

	return !row || !(row->flags & KEY_BY_MACHINE) ||
	       (row->kind == KEY_ANY && !number_parse(value, 0, CONTEXT_COUNT_MAX, &ignored));
}

int context_check_key(struct arena *a, const char *key, struct str *value, struct error *err)
{
	struct str name = str_of(key);
	uint64_t count;
	int64_t time;

	if (value->n && memchr(value->p, 0, value->n))
		return error_set(err, ERR_INPUT, "the value has a NUL byte");
	*value = arena_str(a, *value);
	if (!path_is_id(name) || str_find(name, STR(".")) < name.n)
		return error_set(
			err, ERR_USAGE, "bad key '%.100s': must be letters, digits, '_', '-'", key);
	if (!by_hand(key, *value))
		return error_set(err, ERR_INPUT, "'%s' cannot be set by hand", key);
	if (str_utf8_fault(*value))
		return error_set(err, ERR_INPUT, "the value is not UTF-8 text: byte %zu",
			str_utf8_fault(*value));
	if (strcmp(key, "state") == 0 && !value->n)
		return error_set(err, ERR_INPUT, "'state' must not be empty");
	if (context_is_counter(key) && !number_parse(*value, 0, CONTEXT_COUNT_MAX, &count))
		return number_refuse(err, ERR_INPUT, key, *value, 0, CONTEXT_COUNT_MAX);
	if (strcmp(key, "wait_until") == 0 && value->n && !clock_parse_rfc3339(*value, &time))
		return error_set(err, ERR_INPUT,
			"'wait_until' must be a time such as 2026-11-21T03:48:12Z, not '%.60s'",
			value->p);
	if (strcmp(key, "wait_until") == 0 && value->n && time <= clock_now())
		return error_set(err, ERR_INPUT,
			"'wait_until': '%.60s' has passed: give a later time, or nothing to end a "
			"wait",
			value->p);
	return 0;
}

int context_new(struct context *c, const char *file, const char *id, const char *state,
	const char *now, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, first = BUF_INIT, owner = BUF_INIT;
	int rc;

	yaml_add_scalar(&first, str_of(state));
	yaml_add_scalar(&owner, str_of(id));
	buf_adds(&text, "---\n");
	for (size_t i = 0; i < context_n_keys; i++) {
		const char *const values[] = {NULL, "", first.s, owner.s, now, "0", "{}", ""};
		const char *value = values[context_keys[i].kind];

		if (!(context_keys[i].flags & KEY_LATER))
			buf_addf(
				&text, "%s:%s%s\n", context_keys[i].name, *value ? " " : "", value);
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
	for (size_t i = 0; i < c->fields.n; i++)
		if (str_is(c->fields.items[i].key, key))
			return &c->fields.items[i];
	return NULL;
}

struct field *context_add_field(struct context *c, struct str key)
{
	vec_push_in(&c->arena, &c->fields,
		(struct field){.key = arena_str(&c->arena, key), .value = {"", 0}});
	return &c->fields.items[c->fields.n - 1];
}

struct section *context_find_section(const struct context *c, struct str name)
{
	for (size_t i = 0; i < c->sections.n; i++)
		if (!c->sections.items[i].removed && str_eq(c->sections.items[i].name, name))
			return &c->sections.items[i];
	return NULL;
}

struct section *context_add_section(struct context *c, struct str name)
{
	vec_push_in(&c->arena, &c->sections, (struct section){.name = arena_str(&c->arena, name)});
	return &c->sections.items[c->sections.n - 1];
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
	return number_or(context_get(c, key), CONTEXT_COUNT_MAX, 0);
}

unsigned long context_fixes(const struct context *c)
{
	return context_count(c, "fix_iteration") + context_count(c, "review_fix_iteration") +
	       context_count(c, "earlier_fixes");
}

/* Sets a value as it is to be written. */
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

/* ---- keys that only people write ---- */

static bool is_written_by_people(struct str key)
{
	return !context_owns(key) || str_is(key, "user_note") || str_is(key, "test_log");
}

/* A text, or a list or map that can be copied as it is: in brackets on one line, and without a
 * reference to another value. */
static bool is_portable(const struct field *f)
{
	if (!f->node || f->node->kind == YAML_SCALAR)
		return !str_starts(f->value, "*") || f->to - f->from != f->value.n;
	if (!strchr("[{", f->value.p[0]))
		return false;
	for (size_t i = 0; i < f->value.n; i++)
		if (strchr("\n&*!#", f->value.p[i]))
			return false;
	return true;
}

void context_take_keys(struct context *to, const struct context *before,
	const struct context *after, const struct context *now)
{
	for (size_t i = 0; i < after->fields.n; i++) {
		const struct field *f = &after->fields.items[i];
		const char *key = f->key.p;
		struct field *old = context_field(to, key);

		if (!is_written_by_people(f->key) || !path_is_id(f->key) || !is_portable(f) ||
			(old && !is_portable(old)) || str_eq(f->value, context_get(before, key)) ||
			!str_eq(f->value, context_get(now, key)))
			continue;
		context_set(to, key, f->value);
		old = context_field(to, key);
		if (old)
			old->raw = f->node && f->node->kind != YAML_SCALAR;
	}
}

/* ---- numbers of actions and visits by state, of failures by section ---- */

/* As the file has it, in whatever YAML style, or as it was set since. */
static const struct yaml *map_of(struct context *c, const char *key)
{
	const struct field *f = context_field(c, key);
	struct yaml *map = NULL;
	struct error ignored;

	if (f && f->node && !f->changed)
		return f->node;
	if (f && yaml_parse(&c->arena, f->value, c->file, 1, &map, &ignored) < 0)
		return NULL;
	return map;
}

static unsigned long map_count(const struct context *c, const char *key, const char *state)
{
	const struct yaml *n = yaml_get(map_of((struct context *)c, key), state);

	return n ? number_or(n->text, CONTEXT_COUNT_MAX, 0) : 0;
}

/* `{state: number, ...}` with `n` as the number of `state`. */
static void write_map(
	struct context *c, const char *key, const char *state, unsigned long n, struct buf *out)
{
	const struct yaml *map = map_of(c, key);
	size_t known = map && map->kind == YAML_MAP ? map->n : 0;
	size_t all = known + (state && !yaml_get(map, state));

	buf_addc(out, '{');
	for (size_t i = 0; i < all; i++) {
		struct str name = i < known ? map->map[i].key->text : str_of(state);

		buf_adds(out, i ? ", " : "");
		yaml_add_scalar(out, name);
		buf_addf(out, ": %lu",
			state && str_is(name, state)
				? n
				: number_or(map->map[i].value->text, CONTEXT_COUNT_MAX, 0));
	}
	buf_addc(out, '}');
}

static void put_map(struct context *c, const char *key, const char *state, unsigned long n)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	write_map(c, key, state, n, &text);
	set_raw(c, key, buf_str(&text));
}

unsigned long context_visits(const struct context *c, const char *state)
{
	return map_count(c, "visits", state);
}

void context_add_visit(struct context *c, const char *state)
{
	put_map(c, "visits", state, context_visits(c, state) + 1);
}

unsigned long context_attempts(const struct context *c, const char *state)
{
	return map_count(c, "attempts", state);
}

static json *map_json(const struct context *c, const char *key)
{
	const struct yaml *map = map_of((struct context *)c, key);
	json *all = json_object();

	for (size_t i = 0; map && map->kind == YAML_MAP && i < map->n; i++)
		json_put_int(all, arena_dup(&((struct context *)c)->arena, map->map[i].key->text),
			(int64_t)number_or(map->map[i].value->text, CONTEXT_COUNT_MAX, 0));
	return all;
}

json *context_attempts_json(const struct context *c)
{
	return map_json(c, "attempts");
}

json *context_failures(const struct context *c)
{
	return map_json(c, "failures");
}

void context_set_failures(struct context *c, const json *counts)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_addc(&text, '{');
	for (const json *n = json_first(counts); n; n = json_next(n)) {
		buf_adds(&text, text.len > 1 ? ", " : "");
		yaml_add_scalar(&text, str_of(json_key(n)));
		buf_addf(&text, ": %lld", (long long)json_int(n, 0));
	}
	buf_addc(&text, '}');
	if (json_first(counts) || context_field(c, "failures"))
		set_raw(c, "failures", buf_str(&text));
}

void context_attempts_text(const struct context *c, struct buf *out)
{
	const struct field *f = context_field(c, "attempts");

	if (f && f->changed)
		buf_add(out, f->value);
	else
		write_map((struct context *)c, "attempts", NULL, 0, out);
}

unsigned long context_next_attempt(struct context *c, const char *state)
{
	unsigned long n = context_attempts(c, state) + 1;

	put_map(c, "attempts", state, n);
	return n;
}

void context_raise_attempts(struct context *c, struct str known)
{
	struct yaml *map = NULL;
	struct error ignored;

	if (str_eq(known, context_get(c, "attempts")) ||
		yaml_parse(&c->arena, known, c->file, 1, &map, &ignored) < 0 ||
		map->kind != YAML_MAP)
		return;
	for (size_t i = 0; i < map->n; i++) {
		const char *state = arena_dup(&c->arena, map->map[i].key->text);
		unsigned long n = number_or(map->map[i].value->text, CONTEXT_COUNT_MAX, 0);

		if (n > context_attempts(c, state))
			put_map(c, "attempts", state, n);
	}
}

/* ---- sections ---- */

static void learn_text(struct context *c, struct section *s)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (s->known)
		return;
	context_unescape(&text, str_trim(str_sub(c->text, s->body, s->to)));
	s->text = arena_str(&c->arena, buf_str(&text));
	s->known = true;
}

struct str context_section(const struct context *c, const char *name)
{
	struct section *s = context_find_section(c, str_of(name));

	if (!s)
		return (struct str){"", 0};
	learn_text((struct context *)c, s); /* fills a cache */
	return s->text;
}

unsigned context_section_line(const struct context *c, const char *name)
{
	const struct section *s = context_find_section(c, str_of(name));
	unsigned line = 1, col;

	if (s && !s->added)
		str_position(c->text,
			(size_t)(str_trim(str_sub(c->text, s->body, s->to)).p - c->text.p), &line,
			&col);
	return line;
}

bool context_has_section(const struct context *c, const char *name)
{
	const struct section *s = context_find_section(c, str_of(name));

	return s && (s->known ? s->text : str_trim(str_sub(c->text, s->body, s->to))).n > 0;
}

size_t context_sections(const struct context *c)
{
	return c->sections.n;
}

struct str context_section_name(const struct context *c, size_t i)
{
	return c->sections.items[i].removed ? (struct str){"", 0} : c->sections.items[i].name;
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

void context_remove(struct context *c, const char *name)
{
	context_put(c, name, (struct str){0});
}
