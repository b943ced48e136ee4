#include "context/file.h"
#include "src/base/clock.h"
#include "src/machine/agents.h"
#include "src/machine/answer.h"
#include "src/local/script.h"
#include "src/merge/gate.h"
#include "src/machine/wait.h"
#include "src/run/run_internal.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

static const char *id_of(const struct run_action *p)
{
	return json_get_str(p->action, "id");
}

struct word_search {
	const char *id;
	char *word;
};

/* A context_visit. */
static bool find_word(const json *event, void *data)
{
	const struct word_search *w = data;

	if (!json_str_is(event, "type", "answer") || !json_str_is(event, "action", w->id))
		return true;
	(void)snprintf(w->word, RUN_WORD_SIZE, "%s", json_get_str(event, "result"));
	return false;
}

/* The recorded answer of the action: an agent's command may have recorded it itself, and a tick of
 * another task may have used it already. */
static int run_action_read_word(
	const struct context_file *f, const char *id, char *word, struct error *err)
{
	CLEANUP(json_free) json *array = NULL;
	const json *action;
	struct str own;

	if (action_load(&f->doc, &array, err) < 0)
		return -1;
	action = action_find(array, id);
	if (!action)
		return context_read_events(
			f, "\"answer\"", find_word, &(struct word_search){id, word}, err);
	if (!action_answered(&f->doc, action))
		return 0;
	own = action_word(&f->doc, action);
	(void)snprintf(word, RUN_WORD_SIZE, "%s", own.n ? own.p : "no result word");
	return 0;
}

static int run_action_open_document(
	const struct run_item *r, struct context_file *f, struct str answer, struct error *err)
{
	if (answer_open(f, r->call.context_file, answer, err) < 0)
		return -1;
	(void)context_op(f, "run");
	return 0;
}

/* ---- scripted agents ---- */

void run_action_environment(
	struct arena *a, const struct run_item *r, const json *action, struct run_environment *out)
{
	const char *const own[] = {arena_printf(a, "DEV_TEAM_ID=%s", r->call.id),
		arena_printf(a, "DEV_TEAM_ACTION=%s", json_get_str(action, "id")),
		arena_printf(a, "DEV_TEAM_SECTION=%s", json_get_str(action, "write_section")),
		arena_printf(a, "DEV_TEAM_CONTEXT_FILE=%s", r->call.context_file),
		arena_printf(a, "DEV_TEAM_REPO=%s", run_action_directory(r, action))};

	for (size_t i = 0; i < COUNT(own); i++)
		vec_push_in(a, out, own[i]);
}

const char *run_action_directory(const struct run_item *r, const json *action)
{
	const char *directory = json_get_str(action, "directory");

	return directory ? directory : r->call.repo;
}

enum { LAST_LINE_MAX = 200 };

/* In short what a command said last, which mostly explains its end. */
static const char *run_action_last_line(struct arena *a, struct str out)
{
	CLEANUP(buf_release) struct buf masked = BUF_INIT;
	struct secrets secrets = {0};
	const char *nl;

	secrets_add(a, &secrets, (const char *const *)environ, NULL);
	out = str_trim(out);
	nl = memrchr(out.p, '\n', out.n);
	if (nl)
		out = str_sub(out, (size_t)(nl - out.p) + 1, out.n);
	secrets_mask(&secrets, out, &masked);
	return arena_printable(a, str_cut(buf_str(&masked), LAST_LINE_MAX), SIZE_MAX);
}

static int command_failed(const struct run_item *r, const struct run_action *p,
	const struct process_end *end, struct str out, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(arena_release) struct arena a = {0};
	const char *log = NULL;
	struct error ignored;
	char how[64], *path;

	if (out.n && context_open(&f, r->call.context_file, CONTEXT_READ_ONLY, &ignored) == 0 &&
		context_keep(&f, arena_printf(&a, "%s-agent", f.name), out, &path, &ignored) == 0)
		log = path_join(&a, f.dir, path);
	if (end->timed_out)
		(void)snprintf(how, sizeof(how), "took longer than %u s", p->turn->timeout_s);
	else
		(void)snprintf(how, sizeof(how), "ended with status %d", end->status);
	return error_at(err, r->request->agents, p->turn->line, p->turn->col,
		"the command for '%s' %s%s%s%s%s", id_of(p), how,
		log ? ": " : " and printed nothing", log ? run_action_last_line(&a, out) : "",
		log ? "; its output is in " : "", log ? log : "");
}

/* What a command prints: kept whole for the answer, and in the item's log. */
struct command_output {
	struct buf *out;
	struct run_log log;
};

/* An on_output function. */
static bool run_action_take_output(void *data, bool errors, struct str piece)
{
	struct command_output *o = data;
	size_t room = CONTEXT_MAX - o->out->len;

	(void)errors;
	buf_add(o->out, str_sub(piece, 0, piece.n < room ? piece.n : room));
	masked_output_add(&o->log.out, piece);
	return true;
}

static int run_action_run_command(struct arena *a, const struct run_item *r,
	const struct run_action *p, struct buf *out, struct error *err)
{
	const char *const argv[] = {"sh", "-e", "-c", p->turn->run, NULL};
	struct command_output output = {.out = out};
	struct process program = {.argv = argv,
		.cwd = run_action_directory(r, p->action),
		.output = -1,
		.on_output = run_action_take_output,
		.together = true,
		.data = &output,
		.timeout_s = p->turn->timeout_s,
		.cancel = r->cancel,
		.inherit = r->gate ? gate_descriptor(r->gate) : 0};
	struct run_environment env = {0};
	struct process_end end;
	int rc;

	action_user(p->action, &program.uid, &program.gid);
	run_action_environment(a, r, p->action, &env);
	vec_push_in(a, &env, NULL);
	program.env = env.items;
	run_log_open(&output.log, r->call.context_file, id_of(p));
	rc = process_run(&program, &end, err);
	run_log_close(&output.log);
	if (rc < 0)
		return -1;
	if (end.cancelled)
		return error_set(err, ERR_STATE, "interrupted");
	if (end.timed_out || end.status)
		return command_failed(r, p, &end, buf_str(out), err);
	return 0;
}

static int play_scripted_agent(struct arena *a, const struct run_item *r,
	const struct run_action *p, char *word, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct answer_offer offer = {.id = id_of(p), .word = p->turn->result, .ran = true};

	if (p->turn->run && run_action_run_command(a, r, p, &out, err) < 0)
		return -1;
	if (!p->turn->silent)
		offer.text = p->turn->from_run ? buf_str(&out) : p->turn->text;
	if (run_action_open_document(r, &f, offer.text, err) < 0)
		return -1;
	agents_note_turn(&f, p->entry->key, id_of(p));
	if (p->turn->silent && context_log(&f, err) < 0)
		return -1;
	if (!p->turn->silent && answer_record(&f, &offer, err) < 0)
		return error_prefix(err, "'%s'", id_of(p));
	return run_action_read_word(&f, id_of(p), word, err);
}

/* ---- scripts ---- */

static int note_turn(const struct run_item *r, const struct run_action *p, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	if (context_open(&f, r->call.context_file, CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	agents_note_turn(&f, p->entry->key, id_of(p));
	return context_log(&f, err);
}

static int run_script(struct arena *a, const struct run_item *r, const struct run_action *p,
	char *word, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	char *line;

	if ((p->entry && note_turn(r, p, err) < 0) ||
		script_run(a, r->call.context_file, id_of(p), NULL, NULL, SCRIPT_WAIT_FOREVER,
			&line, err) < 0 ||
		context_open(&f, r->call.context_file, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	return run_action_read_word(&f, id_of(p), word, err);
}

/* ---- real agents ---- */

/* A refused answer is kept under logs/, and the machine asks the agent again. */
static int run_action_take_answer(struct context_file *f, const struct run_action *p,
	const struct run_answer *answer, char *word, struct error *err)
{
	struct answer_offer offer = {.id = id_of(p), .text = answer->text};

	/* Of a node of a manifest this is an answer; in other workflows the agent is asked again.
	 */
	if (!answer->answered && answer->hard && json_get(p->action, "node")) {
		offer.text = str_of(answer->how);
		offer.word = "failure";
	} else if (!answer->answered)
		return context_log(f, err);
	if (answer_record(f, &offer, err) == 0)
		return 0;
	if (err->code != ERR_INPUT)
		return error_prefix(err, "'%s'", id_of(p));
	error_log("dev-team: '%s': %s", id_of(p), err->text);
	(void)snprintf(word, RUN_WORD_SIZE, "refused");
	return 0;
}

/* What the agent used is in the history, even without a document that can be read. */
static void note_unrecorded(const struct run_item *r, const struct run_answer *answer)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;

	if (context_open(&f, r->call.context_file, CONTEXT_REPLACE, &ignored) < 0)
		return;
	agents_note_run(&f, answer->note);
	(void)context_log(&f, &ignored);
}

/* An answer that the agent itself recorded meanwhile counts. */
static int record_answer(const struct run_item *r, const struct run_action *p,
	const struct run_answer *answer, char *word, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	char recorded[RUN_WORD_SIZE] = "";

	if (run_action_open_document(r, &f, answer->text, err) < 0) {
		context_close(&f); /* with the lock */
		note_unrecorded(r, answer);
		return -1;
	}
	agents_note_run(&f, answer->note);
	if (run_action_take_answer(&f, p, answer, word, err) < 0 ||
		run_action_read_word(&f, id_of(p), recorded, err) < 0)
		return -1;
	if (*recorded)
		(void)snprintf(word, RUN_WORD_SIZE, "%s", recorded);
	else if (!*word && answer->how)
		(void)snprintf(word, RUN_WORD_SIZE, "%s", answer->how);
	return 0;
}

/* The item waits until the limit is reset; the action stays outstanding. */
static int begin_wait(
	const struct run_item *r, const struct run_answer *answer, char *word, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	(void)snprintf(word, RUN_WORD_SIZE, "%s", answer->how);
	return context_open(&f, r->call.context_file, CONTEXT_MUST_EXIST, err) < 0
		       ? -1
		       : wait_for_limit(&f, answer->resets_at, answer->limit, err);
}

static int call_agent(struct arena *a, const struct run_item *r, const struct run_action *p,
	struct run_outcome *out, struct error *err)
{
	struct run_answer answer = {0};
	const char *harness;
	int rc = run_quota_start(a, r, p->action, &harness, &answer, err);
	bool started = rc == 0 && !answer.limit;
	struct error ignored;

	if (started)
		rc = run_agent_call(a, r, p->action, harness, &answer, err);
	if (rc == 0 && answer.limit) {
		rc = begin_wait(r, &answer, out->word, err);
		if (started)
			run_quota_limit(a, r, p->action, harness, answer.resets_at);
	} else if (rc == 0)
		rc = record_answer(r, p, &answer, out->word, err);
	else if (answer.note) /* it ran before the run was stopped */
		(void)record_answer(
			r, p, &(struct run_answer){.note = answer.note}, out->word, &ignored);
	usage_get(answer.note, &out->usage);
	out->usage.cache_written = answer.cache_written;
	if (answer.note)
		run_quota_settle(
			a, r, p->action, json_get_str(answer.note, "harness"), &out->usage, false);
	json_free(&answer.note);
	return rc;
}

static bool is_ci_failure(const char *word)
{
	return strcmp(word, "failed") == 0 || strcmp(word, "checks_failed") == 0;
}

/* What is refused then does not end the run: the next step finds how the item goes on. */
static bool is_dropped(const struct run_item *r, const struct run_action *p)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;

	return context_open(&f, r->call.context_file, CONTEXT_READ_ONLY, &ignored) == 0 &&
	       answer_is_dropped(&f, id_of(p));
}

int run_action_execute(const struct run_item *r, const struct run_action *p,
	struct run_outcome *out, struct error *err)
{
	bool agent = action_kind(p->action) == ACTION_AGENT;
	CLEANUP(arena_release) struct arena a = {0};
	int64_t began = clock_ticks();
	int rc;

	*out = (struct run_outcome){.usage = USAGE_NONE};
	if (agent || (p->entry && !p->turn->exec)) /* the guard of a script has a lock of its own */
		run_place_hold(run_action_directory(r, p->action));
	if (p->entry && !p->turn->exec)
		rc = play_scripted_agent(&a, r, p, out->word, err);
	else if (!p->entry && r->real && agent)
		rc = call_agent(&a, r, p, out, err);
	else
		rc = run_script(&a, r, p, out->word, err);
	if (rc < 0 && !run_interrupt_caught() && is_dropped(r, p)) {
		error_print(err);
		(void)snprintf(out->word, sizeof(out->word), "refused");
		rc = 0;
	}
	/* The workflow has an edge for it; a stage may stop the run instead. */
	if (rc == 0 && action_kind(p->action) == ACTION_SCRIPT && is_ci_failure(out->word))
		rc = run_failure_end(
			r, run_agent_stage(&a, r->pipeline, id_of(p), ""), "CIFailure", err);
	out->usage.ms = clock_ticks() - began;
	return rc;
}
