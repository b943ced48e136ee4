#include "context/lease.h"
#include "src/sys/path.h"
#include "src/config/violation.h"
#include "src/machine/actions.h"
#include "src/machine/asked.h"
#include "src/machine/past.h"
#include "src/machine/verdict.h"

enum { TIMEOUT_MAX_S = 604800 };

static int broken(const struct context *c, unsigned line, const char *what, struct error *err)
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

	if (!json_get_str(j, "agent") || !json_get_str(j, "skill"))
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

	if (!json_is_object(j) || !json_get_str(j, "policy") || !json_get_str(j, "folder") ||
		!json_get_str(j, "script"))
		return "'security' needs 'policy', 'folder' and 'script'";
	if (json_get(j, "violation") && !violation_named(json_get_str(j, "violation"), &which))
		return "'violation' must be 'hard_abort' or 'validation_fail'";
	return NULL;
}

static const char *script_fault(const json *j)
{
	int64_t timeout = json_get(j, "timeout_s") ? json_get_int(j, "timeout_s", 0) : 1;

	if (!json_get_str(j, "command") || !json_get_str(j, "log_file"))
		return "a run_script needs 'command' and 'log_file'";
	if (timeout < 1 || timeout > TIMEOUT_MAX_S)
		return "'timeout_s' must be 1 to 604800";
	return json_get(j, "security") ? security_fault(json_get(j, "security")) : NULL;
}

/* Only what the machine wrote itself is taken: a hand edit must not make up a request. */
static const char *fault_of(const json *j)
{
	const char *kind = json_get_str(j, "action");
	bool agent = kind && strcmp(kind, "spawn_agent") == 0;

	if (!agent && (!kind || strcmp(kind, "run_script") != 0))
		return "'action' must be spawn_agent or run_script";
	if (!json_get_str(j, "id"))
		return "'id' is missing";
	if (!json_get_str(j, "result_format"))
		return "'result_format' is missing";
	if (!section_text(json_get(j, "write_section")))
		return "'write_section' is missing or bad";
	if (json_get(j, "answered") && !json_get_str(j, "answered"))
		return "'answered' must be a text";
	return agent ? agent_fault(j) : script_fault(j);
}

int actions_load(const struct context *c, json **array, struct error *err)
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
			return broken(c, n, "this is not JSON", err);
		json_push(*array, j);
		fault = json_is_object(j) ? fault_of(j) : "this is not an object";
		if (fault)
			return broken(c, n, fault, err);
		if (n > 10000)
			return broken(c, n, "too many actions", err);
	}
	return 0;
}

void actions_store(struct context *c, const json *array)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (const json *j = json_first(array); j; j = json_next(j)) {
		json_print(&text, j);
		buf_addc(&text, '\n');
	}
	context_put(c, CONTEXT_ACTIONS, buf_str(&text));
}

json *actions_find(const json *array, const char *id)
{
	for (const json *j = json_first(array); j; j = json_next(j))
		if (strcmp(json_get_str(j, "id"), id) == 0)
			return (json *)j;
	return NULL;
}

/* The log of the troubleshooter grows from call to call, so text in it is no answer. */
bool action_is_troubleshooter(const json *action)
{
	return json_get_str(action, "trigger") != NULL;
}

bool action_answered(const struct context *c, const json *action)
{
	if (json_get(action, "answered"))
		return true;
	return !action_is_troubleshooter(action) &&
	       context_has_section(c, json_get_str(action, "write_section"));
}

bool action_takes(const json *action, struct str word)
{
	struct str rest = str_of(json_get_str(action, "result_format"));

	while (rest.n) {
		size_t end = str_find(rest, STR("|"));

		if (word.n && str_eq(str_trim(str_sub(rest, 0, end)), word))
			return true;
		rest = str_sub(rest, end < rest.n ? end + 1 : end, rest.n);
	}
	return false;
}

/* The word that the text itself gives, if it is one that the action takes. */
static bool word_of_text(const json *action, struct str text, char *out, size_t size)
{
	CLEANUP(json_free) json *j = verdict_json(text);
	char status[64];
	const char *word = NULL;

	if (j && action_is_troubleshooter(action))
		word = json_get_str(j, "action");
	else if (j)
		word = verdict_status(text, status, sizeof(status)) ? status : NULL;
	else if (strcmp(json_get_str(action, "action"), "run_script") == 0)
		word = verdict_passed(text) ? "passed" : "failed";
	if (!word || strlen(word) >= size || !action_takes(action, str_of(word)))
		return false;
	(void)snprintf(out, size, "%s", word);
	return true;
}

/* `## ID: TRIGGER` above an entry of the troubleshooter's log. */
static char *entry_heading(struct arena *a, const json *action)
{
	return arena_printf(
		a, "## %s: %s\n", json_get_str(action, "id"), json_get_str(action, "trigger"));
}

/* The last such line counts: an entry that an earlier one made up stands above the real one. */
struct str action_text(const struct context *c, const json *action)
{
	struct str all = context_section(c, json_get_str(action, "write_section")), heading;
	size_t from = all.n;

	if (!action_is_troubleshooter(action))
		return all;
	heading = str_of(entry_heading((struct arena *)&c->arena, action));
	for (size_t at = 0; (at += str_find(str_sub(all, at, all.n), heading)) < all.n; at++)
		if (!at || all.p[at - 1] == '\n')
			from = at + heading.n;
	return str_trim(str_sub(all, from, all.n));
}

struct str action_word(const struct context *c, const json *action)
{
	const char *recorded = json_get_str(action, "answered");
	char word[64];

	if (recorded && *recorded)
		return str_of(recorded);
	if (word_of_text(action, action_text(c, action), word, sizeof(word)))
		return arena_str((struct arena *)&c->arena, str_of(word));
	return (struct str){"", 0};
}

static int check_text(struct str text, struct error *err)
{
	size_t bad = utf8_fault(text);

	if (bad)
		return error_set(err, ERR_INPUT, "the answer is not UTF-8 text: byte %zu", bad);
	if (!str_trim(text).n)
		return error_set(err, ERR_INPUT, "the answer is empty");
	return 0;
}

/* Whatever the text's JSON says, a word of the action or not, must be the word that is given beside
 * it. */
static bool contradicts(
	const json *action, const char *word, struct str text, char *own, size_t size)
{
	CLEANUP(json_free) json *j = verdict_json(text);
	const char *said =
		j ? json_get_str(j, action_is_troubleshooter(action) ? "action" : "status") : NULL;

	if (said)
		(void)snprintf(own, size, "%s", said);
	else if (!word_of_text(action, text, own, size))
		return false;
	return strcmp(said ? said : own, word) != 0;
}

static int check_word(const json *action, const char *word, struct str text, struct error *err)
{
	char own[64];
	bool has = word_of_text(action, text, own, sizeof(own));

	if (!word || !*word) {
		if (has || !action_is_troubleshooter(action))
			return 0;
		return error_set(err, ERR_INPUT, "the answer has no result: must be %s",
			json_get_str(action, "result_format"));
	}
	if (!action_takes(action, str_of(word)))
		return error_set(err, ERR_INPUT, "unknown result '%.60s': must be %s", word,
			json_get_str(action, "result_format"));
	if (contradicts(action, word, text, own, sizeof(own)))
		return error_set(err, ERR_INPUT, "result '%s' contradicts the answer's own '%.60s'",
			word, own);
	return 0;
}

/* Entries of the troubleshooter's log pile up; other answers stand alone. */
static void put_answer(struct context *c, const json *action, struct str text)
{
	CLEANUP(buf_release) struct buf log = BUF_INIT;
	const char *section = json_get_str(action, "write_section");

	if (!action_is_troubleshooter(action)) {
		context_put(c, section, text);
		return;
	}
	buf_add(&log, context_section(c, section));
	buf_addf(&log, "%s%s\n", log.len ? "\n\n" : "", entry_heading(&c->arena, action));
	buf_add(&log, str_trim(text));
	context_put(c, section, buf_str(&log));
}

enum again { AGAIN_SAME, AGAIN_WORD, AGAIN_OTHER };

/*
 * A second answer: the same bytes and word, the same bytes with the word that was missing so far,
 * or another.
 */
static enum again compare_answer(
	const struct context *c, const json *action, const char *word, struct str text)
{
	struct str known = action_word(c, action);

	if (!str_eq(action_text(c, action), str_trim(text)))
		return AGAIN_OTHER;
	if (!word || !*word || str_is(known, word))
		return AGAIN_SAME;
	return known.n ? AGAIN_OTHER : AGAIN_WORD;
}

/* An agent that was not told that its answer was taken gives it again: that is no new answer. */
static int not_outstanding(const struct context_file *f, const char *id, const char *word,
	struct str text, enum answer_fate *fate, struct error *err)
{
	struct str own = context_get(&f->doc, "work_item_id"), given = str_of(id);
	size_t slash = str_find(given, STR("/"));

	if (!str_eq(str_sub(given, 0, slash), own))
		return error_set(err, ERR_STATE,
			"action '%.200s' belongs to another work item, not to '%s'", id, own.p);
	if (!past_answered(f, id, word, text))
		return past_refuse(f, id, err);
	*fate = ANSWER_AGAIN;
	return 0;
}

static void note_answer(struct context_file *f, const char *id, const char *word, struct str text)
{
	json *event = context_event(f, "answer");
	char sum[DIGEST_TEXT];

	answer_sum(text, sum);
	json_put_str(event, "action", str_of(id));
	json_put_str(event, "result", str_of(word));
	json_put_int(event, "bytes", (int64_t)text.n);
	json_put_str(event, "sum", str_of(sum));
}

/* The answer of a script that a policy has stopped says so in its JSON. */
static void note_violation(struct context_file *f, json *action, struct str text)
{
	static const char *const told[] = {"policy", "violation", "rule", "word", "path", "reason"};
	bool script = strcmp(json_get_str(action, "action"), "run_script") == 0;
	CLEANUP(json_free) json *said = script ? verdict_json(text) : NULL;
	const char *name = said ? json_get_str(said, "violation") : NULL;
	enum violation which;
	json *event;

	if (!violation_named(name, &which))
		return;
	event = context_event(f, "security_violation");
	json_put_str(event, "action", str_of(json_get_str(action, "id")));
	for (size_t i = 0; i < COUNT(told); i++)
		if (json_get_str(said, told[i]))
			json_put_str(event, told[i], str_of(json_get_str(said, told[i])));
	json_set(action, "violation", json_string(str_of(name)));
}

static void take_word(struct context_file *f, json *action, const char *word, struct str text)
{
	char own[64] = "";

	note_violation(f, action, text);
	if (word && *word)
		(void)snprintf(own, sizeof(own), "%s", word);
	else
		(void)word_of_text(action, text, own, sizeof(own));
	json_set(action, "answered", json_string(str_of(own)));
	note_answer(f, json_get_str(action, "id"), own, text);
}

int action_answer(struct context_file *f, const char *id, const char *word, struct str text,
	enum answer_fate *fate, struct error *err)
{
	CLEANUP(json_free) json *array = NULL;
	json *action;
	bool still = true;

	*fate = ANSWER_TAKEN;
	if (actions_load(&f->doc, &array, err) < 0)
		return -1;
	action = actions_find(array, id);
	if (action && !action_answered(&f->doc, action) && asked_still(f, id, &still, err) < 0)
		return -1;
	if (!action || !still)
		return not_outstanding(f, id, word, text, fate, err);
	if (check_text(text, err) < 0 || check_word(action, word, text, err) < 0)
		return -1;
	if (action_answered(&f->doc, action)) {
		enum again again = compare_answer(&f->doc, action, word, text);

		*fate = again == AGAIN_SAME ? ANSWER_AGAIN : ANSWER_TAKEN;
		if (again == AGAIN_OTHER)
			return error_set(
				err, ERR_STATE, "action '%.200s' has an answer already", id);
		if (again == AGAIN_SAME)
			return 0;
	} else {
		put_answer(&f->doc, action, text);
	}
	take_word(f, action, word, text);
	actions_store(&f->doc, array);
	return asked_note(f, array, err);
}

/* `ADR-7/researching/1` as part of a file name; what is not an id's character becomes `_`. */
static char *stem_of(struct arena *a, const char *name, const char *id)
{
	char *stem = arena_printf(a, "%s-refused-%.120s", name, id);

	for (char *p = stem; *p; p++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-",
			    *p))
			*p = '_';
	return stem;
}

/* Where what was offered is, or why it is nowhere. */
static void tell_kept(struct error *err, const char *kept, const char *why_not)
{
	size_t n = strlen(err->text);

	if (kept)
		(void)snprintf(err->text + n, sizeof(err->text) - n,
			"; what was offered is kept in %.400s", kept);
	else if (*why_not)
		(void)snprintf(err->text + n, sizeof(err->text) - n,
			"; what was offered is not kept: %.300s", why_not);
}

static int refuse(struct context_file *f, const char *id, struct str text, struct error *err)
{
	struct error why = *err, second, third = {0};
	char *kept = NULL;
	json *event;

	if (text.n && context_keep(f, stem_of(&f->doc.arena, f->name, id), text, &kept, &third) < 0)
		kept = NULL;
	event = context_event(f, "refusal");
	json_put_str(event, "action", utf8_fault(str_of(id)) ? STR("?") : str_of(id));
	json_put_str(event, "reason", utf8_fault(str_of(why.text)) ? STR("?") : str_of(why.text));
	if (kept)
		json_put_str(event, "kept", str_of(kept));
	if (context_log(f, &second) < 0)
		error_prefix(&why, "(not noted in the events: %.100s)", second.text);
	*err = why;
	tell_kept(err, kept, third.text);
	return -1;
}

static void note_operation(
	struct context_file *f, const char *owner, const char *id, const char *word)
{
	json *op = context_op(f, "record");

	json_put_str(op, "action", utf8_fault(str_of(id)) ? STR("?") : str_of(id));
	if (word && !utf8_fault(str_of(word)))
		json_put_str(op, "word", str_of(word));
	if (owner)
		json_put_str(op, "owner", str_of(owner));
}

/* Who has lost the work item brings nothing more into it; but what it brought before, it did. */
static int refuse_owner(struct context_file *f, const char *id, const char *word, struct str text,
	enum answer_fate *fate, struct error *err)
{
	if (err->code != ERR_STATE)
		return -1;
	if (!past_answered(f, id, word, text))
		return refuse(f, id, text, err);
	*fate = ANSWER_AGAIN;
	*err = (struct error){0};
	return 0;
}

int action_record_by(struct context_file *f, const char *owner, const char *id, const char *word,
	struct str text, enum answer_fate *fate, struct error *err)
{
	const char *item = context_get(&f->doc, "work_item_id").p;

	note_operation(f, owner, id, word);
	if (owner && lease_admit(f, item, owner, err) < 0)
		return refuse_owner(f, id, word, text, fate, err);
	if (action_answer(f, id, word, text, fate, err) < 0)
		return err->code == ERR_SYSTEM ? -1 : refuse(f, id, text, err);
	if (!owner && *fate == ANSWER_AGAIN)
		return 0;
	if (!owner && lease_admit(f, item, NULL, err) < 0)
		return -1;
	if (context_save(f, err) == 0)
		return 0;
	if (err->code != ERR_INPUT)
		return -1;
	context_forget(f); /* too large: the answer never was */
	return refuse(f, id, text, err);
}

int action_record(struct context_file *f, const char *id, const char *word, struct str text,
	enum answer_fate *fate, struct error *err)
{
	return action_record_by(f, NULL, id, word, text, fate, err);
}
