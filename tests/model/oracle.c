/* oracle.c: reads a document and a journal into the model, and compares what a call did. */
#include "src/base/json.h"
#include "src/sys/digest.h"
#include "tests/model/oracle.h"

static const char *keep(struct oracle *o, struct str s)
{
	return arena_dup(&o->arena, s);
}

/* ---- texts: their writers are scenario.c, engine_checks.c and src/verify/explore_graph.c ---- */

static bool contains(struct str text, const char *part)
{
	return str_find(text, str_of(part)) < text.n;
}

/* The value behind the last `opening`, up to the next quote; NULL: none. */
static const char *last_value(struct oracle *o, struct str text, const char *opening)
{
	const char *value = NULL;

	for (size_t at; (at = str_find(text, str_of(opening))) < text.n;) {
		text = str_sub(text, at + strlen(opening), text.n);
		value = keep(o, str_sub(text, 0, str_find(text, STR("\""))));
	}
	return value;
}

/* A number in a change counts as its text. */
static const char *change_value(struct oracle *o, const json *change)
{
	const char *value = json_get_str(change, "value");

	return value ? keep(o, str_of(value))
		     : arena_printf(&o->arena, "%lld", (long long)json_get_int(change, "value", 0));
}

static void read_decision(struct oracle *o, struct str text, struct model_text *out)
{
	CLEANUP(json_free) json *decision = NULL;
	struct str line, last = {0};
	struct error ignored;

	while (str_line(&text, &line))
		last = line;
	if (json_parse(&decision, last, &ignored) < 0)
		return;
	out->reason = keep(o, str_of(json_get_str(decision, "reason")));
	for (const json *c = json_first(json_get(decision, "state_changes")); c; c = json_next(c)) {
		struct model_change change = {0};

		if (json_get_str(c, "key"))
			change = (struct model_change){
				.key = keep(o, str_of(json_get_str(c, "key"))),
				.value = change_value(o, c)};
		else if (json_get_str(c, "section"))
			change = (struct model_change){
				.section = keep(o, str_of(json_get_str(c, "section"))),
				.value = keep(o, str_of(json_get_str(c, "text")))};
		vec_push_in(&o->arena, &out->changes, change);
	}
}

/* Whether an answer without a word is a good one. */
static bool is_good(struct str text, const char *section)
{
	if (strcmp(section, "Debug Report") == 0)
		return contains(text, "# Debug report for");
	if (strcmp(section, "PR URL") == 0)
		return contains(text, "https://");
	if (strcmp(section, "Signoff Research") == 0)
		return str_ends(text, "validated");
	if (strcmp(section, "Signoff Review") == 0 || strcmp(section, "Review Notes") == 0)
		return contains(text, "Approved.") && !contains(text, "Not approved.");
	return str_starts(text, "passed");
}

/* What the writer of a text means. */
static struct model_text meaning(struct oracle *o, struct str text, const char *section)
{
	bool decision = strcmp(section, "Troubleshooter Log") == 0;
	char sum[DIGEST_TEXT];
	struct model_text t = {.good = is_good(text, section),
		.hard_abort = contains(text, "\"violation\":\"hard_abort\"")};

	digest_text(text, sum);
	t.sum = keep(o, str_of(sum));
	t.status = last_value(o, text, decision ? "\"action\": \"" : "\"status\": \"");
	if (!t.status)
		t.status = last_value(o, text, decision ? "\"action\":\"" : "\"status\":\"");
	if (decision)
		read_decision(o, text, &t);
	return t;
}

/* ---- the document ---- */

static void read_attempts(struct oracle *o, struct str map)
{
	struct str rest = str_sub(map, 1, map.n - 1), item;

	while (map.n > 2 && rest.n && str_next_item(&rest, &item)) {
		size_t colon = str_find(item, STR(":"));

		vec_push_in(&o->arena, &o->model.attempts,
			(struct model_attempts){keep(o, str_sub(item, 0, colon)),
				(unsigned)strtoul(
					keep(o, str_sub(item, colon + 1, item.n)), NULL, 10)});
	}
}

/* The part of a reason that the model has. */
static struct str plain_reason(struct str reason)
{
	size_t violation = str_find(reason, STR("': "));

	reason = str_sub(reason, 0, str_find(reason, STR("; https://")));
	if (str_starts(reason, "security violation in '"))
		return str_sub(reason, 0, violation + 1);
	return str_sub(reason, 0, str_find(reason, STR(" and nothing got done")));
}

/* A key of the document, by `step` or by hand. */
static void set_key(struct oracle *o, struct str key, struct str value)
{
	struct model *m = &o->model;

	for (size_t i = 0; i < MODEL_COUNTERS; i++)
		if (str_is(key, model_rules[i].key))
			m->counter[i] = strtoul(keep(o, value), NULL, 10);
	if (str_is(key, "state"))
		m->state = keep(o, value);
	else if (str_is(key, "spec_path"))
		m->spec = value.n;
	else if (str_is(key, "pr_url"))
		m->pull_request = value.n;
	else if (str_is(key, "troubleshooter_input"))
		m->input = value.n;
	else if (str_is(key, "question"))
		m->question = value.n ? keep(o, value) : NULL;
	else if (str_is(key, "question_trigger"))
		m->question_trigger = value.n ? keep(o, value) : NULL;
	else if (str_is(key, "pending_agent"))
		o->pending = value.n;
	else if (str_is(key, "outcome"))
		m->outcome = value.n ? keep(o, plain_reason(value)) : NULL;
	else if (str_is(key, "attempts"))
		read_attempts(o, value);
}

static void read_request(struct oracle *o, struct str line)
{
	CLEANUP(json_free) json *j = NULL;
	struct error ignored;
	const char *id, *slash, *section, *trigger, *word;

	if (json_parse(&j, line, &ignored) < 0)
		return;
	id = json_get_str(j, "id");
	slash = strrchr(id, '/');
	section = json_get_str(j, "write_section");
	trigger = json_get_str(j, "trigger");
	word = json_get_str(j, "answered");
	vec_push_in(&o->arena, &o->model.requests,
		(struct model_request){
			.state = keep(o, str_sub(str_of(id), 4, (size_t)(slash - id))),
			.attempt = (unsigned)strtoul(slash + 1, NULL, 10),
			.section = keep(o, str_of(section)),
			.trigger = trigger ? keep(o, str_of(trigger)) : NULL,
			.word = word ? keep(o, str_of(word)) : NULL,
			.carried = json_get(j, "carried") != NULL});
}

static void add_section(struct oracle *o, const char *name, struct str text)
{
	CLEANUP(buf_release) struct buf plain = BUF_INIT;
	struct str line;

	text = str_trim(text);
	if (strcmp(name, "Actions") == 0) {
		while (str_line(&text, &line))
			read_request(o, line);
		return;
	}
	while (text.n) {
		size_t at = str_find(text, STR("<!-- \\section:"));

		buf_add(&plain, str_sub(text, 0, at));
		buf_adds(&plain, at < text.n ? "<!-- " : "");
		text = str_sub(text, at < text.n ? at + 6 : at, text.n);
	}
	if (plain.len)
		vec_push_in(&o->arena, &o->model.sections,
			(struct model_section){name, meaning(o, buf_str(&plain), name)});
}

static bool read_sections(struct oracle *o, struct str text)
{
	static const char opening[] = "\n<!-- section:";
	size_t at = str_find(text, STR(opening));

	while (at < text.n) {
		size_t end;
		const char *name;

		text = str_sub(text, at + sizeof(opening) - 1, text.n);
		end = str_find(text, STR(" -->"));
		name = keep(o, str_sub(text, 0, end));
		at = str_find(text, STR(opening));
		add_section(o, name, str_sub(text, end + 4, at));
		if (contains(text, arena_printf(&o->arena, "%s%s -->", opening, name)))
			return false;
	}
	return true;
}

/* False when the document is not readable. */
static bool read_document(struct oracle *o, struct str text)
{
	struct str rest = text, line;

	if (!str_line(&rest, &line) || !str_is(line, "---"))
		return false;
	while (str_line(&rest, &line) && !str_is(line, "---")) {
		size_t colon = str_find(line, STR(":"));

		struct str value = str_trim(str_sub(line, colon + 1, line.n));

		if (value.n > 1 && value.p[0] == '"')
			value = str_sub(value, 1, value.n - 1);
		set_key(o, str_sub(line, 0, colon), value);
	}
	return o->model.state && *o->model.state != '[' && read_sections(o, rest);
}

/* ---- the journal ---- */

static void read_file(const struct simulator *s, const char *path, struct buf *out)
{
	struct error ignored;
	bool missing;

	(void)s->disk->ops->read(s->disk, path, SIZE_MAX, out, &missing, &ignored);
}

/* Action numbers go on above those in the journal. */
static void raise_attempts(struct oracle *o, struct str journal)
{
	static const char opening[] = "\"type\":\"dispatch\",\"action\":\"T-1/";

	for (size_t at; (at = str_find(journal, STR(opening))) < journal.n;) {
		struct str id;
		size_t slash, i = 0;
		unsigned n;

		journal = str_sub(journal, at + sizeof(opening) - 1, journal.n);
		id = str_sub(journal, 0, str_find(journal, STR("\"")));
		slash = str_find(id, STR("/"));
		n = (unsigned)strtoul(id.p + slash + 1, NULL, 10);
		while (i < o->model.attempts.n &&
			!str_is(str_sub(id, 0, slash), o->model.attempts.items[i].state))
			i++;
		if (i == o->model.attempts.n)
			vec_push_in(&o->arena, &o->model.attempts,
				(struct model_attempts){keep(o, str_sub(id, 0, slash)), n});
		else if (o->model.attempts.items[i].n < n)
			o->model.attempts.items[i].n = n;
	}
}

/* The journal lists the ids that wait for an answer; NULL: it has no list. */
static const char *waiting(struct oracle *o, struct str journal)
{
	static const char opening[] = "\"asked\":[\"";
	const char *list = NULL;

	for (size_t at; (at = str_find(journal, STR(opening))) < journal.n;) {
		journal = str_sub(journal, at + sizeof(opening) - 1, journal.n);
		list = keep(o, str_sub(journal, 0, str_find(journal, STR("]"))));
	}
	return list;
}

static void mark_stale(struct oracle *o, struct str journal)
{
	const char *list = waiting(o, journal);

	for (size_t i = 0; list && i < o->model.requests.n; i++) {
		struct model_request *r = &o->model.requests.items[i];

		r->stale = !r->word && (r->trigger || !model_section(&o->model, r->section)) &&
			   !strstr(list, arena_printf(&o->arena, "\"T-1/%s/%u\\\"", r->state,
						 r->attempt));
	}
}

static void read_answers(struct oracle *o, struct str journal)
{
	struct str line;

	while (str_line(&journal, &line))
		if (contains(line, "\"type\":\"answer\""))
			vec_push_in(&o->arena, &o->model.answers,
				(struct model_answer){last_value(o, line, "\"action\":\""),
					last_value(o, line, "\"result\":\""),
					last_value(o, line, "\"sum\":\"")});
}

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

/* The step's own reason for a failed answer is for people. */
static const char *failure_reason(const char *reason)
{
	static const char *const known[] = {
		"no answer", "the state was changed by hand", "what it was called for is gone"};

	for (size_t i = 0; i < COUNT(known); i++)
		if (!strcmp(reason, known[i]))
			return reason;
	return "failed";
}

static void add_event(struct buf *out, const json *e)
{
	const char *type = text_or_empty(json_get_str(e, "type"));

	if (!strcmp(type, "started") || !strcmp(type, "change") ||
		(!strcmp(type, "refusal") && json_get(e, "change")))
		buf_addf(out, "%s\n", type);
	else if (!strcmp(type, "transition"))
		buf_addf(out, "transition %s %s %s\n", json_get_str(e, "from"),
			json_get_str(e, "to"), json_get_str(e, "trigger"));
	else if (!strcmp(type, "dispatch"))
		buf_addf(out, "dispatch %s %s\n", json_get_str(e, "action"),
			text_or_empty(json_get_str(e, "trigger")));
	else if (!strcmp(type, "effect"))
		buf_addf(out, "effect %s\n", json_get_str(e, "effect"));
	else if (!strcmp(type, "failure"))
		buf_addf(out, "failure %s %s %lld\n", json_get_str(e, "action"),
			failure_reason(json_get_str(e, "reason")),
			(long long)json_get_int(e, "count", -1));
}

static void read_events(struct str journal, struct buf *out)
{
	struct str line;

	while (str_line(&journal, &line)) {
		CLEANUP(json_free) json *event = NULL;
		struct error ignored;

		if (contains(line, "\"type\":") && json_parse(&event, line, &ignored) == 0)
			add_event(out, event);
	}
}

/* ---- comparison ---- */

static void add_printed(struct buf *out, const json *array)
{
	struct str reason;

	for (const json *a = json_first(array); a; a = json_next(a)) {
		if (!json_get(a, "id")) {
			reason = str_of(
				json_get(a, "question") ? "question" : json_get_str(a, "reason"));
			reason = plain_reason(reason);
			buf_addf(out, "done %s %.*s\n", json_get_str(a, "result"), (int)reason.n,
				reason.p);
			continue;
		}
		buf_addf(out, "%s %s %s [", json_get_str(a, "id"),
			json_get(a, "agent") ? json_get_str(a, "agent") : "script",
			text_or_empty(json_get_str(a, "trigger")));
		for (const json *r = json_first(json_get(a, "read_sections")); r; r = json_next(r))
			buf_addf(out, "%s,", json_text(r));
		buf_addf(out, "] %s: %s\n", json_get_str(a, "write_section"),
			json_get_str(a, "result_format"));
	}
}

/* One fact a line, sorted. `mask`: sections that the machine wrote are only there or not. */
static void render(struct oracle *o, struct model *m, struct model *mask, struct buf *out)
{
	const char *lines[256];
	size_t n = 0;

	for (size_t i = 0; i < MODEL_COUNTERS; i++)
		buf_addf(out, "%s %lu\n", model_rules[i].key, m->counter[i]);
	buf_addf(out, "state %s; spec %d, pull request %d, input %d; question %d %s; outcome %s\n",
		text_or_empty(m->state), m->spec, m->pull_request, m->input, m->question != NULL,
		text_or_empty(m->question_trigger), text_or_empty(m->outcome));
	for (size_t i = 0; i < m->requests.n; i++) {
		const struct model_request *r = &m->requests.items[i];

		lines[n++] = arena_printf(&o->arena, "request T-1/%s/%u %s %s %s%s", r->state,
			r->attempt, r->section, text_or_empty(r->trigger),
			r->word ? r->word : "open", r->carried ? " carried" : "");
	}
	for (size_t i = 0; i < m->attempts.n; i++)
		if (m->attempts.items[i].n)
			lines[n++] = arena_printf(&o->arena, "attempts %s %u",
				m->attempts.items[i].state, m->attempts.items[i].n);
	for (size_t i = 0; i < m->sections.n && n < COUNT(lines); i++) {
		const struct model_section *s = &m->sections.items[i],
					   *in_mask = model_section(mask, s->name);

		lines[n++] = arena_printf(&o->arena, "section %s %s", s->name,
			in_mask && in_mask->text.sum ? text_or_empty(s->text.sum) : "*");
	}
	vec_sort_items(lines, n, sizeof(*lines), vec_by_text);
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s\n", lines[i]);
}

static void differ(struct oracle *o, const char *what, const char *a, const char *b)
{
	struct str one = str_of(a), two = str_of(b), x = {0}, y = {0};

	if (o->difference[0])
		return;
	for (;;) {
		bool more = str_line(&one, &x), also = str_line(&two, &y);

		if (!more)
			x = STR("nothing");
		if (!also)
			y = STR("nothing");
		if (!str_eq(x, y) || (!more && !also))
			break;
	}
	(void)snprintf(o->difference, sizeof(o->difference),
		"%s: the model has '%.*s', the engine '%.*s'", what, (int)(x.n > 400 ? 400 : x.n),
		x.p, (int)(y.n > 400 ? 400 : y.n), y.p);
}

static void compare(
	struct oracle *o, const char *what, const struct buf *expected, const struct buf *actual)
{
	if (!str_eq(buf_str(expected), buf_str(actual)))
		differ(o, what, text_or_empty(expected->s), text_or_empty(actual->s));
}

/* ---- calls ---- */

/* A crash has left another document than the journal has; which one the call will find depends. */
static bool is_behind(const struct oracle *o, const struct buf *text)
{
	const struct audit *a = o->audit;

	return a && !a->edited &&
	       !str_eq(buf_str(text), a->exists ? buf_str(&a->document) : STR(""));
}

/* Somebody removed what was requested: the model does not know for whom the run waits. */
static bool is_silence(const struct oracle *o, const struct simulator_call *call)
{
	bool requested = false;

	for (size_t i = 0; i < o->model.requests.n; i++)
		requested |= !o->model.requests.items[i].stale;
	return call->returned && o->pending && !requested;
}

static void read_before(struct oracle *o, const struct simulator *s)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, journal = BUF_INIT;

	arena_release(&o->arena);
	buf_release(&o->model.events);
	buf_release(&o->model.printed);
	o->model = (struct model){.workflow = s->workflow, .arena = &o->arena};
	o->pending = false;
	read_file(s, s->path, &text);
	if (o->audit)
		buf_add(&journal, buf_str(&o->audit->journal));
	else
		read_file(s, s->journal, &journal);
	digest_text(buf_str(&text), o->document);
	o->readable = (!text.len || read_document(o, buf_str(&text))) && !is_behind(o, &text);
	raise_attempts(o, buf_str(&journal));
	mark_stale(o, buf_str(&journal));
	read_answers(o, buf_str(&journal));
	o->journal = journal.len;
}

/* The changes of a decision that are refused are not the model's: it takes them from the events. */
static void note_refusals(struct oracle *o, struct str events)
{
	struct model_section *log = model_section(&o->model, "Troubleshooter Log");
	struct str line;
	size_t i = 0;

	while (log && i < log->text.changes.n && str_line(&events, &line))
		if (contains(line, "\"change\":") && contains(line, "\"type\":"))
			log->text.changes.items[i++].refused =
				contains(line, "\"type\":\"refusal\"");
}

static bool expect_step(struct oracle *o, const struct simulator *s,
	const struct simulator_call *call, struct str events)
{
	static const char *const checks[] = {[CHECKS_RED] = "red", [CHECKS_UNKNOWN] = "unknown"};
	const struct simulator_environment *env = &s->environment;
	struct model_step how = {.take_over = contains(events, "\"type\":\"lease\""),
		.returned = call->returned,
		.returned_id = call->returned_id,
		.running = env->running,
		.spec_found = env->specs == 1 && !env->find_fails,
		.commits = !env->nothing_to_commit,
		.commit_fails = env->commit_fails,
		.remote = !env->no_remote,
		.push_fails = env->push_fails,
		.checks = checks[env->checks]};

	note_refusals(o, events);
	return model_step(&o->model, &how);
}

static bool expect(struct oracle *o, const struct simulator *s, const struct simulator_call *c,
	struct str events)
{
	const struct model_request *r;
	struct model_text t;

	if (!c->action && !c->key)
		return expect_step(o, s, c, events);
	if (!o->model.state)
		return false;
	if (c->key) {
		set_key(o, str_of(c->key), c->text);
		return true;
	}
	r = model_request(&o->model, c->action, NULL);
	t = meaning(o, str_trim(c->text), r ? r->section : "");
	t.malformed = !str_trim(c->text).n || str_utf8_fault(c->text);
	return model_record(&o->model, c->action, c->word, &t);
}

static void compare_document(
	struct oracle *o, const struct simulator *s, struct str journal, struct model *expected)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, wanted = BUF_INIT, found = BUF_INIT;

	read_file(s, s->path, &text);
	o->model = (struct model){.workflow = s->workflow, .arena = &o->arena};
	(void)read_document(o, buf_str(&text));
	raise_attempts(o, journal);
	render(o, expected, expected, &wanted);
	render(o, &o->model, expected, &found);
	compare(o, "the document", &wanted, &found);
}

static void check_unchanged(struct oracle *o, const struct simulator *s)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char sum[DIGEST_TEXT];

	read_file(s, s->path, &text);
	digest_text(buf_str(&text), sum);
	if (strcmp(sum, o->document))
		differ(o, "a refused answer", "no change of the document", "one");
}

/* `failed`: NULL when the call succeeded. */
static void compare_call(struct oracle *o, const struct simulator *s,
	const struct simulator_call *c, const json *printed_array, const struct error *failed)
{
	CLEANUP(buf_release) struct buf journal = BUF_INIT, events = BUF_INIT, printed = BUF_INIT;
	struct model expected;
	struct str new;
	bool good;

	read_file(s, s->journal, &journal);
	new = str_sub(buf_str(&journal), o->journal, journal.len);
	good = expect(o, s, c, new);
	if (good != !failed) {
		differ(o, "the call", good ? "a success" : "a failure",
			failed ? failed->text : "a success");
	} else if (!good && c->action) {
		check_unchanged(o, s);
	} else if (good) {
		read_events(new, &events);
		add_printed(&printed, printed_array);
		compare(o, "the events", &o->model.events, &events);
		compare(o, "the array", &o->model.printed, &printed);
		expected = o->model;
		compare_document(o, s, buf_str(&journal), &expected);
		o->model.events = expected.events;
		o->model.printed = expected.printed;
	}
	o->compared++;
}

int oracle_call(struct oracle *o, struct simulator *s, const struct simulator_call *c,
	json **printed, struct error *err)
{
	bool owned = c->owner || (!c->action && !c->key);
	int rc;

	if (!o->paused)
		read_before(o, s);
	rc = simulator_invoke(s, c, printed, err);
	if (o->paused || o->difference[0] || !o->readable || is_silence(o, c) ||
		(rc < 0 && (o->faulty || (err->code == ERR_STATE && owned))))
		o->skipped++;
	else
		compare_call(o, s, c, printed && rc == 0 ? *printed : NULL, rc < 0 ? err : NULL);
	return rc;
}

void oracle_release(struct oracle *o)
{
	arena_release(&o->arena);
	buf_release(&o->model.events);
	buf_release(&o->model.printed);
}
