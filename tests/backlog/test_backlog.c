/*
 * The rules of a backlog as tables: what a task file says, which tasks are on the frontier and in
 * which order, what a task waits for, faults of the graph, and edits.
 */
#include "src/backlog/backlog.h"
#include "src/setup/setup.h"
#include "src/config/decode.h"
#include "tests/lib/scratch.h"

/* ---- a backlog in a few words ---- */

/* Cuts what is before `mark` off *s, with the mark; *s is empty if there is none. */
static struct str cut(struct str *s, const char *mark)
{
	size_t at = str_find(*s, str_of(mark)), behind = at < s->n ? at + strlen(mark) : s->n;
	struct str before = str_sub(*s, 0, at);

	*s = str_sub(*s, behind, s->n);
	return before;
}

/* `A: done` or `A(high) < B, C`: a task, its priority, what it needs. One a line. */
static void write_tasks(const char *text)
{
	struct str rest = str_of(text), line;

	while (str_line(&rest, &line)) {
		struct str head = cut(&line, " < "), id = cut(&head, ": "), status = head;
		bool done = str_is(status, "done");
		size_t open;

		open = str_find(id, STR("("));
		scratch_write(arena_printf(&arena, "%s/%.*s - t.md",
				      done ? BACKLOG_COMPLETED : BACKLOG_TASKS, (int)open, id.p),
			arena_printf(&arena,
				"---\nid: %.*s\ntitle: t\nstatus: %.*s\ndependencies: [%.*s]\n"
				"%s%.*s\n---\n- [ ] a\n",
				(int)open, id.p, status.n ? (int)status.n : 5,
				status.n ? status.p : "To Do", (int)line.n, line.p,
				open < id.n ? "priority: " : "",
				open < id.n ? (int)(id.n - open - 2) : 0,
				open < id.n ? id.p + open + 1 : ""));
	}
}

static struct backlog backlog;
static struct error err;

static void read_backlog(void)
{
	assert_int_equal(backlog_read(&arena, base, &backlog, &err), 0);
}

static const char *ids_of(const struct task_list *list)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	for (size_t i = 0; i < list->n; i++)
		buf_addf(&out, "%s%s", i ? " " : "", list->items[i]->id);
	return arena_dup(&arena, buf_str(&out));
}

static const char *frontier(enum backlog_order order)
{
	struct task_list list;

	read_backlog();
	backlog_frontier(&backlog, order, false, &list);
	return ids_of(&list);
}

static const struct task *task(const char *id)
{
	const struct task *t;

	if (backlog_require(&backlog, id, &t, &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

/* ---- the frontier ---- */

TEST(the_frontier_is_what_can_be_started_most_urgent_first)
{
	static const struct {
		const char *tasks, *frontier;
	} rows[] = {
		{"X-1\nX-2\n", "X-1 X-2"}, {"A: done\nB < A\nC < B\n", "B"},
		{"A: done\nB < A\nC < A\nD < B, C\n", "B C"},
		{"A: done\nB: done < A\nC: done < A\nD < B, C\n", "D"},
		{"AISDLC-1: done\nAISDLC-2 < aisdlc-1\n", "AISDLC-2"}, {"A: Done\nB < A\n", "B"},
		{"A: done\nB: DONE\nC: Completed\nD: Shipped\nE < A, B, C, D\n", "E"},
		{"A: In Progress\nB: in progress\n", ""},
		{"A: Draft\nB\nC: Needs Clarification\nD: Superseded\n", "B"},
		{"A < B\nB < A\n", ""}, {"A < MISSING\nB\n", "B"},
		{"A\nB\nC < B\n", "B A"},                        /* the longer chain first */
		{"A(low)\nB(critical)\n", "B A"},                /* its own priority */
		{"A(low)\nB\nC(high) < A\n", "A B"},             /* that of what needs it */
		{"X-10\nX-2\nX-1\n", "X-1 X-2 X-10"},            /* numbers by value */
		{"B\nA\nX-3(high)\nX-2(high)\n", "X-2 X-3 A B"}, /* ties by id */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		scratch_make(NULL);
		write_tasks(rows[i].tasks);
		if (strcmp(frontier(ORDER_BY_PRIORITY), rows[i].frontier) != 0)
			fail_msg("row %zu: '%s', not '%s'", i, frontier(ORDER_BY_PRIORITY),
				rows[i].frontier);
		scratch_remove(NULL);
	}
}

SCRATCH_TEST(without_composition_the_order_is_that_of_the_ids)
{
	write_tasks("A(low)\nB(critical)\n");
	assert_string_equal(frontier(ORDER_BY_ID), "A B");
	assert_int_equal(task("B")->priority, 4);
}

SCRATCH_TEST(a_task_is_as_urgent_as_the_most_urgent_one_that_needs_it)
{
	write_tasks("R(low)\nA(high) < R\nB(critical) < R\nC < A\nP(low) < Q\nQ(high) < P\nS\n");
	read_backlog();
	assert_int_equal(task("R")->priority, 4);
	assert_int_equal(task("R")->critical_path, 2);
	assert_int_equal(task("C")->critical_path, 0);
	assert_int_equal(task("P")->priority, 3);
	assert_int_equal(task("Q")->priority, 3);
	assert_int_equal(task("S")->priority, 2);
}

SCRATCH_TEST(blockers_and_impact_are_open_tasks_at_any_distance)
{
	struct task_list list;

	write_tasks("A\nB < A\nC < A\nD < B, C\nE: done < D\nF < E\n");
	read_backlog();
	backlog_blockers(&backlog, task("d"), &list);
	assert_string_equal(ids_of(&list), "A B C");
	backlog_impact(&backlog, task("A"), &list);
	assert_string_equal(ids_of(&list), "B C D");
	backlog_blockers(&backlog, task("F"), &list);
	assert_string_equal(ids_of(&list), "");
	assert_int_equal(backlog_require(&backlog, "Z", &(const struct task *){NULL}, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
}

SCRATCH_TEST(a_stacked_task_starts_on_the_one_that_it_waits_for)
{
	struct task_list list;

	write_tasks("A\nB\nC: done\n");
	scratch_write(BACKLOG_TASKS "/s.md",
		"---\nid: S\ntitle: t\nstatus: To Do\nstacked: true\ndependencies: [A, C]\n---\n");
	scratch_write(BACKLOG_TASKS "/t.md",
		"---\nid: T\ntitle: t\nstatus: To Do\nstacked: true\ndependencies: [A, B]\n---\n");
	read_backlog();
	assert_int_equal(task("S")->state, TASK_STACKED);
	assert_ptr_equal(backlog_base(&backlog, task("S")), task("A"));
	assert_int_equal(task("T")->state, TASK_WAITING);
	backlog_frontier(&backlog, ORDER_BY_ID, false, &list);
	assert_string_equal(ids_of(&list), "A B");
	backlog_frontier(&backlog, ORDER_BY_ID, true, &list);
	assert_string_equal(ids_of(&list), "A B S");
}

/* ---- faults ---- */

static const char *problems(void)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct backlog_problems all;

	read_backlog();
	backlog_validate(&backlog, &all);
	for (size_t i = 0; i < all.n; i++) {
		backlog_problem_add(&out, &all.items[i]);
		buf_addc(&out, '\n');
	}
	return arena_dup(&arena, buf_str(&out));
}

SCRATCH_TEST(cycles_and_missing_tasks_are_named_at_their_place)
{
	write_tasks("A < B, MISSING\nB < A\nC < C\nD < C\n");
	assert_string_equal(problems(),
		"backlog/tasks/A - t.md:5:19: 'A' needs 'MISSING', which does not exist\n"
		"backlog/tasks/A - t.md:5:16: 2 tasks wait in a circle: A -> B -> A\n"
		"backlog/tasks/C - t.md:5:16: 1 task waits in a circle: C -> C\n");
}

SCRATCH_TEST(a_cycle_of_a_thousand_is_one_fault)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;
	const char *found;

	for (unsigned i = 0; i < 1000; i++)
		buf_addf(&text, "X-%u < X-%u\n", i, (i + 1) % 1000);
	write_tasks(text.s);
	found = problems();
	rest = str_of(found);
	assert_true(str_line(&rest, &line) && !str_line(&rest, &line));
	assert_non_null(strstr(found, "1000 tasks wait in a circle: X-0 -> X-1 ->"));
	assert_string_equal(frontier(ORDER_BY_PRIORITY), "");
}

/* A file, the place and text of its first fault. */
TEST(a_broken_file_is_a_fault_at_its_place)
{
#define HEAD "---\nid: A\ntitle: t\nstatus: To Do\n"
	static const struct {
		const char *text, *fault;
	} rows[] = {
		{"", "f.md:1:1: no frontmatter: the first line must be '---'"},
		{"# A\n", "f.md:1:1: no frontmatter: the first line must be '---'"},
		{"---\nid: A\n", "f.md:1:1: the frontmatter has no closing '---'"},
		{"---\ntitle: t\nstatus: To Do\n---\n", "f.md:2:1: 'id' is missing"},
		{"---\n- a\n---\n", "f.md:2:1: the frontmatter must be 'key: value' lines"},
		{"---\nid: ../a\ntitle: t\nstatus: To Do\n---\n",
			"f.md:2:5: 'id' must be an id such as DEMO-7: letters, digits, '.', '_' "
			"and '-', without '.lock' or '.' at its end, not '../a'"},
		{"---\nid: A\ntitle: ''\nstatus: To Do\n---\n",
			"f.md:3:8: 'title' must be a text of at most 200 characters, not ''"},
		{"---\nid: A\ntitle: \"a\\eb\"\nstatus: To Do\n---\n",
			"f.md:3:8: 'title' must be a text of at most 200 characters, not "
			"'a\\x1bb'"},
		{HEAD "priority: urgent\n---\n", "f.md:5:11: 'priority' must be 'low', 'medium', "
						 "'high' or 'critical', not 'urgent'"},
		{HEAD "dependencies: {a: b}\n---\n",
			"f.md:5:15: 'dependencies' must be an id such as DEMO-7: letters, digits, "
			"'.', '_' and '-', without '.lock' or '.' at its end, not a map"},
		{HEAD "dependencies:\n  - X-1\n  - a b\n---\n",
			"f.md:7:5: 'dependencies' must be an id such as DEMO-7: letters, digits, "
			"'.', '_' and '-', without '.lock' or '.' at its end, not 'a b'"},
		{HEAD "dispatchable: \"false\"\n---\n",
			"f.md:5:15: 'dispatchable' must be true or false, not 'false'"},
		{HEAD "maxBudgetUsd: 0\n---\n",
			"f.md:5:15: 'maxBudgetUsd' must be a number above 0, not '0'"},
		{HEAD "externalDependencies:\n  - id: x\n    kind: manual\n---\n",
			"f.md:6:5: 'description' is missing"},
		{HEAD "externalDependencies:\n  - {id: x, description: d, kind: Manual}\n---\n",
			"f.md:6:35: 'kind' must be 'npm-version', 'github-pr', 'url-head', "
			"'manual' or 'other', not 'Manual'"},
		{HEAD "parent_task_id: A-1.lock\n---\n",
			"f.md:5:17: 'parent_task_id' must be an id such as DEMO-7: letters, "
			"digits, '.', '_' and '-', without '.lock' or '.' at its end, not "
			"'A-1.lock'"},
		{HEAD "blocked: yes\n---\n", "f.md:5:10: 'blocked' must be a map, not 'yes'"},
		{HEAD "parentTaskId: B\n---\n",
			"f.md:5:1: 'parentTaskId' is not supported: write 'parent_task_id'"},
		{HEAD "colour: red\n---\n", "f.md:5:1: unknown key 'colour'"},
		{HEAD "id: B\n---\n", "f.md:5:1: duplicate key 'id'"},
		{"---\nid: A\ntitle: \xff\n---\n", "f.md:3:8: invalid UTF-8"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct task t;

		task_parse(&arena, "f.md", str_of(rows[i].text), &t);
		if (!t.faults.n)
			fail_msg("accepted: %s", rows[i].text);
		assert_error(&t.faults.items[0], rows[i].fault);
	}
}

TEST(every_key_is_wrong_in_every_way)
{
	static const char *const values[] = {"~", "true", "7", "-1", "''", "text", "\"a\\eb\"",
		"[]", "[text]", "[[a]]", "[{a: b}]", "{}", "{a: b}"};
	/* The values that a key accepts, by their hexadecimal index. */
	static const struct {
		const char *key, *right;
	} rows[] = {
		{"id", "125"},
		{"title", "1235"},
		{"status", "12345"},
		{"priority", "0"},
		{"dependencies", "012578"},
		{"stacked", "01"},
		{"parent_task_id", "0125"},
		{"externalDependencies", "07"},
		{"labels", "078"},
		{"references", "078"},
		{"permittedExternalPaths", "078"},
		{"dispatchable", "01"},
		{"dispatchableReason", "012345"},
		{"blocked", "0b"},
		{"maxBudgetUsd", "02"},
		{"estimatedTokens", "0b"},
		{"assignee", "01234578"},
		{"created_date", "012345"},
		{"updated_date", "012345"},
		{"specRef", "012345"},
		{"parentTaskId", ""},
		{"milestone", "0123456789abc"},
		{"ordinal", "0123456789abc"},
		{"reporter", "0123456789abc"},
		{"documentation", "0123456789abc"},
	};
	static const char *const required[] = {"id", "title", "status"};
	size_t keys = 0;

	while (task_keys[keys].key)
		keys++;
	assert_int_equal(keys, COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t k = 0; k < COUNT(values); k++) {
			CLEANUP(buf_release) struct buf text = BUF_INIT;
			struct task t;

			buf_addf(&text, "---\n%s: %s\n", rows[i].key, values[k]);
			for (size_t d = 0; d < COUNT(required); d++)
				if (strcmp(required[d], rows[i].key) != 0)
					buf_addf(&text, "%s: A\n", required[d]);
			buf_adds(&text, "---\n");
			task_parse(&arena, "f.md", buf_str(&text), &t);
			if (!t.faults.n != (strchr(rows[i].right, "0123456789abc"[k]) != NULL))
				fail_msg("%s: %s: %s", rows[i].key, values[k],
					t.faults.n ? t.faults.items[0].text : "accepted");
			assert_true(!t.faults.n || t.faults.items[0].line > 0);
		}
}

SCRATCH_TEST(a_broken_file_blocks_its_task_and_those_that_need_it)
{
	write_tasks("B < a-1\nC\n");
	scratch_write(BACKLOG_TASKS "/a-1 - x.md", "---\nid: [\n---\n");
	scratch_write(BACKLOG_COMPLETED "/d-1 - x.md", "no task\n");
	scratch_write(BACKLOG_TASKS "/e - x.md",
		"---\nid: E\ntitle: t\nstatus: To Do\ndependencies: d-1\n---\n");
	tree_mkdirs(at(BACKLOG_TASKS "/dir.md"));
	assert_string_equal(frontier(ORDER_BY_PRIORITY), "C");
	assert_int_equal(task("A-1")->state, TASK_BROKEN);
	assert_int_equal(task("B")->state, TASK_WAITING);
	assert_int_equal(task("E")->state, TASK_WAITING);
	assert_int_equal(backlog.n, 6);
	assert_string_equal(backlog.tasks[5].file, "backlog/tasks/dir.md");
	assert_int_equal(backlog.tasks[5].faults.n, 1);
}

SCRATCH_TEST(of_two_tasks_with_one_id_none_is_started_unless_one_is_done)
{
	write_tasks("A\nB < A\nC < D\nD: done\n");
	scratch_write(BACKLOG_TASKS "/other.md", "---\nid: a\ntitle: t\nstatus: To Do\n---\n");
	scratch_write(BACKLOG_TASKS "/old.md", "---\nid: d\ntitle: t\nstatus: To Do\n---\n");
	assert_string_equal(frontier(ORDER_BY_PRIORITY), "C");
	assert_int_equal(task("A")->state, TASK_BROKEN);
	assert_int_equal(task("D")->state, TASK_DONE);
}

/* ---- one task ---- */

TEST(a_task_is_read_with_either_line_end)
{
	static const char text[] =
		"---\nid: X-7\ntitle: >-\n  Teach the\n  parser\nstatus: ' to do '\n"
		"dependencies: X-1\npriority: ' HIGH'\nblocked: {reason: '   '}\n---\n"
		"\n## Description\n<!-- SECTION:DESCRIPTION:BEGIN -->\nOne.\n## Two\n"
		"<!-- SECTION:DESCRIPTION:END -->\n## Acceptance Criteria\n"
		"- [ ] #4 first\n- [x] second\n - [ ] no\n- [ ]no\n";

	for (int crlf = 0; crlf < 2; crlf++) {
		CLEANUP(buf_release) struct buf b = BUF_INIT;
		struct task_criteria criteria;
		struct task t;

		for (const char *p = text; *p; p++)
			buf_addf(&b, "%s%c", crlf && *p == '\n' ? "\r" : "", *p);
		task_parse(&arena, "x-7 - t.md", buf_str(&b), &t);
		assert_int_equal(t.faults.n, 0);
		assert_string_equal(t.title, "Teach the parser");
		assert_int_equal(t.status, STATUS_TODO);
		assert_int_equal(t.weight, 3);
		assert_int_equal(t.n_dependencies, 1);
		assert_string_equal(t.dependencies[0].id, "X-1");
		assert_null(t.blocked);
		assert_true(t.dispatchable);
		task_criteria(&arena, &t, &criteria);
		assert_int_equal(criteria.n, 2);
		assert_str(criteria.items[0].text, "first");
		assert_true(criteria.items[1].met);
	}
}

TEST(a_status_says_why_work_must_not_begin)
{
	static const struct {
		const char *status, *body, *refusal; /* NULL: it may */
	} rows[] = {
		{"To Do", "- [ ] a", NULL},
		{"To Do", "text", "no acceptance criteria"},
		{"Done", "- [ ] a", "already shipped"},
		{"Draft", "- [ ] a", "Draft"},
		{"Needs Clarification", "- [ ] a", "Definition-of-Ready"},
		{"Needs Clarification", "- [ ] a", "ai-sdlc:dor-comment"},
		{"Blocked", "- [ ] a", "unexpected status"},
		{"In Progress", "- [x] a\n- [X] b", "stale-Done"},
		{"In Progress", "- [x] a\n- [ ] b", NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *got;
		struct task t;

		task_parse(&arena, "f.md",
			str_of(arena_printf(&arena, "---\nid: A\ntitle: t\nstatus: %s\n---\n%s\n",
				rows[i].status, rows[i].body)),
			&t);
		got = task_refusal(&arena, &t);
		if (rows[i].refusal ? !got || !strstr(got, rows[i].refusal) : got != NULL)
			fail_msg("row %zu: %s", i, got ? got : "accepted");
	}
}

TEST(a_slug_is_small_letters_digits_and_hyphens)
{
	static const char *const rows[][2] = {{"Hello World!", "hello-world"},
		{"A:::B---C", "a-b-c"}, {"--abc--", "abc"}, {"\xe2\x80\x94 \xe2\x80\x94", ""},
		{"$(rm -rf ~); `id`", "rm-rf-id"}};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(new_item_slug(&arena, rows[i][0]), rows[i][1]);
	assert_int_equal(
		strlen(new_item_slug(&arena, repeated("", "a", 200, "").p)), NEW_ITEM_SLUG_MAX);
}

TEST(an_edit_changes_the_value_and_no_other_byte)
{
	static const struct {
		const char *text, *key, *value, *result;
	} rows[] = {
		{"---\nstatus:   To Do   # x\nid: A\n---\nstatus: b\n", "status", "In Progress",
			"---\nstatus:   In Progress   # x\nid: A\n---\nstatus: b\n"},
		{"---\r\nid: A\r\nstatus:\r\n---\r\nb", "status", "Done",
			"---\r\nid: A\r\nstatus: Done\r\n---\r\nb"},
		{"---\nid: A\n---\n", "id", "a: b", "---\nid: \"a: b\"\n---\n"},
		{"---\ntitle: >-\n  a\n  b\nid: A\n---\n", "title", "c",
			"---\ntitle: c\nid: A\n---\n"},
		{"\xef\xbb\xbf---\nid: 'A'\n---\n", "id", "B", "\xef\xbb\xbf---\nid: B\n---\n"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		CLEANUP(buf_release) struct buf out = BUF_INIT;

		assert_int_equal(task_edit(&arena, "f.md", str_of(rows[i].text), rows[i].key,
					 str_of(rows[i].value), &out, &err),
			0);
		assert_string_equal(out.s, rows[i].result);
	}
	assert_fails(task_edit(&arena, "f.md", STR("---\nid: [a]\n---\n"), "id", STR("b"),
			     &(struct buf)BUF_INIT, &err),
		err, ERR_INPUT);
	assert_fails(task_edit(&arena, "f.md", STR("---\nid: a\n---\n"), "status", STR("b"),
			     &(struct buf)BUF_INIT, &err),
		err, ERR_INPUT);
}

/* The page lists the keys that the reader knows. */
TEST(the_page_has_every_key)
{
	CLEANUP(buf_release) struct buf page = BUF_INIT;

	assert_true(tree_read("docs/backlog.md", &page));
	for (const struct config_field *f = task_keys; f->key; f++) {
		const char *row =
			f->about ? arena_printf(&arena, "| `%s` | %s |\n", f->key, f->about)
				 : arena_printf(&arena, "`%s`", f->key);

		if (str_find(buf_str(&page), str_of(row)) == page.len)
			fail_msg("docs/backlog.md must have: %s", row);
	}
}

UNIT_GROUP(NULL, arena_end)
