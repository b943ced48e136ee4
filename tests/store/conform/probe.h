/*
 * probe.h: the functions of the conformance checks. Each of them ends the check as failed when its
 * condition does not hold, so that a check reads as a list of claims.
 */
#ifndef DT_TESTS_PROBE_H
#define DT_TESTS_PROBE_H

#include <setjmp.h>
#include "tests/store/conform/conformance.h"

enum { PROBE_CLIENTS = 16 };

struct probe {
	const struct backend *b;
	char ns[64];
	struct arena arena;
	struct buf scratch;
	/* For a check's own use: its resources are not released when the check fails. */
	struct buf text;
	struct delta delta;
	json *events;
	struct store *clients[PROBE_CLIENTS];
	unsigned *met; /* in a forked process: the total number of meetings */
	bool skipped;
	char why[512];
	jmp_buf out;
};

/* A check, its name a claim. */
struct check {
	const char *name;
	void (*run)(struct probe *p, struct store *s);
	bool alone;
	struct check *next;
};
void probe_register(struct check *c);

/* Begins the definition of a check that gets a client of its store for writing. */
#define CHECK(name, claim) PROBE_CHECK(name, claim, false)
/* The same, but `s` is NULL: the store has not been opened yet. */
#define CHECK_ALONE(name, claim) PROBE_CHECK(name, claim, true)
#define PROBE_CHECK(name, claim, is_alone)                                                         \
	static void name(struct probe *p, struct store *s);                                        \
	static struct check name##_check = {claim, name, is_alone, NULL};                          \
	__attribute__((constructor)) static void name##_register(void)                             \
	{                                                                                          \
		probe_register(&name##_check);                                                     \
	}                                                                                          \
	static void name(                                                                          \
		__attribute__((unused)) struct probe *p, __attribute__((unused)) struct store *s)

_Noreturn void probe_miss(struct probe *p, const char *file, int line, const char *fmt, ...)
	PRINTF(4, 5);
_Noreturn void probe_skip(struct probe *p, const char *why);
#define MISS(...) probe_miss(p, __FILE__, __LINE__, __VA_ARGS__)
#define NEED(cond)                                                                                 \
	do {                                                                                       \
		if (!(cond))                                                                       \
			MISS("%s", #cond);                                                         \
	} while (0)
/* The rest are macros, because they report the line of the check. */
#define NEED_STATUS(got, want) probe_status(p, __FILE__, __LINE__, got, want)
void probe_status(
	struct probe *p, const char *file, int line, enum store_status got, enum store_status want);

/* A client of the check's store, until the check ends or probe_leave(). */
struct store *probe_join(struct probe *p, enum store_mode mode);
void probe_leave(struct probe *p, struct store *s);
/* Leaves and joins again for writing. */
struct store *probe_rejoin(struct probe *p, struct store *s);

#define PUT(k, v)                                                                                  \
	{                                                                                          \
		.what = STORE_PUT, .key = (k), .value = str_of(v)                                  \
	}
#define PUT_LEASED(k, v, ttl)                                                                      \
	{                                                                                          \
		.what = STORE_PUT, .key = (k), .value = str_of(v), .ttl_s = (ttl)                  \
	}
#define DEL(k)                                                                                     \
	{                                                                                          \
		.what = STORE_DEL, .key = (k)                                                      \
	}
#define MOD_IS(k, r)                                                                               \
	{                                                                                          \
		.key = (k), .what = STORE_MOD_IS, .rev = (r)                                       \
	}
#define CREATED_AT(k, r)                                                                           \
	{                                                                                          \
		.key = (k), .what = STORE_CREATED_AT, .rev = (r)                                   \
	}
/* Members of a struct store_txn. */
#define OPS(...)                                                                                   \
	.ops = (const struct store_op[]){__VA_ARGS__},                                             \
	.n_ops = sizeof((const struct store_op[]){__VA_ARGS__}) / sizeof(struct store_op)
#define GUARDS(...)                                                                                \
	.guards = (const struct store_guard[]){__VA_ARGS__},                                       \
	.n_guards = sizeof((const struct store_guard[]){__VA_ARGS__}) / sizeof(struct store_guard)

/* Must commit; returns the revision. */
#define COMMIT(s, ...) probe_commit(p, __FILE__, __LINE__, s, &(struct store_txn){__VA_ARGS__})
/* Any outcome; the result, if the check wants it, in *r. */
#define TRY(s, r, ...) probe_try(p, s, r, &(struct store_txn){__VA_ARGS__})
/* Must be refused: it breaks a limit, or a guard does not hold. */
#define NEED_BAD(s, ...)     NEED_STATUS(TRY(s, NULL, __VA_ARGS__), STORE_BAD)
#define NEED_REFUSED(s, ...) NEED_STATUS(TRY(s, NULL, __VA_ARGS__), STORE_REFUSED)
int64_t probe_commit(
	struct probe *p, const char *file, int line, struct store *s, const struct store_txn *t);
enum store_status probe_try(
	struct probe *p, struct store *s, struct store_result *r, const struct store_txn *t);
int64_t probe_put(struct probe *p, struct store *s, const char *key, const char *value);
int64_t probe_put_text(struct probe *p, struct store *s, const char *key, struct str value);
int64_t probe_del(struct probe *p, struct store *s, const char *key);

struct store_kv probe_get(struct probe *p, struct store *s, const char *key);
#define NEED_VALUE(s, key, value) probe_value(p, __FILE__, __LINE__, s, key, value)
/* value NULL: the key must not exist. */
void probe_value(struct probe *p, const char *file, int line, struct store *s, const char *key,
	const char *value);

struct listing {
	struct store_kv *kv;
	size_t n;
	int64_t at;
};
struct listing probe_list(
	struct probe *p, struct store *s, const char *prefix, const char *after, size_t max);
/* The keys, with a blank between them. */
const char *listing_keys(struct probe *p, const struct listing *l);
/* The expected result of a list with these arguments. */
#define NEED_KEYS(text, ...)                                                                       \
	do {                                                                                       \
		struct listing list_ = probe_list(p, __VA_ARGS__);                                 \
		NEED(str_is(str_of(listing_keys(p, &list_)), text));                               \
	} while (0)

struct sight {
	struct store_change *change;
	size_t n;
	int64_t next;
};
struct sight probe_watch(
	struct probe *p, struct store *s, const char *prefix, int64_t from, size_t max);
/* `key=value` or `-key` for each change, sorted by key within a commit, `|` between two. */
const char *sight_text(struct probe *p, const struct sight *w);
/* The expected result of a watch with these arguments. */
#define NEED_CHANGES(text, ...)                                                                    \
	do {                                                                                       \
		struct sight sight_ = probe_watch(p, __VA_ARGS__);                                 \
		NEED_SIGHT(sight_, text);                                                          \
	} while (0)
#define NEED_SIGHT(w, text)                                                                        \
	do {                                                                                       \
		const char *seen_ = sight_text(p, &(w));                                           \
		if (!str_is(str_of(seen_), text))                                                  \
			MISS("seen: %s, not: %s", seen_, text);                                    \
	} while (0)

void probe_later(struct probe *p, int64_t seconds);
/* Edits the document D.md as a user does; NULL: removes it. */
void probe_by_hand(struct probe *p, const struct str *text);

/* All keys with their attributes, and the number of events. */
struct str probe_all(struct probe *p, struct store *s);
/* Nothing may have changed, including the revision. */
#define NEED_UNCHANGED(s, before, rev)                                                             \
	do {                                                                                       \
		NEED(str_eq(probe_all(p, s), before));                                             \
		NEED(store_revision(s) == (rev));                                                  \
	} while (0)

/* The digits that it begins with. */
int probe_number(struct str s);
/* n bytes of `c`, NUL-ended. */
char *probe_bytes(struct probe *p, size_t n, char c);
/* Adds one to the number at `key` as a client does: reads, writes with a guard, repeats when
 * refused. False on any other result. */
bool probe_add(struct store *s, struct arena *a, const char *key, int *tries);
/* Runs f(p, i) in n processes, each with its own open of the check's store; all must return. */
/* In such a process: waits for a total of `times` meetings, but not for ever: a process may have
 * failed. */
void probe_meet(struct probe *p, unsigned times);
void probe_fork(struct probe *p, unsigned n, void (*f)(struct probe *p, unsigned i));

#endif
