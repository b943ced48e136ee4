#include "src/sys/directory.h"
#include "tests/lib/rebase_rig.h"

struct allocation wt;
struct land done;

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

/* One process instead of the fifteen of a clone that fetches, commits and pushes. */
void main_gets(const char *file, const char *text)
{
	sh(arena_printf(&arena,
		"git --git-dir=org/o.git -c fastimport.unpackLimit=1 fast-import --quiet "
		"--date-format=now <<'E'\n"
		"commit refs/heads/main\ncommitter T <t@e> now\ndata %zu\n%s\nfrom "
		"refs/heads/main^0\n"
		"M 644 inline %s\ndata %zu\n%s\n\nE",
		strlen(text), text, file, strlen(text) + 1, text));
}

int try_rebase_of(struct land_ask *ask)
{
	struct gate *g = gate_now(60000); /* until what a killed one left has ended */
	int rc;

	ask->branch = wt.branch;
	ask->follow = wt.path;
	ask->target = ask->target ? ask->target : "main";
	err = (struct error){0};
	rc = land_branch(&arena, &pool, ask, g, &done, &err);
	gate_drop(&g);
	return rc;
}

int try_rebase(void)
{
	struct land_ask ask = {.issue = "ISSUE-1"};

	return try_rebase_of(&ask);
}

const char *rebase(void)
{
	if (try_rebase() < 0)
		fail_msg("%s", err.text);
	return land_word(&done);
}

static const char snapshot[] =
	"git -C wt rev-parse HEAD && git -C wt status --porcelain && git -C wt ls-files -s && "
	"git --git-dir=org/o.git for-each-ref | sed /main/d";

static void add_files(struct buf *out, const char *dir)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;
	struct str rest, name;

	tree_list(at(dir), &names);
	rest = buf_str(&names);
	while (str_line(&rest, &name)) {
		buf_addf(out, "%.*s\n", (int)name.n, name.p);
		(void)tree_read(path_join(&arena, at(dir), arena_dup(&arena, name)), out);
	}
}

/* Git's files of the worktree that are not records of what was done. */
static void add_states(struct buf *out)
{
	static const char records[] = " logs ORIG_HEAD COMMIT_EDITMSG FETCH_HEAD ";
	struct directory_names names = {0};

	assert_int_equal(directory_list(&arena, at("r/.git/worktrees/wt"), &names, NULL, &err), 0);
	for (size_t i = 0; i < names.n; i++)
		if (!strstr(records, arena_printf(&arena, " %s ", names.items[i])))
			buf_addf(out, "%s\n", names.items[i]);
}

const char *look(void)
{
	CLEANUP(buf_release) struct buf seen = BUF_INIT;

	sh_into(&seen, snapshot);
	(void)tree_read(at("r/.git/worktrees/wt/HEAD"), &seen);
	add_files(&seen, "wt");
	add_states(&seen);
	return arena_dup(&arena, buf_str(&seen));
}
