#include "src/sys/gh.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/machine/run_script.h"
#include "src/machine/spec_search.h"
#include "src/machine/world.h"

#define SPEC_MAX ((size_t)4 << 20) /* a larger file is no spec that a person wrote */

static bool want_spec(struct str name)
{
	return is_spec_name(name);
}

/* A file that cannot be read is passed over: it may belong to somebody else. */
static bool file_names(const char *root, const char *path, struct str id)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct arena a = {0};
	struct error ignored;
	bool found = spec_name_names(path_base(path), id) ||
		     (file_read(&text, path_join(&a, root, path), SPEC_MAX, NULL, &ignored) == 0 &&
			     text_names(buf_str(&text), id));

	arena_release(&a);
	return found;
}

static int find_specs(
	void *data, struct arena *a, const char *id, char ***paths, size_t *n, struct error *err)
{
	const struct real_world *w = data;
	size_t all, found = 0;

	if (git_find_files(a, w->repo, want_spec, paths, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all; i++)
		if (file_names(w->repo, (*paths)[i], str_of(id)))
			(*paths)[found++] = (*paths)[i];
	*n = found;
	return 0;
}

static int commit_rest(void *data, const char *id, bool *made, struct error *err)
{
	const struct real_world *w = data;
	char branch[160], message[200];

	(void)snprintf(branch, sizeof(branch), "dev-team/%s", id);
	(void)snprintf(
		message, sizeof(message), "%s: commit what is left over after validation", id);
	return git_commit_rest(w->repo, branch, message, made, err);
}

static int push(void *data, bool *skipped, struct error *err)
{
	const struct real_world *w = data;

	return git_push(w->repo, skipped, err);
}

static int failing_checks(
	void *data, struct arena *a, const char *pr_url, char **text, struct error *err)
{
	const struct real_world *w = data;

	return gh_failing_checks(a, w->repo, pr_url, text, err);
}

static bool still_running(void *data, const struct context_file *f, const char *id)
{
	(void)data;
	return script_running(f, id);
}

static void say(void *data, const char *text)
{
	const struct real_world *w = data;

	if (w->say)
		w->say(text);
}

void world_real(struct world *w, struct real_world *data)
{
	*w = (struct world){.find_specs = find_specs,
		.commit_rest = commit_rest,
		.push = push,
		.failing_checks = failing_checks,
		.still_running = still_running,
		.say = say,
		.data = data};
}
