/*
 * remote.c: what `origin` is and says of itself, and commands of git that may connect to it.
 */
#include "src/setup/setup.h"
#include "src/sys/git.h"

bool remote_plain_ssh(void)
{
	return !getenv("GIT_SSH_COMMAND") && !getenv("GIT_SSH");
}

int remote_git_line(
	struct arena *a, const char *repo, const char *const *argv, char **line, struct error *err)
{
	const struct git_command c = {.dir = repo,
		.name = "git",
		.argv = argv,
		.limit_s = REMOTE_S,
		.late = true,
		.batch_ssh = remote_plain_ssh()};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, first;
	int status;

	*line = NULL;
	if (git_command(&c, &out, &status, err) < 0)
		return -1;
	rest = buf_str(&out);
	if (status == 0)
		*line = arena_dup(a, str_line(&rest, &first) ? str_trim(first) : (struct str){0});
	return 0;
}

int remote_find_url(struct arena *a, const char *repo, char **url, struct error *err)
{
	static const char *const argv[] = {"git", "config", "--get", "remote.origin.url", NULL};
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!git_config_origin(repo, &text))
		return remote_git_line(a, repo, argv, url, err);
	*url = arena_dup(a, buf_str(&text));
	return 0;
}

/* ---- what it says of itself ---- */

/* git has no branch `a/b` next to a branch `a`. */
static bool setup_remote_is_beside(struct arena *a, struct str one, struct str other)
{
	struct str above = one.n < other.n ? one : other, below = one.n < other.n ? other : one;

	return str_starts(below, arena_printf(a, "%.*s/", (int)above.n, above.p));
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
	else if (branch && setup_remote_is_beside(a, name, str_of(branch)))
		out->beside = arena_dup(a, name);
	else if (str_is(name, "main") || (str_is(name, "master") && !guess->n))
		*guess = name;
}

/* Without the name of the command, and without git's hint. */
const char *remote_short_fault(struct arena *a, const char *text)
{
	const char *said = strstr(text, "failed: ");
	struct str rest = str_of(said ? said + strlen("failed: ") : text);

	return arena_dup(a, str_sub(rest, 0, str_find(rest, STR("; Please make sure"))));
}

void remote_read(struct arena *a, const char *repo, const char *branch, struct remote_state *out)
{
	static const char *const always[] = {"git", "ls-remote", "--symref", "origin", "HEAD",
		"refs/heads/main", "refs/heads/master"};
	VEC(const char *) argv = {0};
	/* no translation: is_no_connection() reads the fault */
	static const char *const env[] = {"LANGUAGE=en", NULL};
	struct git_command c = {.dir = repo,
		.name = "git ls-remote",
		.env = env,
		.limit_s = REMOTE_S,
		.batch_ssh = remote_plain_ssh()};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line, target = {0}, guess = {0};
	struct error err;

	*out = (struct remote_state){0};
	for (size_t i = 0; i < COUNT(always); i++)
		vec_push_in(a, &argv, always[i]);
	for (size_t n = 0; branch && n < strlen(branch); n++) {
		n += strcspn(branch + n, "/");
		vec_push_in(a, &argv, arena_printf(a, "refs/heads/%.*s", (int)n, branch));
	}
	vec_push_in(a, &argv, branch ? arena_printf(a, "refs/heads/%s/*", branch) : NULL);
	vec_push_in(a, &argv, NULL);
	c.argv = argv.items;
	if (git_command(&c, &text, NULL, &err) < 0) {
		out->fault = remote_short_fault(a, err.text);
		return;
	}
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		take_reference(a, line, branch, &target, &guess, out);
	if (!out->commit || !target.n)
		target = guess;
	out->branch = target.n ? arena_dup(a, target) : NULL;
}

const char *remote_default(struct arena *a, const char *repo)
{
	struct remote_state remote;
	struct git_default known;
	struct error ignored;

	remote_read(a, repo, NULL, &remote);
	if (remote.branch || git_read_default(a, repo, &known, &ignored) < 0)
		return remote.branch;
	return known.head ? known.head : known.branch;
}
