#include "src/base/clock.h"
#include "src/verify/recorded.h"

/* It may have taken long: what comes after it has the time of then. */
static const json *next(struct context_file *f, const char *what, struct error *err)
{
	const json *seen = context_replayed(f, what);

	if (seen)
		clock_fix(f->now);
	else
		error_set(err, ERR_SYSTEM, "the journal does not say what came of '%s'", what);
	return seen;
}

static bool is_yes(const json *seen)
{
	const char *value = json_get_str(seen, "value");

	return value && strcmp(value, "yes") == 0;
}

static int find_specs(
	void *data, struct arena *a, const char *id, char ***paths, size_t *n, struct error *err)
{
	const json *seen = next(data, "specs", err);
	const json *list = json_get(seen, "value");

	(void)id;
	if (!seen)
		return -1;
	*n = 0;
	*paths = arena_alloc(a, (json_len(list) + 1) * sizeof(**paths));
	for (const json *i = json_first(list); i; i = json_next(i))
		if (json_text(i))
			(*paths)[(*n)++] = arena_dup(a, str_of(json_text(i)));
	return 0;
}

static int commit_rest(void *data, const char *id, bool *made, struct error *err)
{
	const json *seen = next(data, "commit", err);

	(void)id;
	*made = is_yes(seen);
	return seen ? 0 : -1;
}

static int push(void *data, bool *skipped, struct error *err)
{
	const json *seen = next(data, "push", err);

	*skipped = !is_yes(seen);
	return seen ? 0 : -1;
}

static int failing_checks(
	void *data, struct arena *a, const char *pr_url, char **text, struct error *err)
{
	const json *seen = next(data, "checks", err);
	const char *value = json_get_str(seen, "value");

	(void)pr_url;
	if (seen && !value)
		return error_set(err, ERR_SYSTEM, "they could not be asked then");
	if (value)
		*text = arena_dup(a, str_of(value));
	return value ? 0 : -1;
}

/* Only a script that was at work then was noted. */
static bool still_running(void *data, const struct context_file *f, const char *id)
{
	const json *seen = f->replay ? json_at(f->replay, f->replayed) : NULL;
	const char *what = json_get_str(seen, "what"), *value = json_get_str(seen, "value");

	return what && value && strcmp(what, "running") == 0 && strcmp(value, id) == 0 &&
	       context_replayed(data, "running");
}

void environment_recorded(struct environment *w, struct context_file *f)
{
	*w = (struct environment){.find_specs = find_specs,
		.commit_rest = commit_rest,
		.push = push,
		.failing_checks = failing_checks,
		.still_running = still_running,
		.data = f};
}
