#include "src/base/log.h"
#include "src/cli/pool.h"
#include "src/cli/subcommands.h"
#include "context/file.h"
#include "src/cli/common.h"

enum { ARTIFACTS = POOL_ARTIFACTS, RESOURCES = POOL_RESOURCES };

static const struct option_spec options[] = {
	RESOURCES_OPTION,
	[POOL_NAME] = {"pool", "NAME",
		"the WorktreePool among the resources; default: the only one, else all defaults",
		false},
	[POOL_REPO] = {"repo", "DIR", "the repository; default: the one around the caller", false},
	ARTIFACTS_OPTION,
	[POOL_BASE] = {"base", "COMMIT|N",
		"what a new branch begins from; for 'port': the base port, default 3190", false},
	[POOL_TARGET] = {"target", "BRANCH",
		"the branch that it will go into; default: the remote's default branch", false},
	[POOL_SPARSE] = {"sparse", "DIR", "check out this folder of the repository alone", false},
	[POOL_PORTS] = {"ports", "N", "how many ports, one after another: 1 to 10; default: 1",
		false},
	[POOL_PORT] = {"port", "N",
		"the first port; default: by the path; for 'port': $PORT goes before that", false},
	[POOL_COUNT] = {"count", "N", "for 'port': how many; default: 1", false},
	[POOL_SLOTS] = {"slots", "N", "keep ports for N children, at most 20; default: 0", false},
	[POOL_SLOT_PORTS] = {"slot-ports", "N", "how many for each child; default: 1", false},
	[POOL_PARENT] = {"parent", "BRANCH|PATH", "take a slot of this worktree", false},
	[POOL_RUN] = {"run", "ID", "the run that it is for", false},
	[POOL_HOLDER] = {"holder", "PID", "the process that holds it until it ends", false},
	[POOL_ISSUE] = {"issue", "ID", "whose runtime.json gets the ports", false},
	[POOL_APPLY] = {"apply", NULL, "for 'sweep': remove them", false},
	[POOL_CONFIRM] = {"confirm", NULL,
		"also with uncommitted changes or unpushed commits: they are lost", false},
	[POOL_JSON] = {"json", NULL, "the result as one line of JSON", false},
	{0},
};

int pool_spec(struct invocation *in, struct worktree_pool_spec *out, struct error *err)
{
	const char *const *value = in->args->value, *name = value[POOL_NAME];
	const struct worktree_pool_spec *found = NULL;
	struct resources r = {0};
	char *dir;

	if (resources_folder(in->arena, value[POOL_RESOURCES], value[POOL_REPO], &dir, err) < 0 ||
		(dir && resources_need(in->arena, dir, &r, err) < 0))
		return -1;
	if (name)
		found = resources_pool(&r, name);
	else if (r.n_pools == 1)
		found = &r.pools[0];
	if (name && !found)
		return error_set(err, ERR_USAGE, "no WorktreePool '%.100s' in '%s'", name,
			dir ? dir : "the repository");
	if (!name && r.n_pools > 1)
		return error_set(err, ERR_USAGE,
			"there are %zu WorktreePools in '%s': give --pool NAME", r.n_pools, dir);
	*out = found ? *found : worktree_pool_default(in->arena);
	return 0;
}

/* By the main work tree: all worktrees of a repository have one folder of artifacts. */
static int find_artifacts(struct invocation *in, struct pool *p, struct error *err)
{
	const char *given = in->args->value[POOL_ARTIFACTS];
	bool bare = strcmp(p->repo, p->common) == 0;
	char *dir;

	if (bare && !given && !getenv("ARTIFACTS_DIR"))
		return 0;
	if (artifacts_folder(in->arena, given, p->repo, &dir, err) < 0)
		return -1;
	p->artifacts = dir;
	return 0;
}

int pool_of(struct invocation *in, struct pool *p, struct error *err)
{
	struct worktree_pool_spec spec;
	char *state;

	*p = (struct pool){0};
	if (pool_spec(in, &spec, err) < 0 || context_folder(in->arena, &state, err) < 0 ||
		pool_open(in->arena, &spec, in->args->value[POOL_REPO], state, NULL, p, err) < 0)
		return -1;
	if (p->said)
		log_line("%s", p->said);
	return find_artifacts(in, p, err);
}

int pool_number(struct invocation *in, enum pool_option k, unsigned min, unsigned max,
	unsigned otherwise, unsigned *out, struct error *err)
{
	const char *text = in->args->value[k];
	size_t n = text ? strspn(text, "0123456789") : 0;
	unsigned long value;

	*out = otherwise;
	if (!text)
		return 0;
	value = n && n <= 9 ? strtoul(text, NULL, 10) : 0;
	if (!n || n > 9 || text[n] || value < min || value > max)
		return error_set(err, ERR_USAGE, "bad value '%.40s' of --%s: must be %u to %u",
			text, options[k].name, min, max);
	*out = (unsigned)value;
	return 0;
}

enum {
	ANY = OPTION(POOL_RESOURCES) | OPTION(POOL_NAME) | OPTION(POOL_REPO) |
	      OPTION(POOL_ARTIFACTS) | OPTION(POOL_JSON),
	TAKEN = ANY | OPTION(POOL_PORTS) | OPTION(POOL_PORT) | OPTION(POOL_SLOTS) |
		OPTION(POOL_SLOT_PORTS) | OPTION(POOL_PARENT) | OPTION(POOL_RUN) |
		OPTION(POOL_HOLDER) | OPTION(POOL_ISSUE),
	MADE = TAKEN | OPTION(POOL_BASE) | OPTION(POOL_TARGET) | OPTION(POOL_SPARSE),
	SWEPT = ANY | OPTION(POOL_TARGET) | OPTION(POOL_APPLY) | OPTION(POOL_CONFIRM),
	PORTS = ANY | OPTION(POOL_BASE) | OPTION(POOL_COUNT) | OPTION(POOL_PORT) |
		OPTION(POOL_ISSUE),
};

static const struct subcommand parts[] = {
	{"allocate", pool_run_allocate, MADE, 1, 1},
	{"adopt", pool_run_adopt, TAKEN, 1, 1},
	{"reclaim", pool_run_reclaim, ANY | OPTION(POOL_CONFIRM), 1, 1},
	{"list", pool_run_list, ANY, 0, 0},
	{"sweep", pool_run_sweep, SWEPT, 0, 0},
	{"audit", pool_run_audit, ANY, 0, 0},
	{"port", pool_run_port, PORTS, 1, 1},
	{0},
};

static int run(struct invocation *in, struct error *err)
{
	return subcommand_run(&verb_pool, parts, in, err);
}

const struct verb verb_pool = {
	.name = "pool",
	.synopsis = "allocate|adopt|reclaim|list|sweep|audit|port [WORD] [OPTION...]",
	.about = "give branches worktrees and ports of their own, and take them back",
	.details =
		"  allocate BRANCH   a worktree of BRANCH, ports and their record, whole or not at "
		"all; the one\n"
		"                    that is there already is adopted\n"
		"  adopt BRANCH      the same, but nothing is made\n"
		"  reclaim WHAT      remove it (WHAT: branch, slug or path) and give its ports "
		"back; none: done\n"
		"  list              those of this repository\n"
		"  sweep             those that are merged, that a failed run left, or that "
		"nobody has touched\n"
		"                    for staleThresholdDays; --apply removes them\n"
		"  audit             what does not fit together; exit status 1 when there is "
		"anything\n"
		"  port PATH         the port of a path; of a branch or slug of the pool: its "
		"ports\n"
		"\n"
		"Work is never removed: uncommitted changes, and commits that are on no remote and "
		"in no other\n"
		"branch, keep a worktree unless --confirm is given; a live run, children and "
		"another clone's\n"
		"worktree keep it always. What a killed command left half done is finished or "
		"taken back by the\n"
		"next one.\n"
		"\n"
		"Exit status 4: it is kept, or the place, the branch or the ports are taken.",
	.options = options,
	.min_words = 1,
	.max_words = 2,
	.run = run,
};
