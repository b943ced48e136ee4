/* file.c: a document in its store: open, change, save. */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include "context/file.h"
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/sys/path.h"

#define ATTEMPTS_KEY "attempts"

enum {
	/* 200 writers of one file finish well within it, even on a disk whose fsync takes 50 ms. */
	LOCK_WAIT_MS = 30000,
	UPDATES = 4, /* attempts to save a change, and as many more as that time allows */
};

static int file_set_path(struct context_file *f, const char *path, struct error *err)
{
	struct arena *a = &f->arena;
	struct str base = path_base(path);

	if (str_utf8_fault(str_of(path)))
		return error_set(err, ERR_USAGE, "the path of the context file is not UTF-8");
	if (!base.n || strlen(path) > PATH_MAX - 64 || base.n > NAME_MAX - 32)
		return error_set(err, ERR_USAGE, "'%.200s' is not a file name", path);
	f->path = arena_dup(a, str_of(path));
	f->dir = arena_dup(a, path_dir(path));
	f->name = arena_dup(a, str_ends(base, ".md") ? str_sub(base, 0, base.n - 3) : base);
	f->key = arena_printf(a, "doc/%.*s", (int)base.n, base.p);
	return 0;
}

/* A failed lookup does not mean "missing": another name would be another work item. */
static bool file_is_fault(int error)
{
	return path_is_fault(error) || error == ELOOP;
}

/* What a chain of symbolic links leads to, whether that exists or not. realpath() refuses a circle
 * before. */
static const char *link_target(struct context_file *f, const char *path)
{
	char target[PATH_MAX];
	ssize_t n;

	while ((n = readlink(path, target, sizeof(target) - 1)) > 0) {
		target[n] = '\0';
		path = path_join(&f->arena, arena_dup(&f->arena, path_dir(path)), target);
	}
	return path;
}

/* A symbolic link is resolved, so that its target is replaced or created. A document that does not
 * exist yet gets the name that it will have then, so that printed paths never change. */
static int set_names(struct context_file *f, const char *path, struct error *err)
{
	char real[PATH_MAX];

	if (f->backend != store_backend())
		return file_set_path(f, path, err);
	if (realpath(path, real)) {
		if (path_is_directory(real)) /* before a lock and a journal are made next to it */
			return error_set(err, ERR_INPUT, "'%s' is not a regular file", real);
		return file_set_path(f, real, err);
	}
	if (file_is_fault(errno))
		return error_errno(err, "cannot look for '%s'", path);
	if (file_set_path(f, link_target(f, path_absolute(&f->arena, path)), err) < 0)
		return -1;
	if (f->mode == CONTEXT_MAY_CREATE && store_prepare(f->backend, f->dir, err) < 0)
		return -1;
	if (!realpath(f->dir, real))
		return file_is_fault(errno) ? error_errno(err, "cannot look for '%s'", f->dir) : 0;
	return file_set_path(f, path_join(&f->arena, real, path_base(f->path).p), err);
}

/* ---- commits ---- */

/* The operation with the number of this save and its inputs so far. */
static json *file_note_of(const struct context_file *f)
{
	if (!f->op)
		return NULL;
	return JSON_ADD(json_copy(f->op), JSON_INT("part", f->saves + 1),
		JSON_IF(json_first(f->seen), JSON_VALUE("seen", json_copy(f->seen))),
		JSON_TEXT("by", DEV_TEAM_VERSION));
}

/* The guards of the next commit: f itself has changed these keys. */
static void follow_keys(struct context_file *f, int64_t rev)
{
	for (size_t i = 0; i < f->ops.n; i++)
		for (size_t j = 0; j < f->read.n; j++)
			if (strcmp(f->ops.items[i].key, f->read.items[j].key) == 0)
				f->read.items[j].rev = f->ops.items[i].what == STORE_PUT ? rev : 0;
}

static int file_commit(struct context_file *f, const struct store_op *document, struct error *err)
{
	CLEANUP(json_free) json *note = file_note_of(f);
	char ts[CLOCK_TEXT];
	struct store_result result;
	size_t known = f->read.n, keys = f->ops.n;
	struct store_txn t = {.events = f->events, .note = note, .ts = ts};
	enum store_status got;

	clock_text(f->now, ts);
	if (document || keys)
		vec_push(&f->read, (struct store_guard){f->key, STORE_MOD_IS, f->mod});
	/* A renewal depends on the holder. Events alone depend on nothing and are never refused. */
	if (document || keys || f->lease) {
		t.guards = f->read.items;
		t.n_guards = f->read.n;
	}
	if (f->lease)
		vec_push(&f->ops, (struct store_op){.key = CONTEXT_LEASE_KEY,
					  .value = str_of(arena_printf(
						  &f->doc.arena, "%lld", (long long)f->lease)),
					  .ttl_s = f->lease_ttl_s});
	if (document)
		vec_push(&f->ops, *document);
	t.ops = f->ops.items;
	t.n_ops = f->ops.n;
	got = store_txn(f->store, &f->doc.arena, &t, &result, err);
	f->read.n = known;
	f->ops.n = keys;
	f->refused = got == STORE_REFUSED;
	if (f->refused)
		return error_set(err, ERR_STATE, "'%s' was changed meanwhile", f->path);
	if (got != STORE_OK)
		return -1;
	follow_keys(f, result.rev);
	context_forget(f);
	f->saves++;
	if (document)
		f->mod = result.rev;
	return 0;
}

/* A document without a journal becomes the first commit of a new one. */
static int import(struct context_file *f, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool missing;
	int rc;

	if (store_read_file(f->backend, f->dir, f->key + strlen("doc/"), &text, &missing, err) < 0)
		return missing ? 0 : -1;
	json_put_str(context_op(f, "import"), "file", path_base(f->path));
	rc = context_replace(f, buf_str(&text), err);
	json_free(&f->op);
	return rc;
}

/* ---- open ---- */

/* A document that was restored, removed or edited by hand may have lost action numbers that are in
 * use, so the store has them too. */
static int file_recall(struct context_file *f, struct error *err)
{
	struct str known;

	if (context_get_key(f, ATTEMPTS_KEY, &known, err) < 0)
		return -1;
	f->attempts = arena_str(&f->arena, known);
	context_raise_attempts(&f->doc, known);
	return 0;
}

int context_create(struct context_file *f, const char *id, const char *state, struct error *err)
{
	char now[CLOCK_TEXT];

	clock_text(f->now, now);
	context_release(&f->doc);
	return context_new(&f->doc, f->path, id, state, now, err) < 0 ? -1 : file_recall(f, err);
}

/* A context_visit. */
static bool note_history(const json *event, void *data)
{
	(void)event;
	*(bool *)data = true;
	return false;
}

/* `; to DO: dev-team context restore FILE` */
static void add_restore(const struct context_file *f, const char *what, struct error *err)
{
	CLEANUP(buf_release) struct buf command = BUF_INIT;
	size_t n = strlen(err->text);

	buf_add_argument(&command, "dev-team context restore ", f->path);
	(void)snprintf(err->text + n, sizeof(err->text) - n, "; to %s: %s", what, command.s);
}

bool context_is_lost(const struct context_file *f, struct error *err)
{
	bool begun = false;

	context_each_event(f, "", note_history, &begun);
	if (begun) {
		error_set(err, ERR_STATE, "no context file '%s', although its history is there",
			f->path);
		add_restore(f, "put it back", err);
	}
	return begun;
}

static int no_file(const struct context_file *f, struct error *err)
{
	return context_is_lost(f, err) ? -1
				       : error_set(err, ERR_INPUT, "no context file '%s'", f->path);
}

int context_read(struct store_backend *b, const char *path, struct buf *out, bool *missing,
	struct error *err)
{
	CLEANUP(context_close) struct context_file f = {.backend = b};
	struct store_kv kv;

	if (file_set_path(&f, path, err) < 0)
		return -1;
	if (store_open(&f.store, b, f.dir, f.name, STORE_READ, 0, err) < 0) {
		/* a damaged journal does not keep readers from the document */
		if (err->code != ERR_INPUT ||
			(store_read_file(b, f.dir, f.key + strlen("doc/"), out, missing, err) < 0 &&
				!*missing))
			return -1;
		return 0;
	}
	if (store_get_document(f.store, f.key, out, &kv, err) != STORE_OK)
		return -1;
	*missing = !kv.mod;
	return 0;
}

/* The document has a fault. Adds how to undo the edit by hand, if it was one. */
static int file_broken(struct context_file *f, bool edited, struct error *err)
{
	if (f->store && err->code == ERR_INPUT && edited && !f->doc.other_format)
		add_restore(f, "undo the edit", err);
	if (f->mode != CONTEXT_REPLACE)
		return -1;
	context_release(&f->doc);
	*err = (struct error){0};
	return 0;
}

static int file_load(struct context_file *f, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct store_kv kv = {0};

	if (!f->store && context_read(f->backend, f->path, &text, &f->created, err) < 0)
		return -1;
	if (f->store) {
		if (store_get_document(f->store, f->key, &text, &kv, err) != STORE_OK)
			return -1;
		f->mod = f->read_mod = kv.mod;
		f->created = !f->mod;
	}
	if (f->created)
		return f->mode == CONTEXT_MAY_CREATE || f->mode == CONTEXT_REPLACE
			       ? 0
			       : no_file(f, err);
	context_release(&f->doc);
	if (context_parse_buf(&f->doc, f->path, &text, err) < 0)
		return file_broken(f, kv.create < kv.mod, err);
	return f->store ? file_recall(f, err) : 0;
}

static unsigned lock_wait_ms(void)
{
	return (unsigned)number_env("DEV_TEAM_LOCK_WAIT_MS", 3600000, LOCK_WAIT_MS);
}

int context_open_on(struct context_file *f, struct store_backend *b, const char *path,
	enum context_mode mode, struct error *err)
{
	bool there = true;

	*f = (struct context_file){.backend = b,
		.mode = mode,
		.events = json_array(),
		.seen = json_array(),
		.now = clock_now()};
	if (set_names(f, path, err) < 0)
		return -1;
	if (mode == CONTEXT_READ_ONLY)
		return file_load(f, err);
	if (mode == CONTEXT_MUST_EXIST &&
		store_exists(b, f->dir, f->name, f->key + strlen("doc/"), &there, err) < 0)
		return -1;
	if (!there) /* not even a journal, which is enough after a kill */
		return no_file(f, err);
	if (store_open(&f->store, b, f->dir, f->name, STORE_HOLD, lock_wait_ms(), err) < 0)
		return -1;
	f->now = clock_now();
	if (!store_revision(f->store) && import(f, err) < 0)
		return -1;
	return file_load(f, err);
}

int context_open(
	struct context_file *f, const char *path, enum context_mode mode, struct error *err)
{
	return context_open_on(f, store_backend(), path, mode, err);
}

int context_reopen(struct context_file *f, struct error *err)
{
	struct context_file old = *f;
	int rc;

	*f = (struct context_file){.backend = old.backend,
		.mode = old.mode,
		.store = old.store,
		.events = json_array(),
		.seen = json_array(),
		.now = clock_now()};
	rc = file_set_path(f, old.path, err);
	old.store = NULL;
	context_close(&old);
	return rc < 0 ? -1 : file_load(f, err);
}

bool context_has_fault(const struct context_file *f, const struct error *err)
{
	return err->code == ERR_INPUT && err->line && strcmp(err->file, f->path) == 0;
}

int context_update(struct context_file *f, context_change *change, void *data, struct error *err)
{
	CLEANUP(json_free) json *events = json_copy(f->events);
	int64_t begin = clock_ticks();
	int rc;

	for (int n = 1;; n++) {
		f->refused = false;
		rc = change(f, data, err);
		if (rc == 0 || !f->refused)
			return rc;
		if (n >= UPDATES && clock_ticks() >= begin + lock_wait_ms())
			return error_set(err, ERR_STATE,
				"'%s' was changed during each of %d attempts to save it: run the "
				"same command again",
				f->path, n);
		*err = (struct error){0};
		if (context_reopen(f, err) < 0)
			return -1;
		json_free(&f->events);
		f->events = json_copy(events);
	}
}

void context_close(struct context_file *f)
{
	store_close(&f->store);
	json_free(&f->events);
	json_free(&f->op);
	json_free(&f->seen);
	vec_release(&f->ops);
	vec_release(&f->read);
	context_release(&f->doc);
	arena_release(&f->arena);
}

void context_note(struct context_file *f, const char *what)
{
	if (f->store)
		store_note(f->store, what);
}

/* ---- operations, events and keys ---- */

json *context_op(struct context_file *f, const char *name)
{
	json_free(&f->op);
	json_free(&f->seen);
	f->seen = json_array();
	f->saves = 0;
	f->op = JSON_OBJECT(JSON_TEXT("op", name), JSON_TIME("at", f->now));
	return f->op;
}

void context_seen(struct context_file *f, const char *what, json *value)
{
	f->now = clock_now();
	json_push(f->seen,
		JSON_OBJECT(JSON_TEXT("what", what), JSON_IF(value, JSON_VALUE("value", value)),
			JSON_TIME("at", f->now)));
}

json *context_event(struct context_file *f, const char *type)
{
	json *event = JSON_OBJECT(JSON_TIME("ts", f->now), JSON_TEXT("type", type));

	json_push(f->events, event);
	return event;
}

/* What the next save does to the key; NULL: nothing. */
static struct store_op *pending_op(const struct context_file *f, const char *key)
{
	for (size_t i = 0; i < f->ops.n; i++)
		if (strcmp(f->ops.items[i].key, key) == 0)
			return &f->ops.items[i];
	return NULL;
}

void context_put_key(struct context_file *f, const char *key, struct str value)
{
	struct arena *a = &f->doc.arena;
	struct store_op *pending = pending_op(f, key),
			op = {.what = value.n ? STORE_PUT : STORE_DEL,
				.key = arena_dup(a, str_of(key)),
				.value = arena_str(a, value)};

	if (pending)
		*pending = op;
	else
		vec_push(&f->ops, op);
}

static bool was_read(const struct context_file *f, const char *key)
{
	for (size_t i = 0; i < f->read.n; i++)
		if (strcmp(f->read.items[i].key, key) == 0)
			return true;
	return false;
}

int context_open_keys(struct context_file *f, struct error *err)
{
	return f->store ? 0
			: store_open(&f->store, f->backend, f->dir, f->name, STORE_READ, 0, err);
}

int context_read_counts(struct context_file *f, struct error *err)
{
	return context_open_keys(f, err) < 0 ? -1 : file_recall(f, err);
}

int context_get_key(struct context_file *f, const char *key, struct str *value, struct error *err)
{
	const struct store_op *pending = pending_op(f, key);
	struct store_kv kv = {0};

	if (!pending && f->store && store_get(f->store, &f->doc.arena, key, &kv, err) != STORE_OK)
		return -1;
	if (!pending && !was_read(f, key))
		vec_push(&f->read, (struct store_guard){arena_dup(&f->arena, str_of(key)),
					   STORE_MOD_IS, kv.mod});
	*value = pending ? pending->value : kv.mod ? kv.value : (struct str){"", 0};
	return 0;
}

int context_get_json(struct context_file *f, const char *key, json **out, struct error *err)
{
	struct str value;

	json_free(out);
	if (context_get_key(f, key, &value, err) < 0)
		return -1;
	return value.n && json_parse(out, value, err) < 0
		       ? error_prefix(err, "key '%s' of '%s'", key, f->path)
		       : 0;
}

void context_put_json(struct context_file *f, const char *key, const json *value)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	json_print(&text, value);
	context_put_key(f, key, buf_str(&text));
}

void context_forget(struct context_file *f)
{
	json_free(&f->events);
	f->events = json_array();
	f->ops.n = 0;
}

int context_log(struct context_file *f, struct error *err)
{
	int rc = json_first(f->events) || f->ops.n || f->lease ? file_commit(f, NULL, err) : 0;

	context_forget(f);
	return rc;
}

static void note_attempts(struct context_file *f)
{
	CLEANUP(buf_release) struct buf now = BUF_INIT;

	if (str_eq(context_get(&f->doc, "attempts"), f->attempts))
		return;
	context_attempts_text(&f->doc, &now);
	if (str_is(buf_str(&now), "{}") || str_eq(buf_str(&now), f->attempts) ||
		now.len > STORE_VALUE_MAX)
		return;
	f->attempts = arena_str(&f->arena, buf_str(&now));
	context_put_key(f, ATTEMPTS_KEY, f->attempts);
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
	note_attempts(f);
	if (context_render(&f->doc, &text, &delta, err) < 0 ||
		context_check(&f->doc, buf_str(&text), err) < 0)
		return -1;
	document.value = buf_str(&text);
	/* The delta is from the text as read, which is outdated after the first save. */
	document.delta = f->mod && f->mod == f->read_mod ? &delta : NULL;
	if (file_commit(f, &document, err) < 0)
		return -1;
	f->doc.changed = false;
	return 0;
}

int context_replace(struct context_file *f, struct str text, struct error *err)
{
	return file_commit(
		f, &(struct store_op){.what = STORE_PUT, .key = f->key, .value = text}, err);
}

int context_revert(struct context_file *f, struct str text, struct error *err)
{
	context_release(&f->doc);
	f->read_mod = 0; /* so that no delta is made from it */
	if (context_parse(&f->doc, f->path, text, err) < 0 || file_recall(f, err) < 0)
		return -1;
	f->doc.changed = true;
	return 0;
}

int context_keep(
	struct context_file *f, const char *stem, struct str text, char **path, struct error *err)
{
	char *full;

	if (store_keep_blob(f->backend, &f->doc.arena, path_join(&f->doc.arena, f->dir, "logs"),
		    stem, text, &full, err) < 0)
		return -1;
	*path = arena_printf(&f->doc.arena, "logs/%s", path_base(full).p);
	return 0;
}

/* ---- earlier events ---- */

static bool visit_commit(
	const struct store_commit *c, const char *mark, context_visit *visit, void *data)
{
	CLEANUP(json_free) json *events = json_array();
	struct str rest = c->events;
	json *event;
	bool more = true;

	while ((event = store_next_event(&rest, mark)))
		json_push(events, event);
	for (size_t i = json_len(events); i-- && more;)
		more = visit(json_at(events, i), data);
	return more;
}

int context_read_events(const struct context_file *f, const char *mark, context_visit *visit,
	void *data, struct error *err)
{
	CLEANUP(store_close) struct store *own = NULL;
	CLEANUP(store_history_close) struct store_history *h = NULL;
	struct store_commit c;
	int rc;

	if (!f->store && store_open(&own, f->backend, f->dir, f->name, STORE_HISTORY, 0, err) < 0)
		return -1;
	if (store_history(f->store ? f->store : own, &(struct store_range){.backwards = true}, &h,
		    err) != STORE_OK)
		return -1;
	while ((rc = store_history_next(h, &c, err)) > 0 && visit_commit(&c, mark, visit, data))
		;
	return rc < 0 ? -1 : 0;
}

void context_each_event(
	const struct context_file *f, const char *mark, context_visit *visit, void *data)
{
	struct error ignored;

	(void)context_read_events(f, mark, visit, data, &ignored);
}

/* ---- keys that people set ---- */

enum { NOTED_MAX = 4096, SHOWN_MAX = 200 };

struct setting {
	const char *key;
	struct str value;
};

/* A context_change. */
static int file_set_key(struct context_file *f, void *data, struct error *err)
{
	const char *key = ((const struct setting *)data)->key;
	struct str value = ((const struct setting *)data)->value;

	if (value.n && strcmp(key, "troubleshooter_input") == 0 &&
		!context_get(&f->doc, "question").n)
		return error_set(err, ERR_STATE,
			"no question is open in '%s', so there is nothing to answer; what the "
			"agents should know goes into 'user_note'",
			f->path);
	/* A long value is left out: it is in the document that is saved with the operation. */
	JSON_ADD(context_op(f, "set"), JSON_TEXT("key", key),
		JSON_IF(value.n <= NOTED_MAX, JSON_TEXT("value", value.p)));
	context_set(&f->doc, key, value);
	if (!f->doc.changed)
		return 0;
	json_put_texts(context_event(f, "set"), "key", key, "value",
		value.n > SHOWN_MAX ? "(long)" : value.p);
	return context_save(f, err);
}

int context_set_key(struct context_file *f, const char *key, struct str value, struct error *err)
{
	return context_update(f, file_set_key, &(struct setting){key, value}, err);
}

/* ---- the state directory ---- */

int context_state_directory(struct arena *a, char **path, struct error *err)
{
	const char *base = getenv("DEV_TEAM_STATE_DIR"), *home = getenv("HOME");

	if (base && *base)
		*path = path_absolute(a, base);
	else if (home && home[0] == '/')
		*path = path_join(a, home, ".dev-team");
	else
		return error_set(err, ERR_STATE,
			"no state directory: neither DEV_TEAM_STATE_DIR nor HOME is set");
	return 0;
}

int context_path(struct arena *a, const char *slug, const char *id, char **path, struct error *err)
{
	char *base;

	if (path_check_id(id, err) < 0)
		return -1;
	if (!path_is_slug(str_of(slug)))
		return error_set(err, ERR_STATE, "bad repository slug '%.120s'", slug);
	if (context_state_directory(a, &base, err) < 0)
		return -1;
	*path = arena_printf(a, "%s/%s/%s.md", base, slug, id);
	return 0;
}
