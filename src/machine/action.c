#include <limits.h>
#include "src/base/number.h"
#include "src/config/violation.h"
#include "src/machine/action.h"
#include "src/machine/place.h"
#include "src/sys/path.h"
#include "src/workflow/workflow.h"
#include "src/machine/verdict.h"

/* The store's key, a JSON array: the ids of the actions that wait for an answer, and for each
 * script that gave one an object with `id` and `result`. In a list over 4 KiB, which is written
 * with each answer, an id that differs from the one before only in its last number is that number,
 * and several with numbers in sequence are the list of the first and the last. */
#define NOTED_KEY "asked"

enum { TIMEOUT_MAX_S = 604800, NOTED_MAX = 10000, NOTED_IN_FULL = 4096 };

static int machine_action_broken(
	const struct context *c, unsigned line, const char *what, struct error *err)
{
	return error_at(err, c->file, context_section_line(c, CONTEXT_ACTIONS) + line - 1, 1,
		"section '" CONTEXT_ACTIONS "': %s", what);
}

static bool section_text(const json *j)
{
	return json_is_string(j) && section_name_valid(str_of(json_text(j)));
}

static const char *agent_fault(const json *j)
{
	const json *reads = json_get(j, "read_sections");

	if (!json_get_str(j, "agent") || (!json_get_str(j, "skill") && !json_get_str(j, "prompt")))
		return "a spawn_agent needs 'agent' and 'skill'";
	if (reads && !json_is_array(reads))
		return "'read_sections' must be a list";
	for (const json *r = json_first(reads); r; r = json_next(r))
		if (!section_text(r))
			return "'read_sections' must be names of sections";
	return NULL;
}

static const char *security_fault(const json *j)
{
	enum violation which;

	if (!json_is_object(j) || !json_get_str(j, "policy"))
		return "'security' needs 'policy'";
	if (json_get(j, "violation") && !violation_find(json_get_str(j, "violation"), &which))
		return "'violation' must be 'hard_abort' or 'validation_fail'";
	return NULL;
}

static const char *machine_action_script_fault(const json *j)
{
	int64_t timeout = json_get(j, "timeout_s") ? json_get_int(j, "timeout_s", 0) : 1;

	if (!json_get_str(j, "command") || !json_get_str(j, "log_file"))
		return "a run_script needs 'command' and 'log_file'";
	if (timeout < 1 || timeout > TIMEOUT_MAX_S)
		return "'timeout_s' must be 1 to 604800";
	if (json_get(j, "first") && (!json_get_str(json_get(j, "first"), "policy") ||
					    !json_get_str(json_get(j, "first"), "script")))
		return "'first' needs 'policy' and 'script'";
	return json_get(j, "security") ? security_fault(json_get(j, "security")) : NULL;
}

static const char *approval_fault(const json *j)
{
	return json_get_str(j, "approve") ? NULL : "an approval needs 'approve'";
}

/* The item's id is longer than that of its parent, so that none is its own descendant. */
static const char *child_fault(const json *j)
{
	const char *id = json_get_str(j, "id"), *item = json_get_str(j, "item");
	size_t n = strcspn(id, "/");

	if (!item || !path_is_id(str_of(item)) || strncmp(id, item, n) != 0 || item[n] != '.' ||
		!json_get_str(j, "workflow"))
		return "a run_item needs 'workflow' and, below the id of this one, 'item'";
	return NULL;
}

const struct action_row action_rows[ACTION_KINDS] = {
	[ACTION_AGENT] = {"spawn_agent", "agent", NULL, NULL, NULL, NULL, agent_fault},
	[ACTION_SCRIPT] = {"run_script", "command", "script",
		"is a script: 'dev-team exec' records its result",
		"is a script: 'dev-team exec' runs it",
		"the result in the document is not of a run of the script",
		machine_action_script_fault},
	[ACTION_APPROVAL] = {"approve", "approve", "a person",
		"is for a person: 'dev-team approve' or 'dev-team reject' answers it",
		"is for a person: 'dev-team approve --show' shows it",
		"the result in the document is not a person's answer", approval_fault},
	[ACTION_CHILD] = {"run_item", "item", NULL,
		"is a work item: its end is the answer, which a step records",
		"is a work item: its own actions have briefs",
		"the result in the document is not the end of the work item", child_fault},
};

enum action_kind action_kind(const json *action)
{
	enum action_kind k = ACTION_AGENT;

	while (k < ACTION_KINDS && !json_str_is(action, "action", action_rows[k].name))
		k++;
	return k;
}

bool action_is_observed(const json *action)
{
	return action_kind(action) != ACTION_AGENT;
}

const json *action_open_approval(const struct context *c, const json *array)
{
	for (const json *a = json_first(array); a; a = json_next(a))
		if (action_kind(a) == ACTION_APPROVAL && !action_answered(c, a))
			return a;
	return NULL;
}

bool action_awaits_approval(const struct context *c)
{
	CLEANUP(json_free) json *all = NULL;
	struct error ignored;

	return action_load(c, &all, &ignored) == 0 && action_open_approval(c, all);
}

/* Accepts only what the engine writes itself: a hand edit must not make up a request. */
static const char *fault_of(const json *j)
{
	enum action_kind kind = action_kind(j);

	if (kind == ACTION_KINDS)
		return "'action' must be spawn_agent, run_script, approve or run_item";
	if (!json_get_str(j, "id"))
		return "'id' is missing";
	if (!json_get_str(j, "result_format"))
		return "'result_format' is missing";
	if (!section_text(json_get(j, "write_section")))
		return "'write_section' is missing or bad";
	if (json_get(j, "answered") && !json_get_str(j, "answered"))
		return "'answered' must be a text";
	return action_rows[kind].fault(j);
}

int action_load(const struct context *c, json **array, struct error *err)
{
	struct str rest = context_section(c, CONTEXT_ACTIONS), line;
	unsigned n = 0;

	*array = json_array();
	while (str_line(&rest, &line)) {
		json *j = NULL;
		const char *fault;

		n++;
		if (!str_trim(line).n)
			continue;
		if (json_parse(&j, line, err) < 0)
			return machine_action_broken(c, n, "this is not JSON", err);
		json_push(*array, j);
		fault = json_is_object(j) ? fault_of(j) : "this is not an object";
		if (fault)
			return machine_action_broken(c, n, fault, err);
		if (n > NOTED_MAX)
			return machine_action_broken(c, n, "too many actions", err);
	}
	return 0;
}

void action_store(struct context *c, const json *array)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (const json *j = json_first(array); j; j = json_next(j)) {
		json_print(&text, j);
		buf_addc(&text, '\n');
	}
	context_put(c, CONTEXT_ACTIONS, buf_str(&text));
}

unsigned long action_number(const char *id, struct str *part)
{
	const char *first = strchr(id, '/'), *last = strrchr(id, '/');

	*part = STR("");
	if (first == last || last[1] == '0' ||
		!workflow_word_valid((struct str){first + 1, (size_t)(last - first - 1)}))
		return 0;
	*part = (struct str){first + 1, (size_t)(last - first - 1)};
	return number_or(str_of(last + 1), ULONG_MAX, 0);
}

json *action_find(const json *array, const char *id)
{
	for (const json *j = json_first(array); j; j = json_next(j))
		if (strcmp(json_get_str(j, "id"), id) == 0)
			return (json *)j;
	return NULL;
}

json *action_writing(const json *array, const char *section)
{
	for (const json *j = json_first(array); j; j = json_next(j))
		if (json_str_is(j, "write_section", section))
			return (json *)j;
	return NULL;
}

void action_user(const json *action, unsigned *uid, unsigned *gid)
{
	const json *security = json_get(json_get(action, "execution"), "security");

	*uid = (unsigned)json_get_int(security, "dropUid", 0);
	*gid = (unsigned)json_get_int(security, "dropGid", 0);
}

bool action_is_troubleshooter(const json *action)
{
	return json_get_str(action, "trigger") != NULL;
}

/* The troubleshooter's log grows from call to call, so text in it is not an answer. Nor is text
 * that somebody wrote in place of a script. */
bool action_answered(const struct context *c, const json *action)
{
	if (json_get(action, "answered"))
		return true;
	return !action_is_troubleshooter(action) && !action_is_observed(action) &&
	       context_has_section(c, json_get_str(action, "write_section"));
}

bool action_format_has(const char *format, struct str word)
{
	struct str rest = str_of(format), one;

	while (str_piece(&rest, '|', &one))
		if (word.n && str_eq(str_trim(one), word))
			return true;
	return false;
}

bool action_accepts(const json *action, struct str word)
{
	return action_format_has(json_get_str(action, "result_format"), word);
}

static const char *word_member(const json *action)
{
	return action_is_troubleshooter(action) ? "action" : "status";
}

bool action_word_in(const json *action, struct str text, char *out, size_t size)
{
	return verdict_word(text, word_member(action), out, size);
}

int action_result(
	struct arena *a, const json *action, struct str text, const char **word, struct error *err)
{
	return verdict_text_word(
		a, text, word_member(action), json_get_str(action, "result_format"), word, err);
}

char *action_log_heading(struct arena *a, const json *action)
{
	return arena_printf(
		a, "## %s: %s\n", json_get_str(action, "id"), json_get_str(action, "trigger"));
}

/* The last heading counts: one that an earlier entry forged precedes the real one. */
struct str action_text(const struct context *c, const json *action)
{
	struct str all = context_section(c, json_get_str(action, "write_section")), heading;
	size_t from = all.n;

	if (!action_is_troubleshooter(action))
		return all;
	heading = str_of(action_log_heading((struct arena *)&c->arena, action));
	for (size_t at = 0; (at += str_find(str_sub(all, at, all.n), heading)) < all.n; at++)
		if (!at || all.p[at - 1] == '\n')
			from = at + heading.n;
	return str_trim(str_sub(all, from, all.n));
}

struct str action_word(const struct context *c, const json *action)
{
	const char *word = json_get_str(action, "answered");
	struct error ignored;

	if (word && *word)
		return str_of(word);
	word = NULL;
	return action_result((struct arena *)&c->arena, action, action_text(c, action), &word,
		       &ignored) == 0
		       ? str_of(word)
		       : (struct str){"", 0};
}

/* ---- the paths of this host ---- */

/* Where an action is carried out, as this host names it. */
struct host {
	struct arena arena;
	const struct context_file *file;
	const char *repo, *directory; /* NULL: not known */
};

static const char *quoted(struct host *h, const char *text)
{
	CLEANUP(buf_release) struct buf word = BUF_INIT;

	buf_add_shell(&word, str_of(text));
	return arena_dup(&h->arena, buf_str(&word));
}

/* The name of a shipped policy, or the path of a file of the repository. */
static const char *policy_path(struct host *h, const char *policy)
{
	bool file = strchr(policy, '/') || str_ends(str_of(policy), ".yaml") ||
		    str_ends(str_of(policy), ".yml");

	return file && h->repo ? path_join(&h->arena, h->repo, policy) : policy;
}

static const char *under_policy(struct host *h, const json *policy, const char *script)
{
	return arena_printf(&h->arena, "dev-team policy exec --policy %s --cwd %s -- %s",
		quoted(h, policy_path(h, json_get_str(policy, "policy"))),
		quoted(h, h->directory ? h->directory : "."), quoted(h, script));
}

/* `||`, because `&&` would apply to the first part of `a; b` only. */
static const char *full_command(struct host *h, const json *action)
{
	const char *command = json_get_str(action, "command");
	const json *first = json_get(action, "first"), *security = json_get(action, "security");

	if (security)
		return under_policy(h, security, command);
	if (first)
		command = arena_printf(&h->arena, "(%s) && (%s)",
			under_policy(h, first, json_get_str(first, "script")), command);
	return h->directory ? arena_printf(&h->arena, "cd %s || exit 125; %s",
				      quoted(h, h->directory), command)
			    : command;
}

static json *full_security(struct host *h, const json *action)
{
	const json *s = json_get(action, "security");
	const char *violation = json_get_str(s, "violation");

	return JSON_OBJECT(JSON_TEXT("policy", policy_path(h, json_get_str(s, "policy"))),
		JSON_IF(violation, JSON_TEXT("violation", violation)),
		JSON_TEXT("folder", h->directory ? h->directory : "."),
		JSON_TEXT("script", json_get_str(action, "command")));
}

static json *full_execution(const struct host *h, const json *execution)
{
	json *out = json_copy(execution), *security = json_object();

	if (h->directory)
		json_put_str(security, "worktreePath", str_of(h->directory));
	for (const json *m = json_first(json_get(execution, "security")); m; m = json_next(m))
		json_put(security, json_key(m), json_copy(m));
	json_set(out, "security", security);
	return out;
}

/* NULL: the member is as the document has it. */
static json *full_member(struct host *h, const json *action, const json *m)
{
	const char *key = json_key(m);

	if (strcmp(key, "command") == 0 && json_text(m))
		return json_string(str_of(full_command(h, action)));
	if (strcmp(key, "log_file") == 0 && json_text(m))
		return json_string(str_of(path_join(&h->arena, h->file->dir, json_text(m))));
	if (strcmp(key, "security") == 0)
		return full_security(h, action);
	return strcmp(key, "execution") == 0 ? full_execution(h, m) : NULL;
}

/* Scripts run at the root of the worktree, as they are written for it. */
static const char *directory_of(struct arena *a, const struct item_place *place, const json *action)
{
	return place->directory && place->target && json_get(action, "agent")
		       ? path_join(a, place->directory, place->target)
		       : place->directory;
}

json *action_complete(
	const struct context_file *f, const struct item_place *place, const json *action)
{
	struct host h = {.file = f,
		.repo = place->repo,
		.directory = place->directory ? place->directory : place->repo};
	static const char *const inner[] = {"array", "first", NULL};
	json *out = json_object();
	bool named = false;

	for (const json *m = json_first(action); m; m = json_next(m)) {
		const char *key = json_key(m);
		json *full = full_member(&h, action, m);

		if (str_in(str_of(key), inner))
			continue;
		if (!named &&
			(strcmp(key, "read_sections") == 0 || strcmp(key, "write_section") == 0)) {
			json_put_str(out, "context_file", str_of(f->path));
			if (place->directory)
				json_put_str(out, "directory",
					str_of(directory_of(&h.arena, place, action)));
			named = true;
		}
		json_put(out, key, full ? full : json_copy(m));
	}
	arena_release(&h.arena);
	return out;
}

/* `... log: logs/NAME`, `... Log: logs/NAME`, `... (logs/NAME)`. */
struct str action_complete_line(struct arena *a, const struct context_file *f, struct str line)
{
	static const char *const before[] = {"log: ", "Log: ", "("};

	for (size_t i = 0; i < COUNT(before); i++) {
		struct str mark = str_of(before[i]), name;
		size_t at = str_find(line, str_of(arena_printf(a, "%slogs/", before[i]))) + mark.n;

		if (at >= line.n)
			continue;
		name = str_sub(line, at, line.n);
		name.n = strcspn(arena_dup(a, name), " )");
		if (path_exists(arena_printf(a, "%s/%.*s", f->dir, (int)name.n, name.p)))
			return str_of(arena_printf(a, "%.*s%s/%.*s", (int)at, line.p, f->dir,
				(int)(line.n - at), line.p + at));
	}
	return line;
}

/* The entry of `id` in that part of the list; of a script that has a result, or of one that waits.
 */
static const json *scan_noted(const json *from, const json *to, const char *id, bool answered)
{
	for (; from != to; from = json_next(from)) {
		const char *name = answered ? json_get_str(from, "id") : json_text(from);

		if (name && strcmp(name, id) == 0)
			return from;
	}
	return NULL;
}

static const json *find_noted(const json *noted, const char *id, bool answered, const json **last)
{
	const json *from = *last ? *last : json_first(noted);
	const json *one = scan_noted(from, NULL, id, answered);

	if (!one)
		one = scan_noted(json_first(noted), from, id, answered);
	*last = one ? one : *last;
	return one;
}

bool action_is_noted(const json *noted, const char *id, const json **last)
{
	const json *none = NULL;

	return !noted || find_noted(noted, id, false, last ? last : &none);
}

/* `ITEM/PART/` and the number behind it; 0: it ends in none. */
static uint64_t split_id(const char *id, struct str *before)
{
	const char *slash = strrchr(id, '/'), *number = slash ? slash + 1 : id;

	*before = (struct str){id, (size_t)(number - id)};
	return *number == '0' ? 0 : number_or(str_of(number), JSON_MAX_INT, 0);
}

/* n 0: the id is written in full. result NULL: there is none. */
static void push_noted(json *list, const char *id, uint64_t n, const char *result)
{
	if (result)
		json_push(list,
			JSON_OBJECT(JSON_IF(n, JSON_INT("id", (int64_t)n)),
				JSON_IF(!n, JSON_TEXT("id", id)), JSON_TEXT("result", result)));
	else if (n)
		json_push_int(list, (int64_t)n);
	else
		json_push_str(list, str_of(id));
}

/* The number of the last of those that follow `*one` in sequence and have no result either. */
static uint64_t find_sequence(const json **one, struct str of, uint64_t n)
{
	struct str before;

	for (const json *next = json_next(*one); next && json_text(next); next = json_next(next)) {
		if (split_id(json_text(next), &before) != n + 1 || !str_eq(before, of))
			break;
		*one = next;
		n++;
	}
	return n;
}

static json *shorten_ids(const json *list)
{
	json *out = json_array();
	struct str last = {"", 0};

	for (const json *one = json_first(list); one; one = json_next(one)) {
		const char *id = json_text(one) ? json_text(one) : json_get_str(one, "id"),
			   *result = json_get_str(one, "result");
		struct str before;
		uint64_t n = split_id(id, &before), end = n;

		if (n && str_eq(before, last) && !result)
			end = find_sequence(&one, before, n);
		if (end > n) {
			json *both = json_array();

			json_push_int(both, (int64_t)n);
			json_push_int(both, (int64_t)end);
			json_push(out, both);
		} else
			push_noted(out, id, str_eq(before, last) ? n : 0, result);
		last = before;
	}
	return out;
}

/* The opposite. */
static json *complete_ids(const json *list)
{
	CLEANUP(arena_release) struct arena a = {0};
	size_t total = 0;
	json *out = json_array();
	struct str last = {"", 0};

	for (const json *one = json_first(list); one; one = json_next(one)) {
		const json *name = json_is_object(one) ? json_get(one, "id") : one;
		const char *id = json_text(name);
		int64_t n = json_int(json_is_array(one) ? json_at(one, 0) : name, 0),
			end = json_is_array(one) ? json_int(json_at(one, 1), 0) : n;

		for (; !id && n <= end && total < NOTED_MAX; n++, total++)
			push_noted(out,
				arena_printf(&a, "%.*s%lld", (int)last.n, last.p, (long long)n), 0,
				json_get_str(one, "result"));
		if (!id)
			continue;
		(void)split_id(id, &last);
		push_noted(out, id, 0, json_get_str(one, "result"));
	}
	return out;
}

int action_note(struct context_file *f, const json *array, const json *noted, struct error *err)
{
	CLEANUP(json_free) json *list = json_array(), *shorter = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const json *found = NULL;
	struct str last;

	for (const json *a = json_first(array); a; a = json_next(a)) {
		const char *id = json_get_str(a, "id"), *word = json_get_str(a, "answered");

		if (word && action_is_observed(a))
			json_push(
				list, JSON_OBJECT(JSON_TEXT("id", id), JSON_TEXT("result", word)));
		else if (!action_answered(&f->doc, a) && action_is_noted(noted, id, &found))
			json_push_str(list, str_of(id));
	}
	json_print(&text, list);
	if (text.len > NOTED_IN_FULL) {
		shorter = shorten_ids(list);
		buf_clear(&text);
		json_print(&text, shorter);
	}
	if (context_get_key(f, NOTED_KEY, &last, err) < 0)
		return -1;
	if (!str_eq(last, buf_str(&text)))
		context_put_key(f, NOTED_KEY, buf_str(&text));
	return 0;
}

int action_noted(struct context_file *f, json **noted, struct error *err)
{
	CLEANUP(json_free) json *list = NULL;
	struct error ignored;
	struct str text;

	if (context_get_key(f, NOTED_KEY, &text, err) < 0)
		return -1;
	if (text.n && json_parse(&list, text, &ignored) == 0)
		*noted = complete_ids(list);
	return 0;
}

/* True if it had to be corrected: somebody wrote a result into the document. */
static bool restore_result(
	struct context_file *f, json *action, const json *noted, const json **last)
{
	const char *id = json_get_str(action, "id"), *given = json_get_str(action, "answered"),
		   *result;

	if (!action_is_observed(action) || !given)
		return false;
	result = json_get_str(find_noted(noted, id, true, last), "result");
	if (result && strcmp(given, result) == 0)
		return false;
	if (result)
		json_set(action, "answered", json_string(str_of(result)));
	else
		json_drop(action, "answered");
	json_put_texts(context_event(f, "refusal"), "action", id, "reason",
		action_rows[action_kind(action)].not_recorded);
	return true;
}

int action_load_noted(struct context_file *f, json **array, json **noted, struct error *err)
{
	const json *found = NULL;
	bool corrected = false;

	if (action_load(&f->doc, array, err) < 0 || action_noted(f, noted, err) < 0)
		return -1;
	for (const json *a = json_first(*array); a && f->store; a = json_next(a))
		corrected |= restore_result(f, (json *)a, *noted, &found);
	if (corrected)
		action_store(&f->doc, *array);
	return 0;
}
