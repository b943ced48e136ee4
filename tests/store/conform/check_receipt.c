/* Receipts: whether an operation happened can be learned afterwards. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "tests/lib/tap.h"
#include "tests/store/conform/front.h"
#include "tests/store/conform/probe.h"

static void done_once(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t rev = COMMIT(s, .actor = "me", .opid = "op-1", OPS(PUT("a", "1")));

	NEED(COMMIT(s, .actor = "me", .opid = "op-1", OPS(PUT("a", "2"))) == rev);
	NEED_VALUE(s, "a", "1");
	NEED(store_revision(s) == rev);
	NEED(COMMIT(probe_join(p, STORE_WRITE), .actor = "me", .opid = "op-1", OPS(DEL("a"))) ==
		rev);
	s = probe_rejoin(p, s);
	NEED(COMMIT(s, .actor = "me", .opid = "op-1", OPS(PUT("a", "3"))) == rev);
	NEED_VALUE(s, "a", "1");
	NEED(COMMIT(s, .actor = "me", .opid = "op-2", OPS(PUT("a", "4"))) > rev);
	NEED_VALUE(s, "a", "4");
}

static void first_revision(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t rev = COMMIT(s, .actor = "me", .opid = "op-1", OPS(PUT("a", "1")));

	for (int i = 0; i < 5; i++) {
		NEED(probe_put(p, s, "a", "by others") > rev);
		NEED(COMMIT(s, .actor = "me", .opid = "op-1", OPS(PUT("a", "1"))) == rev);
	}
	NEED_VALUE(s, "a", "by others");
}

static void is_a_key(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t rev = COMMIT(s, .actor = "host-1.2", .opid = "an op", OPS(PUT("a", "1")));
	struct listing l = probe_list(p, s, "", NULL, 10);

	NEED_VALUE(s, "rcpt/host-1.2", "an op");
	NEED(probe_get(p, s, "rcpt/host-1.2").mod == rev);
	NEED(str_is(str_of(listing_keys(p, &l)), "a rcpt/host-1.2"));
	rev = COMMIT(s, .actor = "host-1.2", .opid = "another");
	NEED_VALUE(s, "rcpt/host-1.2", "another");
	NEED(probe_get(p, s, "rcpt/host-1.2").mod == rev);
}

static void none_of_what_did_not_happen(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t rev = probe_put(p, s, "a", "1");

	NEED_STATUS(TRY(s, NULL, .actor = "me", .opid = "op", GUARDS(MOD_IS("a", 0)),
			    OPS(PUT("a", "2"))),
		STORE_REFUSED);
	NEED_STATUS(TRY(s, NULL, .actor = "me", .opid = "op", OPS(PUT("a b", "2"))), STORE_BAD);
	NEED_STATUS(TRY(s, NULL, .actor = "me", .opid = "op", .lease = 9, OPS(PUT("a", "2"))),
		STORE_GONE);
	NEED_VALUE(s, "rcpt/me", NULL);
	NEED(COMMIT(s, .actor = "me", .opid = "op", GUARDS(MOD_IS("a", rev)), OPS(PUT("a", "2"))) >
		rev);
	NEED_VALUE(s, "a", "2");
}

static void before_the_guards(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t rev =
		COMMIT(s, .actor = "me", .opid = "op", GUARDS(MOD_IS("a", 0)), OPS(PUT("a", "1")));

	/* The guard does not hold any more, and need not: it is done. */
	NEED(COMMIT(s, .actor = "me", .opid = "op", GUARDS(MOD_IS("a", 0)), OPS(PUT("a", "1"))) ==
		rev);
	NEED_STATUS(TRY(s, NULL, .actor = "you", .opid = "op", GUARDS(MOD_IS("a", 0)),
			    OPS(PUT("a", "1"))),
		STORE_REFUSED);
}

static void one_an_actor(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t a = COMMIT(s, .actor = "a", .opid = "1", OPS(PUT("k", "a")));
	int64_t b = COMMIT(s, .actor = "b", .opid = "1", OPS(PUT("k", "b")));

	NEED(b > a);
	NEED_VALUE(s, "k", "b");
	NEED(COMMIT(s, .actor = "a", .opid = "1", OPS(PUT("k", "a"))) == a);
	NEED(COMMIT(s, .actor = "b", .opid = "1", OPS(PUT("k", "b"))) == b);
	NEED_VALUE(s, "k", "b");
}

static void events_once(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	json *event = json_object();

	p->events = json_array();
	json_put_str(event, "type", STR("tried"));
	json_push(p->events, event);
	for (int i = 0; i < 3; i++)
		COMMIT(s, .actor = "me", .opid = "op", .events = p->events);
	NEED(store_events(s) == 1);
}

/* Every third transaction is not done, every third is done and nobody hears of it. */
static enum store_status lossy_txn(struct store *s, struct arena *a, const struct store_txn *t,
	struct store_result *result, struct error *err)
{
	struct front *f = front_of(s);
	struct store_result unheard = {0};

	if (++f->n % 3 == 1 || store_txn(f->inner, a, t, &unheard, err) != STORE_OK)
		return error_set(err, ERR_SYSTEM, "no answer"), STORE_UNKNOWN;
	*result = unheard;
	return f->n % 3 == 2 ? (error_set(err, ERR_SYSTEM, "no answer"), STORE_UNKNOWN) : STORE_OK;
}

/* The same operation again until something is known. */
static int64_t insist(struct probe *p, struct store *s, const struct store_txn *t)
{
	struct store_result r = {0};

	for (int i = 0; i < 10; i++) {
		enum store_status status = probe_try(p, s, &r, t);

		if (status == STORE_OK)
			return r.rev;
		NEED_STATUS(status, STORE_UNKNOWN);
	}
	MISS("never known");
}

static void lost_replies(struct probe *p)
{
	struct store_ops ops = front_ops;
	struct store *s = probe_join(p, STORE_WRITE);
	struct front front = {.base = {&ops}, .inner = s};

	ops.txn = lossy_txn;
	for (int i = 1; i <= 30; i++) {
		struct store_kv kv = probe_get(p, s, "n");
		int n = probe_number(kv.value);
		int64_t rev = insist(p, &front.base,
			&(struct store_txn){.actor = "me",
				.opid = arena_printf(&p->arena, "op-%d", i),
				OPS(PUT("n", arena_printf(&p->arena, "%d", n + 1)))});

		NEED(probe_get(p, s, "n").mod == rev);
	}
	NEED_VALUE(s, "n", "30");
}

/* What one that is killed leaves to those after it. */
struct will {
	const struct backend *b;
	const char *ns;
	int tried, done;
	int64_t rev;
};

enum { EACH_TIME = 5 };

static bool count(struct store *s, struct arena *a, int n, int64_t *rev)
{
	char *text = arena_printf(a, "%d", n);
	struct store_result r = {0};
	struct error err = {0};
	enum store_status status = store_txn(s, a,
		&(struct store_txn){.actor = "me",
			.opid = text,
			OPS(PUT("n", text), PUT("m", text),
				PUT("doc/D.md", arena_printf(a, "line %*d\n", n, n)))},
		&r, &err);

	*rev = r.rev;
	return status == STORE_OK;
}

/* What else there is to be killed in: none of it may touch what is counted. */
static void around(struct store *s, struct arena *a, int n)
{
	struct store_op op = {.what = STORE_PUT, .key = "leased", .value = STR("x"), .lease = 5};
	struct store_result r = {0};
	struct error err = {0};

	if (n % 4 == 1)
		store_compact(s, store_revision(s), &err);
	else if (n % 4 == 2)
		store_txn(s, a,
			&(struct store_txn){.ops = &op, .n_ops = 1, .lease = 5, .lease_ttl_s = 60},
			&r, &err);
	else if (n % 4 == 3)
		store_revoke(s, 5, &err);
}

static void count_on(void *arg)
{
	CLEANUP(store_close) struct store *s = NULL;
	CLEANUP(arena_release) struct arena a = {0};
	struct will *will = arg;
	struct error err = {0};

	if (will->b->open(will->b, will->ns, STORE_WRITE, &s, &err) < 0)
		return;
	for (int i = 0; i < EACH_TIME; i++) {
		int64_t rev;

		around(s, &a, will->done);
		will->tried = will->done + 1;
		if (!count(s, &a, will->tried, &rev))
			return;
		will->done = will->tried;
		will->rev = rev;
	}
}

static void need_will(struct probe *p, struct will *will)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct store_kv n = probe_get(p, s, "n"), m = probe_get(p, s, "m");
	struct store_kv doc = probe_get(p, s, "doc/D.md"), rcpt = probe_get(p, s, "rcpt/me");
	int got = probe_number(n.value);

	if (got != will->done && got != will->tried)
		MISS("%d is there; %d was acknowledged, %d begun", got, will->done, will->tried);
	NEED(got != will->done || n.mod == will->rev);
	NEED(n.mod == m.mod && n.mod == doc.mod && n.mod == rcpt.mod);
	NEED(str_eq(n.value, m.value) && str_eq(n.value, rcpt.value));
	if (got)
		NEED(str_is(doc.value, arena_printf(&p->arena, "line %*d\n", got, got)));
	NEED(n.mod >= will->rev && store_revision(s) >= n.mod);
	if (will->tried > will->done) {
		int64_t rev;

		NEED(count(s, &p->arena, will->tried, &rev));
		NEED(rev > will->rev && (got == will->done || rev == n.mod));
		will->done = will->tried;
		will->rev = rev;
	}
	NEED_VALUE(s, "n", will->done ? arena_printf(&p->arena, "%d", will->done) : NULL);
	probe_leave(p, s);
}

static void killed(struct probe *p)
{
	struct will *will;
	unsigned n = 0;

	if (!p->b->doom)
		probe_skip(p, "it cannot be killed");
	will = mmap(NULL, sizeof(*will), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (will == MAP_FAILED)
		die("cannot share memory");
	*will = (struct will){.b = p->b, .ns = p->ns};
	/* Left mapped when the check fails: the program ends soon. */
	while (p->b->doom(p->b, ++n, count_on, will))
		need_will(p, will);
	need_will(p, will);
	munmap(will, sizeof(*will));
	if (n < 6)
		MISS("it was killed at %u moments only", n - 1);
}

const struct check receipt_checks[] = {
	{"an operation that comes twice is done once", done_once},
	{"an operation that comes again gets the revision of then", first_revision},
	{"a receipt is a key of the same commit", is_a_key},
	{"there is no receipt of what did not happen", none_of_what_did_not_happen},
	{"a receipt counts before the guards", before_the_guards},
	{"actors do not share receipts", one_an_actor},
	{"events of an operation that comes twice are there once", events_once},
	{"a client that loses replies counts right", lost_replies},
	{"what was acknowledged outlives a kill, and a receipt tells of the rest", killed},
	{NULL, NULL},
};
