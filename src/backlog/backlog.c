/* backlog.c: all tasks of a repository, and new ones. */
#include <stdio.h>
#include <strings.h>
#include "src/backlog/backlog.h"
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/base/yaml.h"
#include "src/setup/setup.h"
#include "src/store/disk.h"
#include "src/sys/directory.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

enum { FILE_MAX = 4 << 20, LOCK_WAIT_MS = 30000 };

/* ---- ids ---- */

bool task_same_id(const char *one, const char *other)
{
	return number_compare_ids(one, other) == 0;
}

const char *task_name(const struct task *t)
{
	return t->id ? t->id : t->file;
}

static int compare_tasks(const void *a, const void *b)
{
	const struct task *x = a, *y = b;
	int c;

	if (!x->id || !y->id)
		return x->id ? -1 : y->id ? 1 : strcmp(x->file, y->file);
	c = number_compare_ids(x->id, y->id);
	if (c == 0) /* what counts is first: the done one */
		c = y->completed - x->completed;
	return c ? c : strcmp(x->file, y->file);
}

const struct task *backlog_find(const struct backlog *b, const char *id)
{
	size_t low = 0, high = b->n_named;

	while (low < high) { /* the first of those with this id */
		size_t at = (low + high) / 2;

		if (number_compare_ids(b->tasks[at].id, id) < 0)
			low = at + 1;
		else
			high = at;
	}
	return low < b->n_named && task_same_id(b->tasks[low].id, id) ? &b->tasks[low] : NULL;
}

int backlog_require(
	const struct backlog *b, const char *id, const struct task **out, struct error *err)
{
	*out = backlog_find(b, id);
	return *out ? 0
		    : error_set(err, ERR_INPUT,
			      "there is no task '%.100s' in '%s': 'dev-team backlog list' shows "
			      "them",
			      id, BACKLOG_TASKS);
}

/* ---- reading ---- */

struct backlog_reader {
	struct backlog *out;
	VEC(struct task) tasks;
	struct buf *text; /* of one file */
};

static void read_task(struct backlog_reader *r, const char *path, bool completed)
{
	struct arena *a = r->out->arena;
	bool bad = str_utf8_fault(str_of(path)) != 0;
	const char *file = bad ? arena_printable(a, str_of(path), SIZE_MAX) : path;
	struct error err;
	struct task t;
	int rc;

	buf_clear(r->text);
	rc = bad ? error_set(&err, ERR_INPUT, "the name is not UTF-8: rename the file")
		 : sys_read_file(r->text, path_join(a, r->out->repo, file), FILE_MAX, NULL, &err);
	task_parse(a, file, rc < 0 ? STR("") : buf_str(r->text), &t);
	if (rc < 0) {
		error_place(&err, file, 1, 1);
		t.faults.items[0] = err;
	}
	t.completed = completed;
	vec_push_in(a, &r->tasks, t);
}

static bool is_markdown(const char *name)
{
	const char *end = strrchr(name, '.');

	return end && (strcasecmp(end, ".md") == 0 || strcasecmp(end, ".markdown") == 0);
}

/* `below`: in a directory of the backlog there are no tasks. */
static int backlog_read_directory(
	struct backlog_reader *r, const char *dir, bool completed, bool below, struct error *err)
{
	struct directory_names names = {0};
	struct arena *a = r->out->arena;
	struct error ignored;
	bool missing;

	if (directory_list(a, path_join(a, r->out->repo, dir), &names, &missing, err) < 0)
		return missing ? 0 : -1;
	vec_reserve_in(a, &r->tasks, names.n);
	for (size_t i = 0; i < names.n; i++) {
		const char *name = names.items[i], *path = path_join(a, dir, name);

		if (is_markdown(name) && (below || !str_ends(str_of(name), ".md")))
			vec_push_in(a, &r->out->strays, arena_printable(a, str_of(path), SIZE_MAX));
		else if (is_markdown(name))
			read_task(r, path, completed);
		else if (!below)
			(void)backlog_read_directory(r, path, completed, true, &ignored);
	}
	return 0;
}

static void add_duplicate(struct backlog *b, struct task *t, const struct task *other)
{
	struct error fault;

	error_at(&fault, t->file, t->id_line, t->id_col, "duplicate id '%s': also in '%.300s'",
		t->id, other->file);
	vec_push_in(b->arena, &t->faults, fault);
}

/* Of two open tasks with one id neither can be started: which one is meant is not known. Where one
 * of them is done, it counts. */
static void backlog_check_ids(struct backlog *b)
{
	for (size_t i = 1; i < b->n_named; i++) {
		struct task *t = &b->tasks[i], *before = t - 1;

		if (!task_same_id(t->id, before->id))
			continue;
		add_duplicate(b, t, before);
		if (before->completed && !t->completed)
			t->hidden = true;
		else
			add_duplicate(b, before, t);
		t->hidden |= before->hidden;
	}
}

int backlog_read(struct arena *a, const char *repo, struct backlog *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct backlog_reader r = {.out = out, .text = &text};

	*out = (struct backlog){.arena = a, .repo = repo};
	if (backlog_read_directory(&r, BACKLOG_TASKS, false, false, err) < 0 ||
		backlog_read_directory(&r, BACKLOG_COMPLETED, true, false, err) < 0)
		return -1;
	vec_sort(&r.tasks, compare_tasks);
	out->tasks = r.tasks.items;
	out->n = r.tasks.n;
	while (out->n_named < out->n && out->tasks[out->n_named].id)
		out->n_named++;
	backlog_check_ids(out);
	backlog_link(out);
	return 0;
}

/* ---- new tasks ---- */

static void backlog_take_number(struct str id, const char *key, unsigned long *last)
{
	size_t n = strlen(key);
	uint64_t number;

	if (id.n > n + 1 && strncasecmp(id.p, key, n) == 0 && id.p[n] == '-' &&
		number_digits(str_sub(id, n + 1, id.n), &number) && number > *last)
		*last = (unsigned long)number;
}

static void add_texts(struct buf *out, const char *key, const char *const *list)
{
	if (!list || !*list)
		return;
	buf_addf(out, "%s:\n", key);
	for (; *list; list++) {
		buf_adds(out, "  - ");
		yaml_add_scalar(out, str_of(*list));
		buf_addc(out, '\n');
	}
}

static void add_draft(struct buf *out, const struct task_draft *d, const char *id)
{
	char now[CLOCK_TEXT];

	clock_text(clock_now(), now);
	buf_addf(out, "---\nid: %s\ntitle: ", id);
	yaml_add_scalar(out, str_of(d->title));
	buf_addf(out, "\nstatus: %s\n", d->criteria ? "To Do" : "Draft");
	if (d->priority)
		buf_addf(out, "priority: %s\n", d->priority);
	add_texts(out, "dependencies", d->dependencies);
	add_texts(out, "labels", d->labels);
	buf_addf(out, "created_date: %.10s\n---\n\n## Description\n\n%s\n\n", now,
		d->description ? d->description : d->title);
	buf_adds(out, "## Acceptance Criteria\n\n");
	for (size_t i = 0; d->criteria && d->criteria[i]; i++)
		buf_addf(out, "- [ ] #%zu %s\n", i + 1, d->criteria[i]);
}

/* What was written is read back: a text that makes no valid task is refused before it is there. */
static int check_draft(const struct backlog *b, const struct task_draft *d, struct str text,
	const char *file, struct error *err)
{
	struct task t;

	for (size_t i = 0; d->dependencies && d->dependencies[i]; i++) {
		const struct task *ignored;

		if (backlog_require(b, d->dependencies[i], &ignored, err) < 0)
			return -1;
	}
	for (size_t i = 0; d->criteria && d->criteria[i]; i++)
		if (!d->criteria[i][0] || strpbrk(d->criteria[i], "\r\n"))
			return error_set(
				err, ERR_USAGE, "an acceptance criterion must be one line of text");
	task_parse(b->arena, file, text, &t);
	return t.faults.n ? error_set(err, ERR_USAGE, "%s", t.faults.items[0].text) : 0;
}

int backlog_create(struct arena *a, const char *repo, const struct task_draft *draft,
	const char **id, const char **file, struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *slug = new_item_slug(a, draft->title);
	unsigned long last;
	struct backlog b;
	char *state;
	int rc;

	/* Two calls must not choose one id. */
	if (context_state_directory(a, &state, err) < 0 || path_mkdirs(state, err) < 0 ||
		disk_lock_take(&lock, path_join(a, state, ".backlog.lock"), LOCK_WAIT_MS, err) <
			0 ||
		backlog_read(a, repo, &b, err) < 0 ||
		new_item_last(a, repo, draft->key, &last, err) < 0)
		return -1;
	for (size_t i = 0; i < b.n_named; i++)
		backlog_take_number(str_of(b.tasks[i].id), draft->key, &last);
	*id = arena_printf(a, "%s-%lu", draft->key, last + 1);
	*file = arena_printf(
		a, BACKLOG_TASKS "/%s - %s.md", arena_lower(a, str_of(*id)), *slug ? slug : "task");
	add_draft(&text, draft, *id);
	if (check_draft(&b, draft, buf_str(&text), *file, err) < 0)
		return -1;
	rc = setup_create_file(a, repo, *file, buf_str(&text), 0666, err);
	return rc > 0 ? error_set(err, ERR_STATE, "'%s' exists: remove it first", *file) : rc;
}

/* ---- the end of a task ---- */

/* Each part is a rename, so that a call that was killed can be repeated. */
static int move_completed(
	const struct backlog *b, const struct task *t, const char *to, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, edited = BUF_INIT;
	const char *from = path_join(b->arena, b->repo, t->file);

	if (path_exists(to))
		return error_set(err, ERR_STATE, "'%s' exists: remove or rename it first", to);
	if (sys_read_file(&text, from, FILE_MAX, NULL, err) < 0 ||
		task_edit(b->arena, t->file, buf_str(&text), "status", STR("Done"), &edited, err) <
			0 ||
		disk_replace(disk_real(), ".tmp", from, buf_str(&edited), err) < 0 ||
		path_mkdirs(arena_dup(b->arena, path_dir(to)), err) < 0)
		return -1;
	return rename(from, to) < 0 ? error_errno(err, "cannot move '%s' to '%s'", from, to) : 0;
}

/* git takes a directory whose last file is moved as renamed, and would move the files that others
 * add to it meanwhile: it keeps a file. */
static int keep_directory(const struct backlog *b, const char *file, struct error *err)
{
	for (size_t i = 0; i < b->n; i++)
		if (!b->tasks[i].completed && strcmp(b->tasks[i].file, file) != 0)
			return 0;
	return setup_create_file(b->arena, b->repo, BACKLOG_KEPT, STR(""), 0666, err);
}

int backlog_finish(const struct backlog *b, const struct task *t, const char **file, bool *made,
	struct error *err)
{
	const char *name = path_base(t->file).p, *message;
	const char *paths[] = {arena_printf(b->arena, BACKLOG_COMPLETED "/%s", name),
		arena_printf(b->arena, BACKLOG_TASKS "/%s", name), BACKLOG_KEPT};
	size_t n = COUNT(paths);

	*file = paths[0];
	if ((!t->completed &&
		    move_completed(b, t, path_join(b->arena, b->repo, paths[0]), err) < 0) ||
		keep_directory(b, paths[1], err) < 0)
		return -1;
	n -= !path_exists(path_join(b->arena, b->repo, BACKLOG_KEPT));
	message = arena_printf(b->arena, "%s: mark the task as done", t->id);
	return git_commit_paths(b->repo, paths, n, message, made, err);
}
