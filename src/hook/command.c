#include <ctype.h>
#include <strings.h>
#include "context/lease.h"
#include "src/base/number.h"
#include "src/graph/manifest.h"
#include "src/hook/loop.h"
#include "src/local/local.h"
#include "src/setup/setup.h"
#include "src/run/run.h"
#include "src/run/status.h"
#include "src/tick/tick.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

#define PLUGIN "dev-team:"
#define PLAN_MODE                                                                                  \
	"dev-team: in plan mode nothing is started, since agents edit files; leave it "            \
	"(Shift+Tab) "                                                                             \
	"and repeat the command"

/* The plugin's slash commands. */
static const struct command {
	const char *name;
	enum {
		COMMAND_STEP,
		COMMAND_CONTINUE,
		COMMAND_TICK,     /* the tasks of the backlog */
		COMMAND_WORKFLOW, /* the loop as a script of the client */
		COMMAND_CANCEL,
		COMMAND_STATUS,
		COMMAND_SPEC
	} kind;
	const char *workflow; /* of COMMAND_STEP; NULL: the first word of the arguments names it */
} commands[] = {
	{"implement", COMMAND_STEP, "implement-task"},
	{"fix", COMMAND_STEP, "fix-issue"},
	{"dev-team", COMMAND_STEP, NULL},
	{"continue", COMMAND_CONTINUE, NULL},
	{"graph", COMMAND_STEP, NULL},
	{"orchestrator-tick", COMMAND_TICK, NULL},
	{"execute", COMMAND_TICK, NULL},
	{"poll", COMMAND_TICK, NULL},
	{"workflow", COMMAND_WORKFLOW, NULL},
	{"cancel", COMMAND_CANCEL, NULL},
	{"status", COMMAND_STATUS, NULL},
	{"spec", COMMAND_SPEC, NULL},
};

struct expansion {
	struct arena *arena;
	const struct command *command;
	struct str left; /* of the arguments */
	struct run_step_call call;
	struct buf *out;
	struct buf faults; /* that keep the item from starting, as lines FAILED */
	bool repeated;     /* the command is a prompt that the client repeats */
	bool block;        /* `out` is for the user alone: the model gets nothing */
};

/* `dev-team:implement`. A command of the user may have the same name; its source says so. */
static const struct command *find_command(const json *event)
{
	const char *name = json_get_str(event, "command_name");
	const char *source = json_get_str(event, "command_source");

	if (!name || !str_starts(str_of(name), PLUGIN) || (source && strcmp(source, "plugin") != 0))
		return NULL;
	for (size_t i = 0; i < COUNT(commands); i++)
		if (strcmp(name + strlen(PLUGIN), commands[i].name) == 0)
			return &commands[i];
	return NULL;
}

/* The next word of the arguments, as the user typed it; "" at the end. */
static const char *next_argument(struct expansion *p)
{
	size_t n = 0;
	const char *word;

	while (n < p->left.n && !strchr(" \t\r\n", p->left.p[n]))
		n++;
	word = arena_dup(p->arena, str_sub(p->left, 0, n));
	p->left = str_trim(str_sub(p->left, n, p->left.n));
	return word;
}

/* ---- the note ---- */

static bool has_question(const char *path)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;

	return path_exists(path) && context_open(&f, path, CONTEXT_READ_ONLY, &ignored) == 0 &&
	       context_get(&f.doc, "question").n > 0;
}

/* The rest of the arguments becomes the value of `key`. A note is appended to earlier notes. */
static int store_rest(struct expansion *p, const char *key, bool note, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct str value = p->left, old;

	p->left.n = 0;
	if (context_check_key(p->arena, key, &value, err) < 0 ||
		context_open(&f, p->call.context_file, CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	old = context_get(&f.doc, key);
	if (note && old.n && str_find(old, value) == old.n)
		value = str_of(arena_printf(p->arena, "%s\n%s", old.p, value.p));
	else if (note && old.n)
		return 0;
	return context_set_key(&f, key, value, err);
}

/* ---- the first step ---- */

/* `take over`, in any case and with any blanks. */
static bool is_take_over(const struct expansion *p)
{
	struct expansion words = *p;

	return strcasecmp(next_argument(&words), "take") == 0 &&
	       strcasecmp(next_argument(&words), "over") == 0 && !words.left.n;
}

/* `take over` without an id names no item `take`. */
static const char *command_next_id(struct expansion *p)
{
	return is_take_over(p) ? "" : next_argument(p);
}

static int read_arguments(struct expansion *p, struct error *err)
{
	bool named = p->command->kind == COMMAND_STEP && !p->command->workflow;
	struct error ignored;
	const char *path;

	p->call.workflow = named ? next_argument(p) : p->command->workflow;
	p->call.id = command_next_id(p);
	if (p->command->kind == COMMAND_WORKFLOW && p->left.n &&
		locate_workflow(p->arena, p->call.id, p->call.plugin_root, p->call.repo, &path,
			&ignored) == 0) {
		p->call.workflow = p->call.id;
		p->call.id = command_next_id(p);
	}
	if (!*p->call.id)
		return error_set(err, ERR_USAGE, "usage: /dev-team:%s %sID%s [%stake over]",
			p->command->name,
			named && !strcmp(p->command->name, "graph") ? "MANIFEST "
			: named                                     ? "WORKFLOW "
			: p->command->kind == COMMAND_WORKFLOW      ? "[WORKFLOW] "
								    : "",
			p->command->kind == COMMAND_STEP ? "|WORDS" : "",
			p->command->kind == COMMAND_CANCEL ? "" : "NOTE | ANSWER | ");
	if (is_take_over(p)) {
		p->call.take_over = true;
		p->left.n = 0;
	}
	return 0;
}

/* A word that is no id and looks like a command, or like a misspelt id, is refused as an id. */
static bool begins_text(const char *word, bool alone)
{
	unsigned char c = (unsigned char)*word;

	return (isalnum(c) || c >= 0x80) && !word[strcspn(word, ";$`|&<>()\\\"")] &&
	       (!alone || path_is_id(str_of(word)));
}

/* Words in place of an id begin a new item. A debugger reads no spec, but every brief has notes. */
static int begin_words(struct expansion *p, struct error *err)
{
	struct new_item item = {0};
	struct str words = p->left;
	struct workflow w;
	const char *path;
	bool is_id;

	if (p->command->kind != COMMAND_STEP || !begins_text(p->call.id, !words.n))
		return 0;
	if (run_place_repository(p->arena, p->call.repo, NULL, &p->call.repo, err) < 0 ||
		new_item_is_id(p->arena, p->call.repo, p->call.id, !words.n, &is_id, err) < 0)
		return -1;
	if (is_id)
		return 0;
	if (locate_workflow(p->arena, p->call.workflow, p->call.plugin_root, p->call.repo, &path,
		    err) < 0 ||
		manifest_workflow_load(p->arena, path, &w, err) < 0)
		return -1;
	item.text = arena_printf(
		p->arena, "%s%s%.*s", p->call.id, words.n ? " " : "", (int)words.n, words.p);
	if (new_item_write(p->arena, p->call.repo, &item, err) < 0)
		return -1;
	p->call.id = item.id;
	p->left = strcmp(p->call.workflow, "fix-issue") == 0 ? str_of(item.text) : (struct str){0};
	return 0;
}

/* The workflow of the item's last step. An item that COMMAND_WORKFLOW begins has the usual one. */
static int find_last_workflow(struct expansion *p, struct error *err)
{
	const char *document;

	if (path_check_id(p->call.id, err) < 0 ||
		locate_repository(p->arena, p->call.repo, &p->call.repo, err) < 0 ||
		locate_document(p->arena, NULL, p->call.repo, p->call.id, &document, err) < 0)
		return -1;
	if (p->command->kind == COMMAND_WORKFLOW && !path_exists(document)) {
		p->call.workflow = "implement-task";
		return 0;
	}
	if (!path_exists(document))
		return error_set(err, ERR_INPUT,
			"no work item '%s': '/dev-team:implement %s' begins it, '/dev-team:status' "
			"lists the items",
			p->call.id, p->call.id);
	return run_place_repository(p->arena, p->call.repo, document, &p->call.repo, err) < 0
		       ? -1
		       : run_step_workflow(
				 p->arena, document, p->call.repo, &p->call.workflow, err);
}

/* Its arguments were checked, and are quoted. */
static void add_step(struct expansion *p, const struct run_step_call *typed)
{
	buf_adds(p->out, "STEP: `");
	hook_add_step(p->out, &(struct hook_item){.id = typed->id, .workflow = typed->workflow},
		typed->owner);
	buf_adds(p->out, "`\n");
}

/* Whether another client, which has not ended, drives the item for that session. */
static bool is_driven_elsewhere(struct expansion *p, const char *session)
{
	const char *own = process_client_name(p->arena), *client = NULL;
	struct hook_items items;
	struct error ignored;

	if (!own || hook_session_items(p->arena, session, &items, &ignored) < 0)
		return false;
	for (size_t i = 0; i < items.n; i++)
		if (strcmp(items.items[i].context_file, p->call.context_file) == 0)
			client = items.items[i].client;
	return client && strcmp(client, own) != 0 && !process_name_ended(p->arena, client);
}

/* Removes the item from the record of its former session. A session of another client keeps it, so
 * that the hooks tell its agents to stop. */
static void end_former_session(struct expansion *p)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct lease_holder h;
	struct error ignored;

	if (context_open(&f, p->call.context_file, CONTEXT_READ_ONLY, &ignored) == 0 &&
		lease_read(&f, &h, &ignored) == 0 && h.from && strcmp(h.from, p->call.owner) != 0 &&
		!is_driven_elsewhere(p, h.from))
		(void)hook_session_end(p->arena, h.from, p->call.context_file, &ignored);
}

/* A client without a terminal carries the command out in the conversation itself, and ends with it.
 */
static bool runs_in_line(void)
{
	const char *entry = getenv("CLAUDE_CODE_ENTRYPOINT");

	return entry && str_starts(str_of(entry), "sdk-");
}

/* A shipped workflow is recorded by its name, because the installation may move. */
static int record_item(struct expansion *p, const char *typed, const char *former, struct str array,
	struct error *err)
{
	bool file = strcmp(path_absolute(p->arena, typed), p->call.workflow) == 0;
	const struct hook_item item = {.context_file = p->call.context_file,
		.id = p->call.id,
		.workflow = file ? p->call.workflow : typed,
		.repo = p->call.repo,
		.form = runs_in_line() ? "conversation" : "command",
		.former = former,
		.client = process_client_name(p->arena)};

	if (!p->call.owner)
		return 0;
	end_former_session(p);
	return hook_is_end(array) ? 0 : hook_session_begin(p->arena, p->call.owner, &item, err);
}

/* The session's item of this document, if a script or a conductor of the client drives it. */
static bool find_running(struct expansion *p, struct hook_item *item)
{
	struct hook_items items;
	struct error ignored;

	if (!p->call.owner || hook_session_items(p->arena, p->call.owner, &items, &ignored) < 0)
		return false;
	for (size_t i = 0; i < items.n; i++) {
		*item = items.items[i];
		if (strcmp(item->context_file, p->call.context_file) == 0)
			return hook_item_is_driven(p->arena, item) &&
			       !hook_item_over(p->arena, p->call.owner, item);
	}
	return false;
}

/* A second one would start the same agents in the same directory. */
static int refuse_second(struct expansion *p, const struct hook_item *item, struct error *err)
{
	bool note = p->left.n > 0;

	p->block = true;
	if ((note && store_rest(p, "user_note", true, err) < 0) ||
		hook_add_progress(p->arena, p->call.owner, item, p->out, err) < 0)
		return -1;
	buf_addf(p->out,
		"%s; %s shows it. If it was stopped, 'take over' after the id starts it again.",
		note ? "; the next agents get your note" : "",
		item->conductor ? "/tasks" : "/workflows");
	return 0;
}

static void command_add_fault(void *data, const char *text)
{
	struct expansion *p = data;

	buf_addf(&p->faults, "FAILED: %s\n", text);
}

static int make_first_step(struct expansion *p, struct error *err)
{
	CLEANUP(buf_release) struct buf array = BUF_INIT;
	struct run_step_call typed;
	struct hook_item running = {0};
	bool driven;

	if (read_arguments(p, err) < 0 ||
		(p->call.owner && hook_session_check(p->call.owner, err) < 0) ||
		begin_words(p, err) < 0 || (!p->call.workflow && find_last_workflow(p, err) < 0))
		return -1;
	typed = p->call;
	p->call.new_session = true;
	p->call.fault = command_add_fault;
	p->call.fault_data = p;
	if (run_step_resolve(p->arena, &p->call, err) < 0)
		return -1;
	driven = find_running(p, &running);
	if (driven && !p->call.take_over)
		return refuse_second(p, &running, err);
	if (p->left.n && has_question(p->call.context_file) &&
		store_rest(p, "troubleshooter_input", false, err) < 0)
		return -1;
	if (run_step(p->arena, &p->call, &array, err) < 0 ||
		record_item(p, typed.workflow, driven ? running.conductor : NULL, buf_str(&array),
			err) < 0)
		return -1;
	add_step(p, &typed);
	buf_addf(p->out, "ARRAY: %s\n", array.s);
	return p->left.n ? store_rest(p, "user_note", true, err) : 0;
}

/* ---- the tasks of the backlog ---- */

#define TICK_IS_DRIVEN "dev-team: an agent of this session works on the backlog; /tasks shows it."

struct ticking {
	struct tick_call call;
	const char *max; /* --max-concurrent */
	bool once;
};

/* `[--once] [--max-concurrent N] [take over]`; of `execute` the id of a task. */
static int read_tick_arguments(struct expansion *p, struct ticking *t, struct error *err)
{
	bool one = strcmp(p->command->name, "execute") == 0;
	const char *word = "";
	uint64_t max = 1;

	t->max = "1";
	while (p->left.n && !is_take_over(p)) {
		word = next_argument(p);
		if (strcmp(word, "--once") == 0 && !p->repeated)
			t->once = true;
		else if (strcmp(word, "--max-concurrent") == 0 && !one)
			t->max = next_argument(p);
		else if (one && !t->call.task && path_is_id(str_of(word)))
			t->call.task = word;
		else
			break;
		word = "";
	}
	t->call.take_over = is_take_over(p);
	if (*word || (one && !t->call.task) || !*t->max ||
		number_digits(str_of(t->max), &max) != strlen(t->max) || max < 1 ||
		max > CONCURRENT_MAX)
		return p->repeated
			       ? error_set(err, ERR_USAGE,
					 "usage: [/loop 5m] dev-team tick [--poll] "
					 "[--max-concurrent N] "
					 "[take over]")
			       : error_set(err, ERR_USAGE,
					 "usage: /dev-team:%s %s[--once] [take over]",
					 p->command->name, one ? "ID " : "[--max-concurrent N] ");
	t->call.max_concurrent = (int64_t)max;
	return 0;
}

/* *conductor: the agent of this session that works on the backlog; NULL: none does. */
static int find_tick_conductor(struct expansion *p, const char **conductor, struct error *err)
{
	struct hook_items items;

	*conductor = NULL;
	if (!p->call.owner)
		return 0;
	if (hook_session_check(p->call.owner, err) < 0 ||
		hook_session_items(p->arena, p->call.owner, &items, err) < 0)
		return -1;
	for (size_t i = 0; i < items.n && !*conductor; i++)
		if (items.items[i].tick && hook_item_is_driven(p->arena, &items.items[i]) &&
			!hook_item_over(p->arena, p->call.owner, &items.items[i]))
			*conductor = items.items[i].conductor;
	return 0;
}

/* The tick that begins the work of a session. */
struct first_tick {
	struct ticking typed;
	struct hook_item like; /* what it records of each item */
	struct buf text;       /* the array; empty: a conductor works on the backlog already */
};

static void first_tick_free(struct first_tick *t)
{
	buf_release(&t->text);
}

static int make_first_tick(struct expansion *p, struct first_tick *t, struct error *err)
{
	CLEANUP(json_free) json *array = NULL;
	struct tick_call *call = &t->typed.call;
	const char *items;
	int status;

	*t = (struct first_tick){.typed = {.call = {.owner = p->call.owner, .new_session = true}},
		.like = {.workflow = TICK_WORKFLOW,
			.form = !p->repeated && runs_in_line() ? "conversation" : "command",
			.poll = strcmp(p->command->name, "poll") == 0,
			.client = process_client_name(p->arena)}};
	call->mode = t->like.poll ? TICK_POLL : TICK_CARRY_OUT;
	if (read_tick_arguments(p, &t->typed, err) < 0 || tick_check_enabled(err) < 0 ||
		run_place_repository(p->arena, p->call.repo, NULL, &call->repo, err) < 0 ||
		find_tick_conductor(p, &t->like.former, err) < 0)
		return -1;
	if (t->like.former && !call->take_over)
		return 0;
	t->like.repo = call->repo;
	t->like.tick = t->typed.max;
	t->like.task = call->task;
	if (status_directory(p->arena, call->repo, &items, err) < 0 ||
		tick(p->arena, call, &t->text, &status, err) < 0 ||
		json_parse(&array, buf_str(&t->text), err) < 0)
		return -1;
	return p->call.owner
		       ? hook_tick_record(p->arena, p->call.owner, &t->like, items, array, err)
		       : 0;
}

static int add_first_tick(struct expansion *p, struct error *err)
{
	CLEANUP(first_tick_free) struct first_tick t = {0};

	if (make_first_tick(p, &t, err) < 0)
		return -1;
	p->block = !t.text.len;
	if (p->block) {
		buf_adds(p->out, TICK_IS_DRIVEN " If it was stopped, 'take over' starts it again.");
		return 0;
	}
	buf_adds(p->out, "STEP: `");
	hook_add_step(p->out, &t.like, p->call.owner);
	buf_addf(p->out, "`\n%sARRAY: %s\n", t.typed.once ? "ONCE\n" : "", t.text.s);
	return 0;
}

static int cancel_item(struct expansion *p, struct error *err)
{
	if (read_arguments(p, err) < 0)
		return -1;
	p->call.new_session = true;
	if (run_cancel(p->arena, &p->call, err) < 0)
		return -1;
	buf_addf(p->out, "%s: " ENGINE_CANCELLED "\n", p->call.id);
	return 0;
}

/* ---- the state of a work item ---- */

/* The text of `dev-team status`. */
static int add_status(struct expansion *p, struct error *err)
{
	CLEANUP(json_free) json *shown = NULL;
	const char *id = next_argument(p), *found;

	if (*id && status_find(p->arena, id, p->call.repo, NULL, &found, err) < 0)
		return -1;
	if (*id) {
		shown = status_item(found, false);
		status_add_details(p->out, shown);
		return 0;
	}
	if (status_directory(p->arena, p->call.repo, &found, err) < 0 ||
		status_items(found, &shown, err) < 0)
		return -1;
	status_add_table(p->out, shown, NULL);
	return 0;
}

/* ---- a spec ---- */

/* The model may put the id into a command, so it gets no other; without an id it asks for one. */
static int command_check_spec(struct expansion *p, struct error *err)
{
	const char *word = next_argument(p);

	if (!*word || (environment_is_spec(path_base(word)) &&
			      path_exists(path_join(p->arena, p->call.repo, word))))
		return 0;
	if (path_check_id(word, err) < 0)
		return error_prefix(err, "usage: /dev-team:spec ID WHAT | FILE [WHAT]");
	buf_addf(p->out, "ID: %s\n", word);
	return 0;
}

/* ---- the hook ---- */

static void command_add_failure(struct buf *out, const struct error *err)
{
	char line[1600];

	error_format(err, line, sizeof(line));
	buf_addf(out, "FAILED: %s\n", line);
}

static int answer_command(struct expansion *p, struct error *err)
{
	switch (p->command->kind) {
	case COMMAND_CANCEL:
		return cancel_item(p, err);
	case COMMAND_STATUS:
		return add_status(p, err);
	case COMMAND_SPEC:
		return command_check_spec(p, err);
	case COMMAND_TICK:
		return add_first_tick(p, err);
	default:
		return make_first_step(p, err);
	}
}

int hook_command(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct expansion p = {.arena = a, .out = &text};
	const char *arguments;

	if (json_parse_event(&j, input, err) < 0)
		return -1;
	arguments = json_get_str(j, "command_args");
	p.command = find_command(j);
	if (!p.command)
		return 0;
	p.left = str_trim(str_of(arguments ? arguments : ""));
	p.call.owner = json_get_str(j, "session_id");
	p.call.repo = json_get_str(j, "cwd");
	if (p.command->kind <= COMMAND_WORKFLOW && json_str_is(j, "permission_mode", "plan")) {
		hook_put_block(out, PLAN_MODE);
		return 0;
	}
	if (answer_command(&p, err) < 0) {
		buf_clear(&text);
		buf_add(&text, buf_str(&p.faults));
		command_add_failure(&text, err);
		p.block = false;
	}
	buf_release(&p.faults);
	if (p.block)
		hook_put_block(out, text.s);
	else if (text.len)
		hook_put_context(out, "UserPromptExpansion", text.s);
	return 0;
}

/* ---- a prompt that the client repeats ---- */

/* `/loop`, perhaps an interval, and words; or the words alone, when they are due. */
static bool skip_loop(struct expansion *p)
{
	struct expansion rest = *p;
	size_t every;

	if (strcmp(next_argument(&rest), "/loop") != 0)
		return false;
	*p = rest;
	if (isdigit((unsigned char)*next_argument(&rest)))
		*p = rest;
	every = str_find(p->left, STR(" every "));
	p->left = str_sub(p->left, 0, every);
	return true;
}

/* The command that the words stand for, which are removed; NULL: they are no tick. *slash: they
 * are the slash command itself. */
static const struct command *find_repeated(struct expansion *p, bool *slash)
{
	const char *word = next_argument(p), *name = "orchestrator-tick";
	struct expansion rest;

	*slash = str_starts(str_of(word), "/" PLUGIN);
	if (*slash)
		name = word + strlen("/" PLUGIN);
	else if (strcmp(word, "dev-team") != 0 || strcmp(next_argument(p), "tick") != 0)
		return NULL;
	rest = *p;
	if (!*slash && strcmp(next_argument(&rest), "--poll") == 0) {
		name = "poll";
		*p = rest;
	}
	for (size_t i = 0; i < COUNT(commands); i++)
		if (strcmp(commands[i].name, name) == 0 && commands[i].kind == COMMAND_TICK &&
			strcmp(name, "execute") != 0)
			return &commands[i];
	return NULL;
}

/* What the tick has found, for the user, or what the session does next. */
static int add_repeated(struct expansion *p, bool loop, struct error *err)
{
	CLEANUP(first_tick_free) struct first_tick t = {0};
	CLEANUP(json_free) json *array = NULL;
	const json *first;

	if (make_first_tick(p, &t, err) < 0 ||
		(t.text.len && json_parse(&array, buf_str(&t.text), err) < 0))
		return -1;
	first = json_at(array, 0);
	if (loop)
		buf_adds(p->out,
			"dev-team: the hook has run the prompt of /loop: schedule it as it "
			"is, and do not run it.\n");
	p->block = !loop;
	if (!array)
		buf_adds(p->out, TICK_IS_DRIVEN);
	else if (json_str_is(first, "action", "done"))
		buf_addf(p->out, "dev-team: %s: %s", json_get_str(first, "result"),
			json_get_str(first, "reason"));
	else {
		p->block = false;
		buf_adds(p->out,
			"dev-team: call the Agent tool once: `subagent_type` `" HOOK_CONDUCTOR
			"`, `description` `the backlog`, `prompt` `" HOOK_CONDUCTOR_TICK
			"`. When it ends, report its last message.");
	}
	return 0;
}

int hook_command_repeat(
	struct arena *a, const json *event, struct buf *out, bool *repeated, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct expansion p = {.arena = a, .out = &text, .repeated = true};
	char line[1600];
	bool loop, slash;

	p.left = str_trim(str_of(json_get_str(event, "prompt")));
	p.call.owner = json_get_str(event, "session_id");
	p.call.repo = json_get_str(event, "cwd");
	loop = skip_loop(&p);
	p.command = find_repeated(&p, &slash);
	*repeated = p.command && (loop || !slash);
	if (!*repeated)
		return 0;
	if (json_str_is(event, "permission_mode", "plan")) {
		p.block = true;
		buf_adds(&text, PLAN_MODE);
	} else if (slash) {
		p.block = true;
		buf_addf(&text,
			"dev-team: the client does not expand a slash command that it repeats; "
			"type "
			"`/loop 5m dev-team tick%s%s%.*s`",
			strcmp(p.command->name, "poll") == 0 ? " --poll" : "", p.left.n ? " " : "",
			(int)p.left.n, p.left.p);
	} else if (add_repeated(&p, loop, err) < 0) {
		error_format(err, line, sizeof(line));
		buf_clear(&text);
		buf_adds(&text, line);
		p.block = true;
	}
	if (p.block)
		hook_put_block(out, text.s);
	else
		hook_put_context(out, "UserPromptSubmit", text.s);
	return 0;
}
