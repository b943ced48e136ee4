#include "src/base/error.h"
#include "src/run/run_internal.h"
#include "context/file.h"
#include "src/sys/process.h"
#include "src/machine/answer.h"
#include "src/machine/agents.h"
#include "src/machine/verdict.h"
#include "src/machine/script.h"

static const char *id_of(const struct run_action *p)
{
	return json_get_str(p->action, "id");
}

/* The recorded answer of the action: an agent's command may have recorded it itself. */
static int read_word(const struct context *doc, const char *id, char *word, struct error *err)
{
	CLEANUP(json_free) json *array = NULL;
	const json *action;
	struct str own;

	if (action_load(doc, &array, err) < 0)
		return -1;
	action = action_find(array, id);
	if (!action || !action_answered(doc, action))
		return 0;
	own = action_word(doc, action);
	(void)snprintf(word, WORD_SIZE, "%s", own.n ? own.p : "answered");
	return 0;
}

static int record(const struct action_context *s, const struct run_action *p, struct str text,
	char *word, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	enum answer_fate fate;

	if (context_open(&f, s->context_file, CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	(void)context_op(&f, "run");
	agents_note_turn(&f, p->entry->key, id_of(p));
	if (p->turn->silent) {
		if (context_log(&f, err) < 0)
			return -1;
	} else if (answer_record(&f, id_of(p), p->turn->result, text, &fate, err) < 0) {
		return error_prefix(err, "'%s'", id_of(p));
	}
	return read_word(&f.doc, id_of(p), word, err);
}

/* The file with the output of a failed command; NULL if it printed nothing. */
static char *keep_output(const struct action_context *s, struct context_file *f, struct str out)
{
	struct error ignored;
	char *stem, *path;

	if (!out.n || context_open(f, s->context_file, CONTEXT_READ_ONLY, &ignored) < 0)
		return NULL;
	stem = arena_printf(&f->doc.arena, "%s-agent", f->name);
	return context_keep(f, stem, out, &path, &ignored) < 0 ? NULL : path;
}

static int keep_text(struct context_file *f, struct str text, struct error *err)
{
	char *path;

	return context_keep(f, arena_printf(&f->doc.arena, "%s-answer", f->name), text, &path, err);
}

static int command_failed(const struct action_context *s, const struct run_action *p,
	const struct process_end *end, struct str out, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const char *log = keep_output(s, &f, out);
	char how[64];

	if (end->timed_out)
		(void)snprintf(how, sizeof(how), "took longer than %u s", p->turn->timeout_s);
	else
		(void)snprintf(how, sizeof(how), "ended with status %d", end->status);
	return error_at(err, s->script, p->turn->line, p->turn->col, "the command for '%s' %s%s%s",
		id_of(p), how, log ? "; its output is in " : " and printed nothing",
		log ? log : "");
}

static int run_command(const struct action_context *s, const struct run_action *p, struct buf *out,
	struct error *err)
{
	struct arena a = {0};
	const char *const argv[] = {"sh", "-e", "-c", p->turn->run, NULL};
	const char *const env[] = {arena_printf(&a, "DEV_TEAM_ID=%s", s->id),
		arena_printf(&a, "DEV_TEAM_ACTION=%s", id_of(p)),
		arena_printf(&a, "DEV_TEAM_SECTION=%s", json_get_str(p->action, "write_section")),
		arena_printf(&a, "DEV_TEAM_CONTEXT_FILE=%s", s->context_file),
		arena_printf(&a, "DEV_TEAM_REPO=%s", s->repo), NULL};
	struct process program = {.argv = argv,
		.cwd = s->repo,
		.env = env,
		.output = -1,
		.out = out,
		.out_max = CONTEXT_MAX,
		.timeout_s = p->turn->timeout_s,
		.cancel = s->cancel};
	struct process_end end;
	int rc = process_run(&program, &end, err);

	arena_release(&a);
	if (rc < 0)
		return -1;
	if (end.cancelled)
		return error_set(err, ERR_STATE, "interrupted");
	if (end.timed_out || end.status)
		return command_failed(s, p, &end, buf_str(out), err);
	return 0;
}

static int play_scripted_agent(
	const struct action_context *s, const struct run_action *p, char *word, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (p->turn->run && run_command(s, p, &out, err) < 0)
		return -1;
	return record(s, p, p->turn->from_run ? buf_str(&out) : p->turn->text, word, err);
}

static int note_exec(const struct action_context *s, const struct run_action *p, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	if (context_open(&f, s->context_file, CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	agents_note_turn(&f, p->entry->key, id_of(p));
	return context_log(&f, err);
}

static int run_real_script(
	const struct action_context *s, const struct run_action *p, char *word, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct arena a = {0};
	char *line;
	int rc = p->entry ? note_exec(s, p, err) : 0;

	if (rc == 0)
		rc = script_run(&a, s->context_file, id_of(p), SCRIPT_WAIT_FOREVER, &line, err);
	arena_release(&a);
	if (rc < 0 || context_open(&f, s->context_file, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	return read_word(&f.doc, id_of(p), word, err);
}

/* The prompt asks for a result word; prose is not an answer. */
static bool has_result_word(const json *action, struct str text)
{
	char word[64];

	return action_is_troubleshooter(action) ||
	       (verdict_status(text, word, sizeof(word)) && action_accepts(action, str_of(word)));
}

/* A refused answer is kept under logs/, and the machine asks the agent again. */
static int take_answer(struct context_file *f, const struct run_action *p,
	const struct agent_answer *answer, char *word, struct error *err)
{
	enum answer_fate fate;

	if (!answer->answered)
		return context_log(f, err);
	if (!has_result_word(p->action, answer->text)) {
		(void)snprintf(word, WORD_SIZE, "no result word");
		return keep_text(f, answer->text, err) < 0 ? -1 : context_log(f, err);
	}
	if (answer_record(f, id_of(p), NULL, answer->text, &fate, err) == 0)
		return 0;
	if (err->code != ERR_INPUT)
		return error_prefix(err, "'%s'", id_of(p));
	error_log("dev-team: '%s': %s", id_of(p), err->text);
	(void)snprintf(word, WORD_SIZE, "refused");
	return 0;
}

/* An answer that the agent itself recorded meanwhile counts. */
static int record_answer(const struct action_context *s, const struct run_action *p,
	const struct agent_answer *answer, char *word, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	char taken[WORD_SIZE] = "";

	if (context_open(&f, s->context_file, CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	(void)context_op(&f, "run");
	agents_note_run(&f, answer->note);
	if (take_answer(&f, p, answer, word, err) < 0 ||
		read_word(&f.doc, id_of(p), taken, err) < 0)
		return -1;
	if (*taken)
		(void)snprintf(word, WORD_SIZE, "%s", taken);
	else if (!*word && answer->how)
		(void)snprintf(word, WORD_SIZE, "%s", answer->how);
	return 0;
}

static int call_real_agent(
	const struct action_context *s, const struct run_action *p, char *word, struct error *err)
{
	struct arena a = {0};
	struct agent_answer answer;
	int rc = run_dispatch_action(&a, s->config, p->action, s->cancel, &answer, err);
	struct error ignored;

	if (rc == 0)
		rc = record_answer(s, p, &answer, word, err);
	else if (answer.note) /* it ran before the run was stopped */
		(void)record_answer(
			s, p, &(struct agent_answer){.note = answer.note}, word, &ignored);
	json_free(&answer.note);
	arena_release(&a);
	return rc;
}

int run_action_execute(const struct action_context *s, const struct run_action *p,
	char word[WORD_SIZE], struct error *err)
{
	word[0] = '\0';
	if (p->entry && !p->turn->exec)
		return play_scripted_agent(s, p, word, err);
	if (!p->entry && s->config && strcmp(json_get_str(p->action, "action"), "spawn_agent") == 0)
		return call_real_agent(s, p, word, err);
	return run_real_script(s, p, word, err);
}
