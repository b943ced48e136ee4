#include "tests/lib/rebase_rig.h"

struct allocation wt;
struct rebase done;

static void make_worktree(void)
{
	rig_repositories();
	sh("cd r && git worktree add -q -b feat/x ../wt origin/main 2>/dev/null\n"
	   "cd ../wt && echo x >x && mkdir d && echo y >d/y && git add . && git commit -qm x\n"
	   "echo x2 >>x && git commit -qam x2 && git push -q origin feat/x 2>/dev/null");
}

int rebase_setup(void **state)
{
	static struct git_template template = {.make = make_worktree,
		.directories = {"org", "r", "wt"},
		.files = {"r/.git/config", "r/.git/worktrees/wt/gitdir", "wt/.git"}};

	(void)state;
	git_template_use(&template);
	gate_begin();
	pool.repo = at("r");
	pool.common = at("r/.git");
	wt = (struct allocation){.branch = "feat/x", .slug = "feat-x", .path = at("wt")};
	return 0;
}

void main_gets(const char *file, const char *text)
{
	sh(arena_printf(&arena,
		"cd r && git fetch -q && git checkout -q --detach origin/main && echo '%s' >%s\n"
		"git add . && git commit -qm '%s' && git push -q origin HEAD:main 2>/dev/null",
		text, file, file));
}

int try_rebase_of(struct rebase_ask *ask)
{
	struct gate *g = gate_now(0);
	int rc;

	ask->of = &wt;
	ask->target = ask->target ? ask->target : "main";
	err = (struct error){0};
	rc = gate_rebase(&arena, &pool, ask, g, &done, &err);
	gate_drop(&g);
	return rc;
}

int try_rebase(void)
{
	struct rebase_ask ask = {.issue = "ISSUE-1"};

	return try_rebase_of(&ask);
}

enum rebase_fate rebase(void)
{
	if (try_rebase() < 0)
		fail_msg("%s", err.text);
	return done.fate;
}

static const char snapshot[] =
	"cd wt && git symbolic-ref HEAD && git rev-parse HEAD && git status --porcelain && "
	"git ls-files -s && find . -path ./.git -prune -o -type f -print | LC_ALL=C sort | "
	"xargs cat && D=$(git rev-parse --git-dir) && ls $D | grep -v '^logs$\\|^ORIG_HEAD$\\|"
	"^COMMIT_EDITMSG$\\|^FETCH_HEAD$' && git ls-remote -q origin | grep -v main";

const char *look(void)
{
	CLEANUP(buf_release) struct buf said = BUF_INIT;

	sh_into(&said, snapshot);
	return arena_dup(&arena, buf_str(&said));
}

struct rebase_record record(void)
{
	struct rebase_record *list;
	struct pool all = pool;
	size_t n;

	all.dir = base; /* the worktree is not in the directory of the pool */
	assert_int_equal(rebase_list(&arena, &all, &list, &n, &err), 0);
	assert_int_equal(n, 1);
	return list[0];
}
