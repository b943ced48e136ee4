/* history_restore.c: an earlier revision as the present one, or as a new work item. */
#include "src/base/clock.h"
#include "src/machine/action.h"
#include "src/sys/path.h"
#include "src/verify/history.h"

/* ---- restore ---- */

static bool history_restore_is_good(const struct context_file *f)
{
	CLEANUP(json_free) json *actions = NULL;
	struct error ignored;

	return f->doc.text.n && action_load(&f->doc, &actions, &ignored) == 0;
}

/* 1: the document has this text already; 0; -1. */
static int is_present(const struct history_place *place, struct str text, struct error *err)
{
	CLEANUP(buf_release) struct buf now = BUF_INIT;
	bool missing;

	if (context_read(store_backend(), place->path, &now, &missing, err) < 0)
		return err->code == ERR_SYSTEM ? -1 : 0;
	return !missing && str_eq(buf_str(&now), text);
}

/* Looks first: opening a document that never existed would create a directory and a lock. */
static int find_store(const struct history_place *place, bool *there, struct error *err)
{
	return store_exists(
		store_backend(), place->dir, place->name, path_base(place->path).p, there, err);
}

struct restore {
	const struct history_place *place;
	int64_t rev;
	struct history_restored *result;
};

/* A context_change. */
static int restore(struct context_file *f, void *data, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct restore *r = data;
	int64_t *to = &r->result->to;
	int same;

	*r->result = (struct history_restored){0};
	if (!r->rev && history_restore_is_good(f))
		return 0;
	if ((r->rev ? history_document(r->place, r->rev, &text, to, err)
		    : history_last_good(r->place, NULL, &text, to, err)) < 0)
		return -1;
	if ((same = is_present(r->place, buf_str(&text), err)) != 0)
		return same < 0 ? -1 : 0;
	r->result->replaced = store_revision(f->store);
	json_put_int(context_op(f, "restore"), "to", r->result->to);
	json_put_int(context_event(f, "restored"), "to", r->result->to);
	return context_replace(f, buf_str(&text), err);
}

int history_restore(const struct history_place *place, int64_t rev, struct history_restored *result,
	struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct restore r = {place, rev, result};
	bool there;

	*result = (struct history_restored){0};
	if (find_store(place, &there, err) < 0)
		return -1;
	if (!there)
		return error_set(err, ERR_INPUT, "no context file '%s'", place->path);
	if (context_open(&f, place->path, CONTEXT_REPLACE, err) < 0)
		return -1;
	return context_update(&f, restore, &r, err);
}

/* ---- fork ---- */

struct fork {
	struct context doc;
	const char *old_id, *id, *path;
	struct history_forked *result;
};

static void fork_close(struct fork *r)
{
	context_release(&r->doc);
}

/* `OLD/fixing/2` -> `NEW/fixing/2`; an id of another form stays. */
static char *new_id(struct fork *r, const char *id)
{
	size_t n = strlen(r->old_id);

	if (strncmp(id, r->old_id, n) != 0 || id[n] != '/')
		return arena_dup(&r->doc.arena, str_of(id));
	return arena_printf(&r->doc.arena, "%s%s", r->id, id + n);
}

static json *renamed_action(struct fork *r, const json *action, bool carried)
{
	json *copy = json_copy(action);

	json_set(copy, "id", json_string(str_of(new_id(r, json_get_str(action, "id")))));
	if (carried && !json_get(copy, "carried"))
		json_put_bool(copy, "carried", true);
	return copy;
}

/* A script gives its result for one work item and one directory; the troubleshooter's is found in
 * its log by the id; a pull request is of one branch. */
static bool is_carried(const struct fork *r, const json *action)
{
	return action_answered(&r->doc, action) && !action_is_observed(action) &&
	       !action_is_troubleshooter(action) &&
	       !json_str_is(action, "write_section", CONTEXT_PULL_REQUEST);
}

/* No agent works for the new work item, so actions without an answer are dropped. */
static int rename_actions(struct fork *r, struct error *err)
{
	CLEANUP(json_free) json *old = NULL, *kept = json_array();

	if (action_load(&r->doc, &old, err) < 0)
		return -1;
	for (const json *a = json_first(old); a; a = json_next(a))
		r->result->dropped += !is_carried(r, a);
	for (const json *a = json_first(old); a; a = json_next(a))
		if (is_carried(r, a))
			json_push(kept, renamed_action(r, a, r->result->dropped > 0));
	r->result->carried = json_len(kept);
	action_store(&r->doc, kept);
	if (!json_first(kept))
		context_set(&r->doc, "pending_agent", (struct str){0});
	return 0;
}

/* The first line of a new document, if it is unchanged. */
static void rename_title(const struct fork *r, struct buf *text)
{
	CLEANUP(buf_release) struct buf old = BUF_INIT, all = *text;
	struct str s = buf_str(&all);
	size_t at, first = str_find(s, STR("\n<!-- section:"));

	*text = (struct buf)BUF_INIT;
	buf_addf(&old, "\n# %s Dev Team Context", r->old_id);
	at = str_find(s, buf_str(&old));
	if (at >= first) {
		buf_add(text, s);
		return;
	}
	buf_add(text, str_sub(s, 0, at));
	buf_addf(text, "\n# %s Dev Team Context", r->id);
	buf_add(text, str_sub(s, at + old.len, s.n));
}

/* What names the parent, the branch or the actions of the original. */
static void drop_relations(struct context *c)
{
	static const char *const keys[] = {"parent", "landed", "cancelled", "pr_url"};

	for (size_t i = 0; i < COUNT(keys); i++)
		context_set(c, keys[i], (struct str){0});
	context_remove(c, CONTEXT_PULL_REQUEST);
}

static int render_fork(struct fork *r, int64_t now, struct buf *out, struct error *err)
{
	struct context *c = &r->doc;
	char ts[CLOCK_TEXT];

	r->old_id = arena_dup(&c->arena, context_get(c, "work_item_id"));
	clock_text(now, ts);
	context_set(c, "work_item_id", str_of(r->id));
	context_set(c, "started", str_of(ts));
	context_set(c, "last_updated", str_of(ts));
	if (rename_actions(r, err) < 0)
		return -1;
	drop_relations(c);
	if (context_render(c, out, NULL, err) < 0)
		return -1;
	rename_title(r, out);
	return context_check(c, buf_str(out), err);
}

static int history_restore_refuse_old(const struct context_file *f, struct error *err)
{
	if (!f->created)
		return error_set(err, ERR_STATE, "'%s' is there already", f->path);
	if (store_revision(f->store) > 0)
		return error_set(err, ERR_STATE, "'%s' has a history already", f->path);
	return 0;
}

static void note_fork(struct context_file *f, const struct history_place *from, int64_t rev)
{
	const char *file = path_relative(&f->arena, f->dir, from->path);

	JSON_ADD(context_op(f, "fork"), JSON_TEXT("file", file), JSON_INT("rev", rev));
	JSON_ADD(context_event(f, "forked"), JSON_TEXT("file", file), JSON_INT("of", rev));
}

static int create_fork(struct arena *a, struct fork *r, struct context_file *f, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	r->path = f->path;
	if (render_fork(r, f->now, &text, err) < 0 || context_replace(f, buf_str(&text), err) < 0)
		return -1;
	r->result->path = arena_dup(a, str_of(f->path));
	r->result->state = arena_dup(a, context_get(&r->doc, "state"));
	return 0;
}

/* Whether all of the journal can be read. */
static int history_restore_is_ours(const struct history_place *place, bool *ours, struct error *err)
{
	CLEANUP(history_close) struct history p = {0};
	int rc = history_open(&p, place, &(struct store_range){0}, err) < 0 ? -1 : 1;

	while (rc > 0)
		rc = history_next(&p, err);
	*ours = rc == 0;
	return rc < 0 && err->code != ERR_INPUT ? -1 : 0;
}

/* Opening the document creates a lock, which must not be left beside foreign files. What a fork
 * that was killed has left is finished. */
static int check_free(struct arena *a, const char *to, struct error *err)
{
	struct history_place place;
	bool there, ours = false;

	history_set_place(a, to, &place);
	if (find_store(&place, &there, err) < 0 ||
		(there && history_restore_is_ours(&place, &ours, err) < 0))
		return -1;
	return there && !ours ? error_set(err, ERR_STATE, "'%s' is there already", to) : 0;
}

int history_fork(struct arena *a, const struct history_place *from, int64_t rev, const char *id,
	const char *to, struct history_forked *result, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(fork_close) struct fork r = {.id = id, .result = result};

	*result = (struct history_forked){0};
	to = to ? path_absolute(a, to) : arena_printf(a, "%s/%s.md", from->dir, id);
	if (history_document(from, rev, &text, NULL, err) < 0)
		return -1;
	if (context_parse(&r.doc, arena_printf(a, "%s@%lld", from->path, (long long)rev),
		    buf_str(&text), err) < 0)
		return -1;
	if (check_free(a, to, err) < 0)
		return -1;
	if (context_open(&f, to, CONTEXT_MAY_CREATE, err) < 0)
		return err->code == ERR_INPUT
			       ? error_set(err, ERR_STATE, "'%s' is there already", to)
			       : -1;
	if (history_restore_refuse_old(&f, err) < 0)
		return -1;
	note_fork(&f, from, rev);
	return create_fork(a, &r, &f, err);
}
