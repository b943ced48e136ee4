#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/machine/action.h"
#include "src/store/log.h"
#include "src/verify/history.h"

struct renewal {
	struct context doc;
	const char *old_id, *id, *path;
	struct history_forked *result;
};

static void renewal_close(struct renewal *r)
{
	context_release(&r->doc);
}

/* `OLD/fixing/2` -> `NEW/fixing/2`; an id of another form stays. */
static char *new_id(struct renewal *r, const char *id)
{
	size_t n = strlen(r->old_id);

	if (strncmp(id, r->old_id, n) != 0 || id[n] != '/')
		return arena_dup(&r->doc.arena, str_of(id));
	return arena_printf(&r->doc.arena, "%s%s", r->id, id + n);
}

/* Offset of the last line of `all` that is `line`; all.n when there is none. */
static size_t last_line(struct str all, struct str line)
{
	size_t found = all.n;

	for (size_t at = 0; (at += str_find(str_sub(all, at, all.n), line)) < all.n; at++)
		if (!at || all.p[at - 1] == '\n')
			found = at;
	return found;
}

/* An entry of the troubleshooter's log is found by its heading, which names the action. */
static void rename_entry(struct renewal *r, const json *action, const char *id)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *section = json_get_str(action, "write_section"),
		   *trigger = json_get_str(action, "trigger");
	struct str all = context_section(&r->doc, section),
		   heading = str_of(arena_printf(
			   &r->doc.arena, "## %s: %s\n", json_get_str(action, "id"), trigger));
	size_t at = last_line(all, heading);

	if (at == all.n)
		return;
	buf_add(&text, str_sub(all, 0, at));
	buf_addf(&text, "## %s: %s\n", id, trigger);
	buf_add(&text, str_sub(all, at + heading.n, all.n));
	context_put(&r->doc, section, buf_str(&text));
}

static json *renewed(struct renewal *r, const json *action, bool carried)
{
	json *copy = json_copy(action);
	char *id = new_id(r, json_get_str(action, "id"));

	if (action_is_troubleshooter(action))
		rename_entry(r, action, id);
	json_set(copy, "id", json_string(str_of(id)));
	json_set(copy, "context_file", json_string(str_of(r->path)));
	if (carried && !json_get(copy, "carried"))
		json_put_bool(copy, "carried", true);
	return copy;
}

/* Nobody works for the new work item yet, so an action without an answer would wait for ever. */
static int renew_actions(struct renewal *r, struct error *err)
{
	CLEANUP(json_free) json *old = NULL, *kept = json_array();

	if (action_load(&r->doc, &old, err) < 0)
		return -1;
	for (const json *a = json_first(old); a; a = json_next(a))
		r->result->dropped += !action_answered(&r->doc, a);
	for (const json *a = json_first(old); a; a = json_next(a))
		if (action_answered(&r->doc, a))
			json_push(kept, renewed(r, a, r->result->dropped > 0));
	r->result->carried = json_len(kept);
	action_store(&r->doc, kept);
	if (!json_first(kept))
		context_set(&r->doc, "pending_agent", (struct str){0});
	return 0;
}

/* The line that a new document begins with, if nobody has changed it. */
static void rename_title(const struct renewal *r, struct buf *text)
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

static int renew(struct renewal *r, int64_t now, struct buf *out, struct error *err)
{
	struct context *c = &r->doc;
	char ts[CLOCK_TEXT];

	r->old_id = arena_dup(&c->arena, context_get(c, "work_item_id"));
	clock_text(now, ts);
	context_set(c, "work_item_id", str_of(r->id));
	context_set(c, "started", str_of(ts));
	context_set(c, "last_updated", str_of(ts));
	context_set_count(c, "revision", 1);
	if (renew_actions(r, err) < 0 || context_render(c, out, NULL, err) < 0)
		return -1;
	rename_title(r, out);
	return context_check(c, buf_str(out), err);
}

static int refuse_old(const struct context_file *f, struct error *err)
{
	if (!f->created)
		return error_set(err, ERR_STATE, "'%s' is there already", f->path);
	if (store_revision(f->store) > 0)
		return error_set(err, ERR_STATE, "'%s' has a history already", f->path);
	return 0;
}

static void note(struct context_file *f, const struct history_place *from, int64_t rev)
{
	json *op = context_op(f, "fork"), *event = context_event(f, "forked");

	json_put_str(op, "file", str_of(from->path));
	json_put_int(op, "rev", rev);
	json_put_str(event, "file", str_of(from->path));
	json_put_int(event, "of", rev);
}

static int make(struct arena *a, struct renewal *r, struct context_file *f, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	r->path = f->path;
	if (renew(r, f->now, &text, err) < 0 || context_replace(f, buf_str(&text), err) < 0)
		return -1;
	r->result->path = arena_dup(a, str_of(f->path));
	r->result->state = arena_dup(a, context_get(&r->doc, "state"));
	return 0;
}

/* Whether its journal is one of ours; what a fork that was killed has left is put in order. */
static int is_ours(struct arena *a, const char *to, bool *ours, struct error *err)
{
	CLEANUP(store_log_close) struct store_log *log = NULL;
	struct str name = path_base(to);
	struct store_commit c;
	int got;

	if (str_ends(name, ".md"))
		name.n -= 3;
	got = store_log_open(
		&log, disk_real(), arena_dup(a, path_dir(to)), arena_dup(a, name), err);
	while (got >= 0 && (got = store_log_next(log, &c, err)) > 0)
		;
	*ours = got == 0;
	return got < 0 && err->code != ERR_INPUT ? -1 : 0;
}

/* Nothing is to be left beside a file of somebody else's. */
static int look_first(struct arena *a, const char *to, struct error *err)
{
	struct str stem = str_of(to);
	struct disk *d = disk_real();
	bool there, journal, ours = true;

	if (str_ends(stem, ".md"))
		stem.n -= 3;
	if (d->ops->exists(d, to, &there, err) < 0 ||
		d->ops->exists(d, arena_printf(a, "%.*s.events.jsonl", (int)stem.n, stem.p),
			&journal, err) < 0)
		return -1;
	if (!there && journal && is_ours(a, to, &ours, err) < 0)
		return -1;
	return there || !ours ? error_set(err, ERR_STATE, "'%s' is there already", to) : 0;
}

int history_fork(struct arena *a, const struct history_place *from, int64_t rev, const char *id,
	const char *to, struct history_forked *result, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(renewal_close) struct renewal r = {.id = id, .result = result};

	*result = (struct history_forked){0};
	if (history_document(from, rev, &text, NULL, err) < 0)
		return -1;
	if (context_parse(&r.doc, arena_printf(a, "%s@%lld", from->path, (long long)rev),
		    buf_str(&text), err) < 0)
		return -1;
	if (look_first(a, to, err) < 0)
		return -1;
	if (context_open(&f, to, CONTEXT_MAY_CREATE, err) < 0)
		return err->code == ERR_INPUT
			       ? error_set(err, ERR_STATE, "'%s' is there already", to)
			       : -1;
	if (refuse_old(&f, err) < 0)
		return -1;
	note(&f, from, rev);
	return make(a, &r, &f, err);
}
