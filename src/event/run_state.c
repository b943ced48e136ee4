#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include "src/event/artifact_internal.h"
#include "src/event/run_state.h"
#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/schema/format.h"

static const char state_name[] = "state.json";

static const char *const words[] = {[RUN_PENDING] = "pending",
	[RUN_RUNNING] = "running",
	[RUN_SUCCESS] = "success",
	[RUN_FAILURE] = "failure",
	[RUN_SKIPPED] = "skipped"};

const char *run_status_word(enum run_status status)
{
	return words[status];
}

static void put_time(json *j, const char *key, int64_t t)
{
	char text[CLOCK_TEXT];

	clock_text(t, text);
	json_put_str(j, key, str_of(text));
}

static void put_text(json *j, const char *key, const char *text)
{
	if (text)
		json_put_str(j, key, str_of(text));
}

static bool texts_valid(const struct run_state *s)
{
	const char *const texts[] = {s->stage, s->harness, s->model, s->worktree};

	for (size_t i = 0; i < COUNT(texts); i++)
		if (texts[i] && utf8_fault(str_of(texts[i])))
			return false;
	return s->stage != NULL;
}

int run_state_write(const char *dir, const struct run_state *s, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;

	if (id_check(s->issue, err) < 0)
		return -1;
	if (!texts_valid(s))
		return error_set(err, ERR_USAGE, "a text of a state is missing or not UTF-8");
	j = json_object();
	json_put_str(j, "issueId", str_of(s->issue));
	json_put_str(j, "currentStage", str_of(s->stage));
	put_time(j, "startedAt", s->started);
	put_time(j, "lastHeartbeat", clock_now());
	json_put_str(j, "status", str_of(words[s->status]));
	put_text(j, "resolvedHarness", s->harness);
	put_text(j, "resolvedModel", s->model);
	if (s->port)
		json_put_int(j, "port", s->port);
	put_text(j, "worktreePath", s->worktree);
	return artifact_write(dir, s->issue, state_name, j, err);
}

/* Seconds; fractions of one are dropped. */
static bool get_time(const json *j, const char *key, int64_t *t)
{
	return format_time_parse(str_of(json_get_str(j, key)), t);
}

static const char *copy_text(struct arena *a, const json *j, const char *key)
{
	const char *text = json_get_str(j, key);

	return text ? arena_dup(a, str_of(text)) : NULL;
}

static bool get_status(const json *j, enum run_status *out)
{
	const char *word = json_get_str(j, "status");

	for (size_t i = 0; word && i < COUNT(words); i++)
		if (strcmp(word, words[i]) == 0) {
			*out = (enum run_status)i;
			return true;
		}
	return false;
}

/* What is wrong with it, NULL: nothing. */
static const char *from_json(
	struct arena *a, const json *j, const char *issue, struct run_state *out)
{
	const char *said = json_get_str(j, "issueId");
	int64_t port = json_get_int(j, "port", 0);

	*out = (struct run_state){.issue = arena_dup(a, str_of(issue))};
	if (!said || strcmp(said, issue) != 0)
		return "'issueId' is not the folder's name";
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
	bool *there, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	const char *fault;
	char *path;

	*there = false;
	if (artifact_path(a, dir, issue, state_name, &path, err) < 0 ||
		artifact_read(dir, issue, state_name, &j, err) < 0)
		return -1;
	if (!j)
		return 0;
	fault = from_json(a, j, issue, out);
	if (fault)
		return error_at(err, path, 1, 1, "%s", fault);
	*there = true;
	return 0;
}

bool run_state_stale(const struct run_state *s, int64_t now)
{
	return now > s->heartbeat && now - s->heartbeat > HEARTBEAT_STALE_S;
}

/* Only folders; what begins with `_` or `.` is no issue's. */
static bool is_issue(const char *dir, const char *name)
{
	struct arena a = {0};
	struct stat st;
	bool is = id_valid(str_of(name)) && stat(path_join(&a, dir, name), &st) == 0 &&
		  S_ISDIR(st.st_mode);

	arena_release(&a);
	return is;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

int run_state_list(struct arena *a, const char *dir, struct run_state **out, size_t *n,
	size_t *skipped, struct error *err)
{
	struct dirent **names = NULL;
	int count = scandir(dir, &names, NULL, by_name);
	size_t odd = 0;

	*out = NULL;
	*n = 0;
	if (skipped)
		*skipped = 0;
	if (count < 0)
		return errno == ENOENT ? 0 : error_errno(err, "cannot read folder '%s'", dir);
	*out = arena_alloc(a, ((size_t)count + 1) * sizeof(**out));
	for (int i = 0; i < count; i++) {
		const char *name = names[i]->d_name;
		struct error why;
		bool there;

		if (is_issue(dir, name)) {
			int rc = run_state_read(a, dir, name, *out + *n, &there, &why);

			*n += rc == 0 && there;
			odd += rc < 0;
		}
		free(names[i]);
	}
	free(names);
	if (skipped)
		*skipped = odd;
	return 0;
}

int heartbeat_start(struct heartbeat *h, int64_t now, int (*beat)(void *data, struct error *err),
	void *data, struct error *err)
{
	if (h->beat)
		return error_set(err, ERR_STATE, "the heartbeat is already running");
	*h = (struct heartbeat){now + HEARTBEAT_S * 1000, beat, data};
	return 0;
}

int64_t heartbeat_tick(struct heartbeat *h, int64_t now)
{
	struct error ignored;

	if (!h->beat)
		return -1;
	if (now >= h->next) {
		(void)h->beat(h->data, &ignored);
		h->next = now + HEARTBEAT_S * 1000;
	}
	return h->next - now;
}

void heartbeat_stop(struct heartbeat *h)
{
	*h = (struct heartbeat){0};
}
