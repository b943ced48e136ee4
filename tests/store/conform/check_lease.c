/* Leases: how long they last, by the engine's clock alone. */
#include "src/base/clock.h"
#include "tests/store/conform/probe.h"

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

static void to_the_end(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);

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

static void not_beyond(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);

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

static void never_revived(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);

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

static void granted_twice(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

static void renewed(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

static void end_changes_nothing(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

static void in_a_transaction(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

static void not_by_a_refused_one(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

static void outlives_the_client(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

static void clock_back(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);

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

static void clock_ahead(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);

	NEED_STATUS(probe_grant(s, 1, STORE_TTL_MAX_S), STORE_OK);
	COMMIT(s, OPS(PUT_LEASED("a", "1", 1)));
	probe_later(p, 86400);
	NEED_VALUE(s, "a", "1");
	probe_later(p, 400LL * 86400);
	NEED_VALUE(s, "a", NULL);
	NEED_STATUS(probe_renew(s, 1), STORE_GONE);
}

static void clock_there_and_back(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE), *other = probe_join(p, STORE_WRITE);
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

const struct check lease_checks[] = {
	{"a lease lasts to its end", to_the_end},
	{"a lease does not last beyond its end", not_beyond},
	{"a lease that is over is never renewed", never_revived},
	{"granting a lease again renews it", granted_twice},
	{"a renewed lease lasts its whole time again", renewed},
	{"asking for the end of a lease changes nothing", end_changes_nothing},
	{"a transaction grants and renews its lease", in_a_transaction},
	{"a transaction that does not happen renews no lease", not_by_a_refused_one},
	{"a lease outlives its client", outlives_the_client},
	{"a clock set back leaves a lease no more than its time", clock_back},
	{"a clock set ahead ends a lease", clock_ahead},
	{"a lease that was over for another stays over when the clock is set back",
		clock_there_and_back},
	{NULL, NULL},
};
