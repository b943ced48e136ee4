/* facts.c: what the filters look at, read once for all candidates. */
#include "src/base/number.h"
#include "src/run/locate.h"
#include "src/run/status.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/tick/admission.h"

enum { FILE_MAX = 64 << 20, SENTINEL_MAX = 4096 };

/* A file of the directory of artifacts; empty if there is none, or it cannot be read. */
static struct str read_artifact(struct admission_facts *f, const char *dir, const char *name)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct arena *a = f->backlog->arena;
	struct error ignored;

	if (sys_read_file(&text, path_join(a, dir, name), FILE_MAX, NULL, &ignored) < 0)
		return (struct str){0};
	return arena_str(a, buf_str(&text));
}

/* ---- who works ---- */

/* Worktrees that say so in a file: .worktrees/ID/.active-task has the id. */
static void read_worktrees(struct admission_facts *f)
{
	struct arena *a = f->backlog->arena;
	struct directory_names names = {0};
	struct error ignored;
	bool missing;

	if (directory_list(a, path_join(a, f->backlog->repo, ".worktrees"), &names, &missing,
		    &ignored) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		const char *where = arena_printf(a, ".worktrees/%s", names.items[i]);
		const char *file = arena_printf(a, "%s/%s/.active-task", f->backlog->repo, where);
		const struct task *t;

		if (sys_read_file(&text, file, SENTINEL_MAX, NULL, &ignored) < 0)
			continue;
		t = backlog_find(f->backlog, arena_dup(a, str_trim(buf_str(&text))));
		t = t ? t : backlog_find(f->backlog, names.items[i]);
		if (t)
			vec_push_in(a, &f->worktrees, ((struct admission_sign){t, where}));
	}
}

int admission_find_items(struct backlog *b, const char *dir, struct error *err)
{
	struct directory_names names;
	const struct task *t;
	bool missing;

	if (directory_list(b->arena, dir, &names, &missing, err) < 0)
		return missing ? 0 : -1;
	for (size_t i = 0; i < names.n; i++) {
		struct str name = str_of(names.items[i]);

		if (str_ends(name, ".md") &&
			(t = backlog_find(b, arena_dup(b->arena, str_sub(name, 0, name.n - 3)))))
			b->tasks[t - b->tasks].begun = true;
	}
	return 0;
}

/* Tasks that are a work item already, whatever has become of it. */
static int facts_read_items(struct admission_facts *f, struct error *err)
{
	struct arena *a = f->backlog->arena;
	const char *dir;

	if (status_directory(a, f->backlog->repo, &dir, err) < 0 ||
		admission_find_items(f->backlog, dir, err) < 0)
		return -1;
	for (size_t i = 0; i < f->backlog->n; i++) {
		const struct task *t = &f->backlog->tasks[i];
		CLEANUP(json_free) json *item = NULL;

		if (!t->begun || t->state == TASK_DONE)
			continue;
		item = status_item(arena_printf(a, "%s/%s.md", dir, t->id), true);
		vec_push_in(a, &f->items,
			((struct admission_sign){t,
				json_get(item, "state") ? json_dup(a, item, "state") : "unknown"}));
	}
	return 0;
}

/* `claude --print ...`: an agent without a terminal. */
static void take_process(const struct process_info *info, void *data)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct admission_facts *f = data;

	process_add_command(info->pid, &text);
	if (!text.len || info->pid == getpid() || !strstr(text.s, "claude") ||
		(!strstr(text.s, "--print") && !strstr(text.s, " -p")))
		return;
	vec_push_in(f->backlog->arena, &f->processes,
		((struct admission_process){
			info->pid, arena_dup(f->backlog->arena, buf_str(&text))}));
}

/* ---- what people and other programs have noted ---- */

/* Moves *j to the next line that is JSON: a writer may have been killed in the middle of one. */
static bool next_record(struct str *rest, json **j)
{
	struct error ignored;
	struct str line;

	json_free(j);
	while (!*j && str_line(rest, &line))
		(void)json_parse(j, line, &ignored);
	return *j != NULL;
}

static void read_readiness(struct admission_facts *f, const char *dir)
{
	struct str rest = read_artifact(f, dir, "_dor/calibration.jsonl");
	struct arena *a = f->backlog->arena;
	json *j = NULL;

	while (next_record(&rest, &j)) {
		const char *task =
			json_dup(a, j, json_get_str(j, "issueId") ? "issueId" : "taskId");

		if (task)
			vec_push_in(a, &f->readiness,
				((struct admission_readiness){task,
					json_dup(a, j, "overallVerdict"), json_dup(a, j, "outcome"),
					json_dup(a, j, "signedAt")}));
	}
}

/* Without a file, or with a damaged one, nothing is cleared. */
static void read_cleared(struct admission_facts *f, const char *dir)
{
	struct str text = read_artifact(f, dir, "_orchestrator/cleared-external-deps.json");
	struct arena *a = f->backlog->arena;
	CLEANUP(json_free) json *list = NULL;
	struct error ignored;

	if (json_parse(&list, text, &ignored) < 0 || !json_is_array(list))
		return;
	for (const json *j = json_first(list); j; j = json_next(j))
		if (json_get_str(j, "taskId") && json_get_str(j, "externalDepId"))
			vec_push_in(a, &f->cleared,
				((struct admission_pair){json_dup(a, j, "taskId"),
					json_dup(a, j, "externalDepId")}));
}

static void read_captures(struct admission_facts *f, const char *dir)
{
	static const char *const on[] = {"1", "true", "yes", "on", "experimental", NULL};
	static const char *const members[] = {"relatedIssueId", "blocksIssueId"};
	struct arena *a = f->backlog->arena;
	struct directory_names names = {0};
	struct error ignored;
	bool missing;

	if (!env_is_in("AI_SDLC_EMERGENT_CAPTURE", on) ||
		directory_list(a, path_join(a, dir, "_captures"), &names, &missing, &ignored) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		const char *name = arena_printf(a, "_captures/%s", names.items[i]);
		struct str rest = str_ends(str_of(name), ".jsonl") ? read_artifact(f, dir, name)
								   : (struct str){0};
		json *j = NULL;

		while (next_record(&rest, &j))
			for (size_t k = 0; k < COUNT(members); k++)
				if (json_str_is(j, "triage", "tbd") && json_get_str(j, members[k]))
					vec_push_in(a, &f->captures, json_dup(a, j, members[k]));
	}
}

void admission_read_pulls(struct backlog *b, struct admission_facts *f)
{
	struct error fault;
	bool blocked;

	if (f->pulls_read)
		return;
	f->pulls_read = true;
	if (forge_list_open(b->arena, b->repo, &f->pulls, &fault) == 0)
		return;
	f->pulls_fault = arena_dup(b->arena, str_of(fault.text));
	f->pulls.n = 0;
	if (path_find_program(b->arena, "gh", &blocked))
		error_log("the open pull requests are not known: %s", f->pulls_fault);
}

int admission_gather(struct backlog *b, struct admission_facts *out, struct error *err)
{
	static const char *const on[] = {"1", "true", "yes", "on", NULL};
	const char *dir;

	out->backlog = b;
	out->ignore_overlap = env_is_in("AI_SDLC_BLAST_RADIUS_OVERLAP_BYPASS", on);
	out->ignore_overlap_of = getenv("AI_SDLC_BLAST_RADIUS_OVERLAP_BYPASS_TASK");
	if (facts_read_items(out, err) < 0 ||
		git_read_default(b->arena, b->repo, &out->start, err) < 0 ||
		locate_artifacts(b->arena, NULL, b->repo, &dir, err) < 0)
		return -1;
	admission_read_pulls(b, out);
	read_worktrees(out);
	if (!getenv("AI_SDLC_ORCHESTRATOR_DETECT_SUBPROCESS") ||
		env_is_in("AI_SDLC_ORCHESTRATOR_DETECT_SUBPROCESS", on))
		process_each(take_process, out);
	read_readiness(out, dir);
	read_cleared(out, dir);
	read_captures(out, dir);
	return 0;
}
