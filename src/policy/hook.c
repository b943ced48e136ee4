#include <limits.h>
#include "src/policy/clearance.h"
#include "src/policy/hook.h"
#include "src/shell/parse.h"
#include "src/sys/path.h"

struct hook {
	struct arena *arena;
	struct buf *out;
	const char *project; /* absolute; NULL: not said */
	const char *self;
	const char *cwd; /* absolute */
	const char *tool;
	const json *input; /* the tool's */
	struct clearance clearance;
	const struct persona *persona;
	struct policy policy;
	struct root root;
	struct verdict verdict;
	const char *note; /* behind the verdict; may be NULL */
};

/* ---- output ---- */

static json *answer_new(void)
{
	json *j = json_object();

	json_put_str(j, "hookEventName", STR("PreToolUse"));
	return j;
}

static void put_answer(struct hook *h, json *answer)
{
	CLEANUP(json_free) json *j = json_object();

	json_put(j, "hookSpecificOutput", answer);
	json_print(h->out, j);
	buf_addc(h->out, '\n');
}

static void put_denied(struct hook *h)
{
	CLEANUP(buf_release) struct buf reason = BUF_INIT;
	json *answer = answer_new();

	buf_adds(&reason, "dev-team: ");
	verdict_line(&reason, &h->verdict);
	if (h->note) {
		buf_addc(&reason, '\n');
		text_visible(&reason, str_of(h->note));
	}
	json_put_str(answer, "permissionDecision", STR("deny"));
	json_put_str(answer, "permissionDecisionReason", buf_str(&reason));
	put_answer(h, answer);
}

/* The tool's other fields stay; whether it may run at all is still asked as it would have been. */
static void put_command(struct hook *h, struct str command)
{
	json *answer = answer_new(), *input = json_copy(h->input);

	json_set(input, "command", json_string(command));
	json_put(answer, "updatedInput", input);
	put_answer(h, answer);
}

static int fail(struct hook *h, enum rule rule, const char *what, const struct error *err)
{
	char text[1600];

	error_format(err, text, sizeof(text));
	h->note = arena_dup(h->arena, str_of(text));
	return deny(&h->verdict, rule, (struct span){0}, "%s", what);
}

/* ---- the boundary ---- */

/* Real path `path` is `directory` or below it. */
static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 &&
	       (path[n] == '/' || path[n] == '\0' || strcmp(folder, "/") == 0);
}

static const char *shared_git(struct arena *a, const struct root *r)
{
	return r->common_dir ? r->common_dir : path_join(a, r->path, ".git");
}

/*
 * The worktree around the working directory, when it is that of the project, lies in it, or is
 * another worktree of the same repository; else the project's, where it holds the directory.
 */
static int open_root(struct hook *h, struct error *err)
{
	CLEANUP(root_close) struct root project = {.fd = -1}, here = {.fd = -1};
	struct arena *a = h->arena;
	char *around, *own;

	if (root_find(a, h->cwd, &own, err) < 0 || root_open(a, own, &here, err) < 0)
		return -1;
	if (h->project && (root_find(a, h->project, &around, err) < 0 ||
				  root_open(a, around, &project, err) < 0))
		return -1;
	if (!h->project || strcmp(here.path, project.path) == 0 ||
		(path_exists(path_join(a, here.path, ".git")) &&
			(is_below(here.path, project.path) ||
				strcmp(shared_git(a, &here), shared_git(a, &project)) == 0))) {
		h->root = here;
		here.fd = -1;
		return 0;
	}
	if (!is_below(here.path, project.path))
		return error_set(err, ERR_INPUT, "'%.200s' is outside the project '%.200s'",
			here.path, project.path);
	h->root = project;
	project.fd = -1;
	return 0;
}

static int need_policy(struct hook *h)
{
	struct error err = {0};

	if (h->persona->policy && policy_load(h->arena, h->persona->policy, &h->policy, &err) < 0)
		return fail(h, RULE_INTERNAL, "the persona's policy cannot be read", &err);
	if (open_root(h, &err) < 0)
		return fail(h, RULE_CWD, "the working directory is in no worktree of the project",
			&err);
	return 0;
}

/* ---- commands ---- */

static void exec_text(const struct hook *h, struct str canonical, struct buf *out)
{
	buf_add_shell(out, str_of(h->self));
	buf_adds(out, " policy exec --policy ");
	buf_add_shell(out, str_of(h->persona->policy));
	buf_adds(out, " --root ");
	buf_add_shell(out, str_of(h->root.path));
	buf_adds(out, " --cwd ");
	buf_add_shell(out, str_of(h->cwd));
	buf_adds(out, " -- ");
	buf_add_shell(out, canonical);
}

/*
 * A repository that was planted among the files runs what its configuration says, if git takes it
 * for one; what xargs and make start is git too, so it is said in the environment.
 */
static void shell_text(struct str canonical, struct buf *out)
{
	static const char *const pairs[][2] = {{"safe.bareRepository", "explicit"},
		{"core.fsmonitor", "false"}, {"protocol.ext.allow", "never"}};

	if (str_find(canonical, STR("git")) < canonical.n) {
		for (size_t i = 0; i < COUNT(pairs); i++)
			buf_addf(out, "export GIT_CONFIG_KEY_%zu=%s GIT_CONFIG_VALUE_%zu=%s; ", i,
				pairs[i][0], i, pairs[i][1]);
		buf_addf(out, "export GIT_CONFIG_COUNT=%zu\n", COUNT(pairs));
	}
	buf_add(out, canonical);
}

/* What is run is what was understood: the tree's own text, never the one that came. */
static int check_command(struct hook *h, struct str command, struct buf *out)
{
	CLEANUP(buf_release) struct buf canonical = BUF_INIT;
	struct node *tree;

	if (policy_check(h->arena, &h->policy, &h->root, h->cwd, command, &tree, &h->verdict,
		    NULL) < 0) {
		h->note = arena_printf(h->arena,
			"The policy is '%s'; 'dev-team policy show' and docs/policy.md say what it "
			"allows.",
			h->policy.name);
		return -1;
	}
	if (!h->clearance.exec)
		tree_name_programs(h->arena, &h->policy, tree);
	shell_print(&canonical, tree);
	if (h->clearance.exec)
		exec_text(h, buf_str(&canonical), out);
	else
		shell_text(buf_str(&canonical), out);
	return 0;
}

static int run_command(struct hook *h, const char *command)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str given = arena_str(h->arena, str_of(command));
	const struct hook_protocol own = {h->arena, &h->root, h->cwd, h->self};
	int rc;

	if (!h->persona->policy)
		return deny(&h->verdict, RULE_TOOL, (struct span){0},
			"the persona '%s' has no policy, so it may not run commands",
			h->persona->name);
	if (need_policy(h) < 0)
		return -1;
	rc = hook_protocol_begins(given, h->self)
		     ? hook_protocol_check(&own, given, &text, &h->verdict)
		     : check_command(h, given, &text);
	if (rc < 0)
		return -1;
	if (!str_eq(buf_str(&text), given))
		put_command(h, buf_str(&text));
	return 0;
}

/* ---- tools that write files ---- */

static int check_write(struct hook *h, const char *file)
{
	static const struct policy writer = {.name = "none", .write = true};
	struct str cwd, path = str_of(file);
	struct place place;

	if (need_policy(h) < 0)
		return -1;
	if (h->persona->policy && !h->policy.write)
		return deny_word(&h->verdict, RULE_WRITE, (struct span){0}, path, STR(""),
			"the policy '%s' does not allow writing", h->policy.name);
	if (policy_cwd(h->arena, &h->root, h->cwd, &cwd, &h->verdict) < 0)
		return -1;
	return where(h->arena, &h->root, h->persona->policy ? &h->policy : &writer, cwd, path,
		ACCESS_WRITE, false, (struct span){0}, &place, &h->verdict);
}

/* Each member that names a file must pass; a call of such a tool has one at least. */
static int check_files(struct hook *h)
{
	static const char *const members[] = {"file_path", "notebook_path", "path"};
	bool any = false;

	for (size_t i = 0; i < COUNT(members); i++) {
		const json *file = json_get(h->input, members[i]);

		if (!file)
			continue;
		any = true;
		if (!json_text(file))
			return deny(&h->verdict, RULE_INTERNAL, (struct span){0},
				"'%s' of the call is not a text", members[i]);
		if (check_write(h, json_text(file)) < 0)
			return -1;
	}
	return any ? 0
		   : deny(&h->verdict, RULE_INTERNAL, (struct span){0},
			     "the call does not say which file");
}

static bool writes_files(const char *tool)
{
	static const char *const writers[] = {"Write", "Edit", "MultiEdit", "NotebookEdit"};

	for (size_t i = 0; i < COUNT(writers); i++)
		if (strcmp(tool, writers[i]) == 0)
			return true;
	return false;
}

/* Whatever the client calls its tools: what has one of these runs it. */
static const char *program_text(const struct hook *h)
{
	static const char *const members[] = {"script", "cmd", "code"};

	for (size_t i = 0; i < COUNT(members); i++)
		if (json_get(h->input, members[i]))
			return members[i];
	return NULL;
}

static int check_tool(struct hook *h)
{
	const json *command = json_get(h->input, "command");
	bool bash = strcmp(h->tool, "Bash") == 0;

	if (clearance_tool(h->persona, str_of(h->tool), &h->verdict) < 0)
		return -1;
	if (strncmp(h->tool, "mcp__", 5) == 0)
		return 0;
	if (writes_files(h->tool) && check_files(h) < 0)
		return -1;
	if ((bash || command) && !json_text(command))
		return deny(
			&h->verdict, RULE_INTERNAL, (struct span){0}, "the call has no command");
	if (command)
		return run_command(h, json_text(command));
	if (program_text(h) && !h->persona->tools_listed)
		return deny(&h->verdict, RULE_TOOL, (struct span){0},
			"'%s' of a tool that the persona's 'tools' do not name is not understood",
			program_text(h));
	return 0;
}

/* ---- who asks ---- */

static int read_call(struct hook *h, const json *call)
{
	h->cwd = json_get_str(call, "cwd");
	h->tool = json_get_str(call, "tool_name");
	h->input = json_get(call, "tool_input");
	if (!h->cwd || h->cwd[0] != '/' || !h->tool || !json_is_object(h->input))
		return deny(&h->verdict, RULE_INTERNAL, (struct span){0},
			"the hook's input lacks tool_name, tool_input or an absolute cwd");
	return 0;
}

/* `main` is the name that the session itself may be given; where it is not, all is as it was. */
static int find_persona(struct hook *h, const json *call, const char *file, bool *nobody)
{
	const json *type = json_get(call, "agent_type"), *id = json_get(call, "agent_id");
	const char *name = type ? json_text(type) : id ? NULL : "main";
	struct error err = {0};
	struct verdict none = {0};
	bool main_session = !type && !id, there;

	*nobody = false;
	if (clearance_load(h->arena, file, &h->clearance, &there, &err) < 0) {
		*nobody = main_session;
		return fail(h, RULE_INTERNAL, "the clearance file cannot be read", &err);
	}
	if (!there)
		return *nobody = true, 0;
	if (!name)
		return deny(&h->verdict, RULE_PERSONA, (struct span){0},
			"the hook's input does not name the agent");
	if (!main_session)
		return clearance_persona(&h->clearance, str_of(name), &h->persona, &h->verdict);
	*nobody = clearance_persona(&h->clearance, STR("main"), &h->persona, &none) < 0;
	return 0;
}

static int answer(struct hook *h, const json *call, const char *file)
{
	bool nobody;
	int rc = find_persona(h, call, file, &nobody);

	if (nobody)
		return 0;
	if (rc < 0 || read_call(h, call) < 0 || check_tool(h) < 0) {
		buf_clear(h->out);
		put_denied(h);
	}
	return 0;
}

/* What cannot be read is denied, unless it surely does not come from a sub-agent. */
static int answer_broken(struct hook *h, struct str text, struct error *err)
{
	if (str_find(text, STR("agent_")) == text.n && str_find(text, STR("\\u")) == text.n)
		return 0;
	fail(h, RULE_INTERNAL, "the hook's input cannot be read", err);
	put_denied(h);
	return 0;
}

static const char *own_path(struct arena *a)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe));

	return n > 0 && n < PATH_MAX ? arena_dup(a, (struct str){exe, (size_t)n}) : "dev-team";
}

/* Where the call comes from, as the client says. */
static const char *call_folder(const struct hook *h, const json *call)
{
	const char *cwd = json_get_str(call, "cwd");

	if (h->project)
		return h->project;
	return cwd && cwd[0] == '/' ? cwd : ".";
}

/* The file was there once. Only the session itself, which people watch, goes on without. */
static int answer_vanished(struct hook *h, const json *call, const char *mark)
{
	if (call && !json_get(call, "agent_type") && !json_get(call, "agent_id"))
		return 0;
	h->note = arena_printf(h->arena,
		"This project had a .dev-team/clearance.yaml. Put it back; or, to do without from "
		"now on, people remove %s.",
		mark);
	(void)deny(&h->verdict, RULE_PERSONA, (struct span){0}, "the clearance file has gone");
	put_denied(h);
	return 0;
}

int policy_hook(
	struct arena *a, struct str input, const char *project, struct buf *out, struct error *err)
{
	CLEANUP(json_free) json *call = NULL;
	struct hook h = {.arena = a,
		.out = out,
		.root = {.fd = -1},
		.project = project && project[0] == '/' ? project : NULL};
	char *file, *mark;
	int rc = json_parse(&call, input, err);

	file = clearance_find(a, call_folder(&h, call));
	mark = file ? NULL : clearance_marked(a, call_folder(&h, call));
	if (!file && !mark)
		return 0;
	if (rc == 0 && mark)
		return answer_vanished(&h, call, mark);
	if (rc < 0)
		return answer_broken(&h, input, err);
	clearance_mark(a, arena_dup(a, path_dir(arena_dup(a, path_dir(file)))));
	h.self = own_path(a);
	rc = answer(&h, call, file);
	root_close(&h.root);
	return rc;
}
