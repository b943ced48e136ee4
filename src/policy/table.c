#include <stdarg.h>
#include "src/sys/path.h"
#include "src/policy/table.h"

enum { TABLE_MAX = 64 << 20 };

/* Stands for NUL between the JSON reader, which takes none, and the command. */
#define MARK        "\xee\x80\x80"
#define MARK_ESCAPE "\\ue000"

struct reader {
	struct arena *arena;
	struct table *table;
	struct str line;
	unsigned number;
	struct error *err;
};

static const char *const members[] = {
	"id", "command", "policy", "cwd", "expect", "class", "tier", "why"};

/* The column of a member's name; 1 when it is not there, or is "". */
static unsigned column(const struct reader *r, const char *name)
{
	struct str key = str_of(arena_printf(r->arena, "\"%s\"", name));
	size_t at = str_find(r->line, key);

	return *name && at < r->line.n ? (unsigned)at + 1 : 1;
}

PRINTF(3, 4)
static int fault(const struct reader *r, const char *name, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return error_at(r->err, r->table->file, r->number, column(r, name), "%s", text);
}

/* The line with each \u0000 as \ue000; what says \ue000 itself cannot be told from it. */
static int mark_nul(const struct reader *r, struct buf *out)
{
	for (size_t i = 0; i < r->line.n; i++) {
		struct str rest = str_sub(r->line, i, r->line.n);

		if (str_starts(rest, MARK) || str_starts(rest, MARK_ESCAPE) ||
			str_starts(rest, "\\uE000"))
			return fault(r, "", "the character U+E000 cannot be in a row");
		if (rest.p[0] != '\\' || rest.n < 2) {
			buf_addc(out, rest.p[0]);
		} else if (str_starts(rest, "\\u0000")) {
			buf_adds(out, MARK_ESCAPE);
			i += strlen(MARK_ESCAPE) - 1;
		} else {
			buf_add(out, str_sub(rest, 0, 2));
			i++;
		}
	}
	return 0;
}

static struct str unmark(struct arena *a, const char *text)
{
	struct str from = str_of(text);
	char *to = arena_dup(a, from);
	size_t n = 0;

	for (size_t i = 0; i < from.n; i++) {
		bool nul = str_starts(str_sub(from, i, from.n), MARK);

		to[n++] = nul ? '\0' : from.p[i];
		i += nul ? strlen(MARK) - 1 : 0;
	}
	return (struct str){to, n};
}

static int check_members(const struct reader *r, const json *j)
{
	for (const json *m = json_first(j); m; m = json_next(m)) {
		bool known = false;

		for (size_t i = 0; i < COUNT(members); i++)
			known |= strcmp(json_key(m), members[i]) == 0;
		if (!known)
			return fault(r, json_key(m), "unknown member '%.60s'", json_key(m));
	}
	for (size_t i = 0; i < COUNT(members); i++)
		if (!json_get(j, members[i]))
			return fault(r, "", "member '%s' is missing", members[i]);
	return 0;
}

static int read_text(const struct reader *r, const json *j, const char *name, const char **out)
{
	const char *text = json_get_str(j, name);

	if (!text)
		return fault(r, name, "'%s' must be a text", name);
	if (strstr(text, MARK))
		return fault(r, name, "'%s' has a NUL", name);
	*out = arena_dup(r->arena, str_of(text));
	return 0;
}

static const struct policy *former(const struct reader *r, const char *name)
{
	for (size_t i = r->table->n; i > 0; i--)
		if (strcmp(r->table->rows[i - 1].policy->name, name) == 0)
			return r->table->rows[i - 1].policy;
	return NULL;
}

static int read_policy(const struct reader *r, const json *j, struct table_row *row)
{
	const json *value = json_get(j, "policy");
	struct policy *p = arena_alloc(r->arena, sizeof(*p));
	char why[256];

	row->policy = p;
	if (json_is_object(value)) {
		if (policy_from_json(r->arena, value, p, r->err) == 0)
			return 0;
	} else if (json_is_string(value)) {
		row->policy = former(r, json_text(value));
		if (row->policy)
			return 0;
		row->policy = p;
		if (policy_shipped_text(json_text(value)).p)
			return policy_load(r->arena, json_text(value), p, r->err);
		error_set(r->err, ERR_INPUT, "no policy '%.60s'", json_text(value));
	} else {
		error_set(r->err, ERR_INPUT, "it must be an object or a name");
	}
	(void)snprintf(why, sizeof(why), "%.250s", r->err->text);
	return fault(r, "policy", "'policy': %s", why);
}

static int read_expectation(const struct reader *r, const json *j, struct table_row *row)
{
	const char *expect = json_get_str(j, "expect");
	int64_t tier = json_get_int(j, "tier", 0);

	if (!expect || (strcmp(expect, "allow") != 0 && strcmp(expect, "deny") != 0))
		return fault(r, "expect", "'expect' must be allow or deny");
	if (tier != 1 && tier != 2)
		return fault(r, "tier", "'tier' must be 1 or 2");
	row->allow = expect[0] == 'a';
	row->tier = (unsigned)tier;
	return 0;
}

static int read_row(const struct reader *r, const json *j, struct table_row *row)
{
	const char *command = json_get_str(j, "command");

	if (check_members(r, j) < 0)
		return -1;
	if (!command)
		return fault(r, "command", "'command' must be a text");
	row->command = unmark(r->arena, command);
	row->line = r->number;
	if (read_text(r, j, "id", &row->id) < 0 || read_text(r, j, "cwd", &row->cwd) < 0 ||
		read_text(r, j, "class", &row->class) < 0 || read_text(r, j, "why", &row->why) < 0)
		return -1;
	if (!row->id[0] || !row->class[0])
		return fault(r, row->id[0] ? "class" : "id", "'%s' is empty",
			row->id[0] ? "class" : "id");
	return read_expectation(r, j, row) < 0 ? -1 : read_policy(r, j, row);
}

static int read_line(const struct reader *r, struct table_row *row)
{
	CLEANUP(json_free) json *j = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_reserve(&text, r->line.n);
	if (mark_nul(r, &text) < 0)
		return -1;
	if (json_parse(&j, buf_str(&text), r->err) < 0) {
		unsigned col = r->err->col ? r->err->col : 1;

		return error_at(r->err, r->table->file, r->number, col, "%s",
			arena_dup(r->arena, str_of(r->err->text)));
	}
	if (!json_is_object(j))
		return fault(r, "", "a row must be an object");
	return read_row(r, j, row);
}

static int by_id(const void *a, const void *b)
{
	const struct table_row *x = *(const struct table_row *const *)a,
			       *y = *(const struct table_row *const *)b;
	int order = strcmp(x->id, y->id);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int check_ids(const struct table *t, struct error *err)
{
	CLEANUP(base_free) const struct table_row **sorted = xmalloc((t->n + 1) * sizeof(*sorted));

	for (size_t i = 0; i < t->n; i++)
		sorted[i] = &t->rows[i];
	qsort(sorted, t->n, sizeof(*sorted), by_id);
	for (size_t i = 1; i < t->n; i++)
		if (strcmp(sorted[i - 1]->id, sorted[i]->id) == 0)
			return error_at(err, t->file, sorted[i]->line, 1,
				"id '%.60s' was given before, on line %u", sorted[i]->id,
				sorted[i - 1]->line);
	return 0;
}

int table_read(struct arena *a, const char *file, struct table *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct reader r = {.arena = a, .table = out, .err = err};
	struct str rest;
	size_t lines = 1;

	*out = (struct table){.file = file};
	if (sys_read_file(&text, file, TABLE_MAX, NULL, err) < 0)
		return -1;
	for (size_t i = 0; i < text.len; i++)
		lines += text.s[i] == '\n';
	out->rows = arena_alloc(a, lines * sizeof(*out->rows));
	for (rest = buf_str(&text); str_line(&rest, &r.line); out->n++) {
		r.number++;
		if (read_line(&r, &out->rows[out->n]) < 0)
			return -1;
	}
	if (!out->n)
		return error_at(err, file, 1, 1, "no rows");
	return check_ids(out, err);
}
