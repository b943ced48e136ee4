/* oracle.c: reads a document and a journal into the model, and compares what a call did. */
#include "context/context.h"
#include "src/machine/evidence.h"
#include "src/machine/step.h"
#include "src/sys/digest.h"
#include "tests/model/oracle.h"
#include "tests/model/reference.h"

/* One call. */
struct comparison {
	struct oracle *oracle;
	const struct simulator *simulator;
	const struct simulator_call *call;
	struct arena arena;
	struct model model;
	char document[DIGEST_TEXT]; /* before the call */
	size_t journal;             /* its length */
	bool pending;               /* the document says that an agent was asked */
	bool leased;                /* the journal: an owner took it */
	VEC(bool) refused;          /* by change of the troubleshooter */
	struct model_text *decision;
	const char *facts;  /* the key EVIDENCE_KEY, as the part of the journal read last has it */
	const char *before; /* the same before the call */
	bool placed;        /* the same part of the journal has a place */
};

static const char *keep(struct comparison *c, struct str s)
{
	return arena_dup(&c->arena, s);
}

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

static void differ(struct comparison *c, const char *what, const char *model, const char *engine)
{
	const struct simulator_call *call = c->call;

	if (c->oracle->difference[0] || strcmp(model, engine) == 0)
		return;
	(void)snprintf(c->oracle->difference, ORACLE_DIFFERENCE,
		"%s%s%s%s%s: %s: the model has '%.400s', the engine '%.400s'",
		call->action ? "record "
		: call->key  ? "context set "
			     : "step",
		text_or_empty(call->action ? call->action : call->key),
		call->returned ? " --returned" : "", call->take_over ? " --take-over" : "",
		call->cancel ? " (cancel)" : "", what, model, engine);
}

/* ---- texts: their writers are scenario.c, engine_checks.c and src/verify/explore_graph.c ---- */

static bool contains(struct str text, const char *part)
{
	return str_find(text, str_of(part)) < text.n;
}

/* The value behind the last `opening`, up to the next quote; NULL: none. */
static const char *last_value(struct comparison *c, struct str text, const char *opening)
{
	const char *value = NULL;

	for (size_t at; (at = str_find(text, str_of(opening))) < text.n;) {
		text = str_sub(text, at + strlen(opening), text.n);
		value = keep(c, str_sub(text, 0, str_find(text, STR("\""))));
	}
	return value;
}

/* The reason and the changes of a decision, its last line that is an object: an edit by hand may
 * have added others. A sentence has no name. */
static void read_decision(struct comparison *c, struct str text, struct model_text *out)
{
	CLEANUP(json_free) json *decision = NULL;
	VEC(struct model_change) changes = {0};
	struct str line, last = {0};
	struct error ignored;

	while (str_line(&text, &line))
		last = str_starts(line, "{") ? line : last;
	if (json_parse(&decision, last, &ignored) < 0)
		return;
	out->reason = keep(c, str_of(json_get_str(decision, "reason")));
	for (const json *j = json_first(json_get(decision, "state_changes")); j; j = json_next(j)) {
		const char *key = json_get_str(j, "key"), *section = json_get_str(j, "section");
		const char *value = json_get_str(j, section ? "text" : "value");

		if (!value)
			value = arena_printf(
				&c->arena, "%lld", (long long)json_get_int(j, "value", 0));
		vec_push_in(&c->arena, &changes,
			(struct model_change){keep(c, str_of(key ? key : section)),
				section && *value ? MODEL_WRITTEN : keep(c, str_of(value))});
	}
	vec_push_in(&c->arena, &changes, (struct model_change){0});
	out->changes = changes.items;
}

/* What the writer of a text means. */
static struct model_text *meaning(struct comparison *c, struct str text, const char *section)
{
	bool decision = strcmp(section, "Troubleshooter Log") == 0;
	struct model_text *t = arena_alloc(&c->arena, sizeof(*t));
	char sum[DIGEST_TEXT];

	digest_text(text, sum);
	t->sum = keep(c, str_of(sum));
	t->has_url = contains(text, "https://");
	t->hard_abort = contains(text, "\"violation\":\"hard_abort\"");
	t->status = last_value(c, text, decision ? "\"action\": \"" : "\"status\": \"");
	if (!t->status)
		t->status = last_value(c, text, decision ? "\"action\":\"" : "\"status\":\"");
	if (decision)
		read_decision(c, text, c->decision = t);
	return t;
}

/* ---- the document ---- */

static const char *const keys[] = {"state", "spec_path", "pr_url", "troubleshooter_input",
	"question", "question_trigger", "outcome", "fix_iteration", "review_fix_iteration",
	"signoff_cycle_count", "consecutive_failures", "review_cycle_count", "actions_dispatched",
	"budget_extensions", "troubleshooter_calls"};

static const struct {
	enum effect effect;
	const char *name;
} effects[] = {{EFFECT_FIND_SPEC, "!spec"}, {EFFECT_COMMIT, "!commit"}, {EFFECT_PUSH, "!push"},
	{EFFECT_PR_CHECKS, "!checks"}, {(enum effect)SIMULATOR_PLACE, "!place"},
	{(enum effect)SIMULATOR_EVIDENCE, "!evidence"}};

/* Of `T-1/STATE/N`. */
static const char *state_of(struct comparison *c, const char *id)
{
	return keep(c, str_sub(str_of(id), 4, (size_t)(strrchr(id, '/') - id)));
}

static const char *asked_for(struct comparison *c, const json *action)
{
	const char *agent = json_get_str(action, "agent"), *reads = "";

	for (const json *r = json_first(json_get(action, "read_sections")); r; r = json_next(r))
		reads = arena_printf(&c->arena, "%s%s,", reads, json_text(r));
	return arena_printf(&c->arena, "%s [%s] %s", agent ? agent : "script", reads,
		json_get_str(action, "result_format"));
}

static void raise_attempts(
	struct comparison *c, struct model *m, const char *state, unsigned long n)
{
	struct model_slot *s = model_slot(m, arena_printf(&c->arena, "attempts %s", state));

	if (strtoul(s->value, NULL, 10) < n)
		s->value = arena_printf(&c->arena, "%lu", n);
}

static void read_failures(struct comparison *c, struct model *m, const struct context *doc)
{
	CLEANUP(json_free) json *counts = context_failures(doc);

	for (const json *n = json_first(counts); n; n = json_next(n))
		model_slot(m, arena_printf(&c->arena, "failures %s", json_key(n)))->value =
			arena_printf(&c->arena, "%lld", (long long)json_int(n, 0));
}

static void read_request(struct comparison *c, struct model *m, struct str line)
{
	CLEANUP(json_free) json *j = NULL;
	struct model_slot *s;
	struct error ignored;

	if (json_parse(&j, line, &ignored) < 0)
		return;
	s = model_slot(m, keep(c, str_of(json_get_str(j, "write_section"))));
	s->id = keep(c, str_of(json_get_str(j, "id")));
	s->state = state_of(c, s->id);
	s->asks = asked_for(c, j);
	s->trigger = json_get(j, "trigger") ? keep(c, str_of(json_get_str(j, "trigger"))) : NULL;
	s->word = json_get(j, "answered") ? keep(c, str_of(json_get_str(j, "answered"))) : NULL;
	s->carried = json_get(j, "carried") != NULL;
	s->array = (unsigned long)json_get_int(j, "array", 0);
	s->user_answered = json_get(j, "user_answered") != NULL;
}

/* False when it is not readable. */
static bool read_document(struct comparison *c, struct model *m, struct str text)
{
	CLEANUP(context_release) struct context doc = {0};
	struct str actions, outcome, line;
	size_t end;
	struct error ignored;

	if (context_parse(&doc, "", text, &ignored) < 0)
		return false;
	for (size_t i = 0; i < COUNT(keys); i++)
		model_slot(m, keys[i])->value = keep(c, context_get(&doc, keys[i]));
	outcome = context_get(&doc, "outcome");
	end = str_find(outcome, STR("': ")); /* the report of a violation follows */
	model_slot(m, "outcome")->value = keep(c, str_sub(outcome, 0, end + (end < outcome.n)));
	actions = context_section(&doc, CONTEXT_ACTIONS);
	raise_attempts(c, m, "troubleshooter", context_attempts(&doc, "troubleshooter"));
	for (size_t i = 0; i < c->simulator->workflow->n_states; i++) {
		const char *state = c->simulator->workflow->states[i].name;

		raise_attempts(c, m, state, context_attempts(&doc, state));
		model_slot(m, keep(c, str_of(arena_printf(&c->arena, "visits %s", state))))->value =
			arena_printf(&c->arena, "%lu", context_visits(&doc, state));
	}
	read_failures(c, m, &doc);
	c->pending = context_get(&doc, "pending_agent").n;
	while (str_line(&actions, &line))
		read_request(c, m, line);
	for (size_t i = 0; i < context_sections(&doc); i++) {
		const char *name = keep(c, context_section_name(&doc, i));
		struct str section = context_section(&doc, name);

		if (!section.n || strcmp(name, CONTEXT_ACTIONS) == 0)
			continue;
		model_slot(m, name)->text = meaning(c, section, name);
		model_slot(m, name)->value = model_slot(m, name)->text->sum;
	}
	return true;
}

/* ---- the journal ---- */

static void read_event(struct comparison *c, struct model *m, const json *e)
{
	const char *type = text_or_empty(json_get_str(e, "type")), *id = json_get_str(e, "action");

	if (json_get(e, "change"))
		vec_push_in(&c->arena, &c->refused, strcmp(type, "refusal") == 0);
	c->leased |= strcmp(type, "lease") == 0;
	if (strcmp(type, "transition") == 0)
		model_slot(m, "path")->value = arena_printf(&c->arena, "%s%s -> %s %s; ",
			model_slot(m, "path")->value, json_get_str(e, "from"),
			json_get_str(e, "to"), json_get_str(e, "trigger"));
	else if (strcmp(type, "dispatch") == 0)
		raise_attempts(c, m, state_of(c, id), strtoul(strrchr(id, '/') + 1, NULL, 10));
	else if (strcmp(type, "answer") == 0)
		model_slot(m, keep(c, str_of(id)))->value = keep(c, str_of(json_get_str(e, "sum")));
}

/* Of the outstanding actions, a commit lists those that wait for an answer, and as objects the
 * scripts that gave one. */
static void read_journal(struct comparison *c, struct model *m, struct str journal)
{
	static const char opening[] = "\"asked\":[\"", facts[] = "\"" EVIDENCE_KEY "\":[\"";
	struct str line, waiting = {0};

	model_slot(m, "path")->value = "";
	c->refused.n = 0;
	while (str_line(&journal, &line)) {
		CLEANUP(json_free) json *event = NULL;
		struct error ignored;

		if (str_starts(line, "{\"seq\"") && json_parse(&event, line, &ignored) == 0)
			read_event(c, m, event);
		else if (str_starts(line, "{\"commit\"") && contains(line, opening))
			waiting = str_sub(line, str_find(line, str_of(opening)), line.n);
		if (str_starts(line, "{\"commit\"") && contains(line, facts))
			c->facts = keep(c, str_sub(line, str_find(line, str_of(facts)), line.n));
		c->placed |= str_starts(line, "{\"commit\"") && contains(line, "\"place\":[\"");
	}
	waiting = str_sub(waiting, 0, str_find(waiting, STR("]\"")));
	for (struct model_slot *s = m->slots; s && waiting.n; s = s->next) {
		bool noted = s->id &&
			     contains(waiting, arena_printf(&c->arena, "id\\\":\\\"%s\\\"", s->id));

		if (model_is_script(s) && !noted)
			s->word = NULL; /* the result is not of a run of the script */
		s->stale =
			model_is_open(s) &&
			(noted || !contains(waiting, arena_printf(&c->arena, "\"%s\\\"", s->id)));
	}
}

/* ---- comparison ---- */

static const char *describe(struct comparison *c, const struct model_slot *s)
{
	if (!s->id)
		return s->value;
	return arena_printf(&c->arena, "%s; %s%s%s for '%s': %s", s->value, s->id,
		s->carried ? " carried " : " ", text_or_empty(s->trigger), s->asks,
		s->word ? s->word : "open");
}

/* Of a text that the machine wrote, only whether there is one. An answer is in the journal. */
static void compare_slot(
	struct comparison *c, const struct model_slot *expected, const struct model_slot *found)
{
	struct model_slot e = *expected, f = *found;

	if (str_starts(str_of(e.name), "T-1/") || str_starts(str_of(e.name), "attempts "))
		return;
	e.value = strcmp(e.value, "0") ? e.value : "";
	f.value = strcmp(f.value, "0") ? f.value : "";
	if (*f.value && strcmp(e.value, MODEL_WRITTEN) == 0)
		f.value = MODEL_WRITTEN;
	differ(c, e.name, describe(c, &e), describe(c, &f));
}

/* All that are open; of a built-in state only the first if others are answered. */
static void compare_array(struct comparison *c, const json *array)
{
	const json *a = json_first(array);
	bool answered = false, done = false;
	const struct model_slot *s;

	for (s = c->model.slots; s; s = s->next)
		answered |= s->id && !model_is_open(s) && !model_is_together(&c->model);
	for (s = c->model.slots; s && !done; s = s->next) {
		if (!model_is_open(s))
			continue;
		differ(c, "the array", s->id, text_or_empty(json_get_str(a, "id")));
		differ(c, s->id, s->asks, asked_for(c, a));
		a = a ? json_next(a) : NULL;
		done = answered;
	}
	if (json_get(a, "id"))
		differ(c, "the array", "no more actions", json_get_str(a, "id"));
	else if (a)
		differ(c, "the result",
			strcmp(model_slot(&c->model, "state")->value, "done") || c->model.refuted
				? "failed"
				: "success",
			json_get_str(a, "result"));
}

/* ---- calls ---- */

/* A crash has left another document than the journal has; which one the call will find depends. */
static bool is_behind(const struct audit *a, struct str document)
{
	return a && !a->edited && !str_eq(document, a->exists ? buf_str(&a->document) : STR(""));
}

/* Somebody removed what was requested: for whom the run waits is not known. */
static bool is_silence(const struct comparison *c)
{
	bool requested = false;

	for (const struct model_slot *s = c->model.slots; s; s = s->next)
		requested |= s->id && !s->stale;
	return c->call->returned && c->pending && !requested;
}

static bool is_checked(const struct comparison *c, const char *name)
{
	static const char opening[] = "\\\"checked\\\":[";
	const char *list = c->before ? strstr(c->before, opening) : NULL;
	struct str ids = str_of(list ? list + strlen(opening) : "");

	ids.n = str_find(ids, STR("]"));
	return contains(ids, arena_printf((struct arena *)&c->arena, "\\\"%s\\\"", name));
}

/* False when the call cannot be compared. */
static bool read_before(struct comparison *c)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, journal = BUF_INIT;
	const struct audit *audit = c->oracle->audit;

	(void)sim_disk_get(sim_disk_of(c->simulator), c->simulator->path, &text);
	if (audit)
		buf_add(&journal, buf_str(&audit->journal));
	else
		(void)sim_disk_get(sim_disk_of(c->simulator), c->simulator->journal, &journal);
	digest_text(buf_str(&text), c->document);
	c->journal = journal.len;
	if ((text.len && !read_document(c, &c->model, buf_str(&text))) ||
		is_behind(audit, buf_str(&text)))
		return false;
	read_journal(c, &c->model, buf_str(&journal));
	c->before = c->facts;
	for (struct model_slot *s = c->model.slots; s; s = s->next)
		s->checked = is_checked(c, s->id ? s->id : s->name);
	c->model.placed = c->placed;
	model_slot(&c->model, "path")->value = "";
	return !is_silence(c);
}

/* Which changes the troubleshooter may make is the engine's to say. */
static void drop_refused(struct comparison *c)
{
	struct model_change *kept =
		c->decision ? (struct model_change *)c->decision->changes : NULL;

	for (size_t i = 0; i < c->refused.n && kept; i++)
		if (!c->refused.items[i] && c->decision->changes[i].name)
			*kept++ = c->decision->changes[i];
	if (kept)
		*kept = (struct model_change){0};
}

static bool has_fact(const struct comparison *c, const char *name)
{
	char key[128];

	(void)snprintf(key, sizeof(key), "\\\"%.80s\\\":", name);
	return c->before && strstr(c->before, key);
}

static bool is_dated(void *data, const char *section)
{
	return has_fact(data, section);
}

/* What the model makes of the call, in c->model. False when the call must fail. */
static bool expect(struct comparison *c)
{
	const struct simulator_environment *env = &c->simulator->environment;
	const struct simulator_call *call = c->call;
	struct model *m = &c->model;
	struct model_text *t;

	if (!call->action && !call->key) {
		m->how = (struct model_step){.take_over = c->leased,
			.returned = call->returned,
			.returned_id = call->returned_id,
			.running = env->running,
			.fails = arena_printf(&c->arena, "%s%s%s%s",
				env->specs != 1 || env->find_fails ? "!spec" : "",
				env->commit_fails ? "!commit" : "", env->push_fails ? "!push" : "",
				env->enter_fails ? "!place" : ""),
			.red = env->checks == CHECKS_RED};
		m->how.cancel = call->cancel;
		m->how.refuted = env->refuted;
		m->how.moved = env->moved;
		m->data = c;
		m->is_dated = is_dated;
		m->validated = has_fact(c, "validated");
		m->approved = has_fact(c, "approved");
		m->done = has_fact(c, "done");
		drop_refused(c);
		model_step(m);
		return !m->failed;
	}
	if (!*model_slot(m, "state")->value)
		return false;
	if (call->key) {
		model_slot(m, call->key)->value = keep(c, call->text);
		return true;
	}
	t = meaning(c, str_trim(call->text),
		model_request(m, call->action) ? model_request(m, call->action)->name : "");
	t->malformed = !str_trim(call->text).n || str_utf8_fault(call->text);
	return model_record(m, call->action, call->word, t);
}

/* A decision is used now that makes changes, and the call failed: only the events of a call that
 * succeeds say which of them the engine accepts. */
static bool is_undecided(struct comparison *c, bool failed)
{
	const struct model_change *changes = c->decision ? c->decision->changes : NULL;

	return failed && !c->call->action && changes && changes->name &&
	       model_slot(&c->model, "Troubleshooter Log")->id;
}

/* `failed`: why the call did; NULL: it succeeded. */
static void compare_call(struct comparison *c, const json *printed, const char *failed)
{
	CLEANUP(buf_release) struct buf journal = BUF_INIT, text = BUF_INIT;
	struct model *m = &c->model, found = {.arena = &c->arena};
	const struct model_slot *s;
	char sum[DIGEST_TEXT];
	bool good;

	c->oracle->compared++;
	(void)sim_disk_get(sim_disk_of(c->simulator), c->simulator->journal, &journal);
	(void)sim_disk_get(sim_disk_of(c->simulator), c->simulator->path, &text);
	digest_text(buf_str(&text), sum);
	c->leased = false;
	read_journal(c, &found, str_sub(buf_str(&journal), c->journal, journal.len));
	good = expect(c);
	if (good == (failed != NULL))
		differ(c, "the call", good ? "a success" : "a failure",
			failed ? failed : "a success");
	else if (failed && c->call->action)
		differ(c, "a refused answer", c->document, sum);
	if (failed || !good)
		return;
	for (size_t i = 0; i < COUNT(effects); i++)
		if (c->simulator->environment.requested & effects[i].effect)
			model_slot(&found, effects[i].name)->value = MODEL_WRITTEN;
	(void)read_document(c, &found, buf_str(&text));
	for (s = found.slots; s; s = s->next)
		(void)model_slot(m, s->name);
	for (s = m->slots; s; s = s->next)
		compare_slot(c, s, model_slot(&found, s->name));
	differ(c, "the place", m->placed ? "saved" : "none", c->placed ? "saved" : "none");
	if (printed)
		compare_array(c, printed);
}

int oracle_call(struct oracle *o, struct simulator *s, const struct simulator_call *call,
	json **printed, struct error *err)
{
	struct comparison c = {.oracle = o, .simulator = s, .call = call};
	bool owned = call->owner || (!call->action && !call->key), compared;
	unsigned requested = s->environment.requested;
	int rc;

	c.model = (struct model){.workflow = s->workflow, .arena = &c.arena};
	compared = !o->paused && !o->difference[0] && read_before(&c);
	s->environment.requested = 0;
	rc = simulator_invoke(s, call, printed, err);
	if (!compared || (rc < 0 && (o->faulty || (err->code == ERR_STATE && owned))) ||
		is_undecided(&c, rc < 0))
		o->skipped++;
	else
		compare_call(&c, printed && rc == 0 ? *printed : NULL, rc < 0 ? err->text : NULL);
	s->environment.requested |= requested;
	arena_release(&c.arena);
	return rc;
}
