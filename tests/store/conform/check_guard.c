/* Guards: what must be so for a transaction to happen. */
#include "tests/store/conform/probe.h"

static void mod_is(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t old = probe_put(p, s, "a", "1"), rev = probe_put(p, s, "a", "2");

	NEED_STATUS(TRY(s, NULL, GUARDS(MOD_IS("a", old)), OPS(PUT("a", "3"))), STORE_REFUSED);
	NEED_STATUS(TRY(s, NULL, GUARDS(MOD_IS("a", rev + 1)), OPS(PUT("a", "3"))), STORE_REFUSED);
	NEED_STATUS(TRY(s, NULL, GUARDS(MOD_IS("a", 0)), OPS(PUT("a", "3"))), STORE_REFUSED);
	NEED_VALUE(s, "a", "2");
	COMMIT(s, GUARDS(MOD_IS("a", rev)), OPS(PUT("a", "3")));
	NEED_VALUE(s, "a", "3");
}

static void created_at(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t born = probe_put(p, s, "a", "1"), mod = probe_put(p, s, "a", "2"), again;

	COMMIT(s, GUARDS(CREATED_AT("a", born)), OPS(PUT("b", "1")));
	NEED_STATUS(TRY(s, NULL, GUARDS(CREATED_AT("a", mod)), OPS(DEL("b"))), STORE_REFUSED);
	NEED_STATUS(TRY(s, NULL, GUARDS(CREATED_AT("a", 0)), OPS(DEL("b"))), STORE_REFUSED);
	probe_del(p, s, "a");
	NEED_STATUS(TRY(s, NULL, GUARDS(CREATED_AT("a", born)), OPS(DEL("b"))), STORE_REFUSED);
	again = probe_put(p, s, "a", "3");
	NEED_STATUS(TRY(s, NULL, GUARDS(CREATED_AT("a", born)), OPS(DEL("b"))), STORE_REFUSED);
	NEED_VALUE(s, "b", "1");
	COMMIT(s, GUARDS(CREATED_AT("a", again)), OPS(DEL("b")));
	NEED_VALUE(s, "b", NULL);
}

static void must_be_absent(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);

	COMMIT(s, GUARDS(MOD_IS("a", 0), CREATED_AT("a", 0)), OPS(PUT("a", "1")));
	NEED_STATUS(TRY(s, NULL, GUARDS(MOD_IS("a", 0)), OPS(PUT("a", "2"))), STORE_REFUSED);
	NEED_STATUS(TRY(s, NULL, GUARDS(CREATED_AT("a", 0)), OPS(PUT("a", "2"))), STORE_REFUSED);
	NEED_VALUE(s, "a", "1");
	probe_del(p, s, "a");
	COMMIT(s, GUARDS(CREATED_AT("a", 0), MOD_IS("a", 0)), OPS(PUT("a", "3")));
	NEED_VALUE(s, "a", "3");
}

static void several(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t a = probe_put(p, s, "a", "1"), b = probe_put(p, s, "b", "2");
	struct str all = probe_all(p, s);

	for (int wrong = 0; wrong < 4; wrong++)
		NEED_STATUS(
			TRY(s, NULL,
				GUARDS(MOD_IS("a", a + (wrong == 0)), MOD_IS("b", b + (wrong == 1)),
					CREATED_AT("a", a + (wrong == 2)),
					CREATED_AT("c", wrong == 3)),
				OPS(PUT("a", "x"), DEL("b"), PUT("c", "y"))),
			STORE_REFUSED);
	NEED_UNCHANGED(s, all, b);
	COMMIT(s, GUARDS(MOD_IS("a", a), MOD_IS("b", b), CREATED_AT("a", a), CREATED_AT("c", 0)),
		OPS(PUT("a", "x"), DEL("b"), PUT("c", "y")));
	NEED_VALUE(s, "c", "y");
}

static void refused_is_nothing(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t rev = COMMIT(s, OPS(PUT("a", "1"), PUT("b", "2")));
	struct str all = probe_all(p, s);

	NEED_STATUS(TRY(s, NULL, GUARDS(MOD_IS("b", rev + 1)),
			    OPS(PUT("a", "x"), PUT("c", "y"), DEL("b"), PUT("doc/D.md", "z"))),
		STORE_REFUSED);
	NEED_UNCHANGED(s, all, rev);
	NEED(probe_watch(p, s, "", rev + 1, 10).n == 0);
	s = probe_rejoin(p, s);
	NEED_UNCHANGED(s, all, rev);
}

static void refused_tells(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t b = probe_put(p, s, "b", "bee"), a = probe_put(p, s, "a", "one");
	struct store_result r = {0};

	a = probe_put(p, s, "a", "two");
	NEED_STATUS(TRY(s, &r,
			    GUARDS(MOD_IS("zz", 0), MOD_IS("b", b), MOD_IS("a", 1),
				    CREATED_AT("none", 5)),
			    OPS(PUT("zz", "x"))),
		STORE_REFUSED);
	NEED(r.n_now == 4 && r.now);
	NEED(str_is(r.now[0].key, "zz") && r.now[0].mod == 0 && r.now[0].create == 0);
	NEED(str_is(r.now[1].key, "b") && r.now[1].mod == b && r.now[1].create == b);
	NEED(str_is(r.now[1].value, "bee"));
	NEED(str_is(r.now[2].key, "a") && r.now[2].mod == a && r.now[2].create < a);
	NEED(str_is(r.now[2].value, "two"));
	NEED(str_is(r.now[3].key, "none") && r.now[3].mod == 0);
}

static void own_key(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t rev = 0;

	/* Judged before the operations, whatever these do to the key. */
	rev = COMMIT(s, GUARDS(MOD_IS("a", 0)), OPS(PUT("a", "1"), PUT("b", "1")));
	rev = COMMIT(s, GUARDS(MOD_IS("a", rev), MOD_IS("b", rev)), OPS(DEL("a"), PUT("b", "2")));
	rev = COMMIT(s, GUARDS(MOD_IS("a", 0), MOD_IS("b", rev)), OPS(PUT("a", "3")));
	NEED(probe_get(p, s, "a").mod == rev);
}

static void lost_update(struct probe *p)
{
	struct store *a = probe_join(p, STORE_WRITE), *b = probe_join(p, STORE_WRITE);
	int64_t rev = probe_put(p, a, "n", "1");
	struct store_result r = {0};

	NEED(probe_get(p, a, "n").mod == rev && probe_get(p, b, "n").mod == rev);
	COMMIT(a, GUARDS(MOD_IS("n", rev)), OPS(PUT("n", "2")));
	NEED_STATUS(TRY(b, &r, GUARDS(MOD_IS("n", rev)), OPS(PUT("n", "2"))), STORE_REFUSED);
	NEED(r.n_now == 1 && str_is(r.now[0].value, "2"));
	COMMIT(b, GUARDS(MOD_IS("n", r.now[0].mod)), OPS(PUT("n", "3")));
	NEED_VALUE(a, "n", "3");
}

const struct check guard_checks[] = {
	{"a guard on mod holds for the last change alone", mod_is},
	{"a guard on create holds until the key goes", created_at},
	{"a guard of 0 holds for an absent key alone", must_be_absent},
	{"every guard of several counts", several},
	{"a refused transaction is nothing at all", refused_is_nothing},
	{"a refusal tells the guards' keys as they are, in their order", refused_tells},
	{"guards are judged before the operations", own_key},
	{"no update is lost between two clients", lost_update},
	{NULL, NULL},
};
