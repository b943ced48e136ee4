#include <strings.h>
#include <unistd.h>
#include "src/machine/action.h"
#include "src/machine/engine.h"
#include "src/machine/failure.h"
#include "src/machine/verdict.h"
#include "src/sys/path.h"
#include "src/sys/secrets.h"

enum { LOG_MAX = 64 << 20 };

/* ---- the last words ---- */

struct last {
	struct arena *arena;
	const char *log;     /* of the last answer, refused or not; NULL: it has none */
	bool troubleshooter; /* it was the troubleshooter's: the log is of the one before */
	bool known, known_log;
	const char *detail; /* of a call of a harness that failed, after that; may be NULL */
	/* Why a script that passed counts as failed, and its action; NULL: it does not. */
	const char *refuted, *refuted_action;
	int64_t dispatched; /* revision of the last dispatch; 0: not seen yet */
};

/* A context_visit. */
static bool failure_find_last(const json *event, void *data)
{
	struct last *l = data;
	const char *id = json_get_str(event, "action");
	bool answer = json_str_is(event, "type", "answer");

	if (json_str_is(event, "type", "dispatch") && !l->dispatched)
		l->dispatched = json_get_int(event, "rev", 0);
	if (json_str_is(event, "type", "agent_run") && !l->known && !l->detail)
		l->detail = json_dup(l->arena, event, "detail");
	if (!l->known && !l->refuted && id && json_str_is(event, "type", "failure") &&
		!json_get_str(event, "kept")) {
		l->refuted = json_dup(l->arena, event, "reason");
		l->refuted_action = arena_dup(l->arena, str_of(id));
	}
	if (!l->known_log &&
		(answer || json_get_str(event, "section") ||
			(json_str_is(event, "type", "failure") && json_get_str(event, "kept")))) {
		bool troubleshooter = answer && id && strstr(id, "/troubleshooter/");

		if (!l->known && l->refuted &&
			!(answer && json_str_is(event, "action", l->refuted_action)))
			l->refuted = NULL;
		l->troubleshooter |= !l->known && troubleshooter;
		l->known = true;
		l->known_log = !troubleshooter;
		l->log = json_dup(l->arena, event, answer ? "log" : "kept");
	}
	return !l->known_log || !l->dispatched;
}

/* The last lines, at most `max` bytes. Secrets are masked before the text is cut. */
static const char *last_lines(struct arena *a, struct str text, size_t max)
{
	CLEANUP(buf_release) struct buf masked = BUF_INIT;
	struct secrets secrets = {0};
	size_t at;

	secrets_add(a, &secrets, (const char *const *)environ, NULL);
	secrets_mask(&secrets, str_trim(text), &masked);
	text = buf_str(&masked);
	if (text.n > max) {
		at = text.n - max;
		at += str_find(str_sub(text, at, text.n), STR("\n")) + 1;
		if (at >= text.n)
			at = text.n - max;
		while (at < text.n && ((unsigned char)text.p[at] & 0xc0) == 0x80)
			at++;
		text = str_sub(text, at, text.n);
	}
	return text.n ? arena_dup(a, text) : NULL;
}

/* The object with the answer's word is no words: what it says is the reason already. */
static const char *end_of(struct arena *a, struct str text)
{
	return last_lines(a, verdict_prose(text), FAILURE_WORDS_MAX);
}

static const char *end_of_file(struct arena *a, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;

	if (!path || sys_read_file(&text, path, LOG_MAX, NULL, &ignored) < 0 ||
		str_utf8_fault(buf_str(&text)))
		return NULL;
	return end_of(a, buf_str(&text));
}

/* The last entry of the troubleshooter's log, without its heading. */
static struct str last_entry(struct str log)
{
	struct str rest = log, line;

	while (str_line(&rest, &line))
		if (str_starts(line, "## "))
			log = rest;
	return log;
}

static const char *last_words(struct arena *a, const struct context *c, const struct last *l)
{
	static const char *const sections[] = {CONTEXT_FAILED_ANSWER, CONTEXT_LAST_FAILURE};
	const char *words = l->refuted          ? end_of(a, str_of(l->refuted))
			    : l->detail         ? end_of(a, str_of(l->detail))
			    : l->troubleshooter ? NULL
						: end_of_file(a, l->log);

	if (!words && l->troubleshooter)
		words = end_of(a, last_entry(context_section(c, CONTEXT_TROUBLE_LOG)));
	for (size_t i = 0; !words && i < COUNT(sections); i++)
		words = end_of(a, context_section(c, sections[i]));
	return words && strcasecmp(words, failure_reason(a, c)) == 0 ? NULL : words;
}

/* ---- the command ---- */

static const char *failure_command(
	struct arena *a, const struct context_file *f, const char *before, const char *after)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_add_argument(&text, before, f->path);
	buf_adds(&text, after);
	return arena_dup(a, buf_str(&text));
}

static const char *repair(
	struct arena *a, const struct context_file *f, const struct last *l, const char *initial)
{
	if (context_get(&f->doc, "question").n)
		return failure_command(a, f, "echo 'YOUR ANSWER' | dev-team context set ",
			" troubleshooter_input");
	if (context_get(&f->doc, "question_trigger").n)
		return failure_command(
			a, f, "echo 0 | dev-team context set ", " troubleshooter_calls");
	return l->dispatched ? failure_command(a, f, "dev-team context restore ",
				       arena_printf(a, " %lld", (long long)l->dispatched))
			     : failure_command(a, f,
				       arena_printf(a, "echo %s | dev-team context set ", initial),
				       " state");
}

/* A context_visit. */
static bool failure_is_no_request(const json *event, void *requested)
{
	return !(*(bool *)requested = json_str_is(event, "type", "dispatch"));
}

const char *failure_verb(const struct context_file *f)
{
	bool requested = false;

	context_each_event(f, "\"dispatch\"", failure_is_no_request, &requested);
	return requested ? "dev-team retry " : "dev-team reset ";
}

bool failure_is(const struct context *c)
{
	return str_is(context_get(c, "state"), "failed") || context_get(c, "question").n ||
	       context_get(c, "question_trigger").n;
}

const char *failure_reason(struct arena *a, const struct context *c)
{
	struct str question = context_get(c, "question"), outcome = context_get(c, "outcome"),
		   trigger = context_get(c, "question_trigger");

	if (question.n)
		return arena_printf(a, "needs your answer: %s", question.p);
	if (trigger.n)
		return arena_printf(a,
			"the troubleshooter could not get '%s' done: it was called for '%s' too "
			"often",
			context_get(c, "state").p, trigger.p);
	return outcome.n ? arena_dup(a, outcome) : "the run has failed";
}

const char *failure_state(const struct context *c)
{
	bool given_up = context_get(c, "question_trigger").n && !context_get(c, "question").n;

	return given_up ? "failed" : context_get(c, "state").p;
}

/* A loop of fixes has ended by its limit. */
static const char *failure_limit_of(struct arena *a, const struct context *c)
{
	static const struct {
		const char *outcome, *counter, *limit;
	} loops[] = {
		{"'fixing' gave 'max_retries'", "fix_iteration", "max_fix_iterations"},
		{"'fixing-pr' gave 'max_retries'", "review_fix_iteration",
			"max_review_fix_iterations"},
	};

	for (size_t i = 0; i < COUNT(loops); i++) {
		unsigned long n = context_count(c, loops[i].counter);

		if (str_is(context_get(c, "outcome"), loops[i].outcome))
			return arena_printf(a,
				"%lu fix%s not enough, and '%s' of the workflow allows no more", n,
				n == 1 ? " was" : "es were", loops[i].limit);
	}
	return NULL;
}

void failure_explain(
	struct arena *a, const struct context_file *f, const char *initial, struct failure *out)
{
	struct last last = {.arena = a};

	context_each_event(f, "", failure_find_last, &last);
	if (!last.log && context_has_section(&f->doc, CONTEXT_LAST_FAILURE) &&
		context_get(&f->doc, "build_log").n)
		last.log = arena_dup(a, context_get(&f->doc, "build_log"));
	if (last.log)
		last.log = path_join(a, f->dir, last.log);
	*out = (struct failure){.limit = failure_limit_of(a, &f->doc),
		.log = last.log,
		.words = last_words(a, &f->doc, &last),
		.repair = repair(a, f, &last, initial)};
}

/* ---- the log of a script ---- */

/* Agents can write sections, so only a file in logs/ is accepted. */
static const char *named_log(struct arena *a, const struct context_file *f, struct str text)
{
	struct str logs = STR("log: logs/"), line;

	while (str_line(&text, &line)) {
		struct str path = str_sub(line, str_find(line, logs), line.n);

		if (path.n > logs.n &&
			str_find(str_sub(path, logs.n, path.n), STR("/")) == path.n - logs.n)
			return path_join(
				a, f->dir, arena_dup(a, str_sub(path, strlen("log: "), path.n)));
	}
	return NULL;
}

void failure_read_log(
	struct arena *a, const struct context_file *f, const char *section, struct failure_log *out)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;

	*out = (struct failure_log){.path = named_log(a, f, context_section(&f->doc, section))};
	if (!out->path || sys_read_file(&text, out->path, LOG_MAX, NULL, &ignored) < 0)
		return;
	buf_utf8_repair(&text);
	out->text = last_lines(a, buf_str(&text), FAILURE_LOG_MAX);
}

/* ---- refused answers ---- */

struct refused {
	struct arena *arena;
	const json *actions; /* the document's */
	const char *section, *reason;
};

/* An answer to another action of the array says nothing about this one's. */
static bool failure_is_beside(const struct refused *r, const json *answer)
{
	const json *action = action_find(r->actions, json_get_str(answer, "action"));

	return action && !json_str_is(action, "write_section", r->section);
}

/* A context_visit. */
static bool find_refused(const json *event, void *data)
{
	struct refused *r = data;

	if (json_str_is(event, "type", "refusal") && json_str_is(event, "section", r->section))
		r->reason = json_dup(r->arena, event, "reason");
	return !r->reason && !json_str_is(event, "type", "transition") &&
	       (!json_str_is(event, "type", "answer") || failure_is_beside(r, event));
}

const char *failure_refusal(struct arena *a, const struct context_file *f, const char *section)
{
	CLEANUP(json_free) json *actions = NULL;
	struct refused r = {a, NULL, section, NULL};
	struct error ignored;

	(void)action_load(&f->doc, &actions, &ignored);
	r.actions = actions;
	context_each_event(f, "", find_refused, &r);
	return r.reason;
}

struct asked_again {
	struct arena *arena;
	const char *id, *before; /* before: what the ids of its requests begin with */
	const char *why;
};

/* A context_visit. */
static bool find_asked_again(const json *event, void *data)
{
	struct asked_again *w = data;
	const char *id = json_get_str(event, "action");

	if (json_str_is(event, "type", "failure") && id && strcmp(id, w->id) == 0)
		return false; /* an earlier revision was put back: it is no request of before */
	if (json_str_is(event, "type", "failure") && id && str_starts(str_of(id), w->before))
		w->why = json_dup(w->arena, event, "reason");
	return !w->why && !json_str_is(event, "type", "transition");
}

const char *failure_waiting_reason(
	struct arena *a, const struct context_file *f, const char *id, const char *reason)
{
	struct asked_again w = {
		a, id, arena_dup(a, str_sub(str_of(id), 0, (size_t)(path_base(id).p - id))), NULL};

	context_each_event(f, "", find_asked_again, &w);
	return w.why ? arena_printf(a, "%s; asked again: %s", reason, w.why) : reason;
}

bool failure_is_final(struct str outcome)
{
	return str_starts(outcome, FAILURE_TERMINATED) || str_is(outcome, ENGINE_CANCELLED) ||
	       str_starts(outcome, ENGINE_VIOLATION);
}

/* ---- attempts of one action ---- */

struct attempts {
	struct arena arena;
	const struct context_file *file;
	const char *section;
	VEC(const char *) lines; /* the last one first */
};

/* A context_visit. */
static bool find_attempt(const json *event, void *data)
{
	struct attempts *l = data;
	const char *kept = json_get_str(event, "kept");

	if (!json_str_is(event, "type", "failure") ||
		!json_str_is(event, "write_section", l->section))
		return true;
	vec_push_in(&l->arena, &l->lines,
		arena_printf(&l->arena, "%s: %s%s%s%s", json_get_str(event, "action"),
			json_get_str(event, "reason"), kept ? " (" : "",
			kept ? path_join(&l->arena, l->file->dir, kept) : "", kept ? ")" : ""));
	return json_get_int(event, "count", 1) > 1;
}

void failure_add_attempts(struct buf *out, const struct context_file *f, const char *section)
{
	struct attempts l = {.file = f, .section = section};

	context_each_event(f, "\"write_section\"", find_attempt, &l);
	while (l.lines.n)
		buf_addf(out, "%s\n", l.lines.items[--l.lines.n]);
	arena_release(&l.arena);
}

/* ---- another attempt ---- */

static void set_noted(struct context_file *f, const char *key, struct str value)
{
	if (str_eq(context_get(&f->doc, key), value))
		return;
	context_set(&f->doc, key, value);
	json_put_texts(context_event(f, "set"), "key", key, "value", value.p);
}

static void reset_counters(struct context_file *f)
{
	static const char *const counters[] = {
		"consecutive_failures",
		"troubleshooter_calls",
#define COUNTER_LOOP(key, limit, state, counts, reset) #key,
#include "context/counters.h"
	};
	struct context *c = &f->doc;
	unsigned long fixes = context_fixes(c);

	if (fixes != context_count(c, "earlier_fixes"))
		set_noted(f, "earlier_fixes", str_of(arena_printf(&c->arena, "%lu", fixes)));
	for (size_t i = 0; i < COUNT(counters); i++)
		if (context_count(c, counters[i]))
			set_noted(f, counters[i], STR("0"));
	if (context_get(c, "visits").n)
		set_noted(f, "visits", STR("{}"));
	if (context_get(c, "failures").n)
		set_noted(f, "failures", STR("{}"));
	/* A troubleshooter that has given up is not called for the same reason. */
	if (!context_get(c, "question").n)
		set_noted(f, "question_trigger", STR(""));
}

const char *failure_note(struct arena *a, const struct context *c, const char *advice)
{
	struct str old = context_get(c, "user_note");

	return str_find(old, str_of(advice)) < old.n
		       ? NULL
		       : arena_printf(a, "%s%s%s", old.n ? old.p : "", old.n ? "\n" : "", advice);
}

int failure_retry(struct context_file *f, int64_t to, struct str text, struct error *err)
{
	json *op = context_op(f, "retry");

	if (to) {
		json_put_int(op, "to", to);
		json_put_int(context_event(f, "restored"), "to", to);
		if (context_revert(f, text, err) < 0)
			return -1;
	}
	reset_counters(f);
	return f->doc.changed ? context_save(f, err) : 0;
}
