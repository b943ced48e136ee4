#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/cli/pool.h"

enum { DAY_S = 86400, HOUR_S = 3600 };

/* ---- a table ---- */

enum { BRANCH, STATE, PORT, AGE, COLUMNS };

static const char *state_of(const struct pool_entry *e)
{
	if (e->removed)
		return "removed";
	if (!e->recorded)
		return e->keep == KEEP_FOREIGN ? "foreign" : "unrecorded";
	if (e->of.state == ALLOCATION_LIVE && !e->there)
		return "gone";
	if (e->reason)
		return e->reason;
	return e->of.state == ALLOCATION_LIVE && e->stale ? "stale" : state_word(e->of.state);
}

static const char *age_of(struct arena *a, const struct pool_entry *e, int64_t now)
{
	int64_t age = now - e->changed;

	if (!e->changed || age < 0)
		return e->changed ? "0h" : "-";
	return age >= DAY_S ? arena_printf(a, "%lldd", (long long)(age / DAY_S))
			    : arena_printf(a, "%lldh", (long long)(age / HOUR_S));
}

static void fill_row(
	struct arena *a, const struct pool_entry *e, int64_t now, const char *row[COLUMNS])
{
	CLEANUP(buf_release) struct buf ports = BUF_INIT;

	ports_text(&ports, &e->of);
	row[BRANCH] = *e->of.branch ? e->of.branch : "(detached)";
	row[STATE] = state_of(e);
	if (e->of.slots) /* kept for children, behind its own */
		buf_addf(&ports, " +%ux%u", e->of.slots, e->of.slot_ports);
	row[PORT] = arena_dup(a, buf_str(&ports));
	row[AGE] = age_of(a, e, now);
}

static void put_row(struct buf *out, const int widths[COLUMNS], const char *const row[COLUMNS],
	const char *last)
{
	for (int k = 0; k < COLUMNS; k++)
		buf_addf(out, "%-*s  ", widths[k], row[k]);
	buf_addf(out, "%s\n", last);
}

/* `last` says what stands in the last column of a row. */
static void put_table(struct invocation *in, const struct pool_entry *list, size_t n,
	const char *(*last)(struct arena *a, const struct pool_entry *e), const char *title)
{
	static const char *const heads[COLUMNS] = {"BRANCH", "STATE", "PORTS", "AGE"};
	const char *(*rows)[COLUMNS] = arena_alloc(in->arena, (n + 1) * sizeof(*rows));
	int64_t now = clock_now();
	int widths[COLUMNS];

	for (int k = 0; k < COLUMNS; k++)
		widths[k] = (int)strlen(heads[k]);
	for (size_t i = 0; i < n; i++) {
		fill_row(in->arena, &list[i], now, rows[i]);
		for (int k = 0; k < COLUMNS; k++)
			if ((int)strlen(rows[i][k]) > widths[k])
				widths[k] = (int)strlen(rows[i][k]);
	}
	put_row(in->out, widths, heads, title);
	for (size_t i = 0; i < n; i++)
		put_row(in->out, widths, rows[i], last(in->arena, &list[i]));
}

static const char *path_of(struct arena *a, const struct pool_entry *e)
{
	if (!e->of.parent)
		return e->of.path;
	return arena_printf(a, "%s (child of %s)", e->of.path, path_base(e->of.parent).p);
}

static const char *fate_of(struct arena *a, const struct pool_entry *e)
{
	if (e->removed)
		return e->reason ? arena_printf(a, "removed (%s)", e->reason) : "removed";
	if (e->keep == KEEP_NOTHING)
		return "would be removed";
	return arena_printf(a, "stays (%s): %s", keep_word(e->keep), e->why ? e->why : "");
}

/* ---- JSON ---- */

static json *entry_json(const struct pool_entry *e)
{
	json *j = allocation_json(&e->of);
	char changed[CLOCK_TEXT];

	json_put_str(j, "status", str_of(state_of(e)));
	json_put_bool(j, "recorded", e->recorded);
	json_put_bool(j, "there", e->there);
	json_put_bool(j, "stale", e->stale);
	if (e->changed) {
		clock_text(e->changed, changed);
		json_put_str(j, "changed", str_of(changed));
	}
	if (e->reason)
		json_put_str(j, "reason", str_of(e->reason));
	if (e->keep != KEEP_NOTHING) {
		json_put_str(j, "keep", str_of(keep_word(e->keep)));
		json_put_str(j, "why", str_of(e->why ? e->why : ""));
	}
	return j;
}

static json *about(const struct pool *p)
{
	json *j = json_object();

	json_put_str(j, "pool", str_of(p->name));
	json_put_str(j, "dir", str_of(p->dir));
	json_put_str(j, "repo", str_of(p->repo));
	return j;
}

/* ---- the subcommands ---- */

int pool_run_list(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	struct pool_entry *list;
	json *j, *rows;
	size_t n;

	if (pool_of(in, &p, err) < 0 || pool_list(in->arena, &p, &list, &n, err) < 0)
		return -1;
	if (!in->args->value[POOL_JSON]) {
		put_table(in, list, n, path_of, "PATH");
		return 0;
	}
	j = about(&p);
	rows = json_array();
	for (size_t i = 0; i < n; i++)
		json_push(rows, entry_json(&list[i]));
	json_put(j, "worktrees", rows);
	put_line(in->out, j);
	return 0;
}

static void put_swept(struct invocation *in, const struct pool *p, bool apply,
	const struct pool_entry *list, size_t n)
{
	json *j = about(p), *rows = json_array();

	json_put_bool(j, "applied", apply);
	for (size_t i = 0; i < n; i++) {
		json *row = entry_json(&list[i]);

		json_put_bool(row, "removed", list[i].removed);
		json_push(rows, row);
	}
	json_put(j, "stale", rows);
	put_line(in->out, j);
}

int pool_run_sweep(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	bool apply = in->args->value[POOL_APPLY] != NULL;
	struct pool_entry *list;
	size_t n;

	if (pool_of(in, &p, err) < 0)
		return -1;
	p.target = in->args->value[POOL_TARGET];
	if (pool_sweep(in->arena, &p, apply, in->args->value[POOL_CONFIRM] != NULL, clock_now(),
		    &list, &n, err) < 0)
		return -1;
	if (in->args->value[POOL_JSON])
		put_swept(in, &p, apply, list, n);
	else if (!n)
		buf_adds(in->out, "nothing to sweep\n");
	else
		put_table(in, list, n, fate_of, "FATE");
	return 0;
}

int pool_run_audit(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	struct leak *list;
	size_t n;

	if (pool_of(in, &p, err) < 0 || pool_audit(in->arena, &p, &list, &n, err) < 0)
		return -1;
	if (in->args->value[POOL_JSON]) {
		json *j = about(&p), *rows = json_array();

		json_put_bool(j, "clean", n == 0);
		for (size_t i = 0; i < n; i++) {
			json *row = json_object();

			json_put_str(row, "kind", str_of(list[i].kind));
			json_put_str(row, "path", str_of(list[i].path ? list[i].path : ""));
			json_put_str(row, "text", str_of(list[i].text ? list[i].text : ""));
			json_push(rows, row);
		}
		json_put(j, "leaks", rows);
		put_line(in->out, j);
		return n ? ERR_CHECK : 0;
	}
	for (size_t i = 0; i < n; i++)
		buf_addf(in->out, "%s  %s  %s\n", list[i].kind, list[i].path ? list[i].path : "-",
			list[i].text ? list[i].text : "");
	if (!n)
		buf_adds(in->out, "nothing is orphaned\n");
	return n ? ERR_CHECK : 0;
}
