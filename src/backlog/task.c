/* task.c: one task: the fields of its frontmatter, its body, and edits in place. */
#include "src/backlog/backlog.h"
#include "src/base/number.h"
#include "src/config/decode.h"
#include "src/setup/setup.h"
#include "src/sys/path.h"

enum { TEXT_MAX = 4 << 20, FAULTS_MAX = 20, ITEMS_MAX = 1000 };

/* ---- the forms of its fields ---- */

/* Nothing that a terminal acts on. */
static bool task_is_any(struct str s)
{
	size_t i = 0;

	while (i < s.n && s.p[i] != 0x7f &&
		((unsigned char)s.p[i] >= ' ' || strchr("\t\r\n", s.p[i])))
		i++;
	return i == s.n;
}

static bool task_is_line(struct str s)
{
	return config_line.valid(s);
}

/* It is also the last part of the name of its branch. */
static bool task_is_id(struct str s)
{
	return path_is_id(s) && preflight_is_branch_name(s);
}

static const struct config_form id_form = {.valid = task_is_id,
	.what = "an id such as DEMO-7: letters, digits, '.', '_' and '-', without '.lock' or '.' "
		"at its end",
	.trim = true};
static const struct config_form any_form = {.valid = task_is_any, .what = "a text", .trim = true};
static const struct config_form line_form = {
	.valid = task_is_line, .what = "a line of text", .trim = true};

#define IN(member)         CONFIG_AT(task, member)
#define ID(name, member)   .key = name, .kind = CONFIG_TEXT, .form = &id_form, IN(member)
#define LINE(name, member) .key = name, .kind = CONFIG_TEXT, .form = &any_form, IN(member)
#define TEXTS(name, member)                                                                        \
	.key = name, .kind = CONFIG_TEXTS, .form = &line_form, .max = ITEMS_MAX,                   \
	CONFIG_LIST_AT(task, member.items, member.n)
#define CUSTOM(name, how, member) .key = name, .kind = CONFIG_CUSTOM, .read = how, IN(member)
#define PEOPLE(name, why)                                                                          \
	.key = name, .kind = CONFIG_CUSTOM, .read = read_nothing, .inert = true, .about = why

/* The lines of a folded or literal text become one; blanks at both ends and double ones go. */
static void read_title(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str s = v->text;

	for (size_t i = 0; v->kind == YAML_SCALAR && i < s.n; i++) {
		bool blank = strchr(" \t\r\n", s.p[i]) != NULL;

		if (blank ? out.len && out.s[out.len - 1] != ' ' : true)
			buf_addc(&out, blank ? ' ' : s.p[i]);
	}
	while (out.len && out.s[out.len - 1] == ' ')
		buf_cut(&out, out.len - 1);
	if (v->kind != YAML_SCALAR || yaml_is_null(v) || !out.len ||
		!config_line.valid(buf_str(&out)) || str_characters(buf_str(&out)) > TASK_TITLE_MAX)
		config_refuse(r, f, key, v, "a text of at most 200 characters");
	else
		*(const char **)into = arena_dup(r->arena, buf_str(&out));
}

static const char *const priorities[] = {"low", "medium", "high", "critical", NULL};

const char *task_priority_word(unsigned weight)
{
	return priorities[weight - 1];
}

static void read_priority(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	unsigned at;

	if (v->kind == YAML_SCALAR &&
		str_index(str_of(arena_lower(r->arena, str_trim(v->text))), priorities, &at))
		*(unsigned *)into = at + 1;
	else
		config_refuse(r, f, key, v, "'low', 'medium', 'high' or 'critical'");
}

static void read_budget(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	double usd = 0;

	if (config_scalar(v) == SCALAR_NUMBER && number_double(v->text, 0, 1e9, &usd) && usd > 0)
		*(double *)into = usd;
	else
		config_refuse(r, f, key, v, "a number above 0");
}

/* One person or a list of them. */
static void read_people(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	bool good = v->kind != YAML_MAP;

	buf_add(&out, v->kind == YAML_SCALAR ? v->text : STR(""));
	for (size_t i = 0; v->kind == YAML_LIST && i < v->n; i++) {
		good &= v->list[i]->kind == YAML_SCALAR;
		buf_adds(&out, i ? ", " : "");
		buf_add(&out, v->list[i]->text);
	}
	if (good && task_is_any(buf_str(&out)))
		*(const char **)into = arena_dup(r->arena, buf_str(&out));
	else
		config_refuse(r, f, key, v, "a text or a list of texts");
}

static void read_nothing(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into)
{
	(void)r, (void)f, (void)key, (void)v, (void)into;
}

static const struct config_field dependency_item = {
	.kind = CONFIG_TEXT, .form = &id_form, CONFIG_AT(task_dependency, id)};

#define EXTERNAL(name, how, member)                                                                \
	.key = name, .kind = CONFIG_TEXT, .form = how, CONFIG_AT(task_external, member)

static const struct config_field external_fields[] = {
	{EXTERNAL("id", &line_form, id), .required = true},
	{EXTERNAL("description", &any_form, description), .required = true},
	{.key = "kind",
		.kind = CONFIG_WORD_TEXT,
		CONFIG_WORDS("npm-version", "github-pr", "url-head", "manual", "other"),
		CONFIG_AT(task_external, kind),
		.required = true},
	{EXTERNAL("resolverHint", &any_form, hint)},
	{0},
};

static const struct config_field blocked_fields[] = {
	{LINE("reason", blocked), .null = true},
	{LINE("until", blocked_until), .null = true},
	{LINE("unblockedBy", unblocked_by), .null = true},
	{0},
};

static const struct config_field token_fields[] = {
	{.key = "input", .kind = CONFIG_INTEGER, .min = 0},
	{.key = "output", .kind = CONFIG_INTEGER, .min = 0},
	{0},
};

/* `.about` is in the row of docs/backlog.md. */
static const struct config_field task_fields[] = {
	{ID("id", id), .required = true, CONFIG_PLACE(task, id_line),
		.about = "The id, which is also that of its work item."},
	{CUSTOM("title", read_title, title), .required = true,
		.about = "What is to be done, in a line."},
	{LINE("status", status_text), .required = true, .about = "See below."},
	{CUSTOM("priority", read_priority, weight), .null = true, .preset = "medium",
		.about = "`low`, `medium` (the default), `high` or `critical`."},
	{.key = "dependencies",
		.kind = CONFIG_LIST,
		.single = true,
		.null = true,
		CONFIG_ITEMS_AT(task, dependencies, n_dependencies),
		.max = ITEMS_MAX,
		.item = &dependency_item,
		CONFIG_PLACE(task_dependency, line),
		.about = "The ids of tasks that must be done before; one or a list."},
	{.key = "stacked",
		.kind = CONFIG_BOOL,
		IN(stacked),
		.null = true,
		.about = "`true`: it may start on the open branch of the one task that it waits "
			 "for."},
	{ID("parent_task_id", parent.id), .null = true, CONFIG_PLACE(task, parent.line),
		.about = "The task that it is a part of."},
	{.key = "externalDependencies",
		.kind = CONFIG_LIST,
		.null = true,
		CONFIG_ITEMS_AT(task, external, n_external),
		.max = ITEMS_MAX,
		.fields = external_fields,
		.about = "What the outside must do first: `id`, `description`, `kind`, "
			 "`resolverHint`. One of the kind `manual` holds the task until a person "
			 "clears it; the others, `npm-version`, `github-pr`, `url-head` and "
			 "`other`, are for people."},
	{TEXTS("labels", labels), .null = true, .about = "Words to select by."},
	{TEXTS("references", references), .null = true,
		.about = "Files and, with a `/` at the end, directories that it changes."},
	{TEXTS("permittedExternalPaths", permitted), .null = true,
		.about = "Paths of other repositories that the task may change, as seen from the "
			 "main checkout. See [below](#other-repositories)."},
	{.key = "dispatchable",
		.kind = CONFIG_BOOL,
		IN(dispatchable),
		.null = true,
		.preset = "true",
		.about = "`false`: it is not started."},
	{LINE("dispatchableReason", not_dispatchable_reason), .null = true,
		.about = "Why it is not started."},
	{.key = "blocked",
		.kind = CONFIG_GROUP,
		.fields = blocked_fields,
		.null = true,
		.about = "`reason`: it is not started as long as there is one; `until` and "
			 "`unblockedBy` are for people."},
	{CUSTOM("maxBudgetUsd", read_budget, max_budget_usd), .null = true,
		.about = "What it may cost: once its agents have reported so much, it is parked."},
	{.key = "estimatedTokens",
		.kind = CONFIG_GROUP,
		.fields = token_fields,
		.null = true,
		.inert = true,
		.about = "`input` and `output`; for other programs."},
	{CUSTOM("assignee", read_people, assignee), .null = true, .about = "For people."},
	{LINE("created_date", created), .null = true, .about = "For people."},
	{LINE("updated_date", updated), .null = true, .about = "For people."},
	{LINE("specRef", spec), .null = true, .about = "For people."},
	{.key = "parentTaskId", .kind = CONFIG_REFUSED, .hint = "write 'parent_task_id'"},
	{PEOPLE("milestone", "For other programs.")},
	{PEOPLE("ordinal", "For other programs.")},
	{PEOPLE("reporter", "For other programs.")},
	{PEOPLE("documentation", "For other programs.")},
	{0},
};

const struct config_field *const task_keys = task_fields;

/* ---- reading ---- */

static const struct {
	const char *word;
	enum task_status status;
} statuses[] = {{"to do", STATUS_TODO}, {"in progress", STATUS_STARTED}, {"done", STATUS_DONE},
	{"completed", STATUS_DONE}, {"shipped", STATUS_DONE}, {"draft", STATUS_DRAFT},
	{"needs clarification", STATUS_UNCLEAR}};

static enum task_status task_status_of(struct arena *a, const char *text)
{
	const char *low = arena_lower(a, str_trim(str_of(text)));

	for (size_t i = 0; i < COUNT(statuses); i++)
		if (strcmp(low, statuses[i].word) == 0)
			return statuses[i].status;
	return STATUS_OTHER;
}

/* `demo-7` of `demo-7 - teach the parser.md`; NULL: the name has not this form. */
static const char *id_of_name(struct arena *a, const char *file)
{
	struct str name = path_base(file), id = str_sub(name, 0, str_find(name, STR(" - ")));

	return id.n < name.n && path_is_id(id) ? arena_dup(a, id) : NULL;
}

/* The frontmatter; *body is what is behind it. */
static int cut_front(
	const char *file, struct str text, struct str *front, struct str *body, struct error *err)
{
	unsigned line, col;
	size_t bad = str_utf8_fault(text);

	if (bad) {
		str_position(text, bad - 1, &line, &col);
		return error_at(err, file, line, col, "%s",
			text.p[bad - 1] ? "invalid UTF-8" : "a NUL byte");
	}
	if (str_starts(text, "\xef\xbb\xbf"))
		text = str_sub(text, 3, text.n);
	*body = text;
	if (yaml_cut_front(body, front))
		return 0;
	return error_at(err, file, 1, 1, "%s",
		str_starts(text, "---") ? "the frontmatter has no closing '---'"
					: "no frontmatter: the first line must be '---'");
}

/* What is kept is copied: the tree of a file takes ten times its memory. */
void task_parse(struct arena *a, const char *file, struct str text, struct task *out)
{
	CLEANUP(arena_release) struct arena scratch = {0};
	struct config_reader r = {.arena = a, .file = file, .limit = FAULTS_MAX};
	struct error err;
	struct yaml *map;
	struct str front;

	*out = (struct task){.file = file, .id_line = 1, .id_col = 1, .weight = 2};
	if (cut_front(file, text, &front, &out->body, &err) < 0 ||
		yaml_parse(&scratch, front, file, 2, &map, &err) < 0)
		vec_push_in(a, &out->faults, err);
	else if (map->kind != YAML_MAP)
		config_fault(&r, map, "the frontmatter must be 'key: value' lines");
	else
		config_fields(&r, task_fields, map, out);
	for (size_t i = 0; i < r.faults.n; i++)
		vec_push_in(a, &out->faults, r.faults.items[i]);
	if (!out->id)
		out->id = id_of_name(a, file);
	if (out->blocked && !str_trim(str_of(out->blocked)).n)
		out->blocked = NULL;
	out->status = out->status_text ? task_status_of(&scratch, out->status_text) : STATUS_OTHER;
	for (size_t i = 0; i < out->n_dependencies; i++)
		out->dependencies[i].task = TASK_NONE;
	if (!out->not_dispatchable_reason || !*out->not_dispatchable_reason)
		out->not_dispatchable_reason = "marked dispatchable:false in frontmatter";
	out->body = arena_str(a, out->body);
}

/* ---- the body ---- */

/* `- [ ] #1 TEXT`; the number is not a part of the text. */
static bool read_criterion(struct str line, struct task_criterion *out)
{
	uint64_t ignored;
	size_t digits;

	if (line.n < 6 || !str_starts(line, "- [") || !strchr(" xX", line.p[3]) ||
		memcmp(line.p + 4, "] ", 2) != 0)
		return false;
	out->met = line.p[3] != ' ';
	out->text = str_sub(line, 6, line.n);
	digits = str_starts(out->text, "#")
			 ? number_digits(str_sub(out->text, 1, out->text.n), &ignored)
			 : 0;
	if (digits && digits + 1 < out->text.n && out->text.p[digits + 1] == ' ')
		out->text = str_sub(out->text, digits + 2, out->text.n);
	return true;
}

void task_criteria(struct arena *a, const struct task *t, struct task_criteria *out)
{
	struct str rest = t->body, line;
	struct task_criterion one;

	*out = (struct task_criteria){0};
	while (str_line(&rest, &line))
		if (read_criterion(line, &one))
			vec_push_in(a, out, one);
}

const char *task_refusal(struct arena *a, const struct task *t)
{
	struct task_criteria all;
	size_t open = 0;

	if (t->faults.n)
		return "its file has faults: 'dev-team backlog check' prints them";
	task_criteria(a, t, &all);
	for (size_t i = 0; i < all.n; i++)
		open += !all.items[i].met;
	if (t->completed || t->status == STATUS_DONE)
		return "already shipped";
	if (t->status == STATUS_DRAFT)
		return "its status is Draft";
	if (t->status == STATUS_UNCLEAR)
		return "it does not meet the Definition-of-Ready: see its ai-sdlc:dor-comment";
	if (t->status == STATUS_OTHER)
		return arena_printf(a, "unexpected status '%s'",
			arena_printable(a, str_of(t->status_text), 60));
	if (!all.n)
		return "no acceptance criteria";
	if (t->status == STATUS_STARTED && !open)
		return "stale-Done: it is in progress, and every acceptance criterion is checked";
	return NULL;
}

/* ---- edits ---- */

int task_edit(struct arena *a, const char *file, struct str text, const char *key, struct str value,
	struct buf *out, struct error *err)
{
	CLEANUP(buf_release) struct buf scalar = BUF_INIT;
	struct str front, body;
	const struct yaml *node;
	struct yaml *map;
	size_t head;

	if (cut_front(file, text, &front, &body, err) < 0 ||
		yaml_parse(a, front, file, 2, &map, err) < 0)
		return -1;
	head = (size_t)(front.p - text.p);
	node = yaml_get(map, key);
	if (!node || node->kind != YAML_SCALAR)
		return error_at(err, file, node ? node->line : 1, node ? node->col : 1,
			"'%s' must be a text to be changed", key);
	yaml_add_scalar(&scalar, value);
	buf_add(out, str_sub(text, 0, head + node->from));
	yaml_add_replaced(out, front, node->from, node->to, buf_str(&scalar));
	buf_add(out, str_sub(text, head + node->to, text.n));
	return 0;
}
