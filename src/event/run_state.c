#include <sys/stat.h>
#include "src/event/artifact.h"
#include "src/base/clock.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"

static const char state_name[] = "state.json";

static const char *const words[] = {[RUN_PENDING] = "pending",
	[RUN_RUNNING] = "running",
	[RUN_SUCCESS] = "success",
	[RUN_FAILURE] = "failure",
	[RUN_SKIPPED] = "skipped",
	NULL};

static bool texts_valid(const struct run_state *s)
{
	const char *const texts[] = {s->stage, s->harness, s->model, s->worktree};

	for (size_t i = 0; i < COUNT(texts); i++)
		if (texts[i] && str_utf8_fault(str_of(texts[i])))
			return false;
	return s->stage != NULL;
}

int run_state_write(const char *dir, const struct run_state *s, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	char started[CLOCK_TEXT];

	if (path_check_id(s->issue, err) < 0)
		return -1;
	if (!texts_valid(s))
		return error_set(err, ERR_USAGE, "a text of a state is missing or not UTF-8");
	clock_text(s->started, started);
	j = JSON_OBJECT(JSON_TEXT("issueId", s->issue), JSON_TEXT("currentStage", s->stage),
		JSON_TEXT("startedAt", started), JSON_TIME("lastHeartbeat", clock_now()),
		JSON_TEXT("status", words[s->status]),
		JSON_IF(s->harness, JSON_TEXT("resolvedHarness", s->harness)),
		JSON_IF(s->model, JSON_TEXT("resolvedModel", s->model)),
		JSON_IF(s->port, JSON_INT("port", s->port)),
		JSON_IF(s->worktree, JSON_TEXT("worktreePath", s->worktree)));
	return artifact_write(dir, s->issue, state_name, j, err);
}

/* Seconds; fractions are dropped. */
static bool get_time(const json *j, const char *key, int64_t *t)
{
	return clock_parse_rfc3339(str_of(json_get_str(j, key)), t);
}

static const char *copy_text(struct arena *a, const json *j, const char *key)
{
	const char *text = json_get_str(j, key);

	return text ? arena_dup(a, str_of(text)) : NULL;
}

static bool get_status(const json *j, enum run_status *out)
{
	unsigned at;

	if (!str_index(str_of(json_get_str(j, "status")), words, &at))
		return false;
	*out = (enum run_status)at;
	return true;
}

/* NULL, or what is wrong with it. */
static const char *from_json(
	struct arena *a, const json *j, const char *issue, struct run_state *out)
{
	const char *recorded = json_get_str(j, "issueId");
	int64_t port = json_get_int(j, "port", 0);

	*out = (struct run_state){.issue = arena_dup(a, str_of(issue))};
	if (!recorded || strcmp(recorded, issue) != 0)
		return "'issueId' is not the directory's name";
	if (!(out->stage = copy_text(a, j, "currentStage")))
		return "'currentStage' is missing";
	if (!get_status(j, &out->status))
		return "'status' is not one of 'pending', 'running', 'success', 'failure', "
		       "'skipped'";
	if (!get_time(j, "startedAt", &out->started))
		return "'startedAt' is not a time";
	if (!get_time(j, "lastHeartbeat", &out->heartbeat))
		return "'lastHeartbeat' is not a time";
	out->harness = copy_text(a, j, "resolvedHarness");
	out->model = copy_text(a, j, "resolvedModel");
	out->worktree = copy_text(a, j, "worktreePath");
	out->port = port <= 65535 ? (unsigned)port : 0;
	return NULL;
}

int run_state_read(struct arena *a, const char *dir, const char *issue, struct run_state *out,
	bool *found, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	const char *fault;
	char *path;

	*found = false;
	if (artifact_path(a, dir, issue, state_name, &path, err) < 0 ||
		artifact_read(dir, issue, state_name, &j, err) < 0)
		return -1;
	if (!j)
		return 0;
	fault = from_json(a, j, issue, out);
	if (fault)
		return error_at(err, path, 1, 1, "%s", fault);
	*found = true;
	return 0;
}

bool run_state_stale(const struct run_state *s, int64_t now)
{
	return now > s->heartbeat && now - s->heartbeat > HEARTBEAT_STALE_S;
}

/* Directories only; names that begin with `_` or `.` are not issues. */
static bool is_issue(struct arena *a, const char *dir, const char *name)
{
	struct stat st;

	return path_is_id(str_of(name)) && stat(path_join(a, dir, name), &st) == 0 &&
	       S_ISDIR(st.st_mode);
}

int run_state_list(
	struct arena *a, const char *dir, struct run_state **out, size_t *n, struct error *err)
{
	struct directory_names names;
	bool missing;

	*out = NULL;
	*n = 0;
	if (directory_list(a, dir, &names, &missing, err) < 0)
		return missing ? 0 : -1;
	*out = arena_alloc(a, (names.n + 1) * sizeof(**out));
	for (size_t i = 0; i < names.n; i++) {
		struct error why;
		bool found;

		if (is_issue(a, dir, names.items[i]) &&
			run_state_read(a, dir, names.items[i], *out + *n, &found, &why) == 0)
			*n += found;
	}
	return 0;
}
