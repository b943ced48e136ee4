/*
 * store_rig.h: short forms for tests of the file backend. The store is "T" on `rig.disk`; its
 * document is doc/T.md.
 */
#ifndef DT_TESTS_STORE_RIG_H
#define DT_TESTS_STORE_RIG_H

#include "src/base/clock.h"
#include "tests/model/sim_disk.h"
#include "src/store/store.h"
#include "tests/lib/scratch.h"

#define DIRECTORY "/room"
#define DOC       "doc/T.md"
#define PATH      DIRECTORY "/T.md"
#define STAGED    DIRECTORY "/.T.md.new"
#define JOURNAL   DIRECTORY "/T.events.jsonl"

struct store_rig {
	struct disk *disk;
	struct store *s;
	struct error err;
	struct store_result result;
	struct store *reader;
	struct store_history *history;
};
extern struct store_rig rig;

int store_rig_begin(void **state);
int store_rig_end(void **state);

#define RIG_TEST(name) UNIT_TEST(name, store_rig_begin, store_rig_end)

int try_open(enum store_mode mode);
void open_store(enum store_mode mode);

/* One put, or a deletion when `value` is NULL; more is in *t. */
enum store_status put_in(struct store_txn *t, const char *key, const char *value);

/* Its revision. */
int64_t put(const char *key, const char *value);
struct store_kv get(const char *key);

#define has(key, text)                                                                             \
	do {                                                                                       \
		struct store_kv kv_ = get(key);                                                    \
		assert_true(kv_.mod > 0);                                                          \
		assert_str(kv_.value, text);                                                       \
	} while (0)
#define lacks(key) assert_int_equal(get(key).mod, 0)

const char *file(const char *path);
void file_is(const char *path, const char *text);
bool there(const char *path);

/* Edits by a user. */
void edit(const char *path, const char *text);

/* Reads the whole history: its revisions, with "!" if it ends in damage. */
const char *history(void);
/* Opens it; the next commit must be there. */
void open_history(void);
void next_commit(struct store_commit *c);

#endif
