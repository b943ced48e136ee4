#include "tests/lib/store_rig.h"

struct store_rig rig;

static void close_history(void)
{
	store_history_close(&rig.history);
	store_close(&rig.reader);
}

int store_rig_begin(void **state)
{
	(void)state;
	clock_fix(1800000000);
	memset(&rig, 0, sizeof(rig));
	rig.disk = sim_disk_new(1);
	return 0;
}

int store_rig_end(void **state)
{
	close_history();
	store_close(&rig.s);
	sim_disk_free(&rig.disk);
	clock_fix(-1);
	return arena_end(state);
}

int try_open(enum store_mode mode)
{
	store_close(&rig.s);
	return store_open(&rig.s, store_files(rig.disk), DIRECTORY, "T", mode, 0, &rig.err);
}

void open_store(enum store_mode mode)
{
	int rc = try_open(mode);

	if (rc < 0)
		fail_msg("%s", rig.err.text);
}

enum store_status put_in(struct store_txn *t, const char *key, const char *value)
{
	struct store_op op = {
		.what = value ? STORE_PUT : STORE_DEL, .key = key, .value = str_of(value)};

	t->ops = &op;
	t->n_ops = key != NULL;
	return store_txn(rig.s, &arena, t, &rig.result, &rig.err);
}

int64_t put(const char *key, const char *value)
{
	struct store_txn t = {0};
	enum store_status got = put_in(&t, key, value);

	if (got != STORE_OK)
		fail_msg("%d: %s", got, rig.err.text);
	return rig.result.rev;
}

struct store_kv get(const char *key)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct store_kv kv;
	bool document = strncmp(key, "doc/", 4) == 0;
	enum store_status got = document ? store_get_document(rig.s, key, &text, &kv, &rig.err)
					 : store_get(rig.s, &arena, key, &kv, &rig.err);

	if (got != STORE_OK)
		fail_msg("%d: %s", got, rig.err.text);
	if (document)
		kv.value = arena_str(&arena, buf_str(&text));
	return kv;
}

const char *file(const char *path)
{
	struct buf b = BUF_INIT;
	const char *text = NULL;

	if (sim_disk_get(rig.disk, path, &b))
		text = arena_dup(&arena, buf_str(&b));
	buf_release(&b);
	return text;
}

void file_is(const char *path, const char *text)
{
	const char *is = file(path);

	if (!is)
		fail_msg("there is no '%s'", path);
	assert_string_equal(is, text);
}

bool there(const char *path)
{
	return file(path) != NULL;
}

void edit(const char *path, const char *text)
{
	sim_disk_put(rig.disk, path, str_of(text));
}

static int try_history(void)
{
	close_history();
	if (store_open(&rig.reader, store_files(rig.disk), DIRECTORY, "T", STORE_HISTORY, 0,
		    &rig.err) < 0)
		return -1;
	assert_int_equal(store_history(rig.reader, &(struct store_range){.texts = true},
				 &rig.history, &rig.err),
		STORE_OK);
	return 0;
}

void open_history(void)
{
	assert_int_equal(try_history(), 0);
}

void next_commit(struct store_commit *c)
{
	assert_int_equal(store_history_next(rig.history, c, &rig.err), 1);
}

const char *history(void)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	struct store_commit c;
	int got;

	if (try_history() < 0)
		return "?";
	while ((got = store_history_next(rig.history, &c, &rig.err)) == 1) {
		buf_addf(&b, "%s%lld", b.len ? " " : "", (long long)c.rev);
		if (c.document)
			buf_addf(&b, "=%.*s", (int)(c.removed ? 1 : c.text.n),
				c.removed ? "-" : c.text.p);
	}
	buf_adds(&b, got < 0 ? "!" : "");
	close_history();
	return arena_dup(&arena, buf_str(&b));
}
