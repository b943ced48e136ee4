/* Checks of leases, of their keys, and of several clients at once. */
#include <stdlib.h>
#include "src/base/clock.h"
#include "tests/store/conform/probe.h"

/* ---- the length of leases, by the engine's clock alone ---- */

static int left(struct probe *p, struct store *s, uint64_t id)
{
	struct error err = {0};
	int n = -1;

	NEED_STATUS(store_renew(s, id, &n, &err), STORE_OK);
	return n;
}

static int64_t end(struct probe *p, struct store *s, uint64_t id)
{
	struct error err = {0};
	int64_t until = 0;

	NEED_STATUS(store_lease_end(s, id, &until, &err), STORE_OK);
	return until;
}

static enum store_status end_status(struct store *s, uint64_t id)
{
	struct error err = {0};
	int64_t until;

	return store_lease_end(s, id, &until, &err);
}

CHECK(to_the_end, "a lease lasts to its end")
{
	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	COMMIT(s, OPS(PUT_LEASED("a", "1", 1)));
	probe_later(p, 59);
	NEED_STATUS(end_status(s, 1), STORE_OK);
	NEED_VALUE(s, "a", "1");
	probe_put(p, s, "b", "1");
	NEED_VALUE(s, "a", "1");
	NEED_VALUE(probe_join(p, STORE_WRITE), "a", "1");
	COMMIT(s, .lease = 1, OPS(PUT("b", "2")));
	NEED_STATUS(probe_renew(s, 1), STORE_OK);
}

CHECK(not_beyond, "a lease does not last beyond its end")
{
	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	COMMIT(s, OPS(PUT_LEASED("a", "1", 1)));
	probe_later(p, 61);
	NEED_STATUS(end_status(s, 1), STORE_GONE);
	NEED_VALUE(s, "a", NULL);
	NEED_STATUS(TRY(s, NULL, .lease = 1, OPS(PUT("b", "2"))), STORE_GONE);
	NEED_STATUS(TRY(s, NULL, OPS(PUT_LEASED("b", "2", 1))), STORE_GONE);
	NEED_STATUS(probe_renew(s, 1), STORE_GONE);
	NEED_VALUE(s, "b", NULL);
}

CHECK(never_revived, "a lease that is over is never renewed")
{
	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	probe_later(p, 61);
	for (int i = 0; i < 3; i++) {
		NEED_STATUS(probe_renew(s, 1), STORE_GONE);
		s = probe_rejoin(p, s);
	}
	NEED_STATUS(probe_renew(s, 77), STORE_GONE);
	NEED_STATUS(end_status(s, 77), STORE_GONE);
	NEED_STATUS(probe_revoke(s, 77), STORE_GONE);
	NEED_STATUS(probe_revoke(s, 1), STORE_GONE);
}

CHECK(granted_twice, "granting a lease again renews it")
{
	int64_t rev, start;

	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	rev = COMMIT(s, OPS(PUT_LEASED("a", "1", 1)));
	start = end(p, s, 1) - 60;
	probe_later(p, 50);
	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	NEED(end(p, s, 1) == start + 110);
	NEED(probe_get(p, s, "a").mod == rev && probe_get(p, s, "a").create == rev);
	probe_later(p, 59);
	NEED_VALUE(s, "a", "1");
	probe_later(p, 2);
	NEED_VALUE(s, "a", NULL);
}

CHECK(renewed, "a renewed lease lasts its whole time again")
{
	int64_t start;

	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	COMMIT(s, OPS(PUT_LEASED("a", "1", 1)));
	start = end(p, s, 1) - 60;
	for (int i = 1; i <= 5; i++) {
		probe_later(p, 50);
		NEED(left(p, s, 1) == 60);
		NEED(end(p, s, 1) == start + i * 50 + 60);
		if (i % 2)
			s = probe_rejoin(p, s);
	}
	NEED_VALUE(s, "a", "1");
	probe_later(p, 61);
	NEED_STATUS(probe_renew(s, 1), STORE_GONE);
	NEED_VALUE(s, "a", NULL);
}

CHECK(end_changes_nothing, "asking for the end of a lease changes nothing")
{
	int64_t rev, until;

	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	rev = store_revision(s);
	until = end(p, s, 1);
	probe_later(p, 20);
	NEED(end(p, s, 1) == until);
	NEED(end(p, probe_join(p, STORE_READ), 1) == until);
	NEED(store_revision(s) == rev);
	probe_later(p, 41);
	NEED_STATUS(end_status(s, 1), STORE_GONE);
}

CHECK(in_a_transaction, "a transaction grants and renews its lease")
{
	int64_t start;

	COMMIT(s, .lease = 5, .lease_ttl_s = 60, OPS(PUT_LEASED("a", "1", 5), PUT("b", "1")));
	start = end(p, s, 5) - 60;
	NEED(probe_get(p, s, "a").lease == 5 && probe_get(p, s, "b").lease == 0);
	probe_later(p, 50);
	COMMIT(s, .lease = 5, .lease_ttl_s = 100, OPS(PUT("b", "2")));
	NEED(end(p, s, 5) == start + 150);
	probe_later(p, 50);
	COMMIT(s, .lease = 5, OPS(PUT("b", "3")));
	NEED(end(p, s, 5) == start + 150);
	NEED(left(p, s, 5) == 100);
	probe_later(p, 101);
	NEED_STATUS(TRY(s, NULL, .lease = 5, OPS(PUT("b", "4"))), STORE_GONE);
	NEED_VALUE(s, "b", "3");
	NEED_VALUE(s, "a", NULL);
	COMMIT(s, .lease = 5, .lease_ttl_s = 60, OPS(PUT("b", "5")));
	NEED_STATUS(end_status(s, 5), STORE_OK);
	NEED_VALUE(s, "a", NULL);
}

CHECK(not_by_a_refused_one, "a transaction that does not happen renews no lease")
{
	int64_t until;

	NEED_STATUS(
		TRY(s, NULL, .lease = 5, .lease_ttl_s = 60, GUARDS(MOD_IS("a", 9))), STORE_REFUSED);
	NEED_STATUS(end_status(s, 5), STORE_GONE);
	NEED_STATUS(TRY(s, NULL, .lease = 5, .lease_ttl_s = 60, OPS(PUT("a b", ""))), STORE_BAD);
	NEED_STATUS(end_status(s, 5), STORE_GONE);
	NEED_STATUS(probe_grant(s, 5, 60), STORE_OK);
	until = end(p, s, 5);
	probe_later(p, 30);
	NEED_STATUS(
		TRY(s, NULL, .lease = 5, .lease_ttl_s = 60, GUARDS(MOD_IS("a", 9))), STORE_REFUSED);
	NEED(end(p, s, 5) == until);
}

CHECK(outlives_the_client, "a lease outlives its client")
{
	int64_t until;

	NEED_STATUS(probe_grant(s, UINT64_C(999999999999999), 60), STORE_OK);
	NEED_STATUS(probe_grant(s, 2, 3600), STORE_OK);
	until = end(p, s, UINT64_C(999999999999999));
	s = probe_rejoin(p, s);
	NEED(end(p, s, UINT64_C(999999999999999)) == until);
	NEED(end(p, s, 2) == until + 3540);
	probe_later(p, 61);
	s = probe_rejoin(p, s);
	NEED_STATUS(end_status(s, UINT64_C(999999999999999)), STORE_GONE);
	NEED_STATUS(probe_renew(s, 2), STORE_OK);
}

CHECK(clock_back, "a clock set back leaves a lease no more than its time")
{
	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	COMMIT(s, OPS(PUT_LEASED("a", "1", 1)));
	probe_later(p, -86400);
	NEED_VALUE(s, "a", "1");
	NEED(end(p, s, 1) <= clock_now() + 60);
	s = probe_rejoin(p, s);
	probe_put(p, s, "b", "1");
	probe_later(p, 61);
	NEED_STATUS(probe_renew(s, 1), STORE_GONE);
	NEED_VALUE(s, "a", NULL);
}

CHECK(clock_ahead, "a clock set ahead ends a lease")
{
	NEED_STATUS(probe_grant(s, 1, STORE_TTL_MAX_S), STORE_OK);
	COMMIT(s, OPS(PUT_LEASED("a", "1", 1)));
	probe_later(p, 86400);
	NEED_VALUE(s, "a", "1");
	probe_later(p, 400LL * 86400);
	NEED_VALUE(s, "a", NULL);
	NEED_STATUS(probe_renew(s, 1), STORE_GONE);
}

CHECK(clock_there_and_back,
	"a lease that was over for another stays over when the clock is set back")
{
	struct store *other = probe_join(p, STORE_WRITE);
	int64_t rev;

	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	COMMIT(s, OPS(PUT_LEASED("claim", "s", 1)));
	probe_later(p, 61);
	rev = COMMIT(other, GUARDS(MOD_IS("claim", 0)), OPS(PUT("claim", "other")));
	probe_later(p, -61);
	NEED_STATUS(probe_renew(s, 1), STORE_GONE);
	NEED_STATUS(TRY(s, NULL, .lease = 1, OPS(PUT("b", "1"))), STORE_GONE);
	NEED(probe_get(p, s, "claim").create == rev);
	NEED_VALUE(probe_rejoin(p, other), "claim", "other");
}

/* ---- keys of a lease, and the holder that they fence ---- */

CHECK(vanish, "keys of a lease that is over are in no get and no list")
{
	struct store *r;

	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	NEED_STATUS(probe_grant(s, 2, 600), STORE_OK);
	COMMIT(s, OPS(PUT_LEASED("a", "1", 1), PUT_LEASED("b", "1", 2), PUT("c", "1"),
			  PUT_LEASED("d", "1", 1)));
	r = probe_join(p, STORE_READ);
	NEED_VALUE(r, "d", "1");
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

CHECK(absent_for_guards, "keys of a lease that is over are absent for guards")
{
	struct store_result r = {0};
	int64_t rev, born;

	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	rev = COMMIT(s, OPS(PUT_LEASED("a", "1", 1)));
	probe_later(p, 61);
	NEED_STATUS(TRY(s, &r, GUARDS(MOD_IS("a", rev)), OPS(PUT("b", "1"))), STORE_REFUSED);
	NEED(r.n_now == 1 && r.now[0].mod == 0);
	NEED_STATUS(TRY(s, NULL, GUARDS(CREATED_AT("a", rev)), OPS(PUT("b", "1"))), STORE_REFUSED);
	born = COMMIT(s, GUARDS(MOD_IS("a", 0), CREATED_AT("a", 0)), OPS(PUT("a", "2")));
	NEED(born > rev && probe_get(p, s, "a").create == born);
	NEED(probe_get(p, probe_rejoin(p, s), "a").create == born);
}

CHECK(deletions_in_watch, "keys of a lease that is over are deletions in a watch")
{
	struct sight w;
	int64_t rev;

	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	rev = COMMIT(s, OPS(PUT_LEASED("k/a", "1", 1), PUT_LEASED("k/b", "1", 1)));
	probe_later(p, 61);
	/* At the next commit at the latest. */
	NEED(probe_put(p, s, "other", "1") > rev);
	w = probe_watch(p, s, "k/", rev + 1, 10);
	NEED(str_is(str_of(sight_text(p, &w)), "-k/a -k/b"));
	NEED(w.change[0].rev > rev && w.change[0].rev <= store_revision(s));
	w = probe_watch(p, probe_rejoin(p, s), "k/", 1, 10);
	NEED(str_is(str_of(sight_text(p, &w)), "k/a=1 k/b=1 | -k/a -k/b"));
}

CHECK(over_while_nobody_looked, "a lease ends while nobody has the store open")
{
	int64_t rev;

	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	rev = COMMIT(s, OPS(PUT_LEASED("k/a", "1", 1)));
	probe_leave(p, s);
	probe_later(p, 1000);
	s = probe_join(p, STORE_WRITE);
	NEED_VALUE(s, "k/a", NULL);
	probe_put(p, s, "other", "1");
	NEED_CHANGES("-k/a", s, "k/", rev + 1, 10);
}

CHECK(dead_lease, "a put with a dead lease is GONE and nothing")
{
	int64_t rev = probe_put(p, s, "a", "1");

	NEED_STATUS(TRY(s, NULL, OPS(PUT("a", "2"), PUT_LEASED("b", "2", 8))), STORE_GONE);
	NEED_STATUS(TRY(s, NULL, .lease = 8, OPS(PUT("a", "2"))), STORE_GONE);
	NEED_VALUE(s, "a", "1");
	NEED_STATUS(probe_grant(s, 8, 60), STORE_OK);
	COMMIT(s, OPS(PUT_LEASED("b", "2", 8)));
	probe_later(p, 61);
	NEED_STATUS(TRY(s, NULL, OPS(PUT("a", "2"), PUT_LEASED("c", "2", 8))), STORE_GONE);
	NEED(probe_get(p, s, "a").mod == rev);
	NEED_VALUE(s, "b", NULL);
	NEED_VALUE(s, "c", NULL);
}

CHECK(revoked, "revoking a lease deletes its keys in one commit")
{
	struct sight w;
	int64_t rev;

	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	NEED_STATUS(probe_grant(s, 2, 60), STORE_OK);
	COMMIT(s, OPS(PUT_LEASED("a", "1", 1), PUT_LEASED("b", "1", 2)));
	rev = COMMIT(s, OPS(PUT_LEASED("c", "1", 1), PUT_LEASED("d", "1", 1), PUT("e", "1")));
	NEED_STATUS(probe_revoke(s, 1), STORE_OK);
	w = probe_watch(p, s, "", rev + 1, 10);
	NEED(str_is(str_of(sight_text(p, &w)), "-a -c -d"));
	NEED(w.change[0].rev > rev && store_revision(s) >= w.change[0].rev);
	NEED_STATUS(probe_revoke(s, 1), STORE_GONE);
	NEED_STATUS(probe_renew(s, 1), STORE_GONE);
	NEED_STATUS(TRY(s, NULL, OPS(PUT_LEASED("x", "1", 1))), STORE_GONE);
	s = probe_rejoin(p, s);
	NEED(probe_list(p, s, "", NULL, 10).n == 2);
	NEED_STATUS(probe_renew(s, 1), STORE_GONE);
	NEED_STATUS(probe_renew(s, 2), STORE_OK);
}

CHECK(let_go_of, "a key put again leaves its lease")
{
	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	NEED_STATUS(probe_grant(s, 2, 600), STORE_OK);
	COMMIT(s, OPS(PUT_LEASED("a", "1", 1), PUT_LEASED("b", "1", 1), PUT_LEASED("c", "1", 1),
			  PUT("d", "1")));
	COMMIT(s, OPS(PUT("a", "2"), PUT_LEASED("b", "2", 2), PUT_LEASED("d", "2", 1)));
	NEED(probe_get(p, s, "a").lease == 0 && probe_get(p, s, "b").lease == 2);
	probe_later(p, 61);
	NEED_VALUE(s, "a", "2");
	NEED_VALUE(s, "b", "2");
	NEED_VALUE(s, "c", NULL);
	NEED_VALUE(s, "d", NULL);
	s = probe_rejoin(p, s);
	NEED_VALUE(s, "a", "2");
	probe_later(p, 600);
	NEED_VALUE(s, "b", NULL);
	NEED_VALUE(s, "a", "2");
}

CHECK(no_ghosts, "a lease granted again does not bring its keys back")
{
	int64_t rev;

	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	rev = COMMIT(s, OPS(PUT_LEASED("a", "1", 1)));
	probe_later(p, 61);
	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	NEED_VALUE(s, "a", NULL);
	s = probe_rejoin(p, s);
	NEED_VALUE(s, "a", NULL);
	NEED(probe_watch(p, s, "a", rev + 1, 9).n == 1);
	NEED_STATUS(TRY(s, NULL, GUARDS(CREATED_AT("a", rev))), STORE_REFUSED);
	COMMIT(s, OPS(PUT_LEASED("b", "1", 1)));
	NEED_STATUS(probe_revoke(s, 1), STORE_OK);
	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	NEED_VALUE(s, "b", NULL);
}

CHECK(granted_with_its_keys, "a lease granted again in a transaction does not bring its keys back")
{
	int64_t rev = COMMIT(s, .lease = 1, .lease_ttl_s = 60, OPS(PUT_LEASED("a", "1", 1)));

	probe_later(p, 61);
	/* The id is granted again; its earlier keys are not part of it. */
	COMMIT(s, .lease = 1, .lease_ttl_s = 60, OPS(PUT_LEASED("b", "1", 1)));
	NEED_VALUE(s, "a", NULL);
	NEED_VALUE(s, "b", "1");
	NEED(probe_watch(p, s, "a", rev + 1, 9).n == 1);
	s = probe_rejoin(p, s);
	NEED_VALUE(s, "a", NULL);
	NEED_VALUE(s, "b", "1");
}

/* A claims, is slow, loses the claim to B, and must not change what B now owns. */
CHECK_ALONE(stale_holder, "a stale holder is refused")
{
	struct store *a = probe_join(p, STORE_WRITE), *b = probe_join(p, STORE_WRITE);
	int64_t task = probe_put(p, a, "task/T", "open"), first, second;

	NEED_STATUS(probe_grant(a, 101, 60), STORE_OK);
	first = COMMIT(a, GUARDS(MOD_IS("claim/T", 0), MOD_IS("task/T", task)),
		OPS(PUT_LEASED("claim/T", "A", 101)));
	NEED_STATUS(probe_grant(b, 102, 60), STORE_OK);
	NEED_STATUS(
		TRY(b, NULL, GUARDS(MOD_IS("claim/T", 0)), OPS(PUT_LEASED("claim/T", "B", 102))),
		STORE_REFUSED);
	COMMIT(a, GUARDS(CREATED_AT("claim/T", first)), OPS(PUT("task/T", "A works")));
	probe_later(p, 50);
	NEED_STATUS(probe_renew(b, 102), STORE_OK);
	probe_later(p, 20);
	second = COMMIT(b, GUARDS(MOD_IS("claim/T", 0)), OPS(PUT_LEASED("claim/T", "B", 102)));
	NEED(second > first);
	NEED_STATUS(
		TRY(a, NULL, GUARDS(CREATED_AT("claim/T", first)), OPS(PUT("task/T", "A done"))),
		STORE_REFUSED);
	NEED_STATUS(probe_renew(a, 101), STORE_GONE);
	NEED_STATUS(TRY(a, NULL, .lease = 101, OPS(PUT("task/T", "A done"))), STORE_GONE);
	NEED_STATUS(TRY(a, NULL, OPS(PUT_LEASED("task/T", "A done", 101))), STORE_GONE);
	COMMIT(b, GUARDS(CREATED_AT("claim/T", second)), OPS(PUT("task/T", "B done")));
	NEED_VALUE(a, "task/T", "B done");
	NEED_VALUE(a, "claim/T", "B");
}

/* A budget of three and slots for two: no more are admitted. */
CHECK(quota, "slots and budgets let in no more than they have")
{
	unsigned in = 0;
	int tries = 0;

	for (uint64_t who = 1; who <= 5; who++) {
		NEED_STATUS(probe_grant(s, who, 60), STORE_OK);
		for (int slot = 0; slot < 2; slot++) {
			char *key = arena_printf(&p->arena, "slot/%d", slot);

			if (TRY(s, NULL, GUARDS(MOD_IS(key, 0)), OPS(PUT_LEASED(key, "", who))) ==
				STORE_OK) {
				in++;
				break;
			}
		}
	}
	NEED(in == 2);
	NEED_STATUS(probe_revoke(s, 2), STORE_OK);
	NEED(COMMIT(s, GUARDS(MOD_IS("slot/1", 0)), OPS(PUT_LEASED("slot/1", "", 5))) > 0);
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

/* The same by clients that take turns, each with values read before the others' turns. */
CHECK_ALONE(turns, "clients that take turns count exactly")
{
	struct store *each[ADDERS];
	struct store_kv kv[ADDERS];
	int done = 0, refused = 0;

	for (int i = 0; i < ADDERS; i++)
		each[i] = probe_join(p, STORE_WRITE);
	for (int round = 0; done < ADDS; round++) {
		for (int i = 0; i < ADDERS; i++)
			kv[i] = probe_get(p, each[i], "n");
		for (int i = 0; i < ADDERS; i++) {
			int who = (i + round) % ADDERS;
			int n = probe_number(kv[who].value);
			enum store_status status =
				TRY(each[who], NULL, GUARDS(MOD_IS("n", kv[who].mod)),
					OPS(PUT("n", arena_printf(&p->arena, "%d", n + 1))));

			NEED_STATUS(status, i ? STORE_REFUSED : STORE_OK);
			done += status == STORE_OK;
			refused += status == STORE_REFUSED;
		}
	}
	NEED_VALUE(each[0], "n", arena_printf(&p->arena, "%d", ADDS));
	NEED(refused == ADDS * (ADDERS - 1));
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

/* Each process releases the gate before the next takes it; inside it is alone. */
static void pass_the_gate(struct probe *p, unsigned i)
{
	struct store *s = probe_join(p, STORE_WRITE);

	for (int n = 0; n < 15;) {
		struct store_result r = {0};
		struct store_kv in;
		enum store_status status =
			TRY(s, &r, .lease = i + 1, .lease_ttl_s = 3600, GUARDS(MOD_IS("gate", 0)),
				OPS(PUT_LEASED("gate", arena_printf(&p->arena, "%u", i), i + 1)));

		if (status == STORE_REFUSED)
			continue;
		NEED_STATUS(status, STORE_OK);
		in = probe_get(p, s, "in");
		COMMIT(s, GUARDS(CREATED_AT("gate", r.rev), MOD_IS("in", in.mod)),
			OPS(PUT("in", arena_printf(&p->arena, "%d", probe_number(in.value) + 1))));
		NEED_STATUS(probe_revoke(s, i + 1), STORE_OK);
		n++;
	}
}

CHECK(gate, "a gate lets one in at a time")
{
	probe_fork(p, ADDERS, pass_the_gate);
	NEED_VALUE(s, "in", arena_printf(&p->arena, "%d", ADDERS * 15));
	NEED_VALUE(s, "gate", NULL);
}
