/*
 * preflight.c: what the first step of an item needs, checked before any agent is paid. `doctor`
 * shows the same list.
 */
#include "src/run/begin.h"
#include "src/run/run_internal.h"
#include "src/sys/git.h"

enum { REMOTE_S = 60 };

/* ---- the remote ---- */

static bool uses_plain_ssh(void)
{
	return !getenv("GIT_SSH_COMMAND") && !getenv("GIT_SSH");
}

/* The name of a reference in a line of `git ls-remote`. */
static void take_reference(struct arena *a, struct str line, const char *branch, struct str *target,
	struct str *guess, struct remote_state *out)
{
	static const char heads[] = "refs/heads/";
	size_t tab = str_find(line, STR("\t"));
	struct str first = str_sub(line, 0, tab), name = str_sub(line, tab + 1, line.n);

	if (tab == line.n)
		return;
	if (str_is(name, "HEAD") && str_starts(first, "ref: refs/heads/"))
		*target = str_sub(first, strlen("ref: refs/heads/"), first.n);
	else if (str_is(name, "HEAD"))
		out->commit = arena_dup(a, first);
	if (!str_starts(name, heads))
		return;
	name = str_sub(name, strlen(heads), name.n);
	if (branch && str_is(name, branch))
		out->taken = arena_dup(a, name);
	else if (branch &&
		 str_starts(str_of(branch), arena_printf(a, "%.*s/", (int)name.n, name.p)))
		out->above = arena_dup(a, name);
	else if (str_is(name, "main") || (str_is(name, "master") && !guess->n))
		*guess = name;
}

void remote_read(struct arena *a, const char *repo, const char *branch, struct remote_state *out)
{
	const char *const argv[] = {"git", "ls-remote", "--symref", "origin", "HEAD",
		"refs/heads/main", "refs/heads/master",
		branch ? arena_printf(a, "refs/heads/%s", branch) : NULL,
		branch ? arena_printf(a, "refs/heads/%.*s", (int)strcspn(branch, "/"), branch)
		       : NULL,
		NULL};
	const struct git_command c = {.dir = repo,
		.name = "git ls-remote",
		.argv = argv,
		.limit_s = REMOTE_S,
		.batch_ssh = uses_plain_ssh()};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line, target = {0}, guess = {0};
	struct error err;

	*out = (struct remote_state){0};
	if (git_command(&c, &text, NULL, &err) < 0) {
		out->fault = arena_dup(a, str_of(err.text));
		return;
	}
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		take_reference(a, line, branch, &target, &guess, out);
	if (!out->commit || !target.n)
		target = guess;
	out->branch = target.n ? arena_dup(a, target) : NULL;
}
