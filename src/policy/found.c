#include <fnmatch.h>
#include <fcntl.h>
#include "src/policy/found.h"
#include "src/policy/trail.h"

int check_found(struct check *c, const struct call *inner, const struct call *finder)
{
	const struct call *outer = c->finder;
	int rc;

	c->finder = finder;
	rc = check_inner(c, inner, 0, inner->n);
	c->finder = outer;
	return rc;
}

struct arg found_in(const struct arg *arg, const char *mark, bool several)
{
	struct arg out = *arg;
	struct str tail;
	size_t n = strlen(mark), at = str_find(arg->text, str_of(mark));

	if (!n || at == arg->text.n || arg->origin != ARG_KNOWN)
		return out;
	tail = str_sub(arg->text, at + n, arg->text.n);
	out.text = str_sub(arg->text, 0, at);
	out.split = several;
	out.commits = tail.n > 0;
	/* With a slash or a second name behind it the file may be anywhere. */
	out.origin = str_find(tail, STR("/")) == tail.n && str_find(tail, str_of(mark)) == tail.n
			     ? ARG_FOUND
			     : ARG_DYNAMIC;
	return out;
}

static bool matches(const char *pattern, const char *const *names)
{
	for (; *names; names++)
		if (!fnmatch(pattern, *names, 0))
			return true;
	return false;
}

/* Files of git's own folder that mean something, and those that agents keep in theirs. */
static const char *const of_git[] = {"config", "config.worktree", "attributes", "exclude", "HEAD",
	"ORIG_HEAD", "FETCH_HEAD", "index", "packed-refs", "commondir", "gitdir", "hooks", "info",
	"objects", "refs", "main", "master", "sparse-checkout", "applypatch-msg", "commit-msg",
	"fsmonitor-watchman", "p4-changelist", "post-applypatch", "post-checkout", "post-commit",
	"post-index-change", "post-merge", "post-receive", "post-rewrite", "post-update",
	"pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase",
	"pre-receive", "prepare-commit-msg", "proc-receive", "push-to-checkout",
	"reference-transaction", "sendemail-validate", "update", NULL};
static const char *const of_agents[] = {"settings.json", "settings.local.json", "config.toml",
	"clearance.yaml", "a.md", "a.sh", "a.py", "a.js", "a.ts", "a.json", "a.yaml", "a.yml",
	"a.toml", NULL};

/* Are there folders of agents? Those that lie deeper are left to the kernel's layers. */
static bool has_agents(const struct root *r)
{
	for (size_t i = 0; guarded_names[i]; i++)
		if (strcmp(guarded_names[i], ".git") &&
			!faccessat(r->fd, guarded_names[i], F_OK, AT_SYMLINK_NOFOLLOW))
			return true;
	return false;
}

static bool may_be_listed(struct check *c, const char *pattern)
{
	const struct texts *kept = &c->policy->protect;

	for (size_t i = 0; i < kept->n; i++) {
		struct arg path = {.text = str_of(kept->p[i])};
		const struct call from_root = {.cwd = STR("")};
		struct place place;
		const char *base = arena_dup(c->arena, bin_base(path.text));

		if (!pattern || !fnmatch(pattern, base, 0) ||
			(bin_place(c, &from_root, &path, &place) == 0 && place.folder))
			return true;
	}
	return false;
}

/* May a file of that name be protected? Any name where there is no pattern. */
static bool may_be_guarded(struct check *c, const struct finding *f)
{
	const char *pattern = f->names.n ? arena_dup(c->arena, f->names) : NULL;
	bool agents = has_agents(c->root);
	bool tracked = f->tracked && !(f->beside && c->root->git_dir);

	if (may_be_listed(c, pattern) || (!pattern && (agents || !tracked)))
		return true;
	if (!pattern)
		return false;
	return matches(pattern, guarded_names) || (!tracked && matches(pattern, of_git)) ||
	       (agents && matches(pattern, of_agents));
}

static int check_start(
	struct check *c, const struct finding *f, const struct arg *start, const struct arg *arg)
{
	struct verdict unused = {0};
	struct place place;

	if (start->origin != ARG_KNOWN)
		return bin_refuse(c, RULE_PATH_DYNAMIC, start, "a place that is not known");
	if (where(c->arena, c->root, c->policy, c->finder->cwd, start->text, ACCESS_WRITE, true,
		    arg->at, &place, &unused) == 0)
		return 0;
	if (bin_place(c, c->finder, start, &place) < 0 || place.outside || place.path.n)
		return bin_refuse(c, RULE_PATH_PROTECTED, start, "what is found here is protected");
	if (arg->commits || may_be_guarded(c, f))
		return bin_refuse(c, RULE_PATH_PROTECTED, arg,
			"protected files may be among what is found: name a folder or a -name");
	return 0;
}

/* What the finder was told, whatever it puts out. */
static int finding_told(struct check *c, const struct arg *arg, struct finding *f)
{
	if (c->finder && str_is(bin_base(c->finder->args[0].text), "find"))
		find_places(c->finder, f);
	else if (!c->finder || !finding_of(c, c->finder, f))
		return bin_refuse(c, RULE_PATH_DYNAMIC, arg, "files that nothing has found");
	return 0;
}

int check_found_open(struct check *c, const struct arg *arg)
{
	struct finding f;

	/* Matches of a pattern were followed one by one. */
	if (!c->finder)
		return 0;
	return finding_told(c, arg, &f) < 0 ? -1 : check_links(c, c->finder, &f, arg);
}

int check_found_write(struct check *c, const struct arg *arg)
{
	static const struct arg here = {.text = {".", 1}};
	struct finding f;

	if (!c->policy->write)
		return bin_refuse(c, RULE_WRITE, arg, "the policy does not allow writing");
	if (finding_told(c, arg, &f) < 0)
		return -1;
	for (size_t i = 0; i < f.n; i++)
		if (check_start(c, &f, &f.starts[i], arg) < 0)
			return -1;
	if (!f.n && check_start(c, &f, &here, arg) < 0)
		return -1;
	return asked(c, RULE_PATH_PROTECTED, arg->at, arg->text, STR(""), 0);
}
