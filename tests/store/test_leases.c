#include "tests/lib/store_rig.h"

/* ---- leases ---- */

RIG_TEST(the_keys_of_a_lease_go_with_it)
{
	struct store_txn t = {.lease = 7, .lease_ttl_s = 10};
	struct store_change *c;
	int64_t next;
	size_t n;

	open_store(STORE_HOLD);
	assert_int_equal(put_in(&t, "claim", "me"), STORE_OK);
	put("other", "1");
	clock_fix(1800000009);
	has("claim", "me");
	clock_fix(1800000010);
	lacks("claim");
	assert_int_equal(store_renew(rig.s, 7, NULL, &rig.err), STORE_GONE);
	assert_error(&rig.err, "dev-team: lease 7 is over");
	assert_int_equal(store_revision(rig.s), 2);
	put("other", "2");
	assert_int_equal(
		store_watch(rig.s, &arena, "", 3, 0, 9, &c, &n, &next, &rig.err), STORE_OK);
	assert_int_equal(n, 2);
	assert_str(c[0].kv.key, "claim");
	assert_true(c[0].deleted);
	clock_fix(1800000000); /* an expired lease stays expired */
	lacks("claim");
	open_store(STORE_WRITE);
	lacks("claim");
}

RIG_TEST(a_lease_that_is_over_refuses_and_its_keys_count_as_absent)
{
	struct store_txn t = {.lease = 7, .lease_ttl_s = 10};
	struct store_guard absent = {"claim", STORE_MOD_IS, 0};
	int64_t until;

	open_store(STORE_WRITE);
	assert_int_equal(put_in(&t, "claim", "A"), STORE_OK);
	t = (struct store_txn){.lease = 8, .lease_ttl_s = 20, .guards = &absent, .n_guards = 1};
	assert_int_equal(put_in(&t, "claim", "B"), STORE_REFUSED);
	assert_int_equal(store_lease_end(rig.s, 8, &until, &rig.err), STORE_GONE);
	clock_fix(1800000015);
	assert_int_equal(put_in(&t, "claim", "B"), STORE_OK);
	has("claim", "B");
	assert_int_equal(get("claim").create, 2);
	assert_int_equal(store_lease_end(rig.s, 8, &until, &rig.err), STORE_OK);
	assert_int_equal(until, 1800000035);
	t = (struct store_txn){.lease = 7};
	assert_int_equal(put_in(&t, "x", "A"), STORE_GONE);
	lacks("x");
	has("claim", "B");
}

RIG_TEST(a_lease_is_granted_renewed_and_revoked)
{
	struct store_txn t = {.lease = 7};
	int64_t until;
	int left;

	open_store(STORE_WRITE);
	assert_int_equal(store_revoke(rig.s, 7, &rig.err), STORE_GONE);
	assert_int_equal(store_grant(rig.s, 7, 100, &rig.err), STORE_OK);
	assert_int_equal(put_in(&t, "a", "1"), STORE_OK);
	clock_fix(1800000060);
	assert_int_equal(store_renew(rig.s, 7, &left, &rig.err), STORE_OK);
	assert_int_equal(left, 100);
	assert_int_equal(store_lease_end(rig.s, 7, &until, &rig.err), STORE_OK);
	assert_int_equal(until, 1800000160);
	assert_int_equal(store_grant(rig.s, 7, 50, &rig.err), STORE_OK);
	assert_int_equal(store_lease_end(rig.s, 7, &until, &rig.err), STORE_OK);
	assert_int_equal(until, 1800000110);
	has("a", "1");
	assert_int_equal(store_revoke(rig.s, 7, &rig.err), STORE_OK);
	lacks("a");
	assert_int_equal(store_lease_end(rig.s, 7, &until, &rig.err), STORE_GONE);
	assert_int_equal(store_grant(rig.s, 7, 9, &rig.err), STORE_BAD);
	assert_int_equal(store_grant(rig.s, 0, 10, &rig.err), STORE_BAD);
}

RIG_TEST(a_clock_that_is_put_back_does_not_lengthen_a_lease)
{
	int64_t until;

	open_store(STORE_HOLD);
	assert_int_equal(store_grant(rig.s, 7, 100, &rig.err), STORE_OK);
	clock_fix(1700000000);
	assert_int_equal(store_lease_end(rig.s, 7, &until, &rig.err), STORE_OK);
	assert_int_equal(until, 1700000100);
	put("any", "1"); /* from here on every client sees it */
	clock_fix(1700000099);
	assert_int_equal(store_lease_end(rig.s, 7, &until, &rig.err), STORE_OK);
	assert_int_equal(until, 1700000100);
	open_store(STORE_WRITE);
	clock_fix(1700000100);
	assert_int_equal(store_lease_end(rig.s, 7, &until, &rig.err), STORE_GONE);
	assert_int_equal(store_grant(rig.s, 7, 100, &rig.err), STORE_OK);
	clock_fix(1900000000);
	assert_int_equal(store_lease_end(rig.s, 7, &until, &rig.err), STORE_GONE);
	clock_fix(1700000101); /* nobody has written meanwhile */
	assert_int_equal(store_lease_end(rig.s, 7, &until, &rig.err), STORE_OK);
	assert_int_equal(until, 1700000200);
}

/* ---- watch and compact ---- */
