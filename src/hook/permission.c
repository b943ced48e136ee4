#include <limits.h>
#include "src/hook/hook_internal.h"
#include "src/policy/clearance.h"
#include "src/sandbox/sandbox.h"
#include "src/shell/parse.h"
#include "src/sys/path.h"

struct permission {
	struct arena *arena;
	struct buf *out;
	const char *project; /* absolute; NULL: unknown */
	const char *self;
	const char *cwd; /* absolute */
	const char *tool;
	const json *call;
	const json *input; /* the tool's */
	struct clearance clearance;
	const struct persona *persona;
	struct policy policy;
	struct root root;
	struct verdict verdict;
	const char *note; /* behind the verdict; may be NULL */
	/* Of an agent of ours in the worktree of its item; place NULL: it is not there. */
	const char *session, *place, *command;
	struct hook_drive drive; /* of that session */
	bool headless;           /* the client cannot show a question */
	struct persona own;      /* of a headless agent, without a clearance file */
};

/* ---- output ---- */

static json *answer_new(void)
{
	json *j = json_object();

	json_put_str(j, "hookEventName", STR("PreToolUse"));
	return j;
}

static void permission_put_answer(struct permission *h, json *answer)
{
	CLEANUP(json_free) json *j = json_object();

	json_put(j, "hookSpecificOutput", answer);
	json_print(h->out, j);
	buf_addc(h->out, '\n');
}

static void put_denied(struct permission *h)
{
	CLEANUP(buf_release) struct buf reason = BUF_INIT;
	json *answer = answer_new();

	buf_adds(&reason, "dev-team: ");
	verdict_line(&reason, &h->verdict);
	if (h->note) {
		buf_addc(&reason, '\n');
		buf_add_printable(&reason, str_of(h->note), SIZE_MAX);
	}
	json_put_str(answer, "permissionDecision", STR("deny"));
	json_put_str(answer, "permissionDecisionReason", buf_str(&reason));
	permission_put_answer(h, answer);
}

/* The client asks the user, and shows why. */
static void put_question(const struct permission *h, json *answer)
{
	CLEANUP(buf_release) struct buf reason = BUF_INIT;

	buf_adds(&reason, "dev-team: ");
	verdict_line(&reason, &h->verdict);
	json_put_str(answer, "permissionDecision", STR("ask"));
	json_put_str(answer, "permissionDecisionReason", buf_str(&reason));
}

/* Allows the call in the worktree of the agent's item; elsewhere the client decides as if there
 * were no hook. `command` replaces that of the tool unless it is empty. */
static void put_passed(struct permission *h, struct str command)
{
	json *answer, *input;

	if (!h->place && !command.n)
		return;
	answer = answer_new();
	if (h->verdict.ask)
		put_question(h, answer);
	else if (h->place)
		json_put_str(answer, "permissionDecision", STR("allow"));
	if (command.n) {
		input = json_copy(h->input);
		json_drop(input, "dangerouslyDisableSandbox");
		json_set(input, "command", json_string(command));
		json_put(answer, "updatedInput", input);
	}
	permission_put_answer(h, answer);
}

static int deny_with_error(
	struct permission *h, enum rule rule, const char *what, const struct error *err)
{
	char text[1600];

	error_format(err, text, sizeof(text));
	h->note = arena_dup(h->arena, str_of(text));
	return deny(&h->verdict, rule, (struct span){0}, "%s", what);
}

/* ---- the boundary ---- */

/* `path`, a real path, is `folder` or below it. */
static bool permission_is_below(const char *path, const char *folder)
{
	return strcmp(path, folder) == 0 || path_is_below(folder, path);
}

static const char *shared_git(struct arena *a, const struct root *r)
{
	return r->common_dir ? r->common_dir : path_join(a, r->path, ".git");
}

/*
 * The boundary is the worktree around the working directory if it is the project's, lies below it,
 * or belongs to the same repository; else the project's, which must contain the directory.
 */
static int open_root(struct permission *h, struct error *err)
{
	struct root project = {0}, here;
	struct arena *a = h->arena;
	char *around, *own;

	if (root_find(a, h->cwd, &own, err) < 0 || root_open(a, own, &here, err) < 0)
		return -1;
	if (h->project && (root_find(a, h->project, &around, err) < 0 ||
				  root_open(a, around, &project, err) < 0))
		return -1;
	if (!h->project || strcmp(here.path, project.path) == 0 ||
		(path_exists(path_join(a, here.path, ".git")) &&
			(permission_is_below(here.path, project.path) ||
				strcmp(shared_git(a, &here), shared_git(a, &project)) == 0))) {
		h->root = here;
		return 0;
	}
	if (!permission_is_below(here.path, project.path))
		return error_set(err, ERR_INPUT, "'%.200s' is outside the project '%.200s'",
			here.path, project.path);
	h->root = project;
	return 0;
}

static int need_policy(struct permission *h)
{
	struct error err = {0};

	if (h->persona->policy && policy_load(h->arena, h->persona->policy, &h->policy, &err) < 0)
		return deny_with_error(
			h, RULE_INTERNAL, "the persona's policy cannot be read", &err);
	if (open_root(h, &err) < 0)
		return deny_with_error(h, RULE_CWD,
			"the working directory is in no worktree of the project", &err);
	return 0;
}

/* ---- commands ---- */

static void exec_text(const struct permission *h, struct str text, struct buf *out)
{
	buf_add_shell(out, str_of(h->self));
	buf_adds(out, " policy exec --policy ");
	buf_add_shell(out, str_of(h->persona->policy));
	buf_adds(out, " --root ");
	buf_add_shell(out, str_of(h->root.path));
	buf_adds(out, " --cwd ");
	buf_add_shell(out, str_of(h->cwd));
	buf_adds(out, " -- ");
	buf_add_shell(out, text);
}

/* Nobody watches a headless agent, nor answers for it. */
static int check_headless(struct permission *h, const char *command)
{
	if (!sandbox_installed(h->arena))
		return deny(&h->verdict, RULE_INTERNAL, (struct span){0},
			"commands cannot be contained: there is no bwrap");
	if (hook_user_decides(h->arena, h->project, command))
		return deny(&h->verdict, RULE_COMMAND, (struct span){0},
			"a rule of the user's settings denies it, or asks about it and nobody "
			"can answer");
	return 0;
}

/* The text itself goes to bash, in the sandbox. */
static int permission_check_command(struct permission *h, struct str command, struct buf *out)
{
	struct error err = {0};

	if (policy_check(h->arena, &h->policy, &h->root, h->cwd, command, &h->verdict) < 0) {
		h->note = arena_printf(h->arena,
			"The policy is '%s'; 'dev-team policy show' and docs/policy.md say what it "
			"allows.",
			h->policy.name);
		return -1;
	}
	if (h->place && h->root.common_dir &&
		hook_place_stage(
			h->arena, h->call, h->place, h->root.common_dir, h->self, out, &err) < 0)
		return deny_with_error(
			h, RULE_INTERNAL, "the stage of the agent is not known", &err);
	exec_text(h, command, out);
	return 0;
}

static int permission_run_command(struct permission *h, const char *command)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str given = arena_str(h->arena, str_of(command));
	const struct hook_protocol own = {h->arena, &h->root, h->cwd, h->self, NULL};
	int rc;

	if (!h->persona->policy)
		return deny(&h->verdict, RULE_TOOL, (struct span){0},
			"the persona '%s' has no policy, so it may not run commands",
			h->persona->name);
	if (need_policy(h) < 0 || (h->headless && check_headless(h, command) < 0))
		return -1;
	rc = hook_protocol_begins(given, h->self)
		     ? hook_protocol_check(&own, given, &text, &h->verdict)
		     : permission_check_command(h, given, &text);
	if (rc < 0)
		return -1;
	put_passed(h, str_eq(buf_str(&text), str_of(json_get_str(h->input, "command")))
			      ? (struct str){0}
			      : buf_str(&text));
	return 0;
}

/* Without a clearance file the commands of an item's agents run contained, too. Where this host
 * cannot do that the client asks the user. */
static int contain_command(struct permission *h, const char *command)
{
	static const struct persona agent = {.name = "agent", .policy = "developer"};

	if (!sandbox_installed(h->arena) || hook_user_decides(h->arena, h->project, command))
		return 0;
	h->persona = &agent;
	return permission_run_command(h, command);
}

/* ---- tools that read or write files ---- */

static int permission_check_file(struct permission *h, const char *file, enum access access)
{
	static const struct policy none = {.name = "none", .write = true};
	const struct policy *policy = h->persona->policy ? &h->policy : &none;
	struct str cwd, path = str_of(file);
	struct place place;

	if (need_policy(h) < 0)
		return -1;
	if (access == ACCESS_WRITE && !policy->write)
		return deny_word(&h->verdict, RULE_WRITE, (struct span){0}, path, STR(""),
			"the policy '%s' does not allow writing", policy->name);
	if (policy_cwd(h->arena, &h->root, h->cwd, &cwd, &h->verdict) < 0)
		return -1;
	return where(h->arena, &h->root, policy, cwd, path, access, (struct span){0}, &place,
		&h->verdict);
}

static const char *const writers[] = {"Write", "Edit", "MultiEdit", "NotebookEdit", NULL};
static const char *const readers[] = {"Read", "Grep", "Glob", "LS", "NotebookRead", NULL};
static const char *const file_members[] = {"file_path", "notebook_path", "path", "pattern"};

/* Grep's pattern is none of files, and a relative one of Glob is below `path`. */
static bool names_files(const struct permission *h, const char *member)
{
	const char *text = json_get_str(h->input, member);

	return json_get(h->input, member) &&
	       (strcmp(member, "pattern") != 0 ||
		       (strcmp(h->tool, "Glob") == 0 && text &&
			       (strchr("/~", text[0]) || strstr(text, ".."))));
}

/* As the client reads it: `~` is HOME, and a pattern is of files in the directory before its first
 * wildcard. NULL: it is no text. */
static const char *permission_file(const struct permission *h, const char *member)
{
	const char *text = json_get_str(h->input, member), *home = getenv("HOME");
	struct str path = str_of(text);

	if (text && strcmp(member, "pattern") == 0)
		for (path.n = strcspn(text, "*?[{"); path.n && path.p[path.n - 1] != '/';)
			path.n--;
	text = text ? arena_dup(h->arena, path) : NULL;
	return text && home && text[0] == '~' && (!text[1] || text[1] == '/')
		       ? arena_printf(h->arena, "%s%s", home, text + 1)
		       : text;
}

static bool is_given(const struct permission *h, const char *file, enum access access)
{
	return h->headless && hook_headless_may(h->arena, h->project ? h->project : h->cwd, file,
				      access == ACCESS_WRITE);
}

/* Each member that names a file must pass. A search without a path is in the working directory. */
static int permission_check_files(struct permission *h, enum access access)
{
	bool any = false;

	for (size_t i = 0; i < COUNT(file_members); i++) {
		const char *file = permission_file(h, file_members[i]);

		if (!names_files(h, file_members[i]))
			continue;
		any = true;
		if (!file)
			return deny(&h->verdict, RULE_INTERNAL, (struct span){0},
				"'%s' of the call is not a text", file_members[i]);
		if (!is_given(h, file, access) && permission_check_file(h, file, access) < 0)
			return -1;
	}
	if (any)
		return 0;
	if (access == ACCESS_READ)
		return permission_check_file(h, ".", access);
	return deny(
		&h->verdict, RULE_INTERNAL, (struct span){0}, "the call does not say which file");
}

/* Members that hold a command: a tool that has one runs it, whatever its name. */
static const char *program_text(const struct permission *h)
{
	static const char *const members[] = {"script", "cmd", "code"};

	for (size_t i = 0; i < COUNT(members); i++)
		if (json_get(h->input, members[i]))
			return members[i];
	return NULL;
}

/* The web and MCP servers. */
static bool permission_is_remote(const struct permission *h)
{
	return strcmp(h->tool, "WebFetch") == 0 || strcmp(h->tool, "WebSearch") == 0 ||
	       strncmp(h->tool, "mcp__", 5) == 0;
}

static void allow_remote(struct permission *h)
{
	if (h->session && hook_session_drives(h->arena, h->session, &h->drive))
		hook_put_decision(h->out, NULL, NULL);
}

/* An agent starts only agents that the file names, too. Without a type it is the client's own. */
static int permission_check_start(struct permission *h)
{
	const char *type = json_get_str(h->input, "subagent_type");
	const struct persona *started;

	return clearance_persona(
		&h->clearance, str_of(type ? type : "general-purpose"), &started, &h->verdict);
}

static int check_tool(struct permission *h)
{
	const json *command = json_get(h->input, "command");
	bool bash = strcmp(h->tool, "Bash") == 0,
	     starts = strcmp(h->tool, "Agent") == 0 || strcmp(h->tool, "Task") == 0;

	if (clearance_tool(h->persona, str_of(h->tool), &h->verdict) < 0 ||
		(starts && h->clearance.n && permission_check_start(h) < 0))
		return -1;
	if (permission_is_remote(h)) {
		if (h->persona->tools_listed)
			allow_remote(h);
		return 0;
	}
	if (str_in(str_of(h->tool), writers) && permission_check_files(h, ACCESS_WRITE) < 0)
		return -1;
	if (str_in(str_of(h->tool), readers) && permission_check_files(h, ACCESS_READ) < 0)
		return -1;
	if ((bash || command) && !json_text(command))
		return deny(
			&h->verdict, RULE_INTERNAL, (struct span){0}, "the call has no command");
	if (command)
		return permission_run_command(h, h->command ? h->command : json_text(command));
	if (program_text(h) && !h->persona->tools_listed)
		return deny(&h->verdict, RULE_TOOL, (struct span){0},
			"'%s' of a tool that the persona's 'tools' do not name is not understood",
			program_text(h));
	put_passed(h, (struct str){0});
	return 0;
}

/* ---- the item's worktree ---- */

/* The worktree that contains all files of the call; NULL: there is none, or a file is elsewhere. */
static const char *place_of_files(const struct permission *h)
{
	const char *place = NULL;

	for (size_t i = 0; i < COUNT(file_members); i++) {
		const char *file = permission_file(h, file_members[i]), *of;

		if (!names_files(h, file_members[i]))
			continue;
		of = file ? hook_place_of(h->arena, h->session, file) : NULL;
		if (!of || (place && strcmp(place, of) != 0))
			return NULL;
		place = of;
	}
	return place;
}

/* From here on the worktree is the directory of the call. */
static void enter_place(struct permission *h, const json *call)
{
	const char *type = json_get_str(call, "agent_type"), *directory = h->cwd, *command;
	struct str rest = {0};

	if (!type || !str_starts(str_of(type), "dev-team:") || hook_is_conductor(call))
		return;
	h->session = json_get_str(call, "session_id");
	command = json_get_str(h->input, "command");
	if (!command) {
		h->place = place_of_files(h);
		h->cwd = h->place ? h->place : h->cwd;
		return;
	}
	if (hook_leading_cd(h->arena, str_of(command), &rest))
		directory = hook_leading_cd(h->arena, str_of(command), &rest);
	h->place = hook_place_of(h->arena, h->session, directory);
	if (!h->place || !rest.n)
		return;
	h->cwd = directory;
	h->command = arena_dup(h->arena, rest);
}

/* ---- the caller ---- */

static int read_call(struct permission *h, const json *call)
{
	h->call = call;
	h->cwd = json_get_str(call, "cwd");
	h->tool = json_get_str(call, "tool_name");
	h->input = json_get(call, "tool_input");
	if (!h->cwd || h->cwd[0] != '/' || !h->tool || !json_is_object(h->input))
		return deny(&h->verdict, RULE_INTERNAL, (struct span){0},
			"the hook's input lacks tool_name, tool_input or an absolute cwd");
	return 0;
}

/* The persona stays NULL if the call is not bounded: without the clearance file, or of the session
 * itself or its conductor, unless the file names a persona `main`. */
static int find_persona(struct permission *h, const json *call)
{
	const char *name = json_get_str(call, "agent_type");
	struct verdict ignored = {0};

	if (h->headless && !name)
		name = h->own.name;
	else if (!h->headless && hook_may_drive(call)) {
		(void)clearance_persona(&h->clearance, STR("main"), &h->persona, &ignored);
		return 0;
	}
	if (!name)
		return deny(&h->verdict, RULE_PERSONA, (struct span){0},
			"the hook's input does not name the agent");
	return clearance_persona(&h->clearance, str_of(name), &h->persona, &h->verdict);
}

/* A log of the item, such as that of a failed check, which the brief names. */
static bool reads_log(const struct permission *h)
{
	const char *file = json_get_str(h->input, "file_path");

	return strcmp(h->tool, "Read") == 0 && file && hook_is_log_of(h->arena, h->session, file);
}

/* All files that the call names are temporary ones, as skills tell agents to make them. */
static bool uses_temporary(struct permission *h)
{
	bool any = false;

	if (!str_in(str_of(h->tool), readers) && !str_in(str_of(h->tool), writers))
		return false;
	for (size_t i = 0; i < COUNT(file_members); i++) {
		const char *file = permission_file(h, file_members[i]);

		if (!names_files(h, file_members[i]))
			continue;
		if (!file || !hook_is_temporary(h->arena, h->project ? h->project : h->cwd, file))
			return false;
		any = true;
	}
	return any && hook_session_drives(h->arena, h->session, &h->drive);
}

/* An agent of an item that was cancelled, or taken over, can only end, and offer its answer. */
static bool deny_ended_item(struct permission *h)
{
	static const char *const ends[] = {"StructuredOutput", "SubagentHandback", NULL};
	const char *command = json_get_str(h->input, "command"), *why;

	if (!h->session || h->place || str_in(str_of(h->tool), ends) ||
		(command && hook_protocol_begins(str_of(command), h->self)))
		return false;
	why = hook_session_over(h->arena, h->session, &h->drive);
	if (why)
		hook_put_decision(h->out, arena_printf(h->arena, "dev-team: %s: stop", why), NULL);
	return why != NULL;
}

/* Without a clearance file: allows an agent's commands of this program, calls in its worktree, the
 * web, MCP servers, temporary files and reading its item's logs, and the session's step, so that
 * the user is not prompted for them. */
static int answer_agent(struct permission *h, const json *call)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct hook_protocol own = {h->arena, &h->root, NULL, h->self,
		hook_may_drive(call) ? json_get_str(call, "session_id") : NULL};
	struct error ignored;
	const char *command;

	if (read_call(h, call) < 0)
		return 0;
	enter_place(h, call);
	command = json_get_str(h->input, "command");
	own.cwd = h->cwd;
	if (h->place && command)
		return contain_command(h, h->command ? h->command : command);
	if (!h->place && (h->session || own.session) && command &&
		hook_protocol_begins(str_of(command), h->self) && open_root(h, &ignored) == 0 &&
		hook_protocol_check(&own, str_of(command), &text, &h->verdict) == 0)
		h->place = h->cwd;
	if (!h->place && h->session && (reads_log(h) || uses_temporary(h)))
		h->place = h->cwd;
	if (deny_ended_item(h))
		return 0;
	if (permission_is_remote(h))
		allow_remote(h);
	else
		put_passed(h, (struct str){0});
	return 0;
}

static int judge_bounded(struct permission *h, const json *call)
{
	if (read_call(h, call) < 0)
		return -1;
	enter_place(h, call);
	return deny_ended_item(h) ? 0 : check_tool(h);
}

static int judge_call(struct permission *h, const json *call, const char *file)
{
	struct error err = {0};
	bool there = false;
	int rc = file ? clearance_load(h->arena, file, &h->clearance, &there, &err) : 0;

	if (rc < 0 && hook_may_drive(call) && !h->headless)
		return 0;
	if (rc < 0)
		rc = deny_with_error(h, RULE_INTERNAL, "the clearance file cannot be read", &err);
	else if (there)
		rc = find_persona(h, call);
	else if (h->headless)
		h->persona = &h->own;
	if (rc == 0 && h->persona)
		rc = judge_bounded(h, call);
	else if (rc == 0)
		rc = answer_agent(h, call);
	if (rc < 0) {
		buf_clear(h->out);
		put_denied(h);
	}
	return 0;
}

/* A call that cannot be read is denied, unless it certainly does not come from a sub-agent. */
static int answer_broken(struct permission *h, struct str text, struct error *err)
{
	if (!h->headless && str_find(text, STR("agent_")) == text.n &&
		str_find(text, STR("\\u")) == text.n)
		return 0;
	deny_with_error(h, RULE_INTERNAL, "the hook's input cannot be read", err);
	put_denied(h);
	return 0;
}

/* The directory of the call, as the client gives it. */
static const char *call_directory(const struct permission *h, const json *call)
{
	const char *cwd = json_get_str(call, "cwd");

	if (h->project)
		return h->project;
	return cwd && cwd[0] == '/' ? cwd : ".";
}

/* A clearance file existed earlier and is missing. Agents are refused; the session itself, which a
 * person watches, continues without it. */
static int answer_vanished(struct permission *h, const json *call, const char *mark)
{
	if (call && hook_may_drive(call) && !h->headless)
		return 0;
	h->note = arena_printf(h->arena,
		"This project had a .dev-team/clearance.yaml. Put it back; or, to do without from "
		"now on, people remove %s.",
		mark);
	(void)deny(&h->verdict, RULE_PERSONA, (struct span){0}, "the clearance file has gone");
	put_denied(h);
	return 0;
}

int hook_permission(struct arena *a, struct str input, struct buf *out, struct error *err)
{
	const char *project = getenv("CLAUDE_PROJECT_DIR");
	CLEANUP(json_free) json *call = NULL;
	struct permission h = {
		.arena = a, .out = out, .project = project && project[0] == '/' ? project : NULL};
	char *file, *mark;
	int rc = json_parse_event(&call, input, err);

	if (rc == 0 && hook_answer_check(a, call, &h.verdict) < 0) {
		put_denied(&h);
		return 0;
	}
	h.self = path_own_program(a);
	if (!h.self)
		h.self = "dev-team";
	if (rc == 0 && hook_tools_check(a, call, h.self, &h.drive, &h.verdict) < 0) {
		put_denied(&h);
		return 0;
	}
	file = clearance_find(a, call_directory(&h, call));
	mark = file ? NULL : clearance_marked(a, call_directory(&h, call));
	h.headless = hook_headless(&h.own);
	if (!file && !mark && !h.headless) {
		if (rc == 0 && answer_agent(&h, call) < 0)
			put_denied(&h);
		return 0;
	}
	if (rc == 0 && mark)
		return answer_vanished(&h, call, mark);
	if (rc < 0)
		return answer_broken(&h, input, err);
	if (file)
		clearance_mark(a, arena_dup(a, path_dir(arena_dup(a, path_dir(file)))));
	rc = judge_call(&h, call, file);
	return rc;
}
