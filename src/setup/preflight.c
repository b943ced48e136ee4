/*
 * preflight.c: what the first step of an item needs, checked before any agent is paid. `doctor`
 * shows the same list.
 */
#include <errno.h>
#include <unistd.h>
#include "src/local/local.h"
#include "src/setup/setup.h"
#include "src/sys/forge.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "steps/steps.h"

enum { SHOWN_MAX = 300, MODULES_ASKED = 8 };

/* ---- findings ---- */

static void preflight_add_finding(struct arena *a, struct preflight *p, enum health health,
	enum err code, const char *subject, const char *text)
{
	vec_push_in(a, &p->list, ((struct finding){health, code, subject, text}));
	p->n_failed += health == HEALTH_FAIL;
}

#define good(a, p, subject, ...)                                                                   \
	preflight_add_finding(a, p, HEALTH_OK, ERR_NONE, subject, arena_printf(a, __VA_ARGS__))
#define warn(a, p, subject, ...)                                                                   \
	preflight_add_finding(a, p, HEALTH_WARN, ERR_NONE, subject, arena_printf(a, __VA_ARGS__))
#define fail(a, p, code, subject, ...)                                                             \
	preflight_add_finding(a, p, HEALTH_FAIL, code, subject, arena_printf(a, __VA_ARGS__))

static void fail_with(
	struct arena *a, struct preflight *p, const char *subject, const struct error *err)
{
	preflight_add_finding(a, p, HEALTH_FAIL, err->code == ERR_CHECK ? ERR_STATE : err->code,
		subject, arena_dup(a, str_of(err->text)));
}

/* ---- the repository ---- */

static void check_author(struct arena *a, struct preflight *p)
{
	static const char *const argv[] = {"git", "var", "GIT_COMMITTER_IDENT", NULL};
	CLEANUP(buf_release) struct buf name = BUF_INIT, email = BUF_INIT;
	struct error ignored;
	char *line;

	if (git_config_identity(p->repo, &name, &email) ||
		(remote_git_line(a, p->repo, argv, &line, &ignored) == 0 && line))
		good(a, p, "author", "git has a name and an address for commits");
	else
		fail(a, p, ERR_STATE, "author",
			"git does not know who commits: run 'git config --global user.name NAME' "
			"and 'git config --global user.email ADDRESS'");
}

/* Opens the repository as the later steps do, which not every object format allows. */
static bool check_objects(struct arena *a, struct preflight *p)
{
	static const char *const name = "HEAD";
	const char *head;
	struct error err;

	if (git_read_ids(a, p->repo, &name, 1, &head, &err) == 0)
		return true;
	fail_with(a, p, "objects", &err);
	return false;
}

/* What later steps know is what the last fetch or clone has left here. */
static void check_local_default(struct arena *a, struct preflight *p)
{
	struct git_default known;
	struct error ignored;
	const char *local = NULL;

	if (git_read_default(a, p->repo, &known, &ignored) == 0)
		local = known.head;
	if (!local)
		good(a, p, "branch",
			"%s is the default branch of 'origin' (origin/HEAD is not set here: 'git "
			"remote set-head origin --auto' sets it)",
			p->remote.branch);
	else if (strcmp(local, p->remote.branch) == 0)
		good(a, p, "branch", "%s is the default branch of 'origin'", local);
	else
		warn(a, p, "branch",
			"the default branch of 'origin' is '%s', but origin/HEAD here names '%s': "
			"run 'git remote set-head origin --auto'",
			p->remote.branch, local);
}

static bool pushes(const struct workflow *w)
{
	for (size_t i = 0; w && i < w->n_states; i++) {
		const struct declared_state *d = w->states[i].declared;

		if (!d && (strcmp(w->states[i].name, "validating") == 0 ||
				  strcmp(w->states[i].name, "signoff") == 0))
			return true;
		for (size_t k = 0; d && k < d->rules.n_effects; k++)
			if (strcmp(d->rules.effects[k], "push") == 0)
				return true;
	}
	return !w;
}

/* No connection was made. Whoever is on a train can begin nevertheless; what the remote itself
 * refuses will not be otherwise later. */
static bool is_no_connection(const char *fault)
{
	static const char *const signs[] = {"resolve host", "Name or service not known",
		"name resolution", "Failed to connect", "Could not connect", "Connection refused",
		"Connection timed out", "Network is unreachable", "No route to host", "not allowed",
		"did not end within"};

	for (size_t i = 0; i < COUNT(signs); i++)
		if (strstr(fault, signs[i]))
			return true;
	return false;
}

static void preflight_check_remote(struct arena *a, struct preflight *p)
{
	remote_read(a, p->repo, p->branch, &p->remote);
	if (!p->remote.fault && p->remote.branch)
		check_local_default(a, p);
	else if (!p->remote.fault) /* what is pushed first would become the default branch */
		preflight_add_finding(a, p,
			p->in_place && !pushes(p->workflow) ? HEALTH_WARN : HEALTH_FAIL, ERR_STATE,
			"origin",
			"'origin' has no default branch with a commit: commit something and run "
			"'git push -u origin HEAD', or set its default branch at the forge");
	else if (!pushes(p->workflow) || is_no_connection(p->remote.fault))
		warn(a, p, "origin", "'origin' cannot be reached: %s", p->remote.fault);
	else
		fail(a, p, ERR_STATE, "origin",
			"'origin' cannot be read: %.*s: check 'git remote get-url origin' and your "
			"access",
			(int)(strlen(p->remote.fault) - str_ends(str_of(p->remote.fault), ".")),
			p->remote.fault);
}

bool preflight_is_branch_name(struct str branch)
{
	while (branch.n) {
		size_t n = str_find(branch, STR("/"));
		struct str part = str_sub(branch, 0, n);

		if (!part.n || part.p[0] == '.' || str_ends(part, ".") || str_ends(part, ".lock"))
			return false;
		branch = n < branch.n ? str_sub(branch, n + 1, branch.n) : (struct str){0};
	}
	return true;
}

/* The objects of a remote that is a directory, if nothing can be written there: git's dry run
 * succeeds all the same. */
static const char *unwritable_objects(struct arena *a, const struct preflight *p)
{
	static const char *const argv[] = {"git", "remote", "get-url", "--push", "origin", NULL};
	static const char *const places[] = {"objects", ".git/objects"};
	struct error ignored;
	char *url;

	if (remote_git_line(a, p->repo, argv, &url, &ignored) < 0 || !url)
		return NULL;
	if (str_starts(str_of(url), "file:///"))
		url += strlen("file://");
	for (size_t i = 0; i < COUNT(places) && *url == '/'; i++) {
		const char *path = path_join(a, url, places[i]);

		if (access(path, W_OK) < 0 && (errno == EACCES || errno == EROFS))
			return path;
	}
	return NULL;
}

/* Nothing is sent. The remote's hooks and protected branches still may refuse the real push. */
static void check_push(struct arena *a, struct preflight *p)
{
	const char *branch = p->branch && preflight_is_branch_name(str_of(p->branch))
				     ? p->branch
				     : "dev-team/doctor";
	const char *const argv[] = {"git", "push", "--dry-run", "--no-verify", "-q", "origin",
		arena_printf(a, "+HEAD:refs/heads/%s", branch), NULL};
	const struct git_command c = {.dir = p->repo,
		.name = "git push",
		.argv = argv,
		.limit_s = REMOTE_S,
		.batch_ssh = remote_plain_ssh()};
	struct git_tip tip;
	struct error err;
	const char *fault = NULL, *objects;

	if (p->remote.fault || !pushes(p->workflow) || git_read_tip(a, p->repo, &tip, &err) < 0 ||
		!tip.commit)
		return;
	if (git_command(&c, NULL, NULL, &err) < 0)
		fault = remote_short_fault(a, err.text);
	else if ((objects = unwritable_objects(a, p)))
		fault = arena_printf(a, "'%s' is not writable", objects);
	if (!fault)
		good(a, p, "push", "'origin' takes pushes");
	else
		fail(a, p, ERR_STATE, "push",
			"'origin' takes no push: %s: get write access, or name a repository of "
			"yours with 'git remote set-url --push origin URL'",
			fault);
}

/* git reads a relative path from the top of each worktree, where nothing is. */
static bool is_relative(const char *url)
{
	return *url && *url != '/' && !strchr(url, ':');
}

/* Lines `NAME\tURL (fetch)`, with URLs as `insteadOf` makes them. */
static bool is_origin_absolute(struct arena *a, struct preflight *p)
{
	static const char *const argv[] = {"git", "remote", "-v", NULL};
	static const char name[] = "origin\t";
	const struct git_command c = {.dir = p->repo, .name = "git remote", .argv = argv};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;
	struct error ignored;

	if (p->in_place || git_command(&c, &text, NULL, &ignored) < 0)
		return true;
	for (rest = buf_str(&text); str_line(&rest, &line);) {
		bool push = str_ends(line, " (push)");
		size_t end = str_find(line, push ? STR(" (push)") : STR(" (fetch)"));
		const char *url = arena_dup(a, str_sub(line, strlen(name), end));

		if (!str_starts(line, name) || !is_relative(url))
			continue;
		fail(a, p, ERR_STATE, "origin",
			"the path of 'origin', '%s', is relative, and the worktrees of items are "
			"elsewhere: run 'git remote set-url%s origin %s'",
			arena_printable(a, str_of(url), SHOWN_MAX), push ? " --push" : "",
			arena_printable(a, str_of(path_resolve(a, p->repo, url)), SIZE_MAX));
		return false;
	}
	return true;
}

static void check_origin(struct arena *a, struct preflight *p)
{
	char *url = NULL;
	struct error err;

	if (remote_find_url(a, p->repo, &url, &err) < 0) {
		fail_with(a, p, "origin", &err);
		return;
	}
	if (!url || !is_origin_absolute(a, p))
		return;
	preflight_check_remote(a, p);
	check_push(a, p);
}

/* ---- the item's branch ---- */

int preflight_check_branch(struct arena *a, const char *repo, const char *branch, struct error *err)
{
	for (const char *end = strchr(branch, '/'); end; end = strchr(end + 1, '/')) {
		const char *above = arena_dup(a, (struct str){branch, (size_t)(end - branch)});
		const char *names[] = {arena_printf(a, "refs/heads/%s", above),
			arena_printf(a, "refs/remotes/origin/%s", above)};
		const char *found[COUNT(names)];

		if (git_read_ids(a, repo, names, COUNT(names), found, err) < 0)
			return -1;
		if (found[0])
			return error_set(err, ERR_STATE,
				"the branch '%s' cannot be made next to a branch '%s': rename that "
				"one "
				"('git branch -m %s NEW-NAME')",
				branch, above, above);
		if (found[1])
			return error_set(err, ERR_STATE,
				"the branch '%s' cannot be pushed next to the branch '%s' of "
				"'origin': "
				"rename that one there, and run 'git fetch --prune origin'",
				branch, above);
	}
	return 0;
}

static void check_taken(struct arena *a, struct preflight *p)
{
	const char *name = arena_printf(a, "refs/heads/%s", p->branch), *found;
	const char *const below[] = {"git", "for-each-ref", "--count=1",
		"--format=%(refname:lstrip=2)", arena_printf(a, "%s/", name), NULL};
	struct error ignored;
	char *line;

	if (remote_git_line(a, p->repo, below, &line, &ignored) == 0 && line && *line)
		fail(a, p, ERR_STATE, "branch",
			"the branch '%s' cannot be made next to a branch '%s': rename that one "
			"('git branch -m %s NEW-NAME')",
			p->branch, line, line);
	if (p->remote.beside)
		fail(a, p, ERR_STATE, "branch",
			"the branch '%s' cannot be pushed next to the branch '%s' of 'origin': "
			"rename that one there",
			p->branch, p->remote.beside);
	if (p->remote.taken && git_read_ids(a, p->repo, &name, 1, &found, &ignored) == 0 && !found)
		fail(a, p, ERR_STATE, "branch",
			"'origin' has a branch '%s' already, and there is none here: start from it "
			"('git fetch origin %s:%s'), or delete it ('git push origin --delete %s')",
			p->branch, p->branch, p->branch, p->branch);
}

static void setup_preflight_check_branch(struct arena *a, struct preflight *p)
{
	struct error err;

	if (p->in_place || !p->branch)
		return;
	if (!preflight_is_branch_name(str_of(p->branch)))
		fail(a, p, ERR_STATE, "branch",
			"'%s' cannot be the name of a branch: choose another id, without '.lock' "
			"or "
			"'.' at its end",
			p->branch);
	else if (preflight_check_branch(a, p->repo, p->branch, &err) < 0)
		fail_with(a, p, "branch", &err);
	else
		check_taken(a, p);
}

/* ---- spec, validation and forge ---- */

/* The first spec that may not be read: it may be the one that names the id. NULL: there is none. */
static const char *unreadable_spec(struct arena *a, const char *repo)
{
	char **paths;
	size_t n = 0;
	struct error ignored;

	if (git_find_files(a, repo, environment_is_spec, &paths, &n, &ignored) < 0)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (access(path_join(a, repo, paths[i]), R_OK) < 0)
			return arena_printable(a, str_of(paths[i]), SHOWN_MAX);
	return NULL;
}

/* *text NULL: there is none to be read. */
static int read_spec(struct arena *a, struct preflight *p, const char *path, const char **text,
	struct error *err)
{
	const struct environment_input input = {.what = "spec", .text = path};
	CLEANUP(json_free) json *spec = NULL;
	int rc = environment_local.read_input(&p->repo, a, &input, &spec, err);

	*text = json_dup(a, spec, "text");
	return rc;
}

/* A spec that names the id, and that git ignores. NULL: there is none. */
static const char *ignored_spec(struct arena *a, struct preflight *p)
{
	static const char *const argv[] = {"git", "ls-files", "--others", "--ignored",
		"--exclude-standard", "-z", "--", ":(glob)**/_spec_*.md", NULL};
	const struct git_command c = {.dir = p->repo, .name = "git ls-files", .argv = argv};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct error ignored;
	const char *text;

	if (git_command(&c, &out, NULL, &ignored) < 0)
		return NULL;
	for (size_t at = 0; at < out.len; at += strlen(out.s + at) + 1)
		if (read_spec(a, p, out.s + at, &text, &ignored) == 0 && text &&
			environment_text_names(str_of(text), str_of(p->id)))
			return arena_printable(a, str_of(out.s + at), SHOWN_MAX);
	return NULL;
}

/* Agents get its text with their task, whether it is committed or not. */
static void preflight_check_spec(struct arena *a, struct preflight *p)
{
	const struct environment_input input = {.what = "specs", .text = p->id};
	CLEANUP(json_free) json *specs = NULL;
	const char *unreadable, *ignored, *text;
	struct error err;

	if (!p->id || p->has_spec || !workflow_state(p->workflow, "spec-finding"))
		return;
	if (environment_local.find_specs(&p->repo, a, &input, &specs, &err) < 0) {
		fail_with(a, p, "spec", &err);
		return;
	}
	p->specs = (char **)json_dup_texts(a, specs, &p->n_specs);
	ignored = p->n_specs ? NULL : ignored_spec(a, p);
	if (ignored) {
		fail(a, p, ERR_INPUT, "spec",
			"'%s' names '%s', but git ignores it: remove the rule ('git check-ignore "
			"-v' shows it), or run 'git add -f' on it",
			ignored, p->id);
		return;
	}
	unreadable = p->n_specs ? NULL : unreadable_spec(a, p->repo);
	if (unreadable) {
		fail(a, p, ERR_INPUT, "spec",
			"no file '_spec_*.md' names '%s', and '%s' cannot be read: make it a file "
			"of this repository that you may read",
			p->id, unreadable);
		return;
	}
	p->spec_unclear = environment_check_specs(p->repo, p->id, p->specs, p->n_specs, &err) < 0;
	if (p->spec_unclear || read_spec(a, p, p->specs[0], &text, &err) < 0)
		fail_with(a, p, "spec", &err);
	else if (!text)
		fail(a, p, ERR_INPUT, "spec",
			"'%s' cannot be read: make it a file of this repository that you may read",
			p->specs[0]);
	else if (!str_trim(str_of(text)).n)
		fail(a, p, ERR_INPUT, "spec", "'%s' is empty: write what is wanted", p->specs[0]);
	else
		good(a, p, "spec", "%s", p->specs[0]);
}

static void check_validation(struct arena *a, struct preflight *p)
{
	static const char script[] = "scripts/validate.sh";
	const struct workflow *w = p->workflow;

	if (p->validated || (w && (w->validate || !workflow_state(w, "validating"))))
		return;
	if (path_exists(path_join(a, p->repo, script)))
		good(a, p, "validation", script);
	else
		preflight_add_finding(a, p, w ? HEALTH_FAIL : HEALTH_WARN, ERR_STATE, "validation",
			arena_printf(a,
				"no '%s' in '%s': write one that builds and tests, and exits with "
				"a "
				"status other than 0 if that fails ('dev-team init' writes it if "
				"it knows the build), or name a command as 'validate' in a "
				"workflow of your own",
				script, p->repo));
}

static void check_forge(struct arena *a, struct preflight *p)
{
	const struct workflow *w = p->workflow;
	unsigned kinds = w ? engine_evidence_required(w, steps_find) : EVIDENCE_PULL;
	const char *program = NULL, *limits;
	char *url = NULL;
	struct error ignored;
	bool blocked;

	if ((w && w->forge) || !(kinds & EVIDENCE_PULL) ||
		remote_find_url(a, p->repo, &url, &ignored) < 0)
		return;
	program = url ? forge_program(str_of(url)) : NULL;
	if (!program || !*program) {
		limits = evidence_limits(a, w, kinds, p->repo);
		if (limits)
			warn(a, p, "forge", "%s", limits);
	} else if (!w) {
		return; /* doctor looks for it itself */
	} else if (path_find_program(a, program, &blocked)) {
		good(a, p, "forge", "%s makes and reads pull requests", program);
	} else {
		fail(a, p, ERR_STATE, "forge",
			"'%s' is not on PATH, and pull requests are made and checked with it: "
			"install it and log in, or set 'forge' in a workflow of your own",
			program);
	}
}

/* ---- submodules ---- */

/* Those of the tree where the item is worked on already. */
static void check_present_modules(struct arena *a, struct preflight *p, const char *dir)
{
	static const char *const argv[] = {"git", "submodule", "status", "--recursive", NULL};
	const struct git_command c = {.dir = dir, .name = "git submodule", .argv = argv};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, line;
	struct error err;

	if (git_command(&c, &out, NULL, &err) < 0) {
		warn(a, p, "submodules", "the submodules of '%s' cannot be read: %s", dir,
			remote_short_fault(a, err.text));
		return;
	}
	for (rest = buf_str(&out); str_line(&rest, &line);)
		if (str_starts(line, "-")) { /* "-ID PATH" */
			warn(a, p, "submodules",
				"the submodule '%s' is not initialised in '%s': run 'git submodule "
				"update --init --recursive' there",
				arena_dup(a, str_sub(line, str_find(line, STR(" ")) + 1, line.n)),
				dir);
			return;
		}
	good(a, p, "submodules", "initialised in '%s'", dir);
}

/* `KEY\nURL` of .gitmodules. *url: NULL if it is relative, and not initialised in the checkout. */
static const char *module_name(
	struct arena *a, const struct preflight *p, struct str entry, const char **url)
{
	size_t end = str_find(entry, STR("\n"));
	const char *key = arena_dup(a, str_sub(entry, 0, end));
	const char *const argv[] = {"git", "config", "--get", key, NULL};
	struct error ignored;
	char *known;

	*url = arena_dup(a, str_sub(entry, end + 1, entry.n));
	if (remote_git_line(a, p->repo, argv, &known, &ignored) == 0 && known && *known)
		*url = known;
	else if (**url == '.')
		*url = NULL;
	return arena_dup(
		a, str_sub(str_of(key), strlen("submodule."), strlen(key) - strlen(".url")));
}

/* Of a protocol that submodules may have. */
static bool can_fetch(const struct preflight *p, const char *url, struct error *err)
{
	const char *const argv[] = {"git", "ls-remote", "-q", "--", url, "HEAD", NULL};
	static const char *const env[] = {"GIT_PROTOCOL_FROM_USER=0", NULL};
	const struct git_command c = {.dir = p->repo,
		.name = "git ls-remote",
		.argv = argv,
		.env = env,
		.limit_s = REMOTE_S,
		.batch_ssh = remote_plain_ssh()};

	return git_command(&c, NULL, NULL, err) == 0;
}

/* A worktree of its own has to fetch them, whatever the checkout has. */
static void check_module_remotes(struct arena *a, struct preflight *p)
{
	static const char *const argv[] = {"git", "config", "-z", "-f", ".gitmodules",
		"--get-regexp", "^submodule\\..*\\.url$", NULL};
	const struct git_command c = {.dir = p->repo, .name = "git config", .argv = argv};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct error err;
	size_t n = 0;
	int status;

	if (git_command(&c, &out, &status, &err) < 0 || status)
		return;
	for (size_t at = 0; at < out.len && n < MODULES_ASKED; at += strlen(out.s + at) + 1) {
		const char *url, *name = module_name(a, p, str_of(out.s + at), &url);

		n += url != NULL;
		if (!url || can_fetch(p, url, &err))
			continue;
		warn(a, p, "submodules",
			"the submodule '%s' cannot be fetched: %s: check its URL in '.gitmodules' "
			"and "
			"your access, or its directory will be empty for the agents",
			name, remote_short_fault(a, err.text));
		return;
	}
	if (n)
		good(a, p, "submodules", "can be fetched");
}

static void check_modules(struct arena *a, struct preflight *p)
{
	const char *dir = p->in_place ? p->repo : p->directory;

	if (!path_exists(path_join(a, dir ? dir : p->repo, ".gitmodules")))
		return;
	if (dir)
		check_present_modules(a, p, dir);
	else if (!p->remote.fault)
		check_module_remotes(a, p);
}

/* ---- the checkout ---- */

int preflight_check_head(
	const struct git_head *h, const char *repo, const char *id, struct error *err)
{
	if (h->busy)
		return error_set(err, ERR_STATE, "a %s is in progress in '%s': finish it first",
			h->busy, repo);
	if (!h->branch)
		return error_set(err, ERR_STATE,
			"no branch is checked out in '%s': run 'git switch -c dev-team/%s'", repo,
			id);
	if (str_utf8_fault(str_of(h->branch)))
		return error_set(err, ERR_STATE,
			"the name of the branch in '%s' is not UTF-8: run 'git branch -m "
			"dev-team/%s'",
			repo, id);
	if (h->on_default)
		return error_set(err, ERR_STATE,
			"'%s' is on '%s', the default branch of 'origin': run 'git switch -c "
			"dev-team/%s'",
			repo, h->branch, id);
	return 0;
}

/* Staged changes are refused, because an agent's first `git commit` would include them. */
int preflight_check_clean(
	const char *repo, bool allow_dirty, const struct git_status *s, struct error *err)
{
	const char *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->changes.n && allow_dirty; i++)
		if (s->changes.items[i].staged)
			return error_set(err, ERR_STATE,
				"'%s' has staged changes, such as '%.200s', which would be in the "
				"first commit of an agent: commit or unstage them",
				repo, s->changes.items[i].path);
	for (size_t i = 0; i < s->changes.n; i++) {
		const struct git_change *c = &s->changes.items[i];

		/* Such as what a build has left there; a spec that was just written is read. */
		if (c->inside || (!c->staged && environment_is_spec(path_base(c->path))))
			continue;
		first = first ? first : c->path;
		n++;
	}
	if (!n || allow_dirty)
		return 0;
	return error_set(err, ERR_STATE,
		"'%s' has %zu uncommitted change%s, such as '%.200s': commit or stash them, or "
		"give --allow-dirty, which leaves them alone",
		repo, n, n == 1 ? "" : "s", first);
}

/* What an item is given from the checkout although it is not committed. */
static bool is_handed_over(const char *path)
{
	return environment_is_spec(path_base(path)) || strcmp(path, "scripts/validate.sh") == 0 ||
	       str_starts(str_of(path), ".dev-team/");
}

/* Worktrees begin at a commit: what is not committed stays behind. */
static void report_dirty(struct arena *a, struct preflight *p, const struct git_status *s)
{
	for (size_t i = 0; i < s->changes.n; i++) {
		const char *path = s->changes.items[i].path;

		if (is_handed_over(path))
			continue;
		warn(a, p, "checkout",
			"uncommitted changes, such as '%s', stay in your checkout: the agents do "
			"not "
			"see them",
			arena_printable(a, str_cut(str_of(path), SHOWN_MAX), SIZE_MAX));
		return;
	}
}

static void check_in_place(struct arena *a, struct preflight *p, const struct git_head *head,
	const struct git_status *s)
{
	struct git_head h = *head;
	struct error err;

	h.on_default |= h.branch && p->remote.branch && strcmp(h.branch, p->remote.branch) == 0;
	if (preflight_check_head(&h, p->repo, p->id, &err) < 0)
		fail_with(a, p, "checkout", &err);
	if (preflight_check_clean(p->repo, p->allow_dirty, s, &err) < 0)
		fail_with(a, p, "checkout", &err);
}

static void check_checkout(struct arena *a, struct preflight *p)
{
	bool in_place = p->in_place && p->id;
	struct git_head head = {0};
	struct git_status s;
	struct error err;

	if ((in_place ? git_read_head(a, p->repo, &head, &err)
		      : git_read_operation(p->repo, &head.busy, &err)) < 0 ||
		git_read_status(a, p->repo, &s, &err) < 0) {
		fail_with(a, p, "checkout", &err);
		return;
	}
	if (in_place) {
		check_in_place(a, p, &head, &s);
		return;
	}
	if (head.busy)
		warn(a, p, "checkout",
			"a %s is in progress in your checkout: it is left alone, the item has a "
			"worktree of its own",
			head.busy);
	report_dirty(a, p, &s);
}

void preflight_check(struct arena *a, struct preflight *p)
{
	static void (*const checks[])(struct arena * a, struct preflight * p) = {check_author,
		check_origin, setup_preflight_check_branch, preflight_check_spec, check_validation,
		check_forge, check_modules, check_checkout};

	if (!check_objects(a, p))
		return;
	for (size_t i = 0; i < COUNT(checks); i++)
		checks[i](a, p);
}
