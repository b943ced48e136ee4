#include "tests/lib/engine_rig.h"
#include "src/local/script.h"
#include "tests/lib/memory_store.h"

struct engine_rig t;

int engine_rig_find_specs(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	(void)data, (void)a, (void)input, (void)err;
	*answer = json_texts((const char *const *)t.specs, t.n_specs);
	return 0;
}

static int carry_out(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	bool commit = strcmp(input->what, "commit") == 0;
	const struct item_place *place = input->place;

	(void)data, (void)a;
	if (commit && t.commit_fault)
		return error_set(err, ERR_CHECK, "%s", t.commit_fault);
	if (!commit)
		t.pushed = place->pushed ? arena_dup(&t.arena, str_of(place->pushed)) : NULL;
	if (!commit && t.push_fault)
		return error_set(err, ERR_CHECK, "%s", t.push_fault);
	if (commit ? t.commit_fails : t.push_fails)
		return error_set(err, ERR_SYSTEM, "cannot %s", input->what);
	if (commit) {
		t.commits++;
		t.commit_directory = arena_dup(&t.arena, str_of(place->directory));
		*answer = json_string(t.nothing_to_commit ? STR("no") : STR("yes"));
		return 0;
	}
	if (t.push_ends)
		setenv("DEV_TEAM_NOW", t.push_ends, 1);
	t.pushes++;
	*answer = json_string(t.no_remote ? STR("no") : STR("yes"));
	return 0;
}

static int enter(void *data, struct arena *a, const struct environment_input *input, json **answer,
	struct error *err)
{
	const struct item_place place = {
		.directory = t.enters, .branch = "dev-team/ADR-7", .base = "5ca1ab1e"};
	const char *was = input->place->directory;

	(void)data, (void)a;
	t.entered++;
	if (t.enter_fails)
		return error_set(err, ERR_STATE, "cannot make the worktree");
	if (!was || strcmp(was, t.enters) != 0)
		*answer = place_to_json(&place, t.dir);
	return 0;
}

static int read_forge(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	bool checks = strcmp(input->what, "checks") == 0;
	const char *is = checks ? t.checks : t.comments;

	(void)data, (void)a;
	if (checks ? t.checks_fail : t.comments_fail)
		return error_set(err, ERR_SYSTEM, "gh is not logged in");
	*answer = is ? json_string(str_of(is)) : NULL;
	return 0;
}

int engine_rig_evidence(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	const struct evidence_query *q = input->evidence;
	struct evidence found = {
		.head = t.head, .tree = t.tree, .patch = t.patch, .same_as = t.same_as};

	(void)data, (void)a;
	t.collected++;
	if (t.evidence_fails)
		return error_set(err, ERR_SYSTEM, "cannot reach the remote");
	if (!q->before) {
		t.asked = q->kinds;
		t.since = q->since ? arena_dup(&t.arena, str_of(q->since)) : "";
		t.confirmed = q->confirmed ? arena_dup(&t.arena, str_of(q->confirmed)) : "";
		t.named = q->named.n ? arena_dup(&t.arena, str_of(q->named.items[0].commit)) : "";
		t.pr_asked = q->pr_url ? arena_dup(&t.arena, str_of(q->pr_url)) : "";
	}
	for (size_t i = 0; i < EVIDENCE_KINDS; i++)
		if ((q->kinds & t.refuted) >> i & 1)
			found.faults[i] = t.fault;
	*answer = evidence_to_json(&found);
	return 0;
}

void say(void *data, const char *text)
{
	(void)data;
	buf_addf(&t.messages, "%s\n", text);
}

void workflow_with_evidence(const char *text)
{
	assert_int_equal(workflow_parse(&t.arena, "w.md", str_of(text), &t.workflow, &t.err), 0);
}

void workflow(const char *text)
{
	bool front = strncmp(text, "---\n", 4) == 0;

	workflow_with_evidence(arena_printf(
		&t.arena, "---\nevidence: []\n%s%s", front ? "" : "---\n", text + (front ? 4 : 0)));
}

int engine_rig_setup(void **state)
{
	(void)state;
	setenv("DEV_TEAM_NOW", "2026-11-21T01:34:55Z", 1);
	t = (struct engine_rig){.specs = {(char *)(uintptr_t) "a/_spec_W.md"},
		.n_specs = 1,
		.checks = "",
		.head = "c1",
		.tree = "t1"};
	t.dir = tree_scratch("engine");
	if (run_on_memory())
		memory_store_share(t.dir, true);
	t.path = arena_printf(&t.arena, "%s/ADR-7.md", t.dir);
	workflow(IMPLEMENT);
	return 0;
}

bool still_running(void *data, const struct context_file *f, const char *id)
{
	(void)data;
	(void)f;
	return t.running && strcmp(t.running, id) == 0;
}

void engine_rig_replay(void)
{
	CLEANUP(json_free) json *result = NULL;
	struct history_place place;
	bool there;

	if (t.diverges ||
		store_exists(store_backend(), t.dir, "ADR-7", "none", &there, &t.err) < 0 || !there)
		return;
	if (history_find(&t.arena, t.path, &place, &t.err) < 0 ||
		replay_verify(&place, &result, &t.err) < 0)
		fail_msg("%s", t.err.text);
	if (!json_is_true(json_get(result, "same"))) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		json_print_pretty(&text, result);
		fail_msg("%s", text.s);
	}
}

int engine_rig_teardown(void **state)
{
	(void)state;
	engine_rig_replay();
	store_set_backend(NULL);
	tree_remove(t.dir);
	free(t.dir);
	buf_release(&t.out);
	buf_release(&t.messages);
	arena_release(&t.arena);
	return 0;
}

static void may_dispatch(void *data, struct arena *a, const struct context_file *f, const char *id,
	const struct step_request *request, struct admission *out)
{
	(void)data, (void)a, (void)f;
	if (request->failed)
		t.failed = arena_dup(&t.arena, str_of(request->failed));
	if (strcmp(id, t.asked_about) == 0 &&
		(request->failed || t.admission.answer != ADMISSION_REMEDY))
		*out = t.admission;
	else
		out->answer = ADMISSION_YES;
}

int step_as(const char *id, bool returned, const char *returned_id)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct environment environment = {.find_specs = engine_rig_find_specs,
		.enter = t.enters ? enter : NULL,
		.carry_out = carry_out,
		.read_forge = read_forge,
		.evidence = engine_rig_evidence,
		.still_running = still_running,
		.may_dispatch = t.asked_about ? may_dispatch : NULL,
		.discard = script_discard,
		.say = say};
	struct engine e = {.file = &f,
		.workflow = &t.workflow,
		.step_for = steps_find,
		.environment = &environment,
		.id = id,
		.research_skill = "researcher-plan",
		.repo = "/r",
		.returned = returned,
		.returned_id = returned_id,
		.owner = t.owner,
		.take_over = t.take_over};

	buf_clear(&t.out);
	t.err = (struct error){0};
	if (context_open(&f, t.path, CONTEXT_MAY_CREATE, &t.err) < 0)
		return -1;
	return engine_step(&e, &t.out, &t.err);
}

int answer_with(struct answer_offer offer)
{
	CLEANUP(context_close) struct context_file f = {0};
	int rc;

	t.err = (struct error){0};
	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
	rc = answer_record(&f, &offer, &t.err);
	t.outcome = offer.outcome;
	return rc;
}

int answer_as(const char *id, const char *word, const char *text)
{
	return answer_with(
		(struct answer_offer){.id = id, .word = word, .text = str_of(text), .ran = true});
}

void answer(const char *id, const char *word, const char *text)
{
	assert_int_equal(answer_as(id, word, text), 0);
}

char *summary(void)
{
	CLEANUP(json_free) json *array = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error err;

	assert_int_equal(json_parse(&array, buf_str(&t.out), &err), 0);
	buf_adds(&text, "");
	for (const json *a = json_first(array); a; a = json_next(a)) {
		const char *id = json_get_str(a, "id"), *trigger = json_get_str(a, "trigger");

		buf_adds(&text, text.len ? " " : "");
		if (id)
			buf_adds(&text, id);
		else
			buf_addf(&text, "%s: %s", json_get_str(a, "result"),
				json_get_str(a, "reason"));
		if (trigger)
			buf_addf(&text, " %s:%d", trigger, (int)json_get_int(a, "cycle_count", -1));
	}
	return arena_dup(&t.arena, buf_str(&text));
}

char *read_all(const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	assert_true(tree_read(path, &text));
	return arena_dup(&t.arena, buf_str(&text));
}

char *document(void)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool missing;

	assert_int_equal(context_read(store_backend(), t.path, &text, &missing, &t.err), 0);
	assert_false(missing);
	return arena_dup(&t.arena, buf_str(&text));
}

char *events(void)
{
	CLEANUP(store_close) struct store *s = NULL;
	CLEANUP(store_history_close) struct store_history *h = NULL;
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct store_commit c;

	buf_adds(&out, "");
	assert_int_equal(
		store_open(&s, store_backend(), t.dir, "ADR-7", STORE_HISTORY, 0, &t.err), 0);
	assert_int_equal(store_history(s, &(struct store_range){0}, &h, &t.err), STORE_OK);
	while (store_history_next(h, &c, &t.err) > 0)
		buf_add(&out, c.events);
	return arena_dup(&t.arena, buf_str(&out));
}

void engine_rig_forget(void)
{
	tree_remove(t.dir);
	tree_mkdirs(t.dir);
}

void write_by_hand(const char *text)
{
	tree_write(t.path, str_of(text));
}

bool events_have(const char *text)
{
	return strstr(events(), text) != NULL;
}

unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (const char *p = text; (p = strstr(p, what)); p++)
		n++;
	return n;
}

bool document_has(const char *text)
{
	return strstr(document(), text) != NULL;
}

void by_hand(const char *state, const char *keys, const char *sections)
{
	engine_rig_forget();
	write_by_hand(arena_printf(&t.arena, "---\nstate: %s\n" WIRE_ITEM_KEY ": ADR-7\n%s---\n%s",
		state, keys, sections));
}

char *value(const char *key)
{
	CLEANUP(context_close) struct context_file f = {0};

	assert_int_equal(context_open(&f, t.path, CONTEXT_READ_ONLY, &t.err), 0);
	return arena_dup(&t.arena, context_get(&f.doc, key));
}

char *section(const char *name)
{
	CLEANUP(context_close) struct context_file f = {0};

	assert_int_equal(context_open(&f, t.path, CONTEXT_READ_ONLY, &t.err), 0);
	return arena_dup(&t.arena, context_section(&f.doc, name));
}

void set(const char *key, const char *text)
{
	CLEANUP(context_close) struct context_file f = {0};

	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
	context_set(&f.doc, key, str_of(text));
	assert_int_equal(context_save(&f, &t.err), 0);
}
