/* Keys that go when their lease does, and the holder that is fenced by that. */
#include "tests/store/conform/probe.h"

static void vanish(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE), *r;
	struct listing l;

	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	NEED_STATUS(probe_grant(s, 2, 600), STORE_OK);
	COMMIT(s, OPS(PUT_LEASED("a", "1", 1), PUT_LEASED("b", "1", 2), PUT("c", "1"),
			  PUT_LEASED("d", "1", 1)));
	r = probe_join(p, STORE_READ);
	NEED_VALUE(r, "d", "1");
	probe_later(p, 61);
	for (int i = 0; i < 2; i++) {
		l = probe_list(p, s, "", NULL, 10);
		NEED(str_is(str_of(listing_keys(p, &l)), "b c"));
		l = probe_list(p, r, "", NULL, 10);
		NEED(str_is(str_of(listing_keys(p, &l)), "b c"));
		NEED_VALUE(r, "a", NULL);
		NEED_VALUE(s, "a", NULL);
		NEED_VALUE(s, "d", NULL);
		s = probe_rejoin(p, s);
		probe_put(p, s, "c", "1");
	}
}

static void absent_for_guards(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

static void deletions_in_watch(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct sight w;
	int64_t rev;

	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	rev = COMMIT(s, OPS(PUT_LEASED("k/a", "1", 1), PUT_LEASED("k/b", "1", 1)));
	probe_later(p, 61);
	/* At the latest with the next commit. */
	NEED(probe_put(p, s, "other", "1") > rev);
	w = probe_watch(p, s, "k/", rev + 1, 10);
	NEED(str_is(str_of(sight_text(p, &w)), "-k/a -k/b"));
	NEED(w.change[0].rev > rev && w.change[0].rev <= store_revision(s));
	w = probe_watch(p, probe_rejoin(p, s), "k/", 1, 10);
	NEED(str_is(str_of(sight_text(p, &w)), "k/a=1 k/b=1 | -k/a -k/b"));
}

static void over_while_nobody_looked(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct sight w;
	int64_t rev;

	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	rev = COMMIT(s, OPS(PUT_LEASED("k/a", "1", 1)));
	probe_leave(p, s);
	probe_later(p, 1000);
	s = probe_join(p, STORE_WRITE);
	NEED_VALUE(s, "k/a", NULL);
	probe_put(p, s, "other", "1");
	w = probe_watch(p, s, "k/", rev + 1, 10);
	NEED(str_is(str_of(sight_text(p, &w)), "-k/a"));
}

static void dead_lease(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

static void revoked(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

static void let_go_of(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);

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

static void no_ghosts(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

static void granted_with_its_keys(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t rev = COMMIT(s, .lease = 1, .lease_ttl_s = 60, OPS(PUT_LEASED("a", "1", 1)));

	probe_later(p, 61);
	/* The id is granted anew; what it had before is not in it. */
	COMMIT(s, .lease = 1, .lease_ttl_s = 60, OPS(PUT_LEASED("b", "1", 1)));
	NEED_VALUE(s, "a", NULL);
	NEED_VALUE(s, "b", "1");
	NEED(probe_watch(p, s, "a", rev + 1, 9).n == 1);
	s = probe_rejoin(p, s);
	NEED_VALUE(s, "a", NULL);
	NEED_VALUE(s, "b", "1");
}

/* A claims, is slow, loses the claim to B, and must not do what B now does. */
static void stale_holder(struct probe *p)
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

/* A budget of three and slots for two: no more than that are let in, whoever asks. */
static void quota(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

const struct check lease_key_checks[] = {
	{"keys of a lease that is over are in no get and no list", vanish},
	{"keys of a lease that is over are absent for guards", absent_for_guards},
	{"keys of a lease that is over are deletions in a watch", deletions_in_watch},
	{"a lease ends while nobody has the store open", over_while_nobody_looked},
	{"a put with a dead lease is GONE and nothing", dead_lease},
	{"revoking a lease deletes its keys in one commit", revoked},
	{"a key put again leaves its lease", let_go_of},
	{"a lease granted again does not bring its keys back", no_ghosts},
	{"a lease granted again in a transaction does not bring its keys back",
		granted_with_its_keys},
	{"a stale holder is refused", stale_holder},
	{"slots and budgets let in no more than they have", quota},
	{NULL, NULL},
};
