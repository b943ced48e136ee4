/*
 * The filters as tables: facts and a task, and which filter rejects it with which reason.
 */
#include "src/tick/admission.h"
#include "tests/lib/scratch.h"

static struct backlog backlog;
static struct admission_facts facts;
static struct admission decision;
static struct error err;

static void write_task(const char *id, const char *keys)
{
	scratch_write(arena_printf(&arena, BACKLOG_TASKS "/%s.md", id),
		arena_printf(&arena, "---\nid: %s\ntitle: t\nstatus: To Do\n%s---\n- [ ] a\n", id,
			keys));
}

static void read_facts(void)
{
	assert_int_equal(backlog_read(&arena, base, &backlog, &err), 0);
	facts = (struct admission_facts){.backlog = &backlog};
}

static const struct task *task(const char *id)
{
	return backlog_find(&backlog, id);
}

static const struct admission *check(const char *id)
{
	json_free(&decision.detail);
	facts.started.n = 0;
	admission_decide(&facts, task(id), &decision);
	return &decision;
}

static void assert_passes(const char *id)
{
	const struct admission *d = check(id);

	if (d->refused || d->failed)
		fail_msg("%s: %s", id, d->refused ? d->refused : d->reason);
	assert_int_equal(d->n_passed, ADMISSION_FILTERS);
}

#define rejected(id, filter, why) assert_rejected(id, filter, why, NULL)
static void assert_rejected(const char *id, const char *filter, const char *why, const char *member)
{
	const struct admission *d = check(id);

	if (!d->failed)
		fail_msg("%s is admitted, or refused: %s", id, d->refused ? d->refused : "");
	assert_string_equal(d->failed->name, filter);
	if (!strstr(d->reason, why))
		fail_msg("'%s' is not in '%s'", why, d->reason);
	if (member) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		json_print(&text, d->detail);
		if (!strstr(text.s, member))
			fail_msg("'%s' is not in '%s'", member, text.s);
	}
}

static int admission_end(void **state)
{
	json_free(&decision.detail);
	return scratch_remove(state);
}
#define ADMISSION_TEST(name) UNIT_TEST(name, scratch_make, admission_end)

ADMISSION_TEST(nothing_blocks)
{
	static const char *const names[] = {"OpenPullRequestExists", "OrphanParent",
		"AlreadyInFlight", "DependencyReadiness", "BlastRadiusOverlap", "Dispatchability",
		"DorReadiness", "ExternalDependencies", "Blocked", "CapturesPending"};

	write_task("X-1", "references: [src/a.ts]\n");
	read_facts();
	assert_passes("X-1");
	for (size_t i = 0; i < ADMISSION_FILTERS; i++)
		assert_string_equal(admission_filters[i].name, names[i]);
}

ADMISSION_TEST(an_open_pull_request_rejects)
{
	static const struct {
		const char *branch, *filter; /* NULL: it is of no task, or of another one */
	} rows[] = {
		{"dev-team/X-1", "OpenPullRequestExists"},
		{"ai-sdlc/x-1-teach", "AlreadyInFlight"},
		{"ai-sdlc/x-1", "AlreadyInFlight"},
		{"x-1-a", "AlreadyInFlight"},
		{"ai-sdlc/x-10-teach", NULL},
		{"ai-sdlc/x-1-2", NULL}, /* of the task X-1-2 */
		{"ai-sdlc/other-x-1", NULL},
		{"main", NULL},
	};

	write_task("X-1", "");
	write_task("X-1-2", "");
	write_task("X-10", "");
	read_facts();
	for (size_t i = 0; i < COUNT(rows); i++) {
		facts.pulls.n = 0;
		vec_push_in(&arena, &facts.pulls,
			((struct forge_open_pull){.number = 402,
				.draft = true,
				.branch = rows[i].branch,
				.url = "https://h/p/402"}));
		if (rows[i].filter)
			assert_rejected("X-1", rows[i].filter, "PR #402", "\"prNumber\":402");
		else
			assert_passes("X-1");
	}
	facts.pulls.n = 0;
	facts.pulls_fault = "gh: not signed in";
	assert_passes("X-1");
}

ADMISSION_TEST(other_signs_of_work_reject)
{
	static const struct {
		const char *command;
		bool rejects;
	} rows[] = {
		{"claude --print do AISDLC-283", true},
		{"claude -p aisdlc-283", true},
		{"claude --print do AISDLC-2834", false},
	};

	write_task("AISDLC-2", "");
	write_task("AISDLC-283", "");
	read_facts();
	for (size_t i = 0; i < COUNT(rows); i++) {
		facts.processes.n = 0;
		vec_push_in(&arena, &facts.processes,
			((struct admission_process){4711, rows[i].command}));
		assert_passes("AISDLC-2");
		if (rows[i].rejects)
			assert_rejected("AISDLC-283", "AlreadyInFlight", "PID 4711",
				"\"subprocessPid\":4711");
		else
			assert_passes("AISDLC-283");
	}
	vec_push_in(&arena, &facts.worktrees,
		((struct admission_sign){task("AISDLC-2"), ".worktrees/aisdlc-2"}));
	facts.pulls_fault = "gh: not signed in"; /* the next sign counts */
	assert_rejected(
		"AISDLC-2", "AlreadyInFlight", "active worktree", "\"signal\":\"active-worktree\"");
	facts.worktrees.n = 0;
	vec_push_in(
		&arena, &facts.items, ((struct admission_sign){task("AISDLC-2"), "validating"}));
	rejected("AISDLC-2", "AlreadyInFlight", "'validating'");
}

ADMISSION_TEST(a_parent_whose_children_are_done_rejects)
{
	write_task("P", "parent_task_id: P\n");
	write_task("Q", "");
	write_task("R", "");
	write_task("S", "parent_task_id: R\n");
	scratch_write(BACKLOG_COMPLETED "/q1.md",
		"---\nid: Q1\ntitle: t\nstatus: Done\nparent_task_id: q\n---\n");
	scratch_write(BACKLOG_COMPLETED "/r1.md",
		"---\nid: R1\ntitle: t\nstatus: Done\nparent_task_id: R\n---\n");
	read_facts();
	assert_passes("P");
	assert_passes("R");
	assert_passes("S");
	assert_rejected("Q", "OrphanParent", "(1 completed child, no open: Q1)",
		"\"completedChildren\":[\"Q1\"]");
}

ADMISSION_TEST(an_open_dependency_rejects)
{
	write_task("A", "");
	write_task("B", "dependencies: [A]\n");
	write_task("C", "dependencies: [B]\n");
	write_task("D", "dependencies: [MISSING]\n");
	write_task("S", "dependencies: [A]\nstacked: true\n");
	read_facts();
	assert_rejected("C", "DependencyReadiness", "2 blocker(s) still open: A, B",
		"\"blockers\":[\"A\",\"B\"]");
	rejected("D", "DependencyReadiness", "'MISSING' does not exist");
	rejected("S", "DependencyReadiness", "1 blocker(s)");
	vec_push_in(&arena, &facts.pulls,
		((struct forge_open_pull){.number = 7, .branch = "dev-team/A"}));
	assert_passes("S");
	assert_string_equal(decision.base, "dev-team/A");
	rejected("B", "DependencyReadiness", "1 blocker(s)");
}

ADMISSION_TEST(shared_files_reject)
{
	static const struct {
		const char *one, *other, *overlap; /* NULL: none */
		int count;
	} rows[] = {
		{"src/a.ts", "src/", "[\"src/a.ts\"]", 1},
		{"src/", "src/a.ts", "[\"src/\"]", 1},
		{"src/a.ts", "src/a.ts", "[\"src/a.ts\"]", 1},
		{"src", "src/a.ts", NULL, 0},
		{"SRC/a.ts", "src/a.ts", NULL, 0},
		{"a, b, c, d, e", "e, d, c, b, a", "[\"a\",\"b\",\"c\"]", 5},
		{"a", "", NULL, 0},
		{"", "a", NULL, 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *id = arena_printf(&arena, "X-%zu", i);
		const char *other = arena_printf(&arena, "Y-%zu", i);

		write_task(id, arena_printf(&arena, "references: [%s]\n", rows[i].one));
		write_task(other, arena_printf(&arena, "references: [%s]\n", rows[i].other));
	}
	read_facts();
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *id = arena_printf(&arena, "X-%zu", i);

		facts.pulls.n = 0;
		vec_push_in(&arena, &facts.pulls,
			((struct forge_open_pull){.number = 1,
				.branch = arena_printf(&arena, "ai-sdlc/y-%zu-slug", i)}));
		if (!rows[i].overlap) {
			assert_passes(id);
			continue;
		}
		assert_rejected(id, "BlastRadiusOverlap", "blast-radius overlap with in-flight Y-",
			arena_printf(&arena, "\"overlap\":%s,\"overlapCount\":%d", rows[i].overlap,
				rows[i].count));
		facts.ignore_overlap_of = id;
		assert_passes(id);
		facts.ignore_overlap_of = NULL;
	}
}

ADMISSION_TEST(of_two_tasks_that_share_files_one_call_admits_the_first)
{
	static const char *const ids[] = {"A", "B", "C"}, *const filters[] = {
								  NULL, "BlastRadiusOverlap", NULL};

	write_task("A", "references: [src/]\n");
	write_task("B", "references: [src/b.c]\n");
	write_task("C", "");
	read_facts();
	for (size_t i = 0; i < COUNT(ids); i++) {
		CLEANUP(admission_release) struct admission d = {0};

		admission_decide(&facts, task(ids[i]), &d);
		assert_true(!d.failed == !filters[i]);
		if (d.failed)
			assert_string_equal(d.failed->name, filters[i]);
	}
}

ADMISSION_TEST(what_the_task_says_rejects)
{
	write_task("A", "dispatchable: false\n");
	write_task("B", "dispatchable: false\ndispatchableReason: too large\n");
	write_task("C", "blocked: {reason: '   '}\n");
	write_task("D", "blocked: {reason: Soaking, until: 2026-12-01, unblockedBy: ''}\n");
	read_facts();
	rejected("A", "Dispatchability", "marked dispatchable:false in frontmatter");
	rejected("B", "Dispatchability", "too large");
	assert_passes("C");
	assert_rejected("D", "Blocked", "Soaking",
		"{\"kind\":\"blocked\",\"reason\":\"Soaking\",\"until\":\"2026-12-01\"}");
}

ADMISSION_TEST(the_last_line_of_the_calibration_log_counts)
{
	static const struct admission_readiness unclear = {"x-1", "needs-clarification", NULL, "T"},
						admit = {"X-1", "admit", NULL, NULL},
						override = {"X-1", "needs-clarification",
							"override", NULL};

	write_task("X-1", "");
	write_task("Y-1", "labels: [DOR-Bypass]\n");
	read_facts();
	assert_passes("X-1");
	vec_push_in(&arena, &facts.readiness, unclear);
	assert_rejected("X-1", "DorReadiness", "latest verdict=needs-clarification (signedAt=T)",
		"\"signedAt\":\"T\"");
	vec_push_in(&arena, &facts.readiness, admit);
	assert_passes("X-1");
	vec_push_in(&arena, &facts.readiness, unclear);
	rejected("X-1", "DorReadiness", "needs-clarification");
	vec_push_in(&arena, &facts.readiness, override);
	assert_passes("X-1");
	facts.readiness.items[0] = unclear;
	facts.readiness.items[0].task = "Y-1";
	facts.readiness.n = 1;
	assert_passes("Y-1");
}

#define EXTERNAL(kind)                                                                             \
	"externalDependencies:\n  - {id: sec-review, description: d, kind: " kind "}\n"

ADMISSION_TEST(a_manual_dependency_rejects_until_it_is_cleared)
{
	write_task("X-1", EXTERNAL("manual"));
	write_task("X-2", EXTERNAL("npm-version"));
	write_task("X-3", EXTERNAL("other"));
	read_facts();
	assert_rejected("X-1", "ExternalDependencies",
		"1 manual external dep(s) unresolved: "
		"sec-review",
		"\"externalDeps\":[{\"id\":\"sec-review\",\"kind\":\"manual\"}]");
	assert_passes("X-2");
	assert_passes("X-3");
	vec_push_in(&arena, &facts.cleared, ((struct admission_pair){"x-1", "sec-review"}));
	assert_passes("X-1");
}

ADMISSION_TEST(an_undecided_capture_rejects)
{
	write_task("X-1", "");
	read_facts();
	vec_push_in(&arena, &facts.captures, "x-1");
	rejected("X-1", "CapturesPending", "triage=tbd");
}

/* A task that would only fail later must not take a place. */
ADMISSION_TEST(a_task_that_is_not_to_be_started_is_refused_before_the_filters)
{
	static const char *const rows[][2] = {
		{"A", "its status is Draft"},
		{"B", "it is in progress"},
		{"C", "no acceptance criteria"},
		{"D", "its file has faults: 'dev-team backlog check' prints them"},
	};

	scratch_write(BACKLOG_TASKS "/a.md", "---\nid: A\ntitle: t\nstatus: Draft\n---\n- [ ] a\n");
	scratch_write(
		BACKLOG_TASKS "/b.md", "---\nid: B\ntitle: t\nstatus: In Progress\n---\n- [ ] a\n");
	scratch_write(BACKLOG_TASKS "/c.md", "---\nid: C\ntitle: t\nstatus: To Do\n---\n");
	scratch_write(BACKLOG_TASKS "/d.md", "---\nid: D\nstatus: To Do\n---\n- [ ] a\n");
	read_facts();
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(check(rows[i][0])->refused, rows[i][1]);
}

/* docs/backlog.md has the table of the filters. */
TEST(the_page_has_every_filter)
{
	CLEANUP(buf_release) struct buf page = BUF_INIT;

	assert_true(tree_read("docs/backlog.md", &page));
	for (size_t i = 0; i < ADMISSION_FILTERS; i++) {
		const struct admission_filter *f = &admission_filters[i];
		const char *row = arena_printf(&arena, "| %zu | `%s` | %s | %s | %s%s%s |\n", i + 1,
			f->name, f->reads, f->missing_blocks ? "blocks" : "admits", "`",
			event_type(f->event)->name, "`");

		if (str_find(buf_str(&page), str_of(row)) == page.len)
			fail_msg("docs/backlog.md must have: %s", row);
	}
}
