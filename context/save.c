#include "context/file_internal.h"
#include "src/base/clock.h"
#include "src/base/vec.h"
#include "src/sys/path.h"

json *context_op(struct context_file *f, const char *name)
{
	char at[CLOCK_TEXT];

	json_free(&f->op);
	json_free(&f->seen);
	f->seen = json_array();
	f->saves = 0;
	f->op = json_object();
	json_put_str(f->op, "op", str_of(name));
	clock_text(f->now, at);
	json_put_str(f->op, "at", str_of(at));
	return f->op;
}

void context_seen(struct context_file *f, const char *what, json *value)
{
	json *seen = json_object();
	char at[CLOCK_TEXT];

	if (!f->replay)
		f->now = clock_now();
	clock_text(f->now, at);
	json_put_str(seen, "what", str_of(what));
	if (value)
		json_put(seen, "value", value);
	json_put_str(seen, "at", str_of(at));
	json_push(f->seen, seen);
}

const json *context_replayed(struct context_file *f, const char *what)
{
	const json *next = f->replay ? json_at(f->replay, f->replayed) : NULL;
	const char *name = next ? json_get_str(next, "what") : NULL, *at;

	if (!name || strcmp(name, what) != 0)
		return NULL;
	f->replayed++;
	at = json_get_str(next, "at");
	if (at && clock_parse(at, &f->now) < 0)
		return NULL;
	return next;
}

json *context_event(struct context_file *f, const char *type)
{
	json *event = json_object();
	char now[CLOCK_TEXT];

	clock_text(f->now, now);
	json_put_str(event, "ts", str_of(now));
	json_put_str(event, "type", str_of(type));
	json_push(f->events, event);
	return event;
}

void context_put_key(struct context_file *f, const char *key, struct str value)
{
	struct arena *a = &f->doc.arena;
	struct store_op op = {.what = value.n ? STORE_PUT : STORE_DEL,
		.key = arena_dup(a, str_of(key)),
		.value = arena_str(a, value)};

	for (size_t i = 0; i < f->n_ops; i++) {
		if (strcmp(f->ops[i].key, key) == 0) {
			f->ops[i] = op;
			return;
		}
	}
	f->ops = vec_grow(a, f->ops, f->n_ops, &f->cap_ops, 1, sizeof(*f->ops));
	f->ops[f->n_ops++] = op;
}

int context_get_key(struct context_file *f, const char *key, struct str *value, struct error *err)
{
	struct store_kv kv;

	*value = (struct str){"", 0};
	for (size_t i = 0; i < f->n_ops; i++) {
		if (strcmp(f->ops[i].key, key) == 0) {
			*value = f->ops[i].value;
			return 0;
		}
	}
	if (!f->store)
		return 0;
	if (store_get(f->store, &f->doc.arena, key, &kv, err) != STORE_OK)
		return -1;
	if (kv.mod)
		*value = kv.value;
	return 0;
}

void context_forget(struct context_file *f)
{
	json_free(&f->events);
	f->events = json_array();
	f->n_ops = 0;
}

/* The operation with the number of this save and all that it has seen so far. */
static json *note_of(const struct context_file *f)
{
	json *note = f->op ? json_copy(f->op) : NULL;

	if (!note)
		return NULL;
	json_put_int(note, "part", (int64_t)f->saves + 1);
	if (json_first(f->seen))
		json_put(note, "seen", json_copy(f->seen));
	json_put_str(note, "by", STR(DEV_TEAM_VERSION));
	return note;
}

static int refused(const struct context_file *f, struct error *err)
{
	return error_set(err, ERR_STATE, "'%s' was changed by another process meanwhile", f->path);
}

int context_commit(struct context_file *f, const struct store_op *document, struct error *err)
{
	const struct store_guard guard = {f->key, STORE_MOD_IS, f->mod};
	CLEANUP(json_free) json *note = note_of(f);
	struct store_op *ops = arena_alloc(&f->doc.arena, (f->n_ops + 1) * sizeof(*ops));
	char ts[CLOCK_TEXT];
	struct store_result result;
	struct store_txn t = {.guards = &guard,
		.n_guards = 1,
		.ops = ops,
		.n_ops = f->n_ops,
		.lease = f->lease,
		.lease_ttl_s = f->lease_ttl_s,
		.events = f->events,
		.note = note,
		.ts = ts};
	enum store_status got;

	clock_text(f->now, ts);
	if (f->n_ops)
		memcpy(ops, f->ops, f->n_ops * sizeof(*ops));
	if (document)
		ops[t.n_ops++] = *document;
	got = store_txn(f->store, &f->doc.arena, &t, &result, err);
	if (got == STORE_REFUSED)
		return refused(f, err);
	if (got != STORE_OK)
		return -1;
	context_forget(f);
	f->saves++;
	if (document)
		f->mod = result.rev;
	return 0;
}

int context_log(struct context_file *f, struct error *err)
{
	int rc = 0;

	if (json_first(f->events) || f->n_ops || f->lease)
		rc = context_commit(f, NULL, err);
	context_forget(f);
	return rc;
}

int context_save(struct context_file *f, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(delta_release) struct delta delta = {0};
	struct store_op document = {.what = STORE_PUT, .key = f->key};
	char now[CLOCK_TEXT];

	if (!f->doc.changed)
		return context_log(f, err);
	clock_text(f->now, now);
	context_set(&f->doc, "last_updated", str_of(now));
	context_set_count(&f->doc, "revision", (unsigned long)store_revision(f->store) + 1);
	if (context_render(&f->doc, &text, &delta, err) < 0 ||
		context_check(&f->doc, buf_str(&text), err) < 0)
		return -1;
	document.value = buf_str(&text);
	/* It is told from the text as read, which is an older one after the first save. */
	document.delta = f->mod && f->mod == f->read_mod ? &delta : NULL;
	if (context_commit(f, &document, err) < 0)
		return -1;
	f->doc.changed = false;
	return 0;
}

int context_replace(struct context_file *f, struct str text, struct error *err)
{
	struct store_op document = {.what = STORE_PUT, .key = f->key, .value = text};

	return context_commit(f, &document, err);
}

int context_keep(
	struct context_file *f, const char *stem, struct str text, char **path, struct error *err)
{
	char stamp[CLOCK_TEXT];
	char *dir = path_join(&f->doc.arena, f->dir, "logs");
	const json *kept = context_replayed(f, "kept");

	if (kept && json_get_str(kept, "value")) {
		*path = arena_dup(&f->doc.arena, str_of(json_get_str(kept, "value")));
		return 0;
	}
	clock_stamp(f->now, stamp);
	if (f->disk->ops->mkdirs(f->disk, dir, err) < 0)
		return -1;
	for (unsigned i = 1; i < 100000; i++) {
		bool taken;

		*path = arena_printf(&f->doc.arena, "%s/%s-%s-%u.txt", dir, stem, stamp, i);
		if (f->disk->ops->create(f->disk, *path, text, &taken, err) == 0) {
			context_seen(f, "kept", json_string(str_of(*path)));
			return f->disk->ops->sync_folder(f->disk, dir, err);
		}
		if (!taken)
			return -1;
	}
	return error_set(err, ERR_SYSTEM, "no free name left for '%s/%s'", dir, stem);
}
