/* Checks of leases, of their keys, and of several clients at once. */
#include <stdlib.h>
#include "src/base/clock.h"
#include "tests/store/conform/probe.h"

/* ---- the length of leases, by the engine's clock alone ---- */

static enum store_status renew(struct probe *p, struct store *s, const char *key, int64_t fence)
{
	return TRY(s, NULL, GUARDS(CREATED_AT(key, fence)), OPS(PUT_LEASED(key, "renewed", 60)));
}

CHECK(to_the_end, "a lease lasts to its end")
{
	int64_t now = clock_now(), rev = COMMIT(s, OPS(PUT_LEASED("a", "1", 60), PUT("b", "1")));

	NEED(probe_get(p, s, "a").until == now + 60 && probe_get(p, s, "a").ttl_s == 60);
	NEED(probe_get(p, s, "b").until == 0 && probe_get(p, s, "b").ttl_s == 0);
	probe_later(p, 59);
	NEED_VALUE(s, "a", "1");
	probe_put(p, s, "b", "2");
	s = probe_rejoin(p, s);
	NEED_VALUE(s, "a", "1");
	NEED(probe_get(p, s, "a").until == now + 60);
	COMMIT(s, GUARDS(CREATED_AT("a", rev)), OPS(PUT("b", "3")));
}

CHECK(not_beyond, "a lease does not last beyond its end")
{
	int64_t rev = COMMIT(s, OPS(PUT_LEASED("a", "1", 60)));

	probe_later(p, 60);
	NEED_VALUE(s, "a", NULL);
	NEED_REFUSED(s, GUARDS(CREATED_AT("a", rev)), OPS(PUT("b", "2")));
	for (int i = 0; i < 3; i++) {
		NEED_STATUS(renew(p, s, "a", rev), STORE_REFUSED);
		s = probe_rejoin(p, s);
	}
	NEED_VALUE(s, "a", NULL);
	NEED_VALUE(s, "b", NULL);
}

CHECK(renewed, "a renewed lease lasts its whole time again")
{
	int64_t now = clock_now(), rev = COMMIT(s, OPS(PUT_LEASED("a", "1", 60)));

	for (int i = 1; i <= 5; i++) {
		probe_later(p, 50);
		NEED_STATUS(renew(p, s, "a", rev), STORE_OK);
		NEED(probe_get(p, s, "a").until == now + i * 50 + 60);
		if (i % 2)
			s = probe_rejoin(p, s);
	}
	NEED(probe_get(p, s, "a").create == rev);
	COMMIT(s, OPS(PUT_LEASED("a", "longer", 100)));
	NEED(probe_get(p, s, "a").until == now + 350);
	probe_later(p, 101);
	NEED_VALUE(s, "a", NULL);
	NEED_STATUS(renew(p, s, "a", rev), STORE_REFUSED);
}

CHECK(looks_change_nothing, "looking at a lease does not renew it")
{
	int64_t rev = COMMIT(s, OPS(PUT_LEASED("a", "1", 60))), until = probe_get(p, s, "a").until;

	probe_later(p, 20);
	NEED(probe_get(p, s, "a").until == until);
	NEED(probe_list(p, s, "", NULL, 9).kv[0].until == until);
	NEED(probe_get(p, probe_join(p, STORE_READ), "a").until == until);
	NEED(store_revision(s) == rev);
}

CHECK(let_go_of, "a key put again without a time to live stays")
{
	COMMIT(s, OPS(PUT_LEASED("a", "1", 60), PUT_LEASED("b", "1", 60), PUT_LEASED("c", "1", 60),
			  PUT("d", "1")));
	COMMIT(s, OPS(PUT("a", "2"), PUT_LEASED("b", "2", 600), PUT_LEASED("d", "2", 60)));
	NEED(probe_get(p, s, "a").ttl_s == 0 && probe_get(p, s, "b").ttl_s == 600);
	probe_later(p, 61);
	NEED_KEYS("a b", s, "", NULL, 9);
	s = probe_rejoin(p, s);
	NEED_KEYS("a b", s, "", NULL, 9);
	probe_later(p, 600);
	NEED_KEYS("a", s, "", NULL, 9);
}

CHECK(not_by_a_refused_one, "a transaction that does not happen renews no lease")
{
	int64_t until;

	COMMIT(s, OPS(PUT_LEASED("a", "1", 60)));
	until = probe_get(p, s, "a").until;
	probe_later(p, 30);
	NEED_REFUSED(s, GUARDS(MOD_IS("b", 9)), OPS(PUT_LEASED("a", "2", 60)));
	NEED_BAD(s, OPS(PUT_LEASED("a", "2", 60), PUT("a b", "")));
	NEED(probe_get(p, s, "a").until == until);
}

CHECK(clock_back, "a clock set back leaves a lease no more than its time")
{
	int64_t rev = COMMIT(s, OPS(PUT_LEASED("a", "1", 60)));

	probe_later(p, -86400);
	NEED_VALUE(s, "a", "1");
	NEED(probe_get(p, s, "a").until <= clock_now() + 60);
	s = probe_rejoin(p, s);
	probe_put(p, s, "b", "1");
	NEED_CHANGES("b=1", s, "", rev + 1, 9);
	NEED(probe_get(p, s, "a").mod == rev);
	probe_later(p, 61);
	NEED_STATUS(renew(p, s, "a", rev), STORE_REFUSED);
	NEED_VALUE(s, "a", NULL);
}

CHECK(clock_back_and_looks,
	"a lease that a clock set back has shortened ends without another commit")
{
	COMMIT(s, OPS(PUT_LEASED("a", "1", 60)));
	probe_later(p, -86400);
	NEED_VALUE(s, "a", "1");
	probe_later(p, 30);
	s = probe_rejoin(p, s);
	NEED_REFUSED(s, GUARDS(MOD_IS("a", 0)), OPS(PUT("b", "1")));
	probe_later(p, 31);
	s = probe_rejoin(p, s);
	NEED_VALUE(s, "a", NULL);
}

CHECK(clock_back_and_renewed, "a lease is renewed after the clock was set back")
{
	int64_t rev = COMMIT(s, OPS(PUT_LEASED("a", "1", 60), PUT_LEASED("b", "1", 60)));

	probe_later(p, -86400);
	COMMIT(s, GUARDS(CREATED_AT("a", rev)), OPS(PUT_LEASED("a", "2", 100), DEL("b")));
	s = probe_rejoin(p, s);
	NEED(probe_get(p, s, "a").until == clock_now() + 100);
	NEED_VALUE(s, "a", "2");
	NEED_VALUE(s, "b", NULL);
}

CHECK(clock_ahead, "a clock set ahead ends a lease")
{
	int64_t rev = COMMIT(s, OPS(PUT_LEASED("a", "1", STORE_TTL_MAX_S)));

	probe_later(p, 86400);
	NEED_VALUE(s, "a", "1");
	probe_later(p, 400LL * 86400);
	NEED_VALUE(s, "a", NULL);
	NEED_STATUS(renew(p, s, "a", rev), STORE_REFUSED);
}

CHECK(clock_there_and_back,
	"a lease that was over for another stays over when the clock is set back")
{
	struct store *other = probe_join(p, STORE_WRITE);
	int64_t first = COMMIT(s, OPS(PUT_LEASED("claim", "s", 60))), rev;

	probe_later(p, 61);
	rev = COMMIT(other, GUARDS(MOD_IS("claim", 0)), OPS(PUT("claim", "other")));
	probe_later(p, -61);
	NEED_STATUS(renew(p, s, "claim", first), STORE_REFUSED);
	NEED(probe_get(p, s, "claim").create == rev);
	NEED_VALUE(probe_rejoin(p, other), "claim", "other");
}

/* ---- leases that have ended, and the holder that they fence ---- */

CHECK(vanish, "leases that have ended are in no get and no list")
{
	struct store *r;

	COMMIT(s, OPS(PUT_LEASED("a", "1", 60), PUT_LEASED("b", "1", 600), PUT("c", "1"),
			  PUT_LEASED("d", "1", 60)));
	r = probe_join(p, STORE_READ);
	NEED_VALUE(r, "d", "1");
	NEED_VALUE(s, "a", "1");
	probe_later(p, 61);
	for (int i = 0; i < 2; i++) {
		NEED_KEYS("b c", s, "", NULL, 10);
		NEED_KEYS("b c", r, "", NULL, 10);
		NEED_VALUE(r, "a", NULL);
		NEED_VALUE(s, "a", NULL);
		NEED_VALUE(s, "d", NULL);
		s = probe_rejoin(p, s);
		probe_put(p, s, "c", "1");
	}
}

CHECK(absent_for_guards, "leases that have ended are absent for guards")
{
	struct store_result r = {0};
	int64_t rev = COMMIT(s, OPS(PUT_LEASED("a", "1", 60))), born;
	struct sight w;

	probe_later(p, 61);
	NEED_STATUS(TRY(s, &r, GUARDS(MOD_IS("a", rev)), OPS(PUT("b", "1"))), STORE_REFUSED);
	NEED(r.n_now == 1 && r.now[0].mod == 0);
	born = COMMIT(s, GUARDS(MOD_IS("a", 0), CREATED_AT("a", 0)), OPS(PUT_LEASED("a", "2", 60)));
	for (int i = 0; i < 2; i++) {
		NEED(born > rev && probe_get(p, s, "a").create == born);
		w = probe_watch(p, s, "a", rev + 1, 9);
		NEED(w.n == 2 && w.change[0].deleted && w.change[1].rev == born);
		s = probe_rejoin(p, s);
	}
}

CHECK(deletions_in_watch, "leases that have ended are deletions in a watch")
{
	int64_t rev = COMMIT(s, OPS(PUT_LEASED("k/a", "1", 60), PUT_LEASED("k/b", "1", 60)));

	/* The next commit ends it at the latest, also if no client had the store open. */
	for (int i = 0; i < 2; i++) {
		if (i)
			probe_leave(p, s);
		probe_later(p, 61);
		if (i)
			s = probe_join(p, STORE_WRITE);
		NEED(probe_put(p, s, "other", "1") > rev);
		NEED_CHANGES("-k/a -k/b", s, "k/", rev + 1, 10);
		rev = COMMIT(s, OPS(PUT_LEASED("k/a", "1", 60), PUT_LEASED("k/b", "1", 60)));
	}
}

/* A claims, is slow, loses the claim to B, and must not change what B now owns. */
CHECK_ALONE(stale_holder, "a stale holder is refused")
{
	struct store *a = probe_join(p, STORE_WRITE), *b = probe_join(p, STORE_WRITE);
	int64_t task = probe_put(p, a, "task/T", "open"), first, second;

	first = COMMIT(a, GUARDS(MOD_IS("claim/T", 0), MOD_IS("task/T", task)),
		OPS(PUT_LEASED("claim/T", "A", 60)));
	NEED_REFUSED(b, GUARDS(MOD_IS("claim/T", 0)), OPS(PUT_LEASED("claim/T", "B", 60)));
	COMMIT(a, GUARDS(CREATED_AT("claim/T", first)), OPS(PUT("task/T", "A works")));
	probe_later(p, 70);
	second = COMMIT(b, GUARDS(MOD_IS("claim/T", 0)), OPS(PUT_LEASED("claim/T", "B", 60)));
	NEED(second > first);
	NEED_REFUSED(a, GUARDS(CREATED_AT("claim/T", first)), OPS(PUT("task/T", "A done")));
	NEED_STATUS(renew(p, a, "claim/T", first), STORE_REFUSED);
	COMMIT(b, GUARDS(CREATED_AT("claim/T", second)), OPS(PUT("task/T", "B done")));
	NEED_VALUE(a, "task/T", "B done");
	NEED_VALUE(a, "claim/T", "B");
}

/* A budget of three and slots for two: no more are admitted. */
CHECK(quota, "slots and budgets let in no more than they have")
{
	unsigned in = 0;
	int tries = 0;

	for (int who = 1; who <= 5; who++)
		for (int slot = 0; slot < 2; slot++) {
			char *key = arena_printf(&p->arena, "slot/%d", slot);

			if (TRY(s, NULL, GUARDS(MOD_IS(key, 0)), OPS(PUT_LEASED(key, "", 60))) ==
				STORE_OK) {
				in++;
				break;
			}
		}
	NEED(in == 2);
	probe_del(p, s, "slot/1");
	NEED(COMMIT(s, GUARDS(MOD_IS("slot/1", 0)), OPS(PUT_LEASED("slot/1", "", 60))) > 0);
	for (int i = 0; i < 3; i++)
		NEED(probe_add(s, &p->arena, "budget", &tries));
	NEED_VALUE(s, "budget", "3");
	NEED(tries == 3);
}

/* ---- several clients at once ---- */

enum { ADDERS = 4, ADDS = 60 };

static void add_many(struct probe *p, unsigned i)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int tries = 0;

	(void)i;
	for (unsigned n = 0; n < ADDS; n++) {
		if (n < ADDS / 2)
			probe_meet(p, ADDERS * (n + 1));
		NEED(probe_add(s, &p->arena, "n", &tries));
	}
}

CHECK(exact_counter, "processes that write at once count exactly")
{
	struct store_kv kv;

	probe_fork(p, ADDERS, add_many);
	kv = probe_get(p, s, "n");
	NEED(str_is(kv.value, arena_printf(&p->arena, "%d", ADDERS * ADDS)));
	NEED(store_revision(s) >= ADDERS * ADDS && kv.mod == store_revision(s));
	NEED(probe_watch(p, s, "n", 1, 10000).n == ADDERS * ADDS);
}

enum { VERSIONS = 150 };

static void write_versions(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);

	for (int n = 1; n <= VERSIONS; n++) {
		char *value = arena_printf(&p->arena, "%d", n);

		COMMIT(s, OPS(PUT("k/a", value), PUT("k/b", value),
				  PUT("doc/D.md",
					  arena_printf(&p->arena, "%d\n%*d\n", n, n * 20, n))));
	}
}

/* Each pair and each document comes from one commit, and revisions never decrease. */
static int read_version(struct probe *p, struct store *s, int64_t *last)
{
	struct listing l = probe_list(p, s, "k/", NULL, 10);
	struct store_kv doc = probe_get(p, s, "doc/D.md");
	int n;

	NEED(l.n == 2 && l.kv[0].mod == l.kv[1].mod && str_eq(l.kv[0].value, l.kv[1].value));
	NEED(l.at >= *last && doc.mod >= l.kv[0].mod);
	*last = l.at;
	n = probe_number(doc.value);
	NEED(str_is(doc.value, arena_printf(&p->arena, "%d\n%*d\n", n, n * 20, n)));
	return probe_number(l.kv[0].value);
}

static void write_or_read(struct probe *p, unsigned i)
{
	struct store *s;
	int64_t last = 0;
	int n = 0;

	if (!i) {
		write_versions(p);
		return;
	}
	s = probe_join(p, STORE_READ);
	for (int reads = 1; n < VERSIONS; reads++) {
		int now = read_version(p, s, &last);

		NEED(now >= n);
		n = now;
		if (i == 2 && reads % 5 == 0) {
			probe_leave(p, s);
			s = probe_join(p, STORE_READ);
		}
		if (reads % 100 == 0)
			arena_release(&p->arena);
	}
}

CHECK(readers_among_writers, "readers see whole commits while others write")
{
	COMMIT(s, OPS(PUT("k/a", "0"), PUT("k/b", "0"), PUT("doc/D.md", "0\n0\n")));
	probe_fork(p, 3, write_or_read);
}
