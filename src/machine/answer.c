#include "src/base/json.h"
#include "context/lease.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"
#include "src/config/violation.h"
#include "src/graph/manifest.h"
#include "src/machine/answer.h"
#include "src/machine/verdict.h"

/* ---- answers in the journal ---- */

/* Pairs of a member and its text, ended by NULL, and the last event that has them. */
struct sought {
	const char *const *members;
	json *found;
};

/* A context_visit. */
static bool has_members(const json *event, void *data)
{
	struct sought *s = data;
	const char *const *m = s->members;

	while (*m && json_str_is(event, m[0], m[1]))
		m += 2;
	if (!*m)
		s->found = json_copy(event);
	return *m != NULL;
}

/* NULL: there is none, or the history cannot be read. Only lines that contain `mark` are parsed:
 * most refused answers have no history at all. */
static json *machine_answer_find_event(
	const struct context_file *f, const char *mark, const char *const *members)
{
	struct sought s = {members, NULL};

	context_each_event(f, mark, has_members, &s);
	return s.found;
}

/* True if this answer was recorded: the same bytes, and the same word unless none is given now. */
static bool was_taken(const struct context_file *f, const struct answer_offer *o)
{
	char sum[DIGEST_TEXT];
	const char *const members[] = {"type", "answer", "action", o->id, "sum", sum,
		o->word ? "result" : NULL, o->word, NULL};
	CLEANUP(json_free) json *event = NULL;

	digest_text(str_trim(o->text), sum);
	event = machine_answer_find_event(f, sum, members);
	return event != NULL;
}

bool answer_is_recorded(const struct context_file *f, const char *id)
{
	const char *const members[] = {"type", "answer", "action", id, NULL};
	CLEANUP(json_free) json *event = machine_answer_find_event(f, id, members);

	return event != NULL;
}

static bool is_outstanding(const struct context_file *f, const char *id)
{
	CLEANUP(json_free) json *array = NULL;
	struct error ignored;

	return action_load(&f->doc, &array, &ignored) == 0 && action_find(array, id);
}

/* The dispatch of what a take-over asks for instead. NULL: there is none, or it was dropped without
 * an answer. */
static json *machine_answer_find_replacement(const struct context_file *f, const char *id)
{
	const char *const members[] = {"type", "dispatch", "instead_of", id, NULL};
	json *event = machine_answer_find_event(f, "\"instead_of\":", members);
	const char *other = json_get_str(event, "action");

	if (other && !is_outstanding(f, other) && !answer_is_recorded(f, other))
		json_free(&event);
	return event;
}

bool answer_is_dropped(const struct context_file *f, const char *id)
{
	CLEANUP(json_free) json *event = NULL;

	if (is_outstanding(f, id))
		return false;
	event = machine_answer_find_replacement(f, id);
	return !event;
}

int answer_refuse_stale(const struct context_file *f, const char *id, struct error *err)
{
	CLEANUP(json_free) json *event = machine_answer_find_replacement(f, id);
	const char *owner = json_get_str(event, "owner");
	if (!owner)
		return error_set(err, ERR_STATE,
			"action '%.200s' is stale or unknown: it is not outstanding", id);
	return error_set(err, ERR_STATE,
		"action '%.200s' is stale: '%s' took the work item over at %s, and '%.200s' is "
		"asked for instead",
		id, owner, json_get_str(event, "ts"), json_get_str(event, "action"));
}

/* A document written by hand need not have counted what it requests. */
static bool machine_answer_was_requested(const struct context_file *f, const char *id)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct str part;
	unsigned long n = action_number(id, &part);

	return (n && n <= context_attempts(&f->doc, arena_dup(&a, part))) ||
	       is_outstanding(f, id) || answer_is_recorded(f, id);
}

int answer_check_requested(const struct context_file *f, const char *id, struct error *err)
{
	struct str own = context_get(&f->doc, "work_item_id"), given = str_of(id);

	if (!str_eq(str_sub(given, 0, str_find(given, STR("/"))), own))
		return error_set(err, ERR_STATE,
			"action '%.200s' belongs to another work item, not to '%s'", id, own.p);
	if (!machine_answer_was_requested(f, id))
		return error_set(err, ERR_STATE,
			"action '%.200s' is unknown: '%s' has not requested it", id, own.p);
	return 0;
}

/* Which answers are accepted. */

static int machine_answer_check_text(struct str text, struct error *err)
{
	size_t bad = str_utf8_fault(text);

	if (bad)
		return error_set(err, ERR_INPUT, "the answer is not UTF-8 text: byte %zu", bad);
	if (!str_trim(text).n)
		return error_set(err, ERR_INPUT, "the answer is empty");
	return 0;
}

/* What the answer of a node says beside its word becomes flags, artifacts, tasks and events. */
static int check_updates(struct context *c, const json *action, struct str text, struct error *err)
{
	CLEANUP(json_free) json *answer = NULL;
	const char *fault;

	if (!json_get(action, "node") || action_kind(action) != ACTION_AGENT)
		return 0;
	answer = verdict_json(text);
	fault = answer ? answer_updates_fault(&c->arena, answer, json_get(action, "events")) : NULL;
	return fault ? error_set(err, ERR_INPUT, "the answer's JSON: %s", fault) : 0;
}

/* The troubleshooter's answers are appended to its log; any other answer is its section. */
static void machine_answer_put_answer(struct context *c, const json *action, struct str text)
{
	CLEANUP(buf_release) struct buf log = BUF_INIT;
	const char *section = json_get_str(action, "write_section");

	if (!action_is_troubleshooter(action)) {
		context_put(c, section, text);
		return;
	}
	buf_add(&log, context_section(c, section));
	buf_addf(&log, "%s%s\n", log.len ? "\n\n" : "", action_log_heading(&c->arena, action));
	buf_add(&log, str_trim(text));
	context_put(c, section, buf_str(&log));
}

/* An agent of a run answers its own action alone. */
static int check_caller(const struct answer_offer *o, struct error *err)
{
	if (!o->caller || !*o->caller || strcmp(o->caller, o->id) == 0)
		return 0;
	return error_set(err, ERR_STATE,
		"action '%.200s' is not that of the agent who answers: DEV_TEAM_ACTION is '%.200s'",
		o->id, o->caller);
}

/* The action has an answer. The same bytes may come again, also with the word that a text written
 * by hand lacks. */
static int check_repeat(const struct context *c, const json *action, const char *word,
	struct answer_offer *o, struct error *err)
{
	struct str known = action_word(c, action);
	bool same = str_is(known, word);

	if (!str_eq(action_text(c, action), str_trim(o->text)) || (!same && known.n))
		return error_set(err, ERR_STATE, "action '%.200s' has an answer already", o->id);
	o->outcome = same ? ANSWER_AGAIN : ANSWER_TAKEN;
	return 0;
}

/* An agent that did not learn that its answer was recorded sends it again: not a new answer. */
static int not_outstanding(const struct context_file *f, struct answer_offer *o, struct error *err)
{
	if (answer_check_requested(f, o->id, err) < 0)
		return -1;
	if (!was_taken(f, o))
		return answer_refuse_stale(f, o->id, err);
	o->outcome = ANSWER_AGAIN;
	return 0;
}

/* The guard reports a policy violation as JSON in the script's answer. */
static void note_violation(struct context_file *f, json *action, struct str text)
{
	static const char *const members[] = {
		"policy", "violation", "rule", "word", "path", "reason"};
	CLEANUP(json_free)
	json *report = action_kind(action) == ACTION_SCRIPT ? verdict_json(text) : NULL;
	const char *name = report ? json_get_str(report, "violation") : NULL;
	enum violation which;
	json *event;

	if (!violation_find(name, &which))
		return;
	event = context_event(f, "security_violation");
	json_put_str(event, "action", str_of(json_get_str(action, "id")));
	for (size_t i = 0; i < COUNT(members); i++)
		if (json_get_str(report, members[i]))
			json_put_str(event, members[i], str_of(json_get_str(report, members[i])));
	json_set(action, "violation", json_string(str_of(name)));
}

static void note_answer(
	struct context_file *f, json *action, const char *word, const struct answer_offer *o)
{
	char sum[DIGEST_TEXT];

	note_violation(f, action, o->text);
	json_set(action, "answered", json_string(str_of(word)));
	digest_text(str_trim(o->text), sum);
	JSON_ADD(context_event(f, "answer"), JSON_TEXT("action", o->id), JSON_TEXT("result", word),
		JSON_INT("bytes", o->text.n), JSON_TEXT("sum", sum),
		JSON_IF(o->person, JSON_TEXT("person", o->person)),
		JSON_IF(o->ms, JSON_INT("ms", o->ms)), JSON_IF(o->log, JSON_TEXT("log", o->log)));
}

/* Puts an answer into the document without saving it, and notes the event. */
static int apply_answer(struct context_file *f, struct answer_offer *o, struct error *err)
{
	CLEANUP(json_free) json *array = NULL, *noted = NULL;
	const struct action_row *row;
	const char *word = o->word;
	bool approval;
	json *action;

	o->outcome = ANSWER_TAKEN;
	o->section = o->given = NULL;
	if (check_caller(o, err) < 0 || action_load_noted(f, &array, &noted, err) < 0)
		return -1;
	action = action_find(array, o->id);
	if (!action || (!action_answered(&f->doc, action) && !action_is_noted(noted, o->id, NULL)))
		return not_outstanding(f, o, err);
	o->section = arena_dup(&f->doc.arena, str_of(json_get_str(action, "write_section")));
	row = &action_rows[action_kind(action)];
	approval = action_kind(action) == ACTION_APPROVAL;
	if (row->no_record && !(approval ? !!o->person : o->ran))
		return error_set(err, ERR_INPUT, "'%.200s' %s", o->id, row->no_record);
	/* Whether a person approves or rejects, the verb says, whatever the text has. */
	if (machine_answer_check_text(o->text, err) < 0 ||
		action_result(&f->doc.arena, action,
			approval && word ? (struct str){"", 0} : o->text, &word, err) < 0 ||
		check_updates(&f->doc, action, o->text, err) < 0)
		return -1;
	o->given = word;
	if (!action_answered(&f->doc, action))
		machine_answer_put_answer(&f->doc, action, o->text);
	else if (check_repeat(&f->doc, action, word, o, err) < 0)
		return -1;
	else if (o->outcome == ANSWER_AGAIN)
		return 0;
	note_answer(f, action, word, o);
	action_store(&f->doc, array);
	return action_note(f, array, noted, err);
}

/* `ADR-7/researching/1` as part of a file name: other characters become `_`. */
static char *refused_name(struct arena *a, const char *name, const char *id)
{
	char *stem = arena_printf(a, "%s-refused-%.120s", name, id);

	for (char *p = stem; *p; p++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-",
			    *p))
			*p = '_';
	return stem;
}

/* Keeps the text of an answer that is not recorded, and adds to the message where. Returns where;
 * NULL: it is not kept. */
static const char *machine_answer_keep_text(
	struct context_file *f, const char *stem, struct str text, struct error *err)
{
	struct error why = {0};
	size_t n = strlen(err->text);
	char *path = NULL;
	bool kept;

	if (!text.n)
		return NULL;
	kept = context_keep(f, stem, text, &path, &why) == 0;
	(void)snprintf(err->text + n, sizeof(err->text) - n, "; what was offered is %s%.400s",
		kept ? "kept in " : "not kept: ",
		kept ? path_join(&f->doc.arena, f->dir, path) : why.text);
	return kept ? path : NULL;
}

static const char *machine_answer_printable(const char *text)
{
	return str_utf8_fault(str_of(text)) ? "?" : text;
}

static int machine_answer_refuse(struct context_file *f, struct answer_offer *o, struct error *err)
{
	struct error why = *err, second;
	const char *id = o->id;
	const char *kept =
		machine_answer_keep_text(f, refused_name(&f->doc.arena, f->name, id), o->text, err);

	o->outcome = ANSWER_REFUSED;
	if (f->ops.n) /* a refused answer does not take the lease again, so nothing can refuse it */
		lease_stop_renewing(f);
	f->ops.n = 0;
	JSON_ADD(context_event(f, "refusal"), JSON_TEXT("action", machine_answer_printable(id)),
		JSON_TEXT("reason", machine_answer_printable(why.text)),
		JSON_IF(kept, JSON_TEXT("kept", kept)),
		JSON_IF(why.code == ERR_INPUT && o->section, JSON_TEXT("section", o->section)));
	if (context_log(f, &second) < 0)
		error_prefix(err, "(not noted in the events: %.100s)", second.text);
	return -1;
}

static void machine_answer_note_operation(struct context_file *f, struct answer_offer *o)
{
	bool valid = o->word && !str_utf8_fault(str_of(o->word));

	JSON_ADD(context_op(f, "record"), JSON_TEXT("action", machine_answer_printable(o->id)),
		JSON_IF(valid, JSON_TEXT("word", o->word)), JSON_IF(o->ran, JSON_BOOL("ran", true)),
		JSON_IF(o->caller, JSON_TEXT("caller", machine_answer_printable(o->caller))),
		JSON_IF(o->person, JSON_TEXT("person", machine_answer_printable(o->person))),
		JSON_IF(o->ms, JSON_INT("ms", o->ms)),
		JSON_IF(o->owner, JSON_TEXT("owner", o->owner)));
}

/* A session that lost the lease adds nothing; what it recorded before stays recorded. */
static int refuse_owner(struct context_file *f, struct answer_offer *o, struct error *err)
{
	if (err->code != ERR_STATE)
		return -1;
	if (!was_taken(f, o))
		return machine_answer_refuse(f, o, err);
	o->outcome = ANSWER_AGAIN;
	*err = (struct error){0};
	return 0;
}

/* A context_change. */
static int machine_answer_record(struct context_file *f, void *data, struct error *err)
{
	struct answer_offer *o = data;
	const char *item = context_get(&f->doc, "work_item_id").p;

	machine_answer_note_operation(f, o);
	if (o->run)
		agents_note_new(f, o->run);
	if (o->owner && lease_admit(f, item, o->owner, err) < 0)
		return refuse_owner(f, o, err);
	if (apply_answer(f, o, err) < 0)
		return err->code == ERR_SYSTEM || context_has_fault(f, err)
			       ? -1
			       : machine_answer_refuse(f, o, err);
	if (!o->owner && o->outcome == ANSWER_AGAIN)
		return 0;
	if (!o->owner && lease_admit(f, item, NULL, err) < 0)
		return -1;
	if (context_save(f, err) == 0)
		return 0;
	if (err->code != ERR_INPUT)
		return -1;
	context_forget(f); /* the document would be too large: drop the answer */
	if (o->run)
		agents_note_new(f, o->run);
	return machine_answer_refuse(f, o, err);
}

static void keep_unrecorded(struct context_file *f, struct str text, struct error *err)
{
	(void)machine_answer_keep_text(
		f, arena_printf(&f->doc.arena, "%s-unrecorded", f->name), text, err);
}

int answer_record(struct context_file *f, struct answer_offer *o, struct error *err)
{
	int rc;

	o->word = o->word && *o->word ? o->word : NULL;
	rc = context_update(f, machine_answer_record, o, err);
	if (rc < 0 && (f->refused || f->created || context_has_fault(f, err)))
		keep_unrecorded(f, o->text, err);
	return rc;
}

/* The result word in the document, of an answer that was recorded before. */
static const char *recorded_word(struct arena *a, const struct context_file *f, const char *id)
{
	CLEANUP(json_free) json *array = NULL;
	struct error ignored;
	const json *action =
		action_load(&f->doc, &array, &ignored) == 0 ? action_find(array, id) : NULL;
	const char *word = action ? json_get_str(action, "answered") : NULL;

	return word ? arena_dup(a, str_of(word)) : "";
}

static bool has_file(const struct context_file *f)
{
	struct error ignored;
	bool there;

	return f->path &&
	       store_exists(f->backend, f->dir, f->name, path_base(f->path).p, &there, &ignored) ==
		       0 &&
	       there;
}

int answer_open(
	struct context_file *f, const char *context_file, struct str text, struct error *err)
{
	if (context_open(f, context_file, CONTEXT_MUST_EXIST, err) == 0)
		return 0;
	/* The lock was busy for too long, the document is missing though it has a journal, or one
	 * of them has a fault. */
	if (err->code == ERR_STATE || (err->code == ERR_INPUT && has_file(f)))
		keep_unrecorded(f, text, err);
	return -1;
}

int answer_record_file(struct arena *a, const char *context_file, struct answer_offer *o,
	const char **recorded, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	if (answer_open(&f, context_file, o->text, err) < 0 || answer_record(&f, o, err) < 0)
		return -1;
	*recorded = o->given ? arena_dup(a, str_of(o->given)) : recorded_word(a, &f, o->id);
	return 0;
}
