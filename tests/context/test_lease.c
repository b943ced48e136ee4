#include "context/lease.h"
#include "tests/lib/memory_store.h"
#include "tests/lib/scratch.h"

static struct error err;

static void open_as(struct context_file *f, enum context_mode mode)
{
	assert_int_equal(context_open(f, at("ADR-7.md"), mode, &err), 0);
	(void)context_op(f, "test");
}

static void take(const char *owner)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct lease_holder h;

	open_as(&f, CONTEXT_MAY_CREATE);
	if (f.created)
		assert_int_equal(context_create(&f, "ADR-7", "init", &err), 0);
	assert_int_equal(lease_read(&f, &h, &err), 0);
	lease_take(&f, &h, owner, NULL, 3600);
	assert_int_equal(context_save(&f, &err), 0);
}

/* In a store without a lock the take-over may come between the look and the renewal. */
SCRATCH_TEST(a_renewal_after_a_take_over_is_refused)
{
	CLEANUP(context_close) struct context_file old = {0};
	CLEANUP(context_close) struct context_file f = {0};
	struct lease_holder h;

	memory_store_share(base, true);
	take("ada");
	open_as(&old, CONTEXT_MUST_EXIST);
	assert_int_equal(lease_admit(&old, "ADR-7", "ada", &err), 0);
	take("bob");
	assert_int_equal(context_log(&old, &err), -1);
	assert_true(old.refused);
	open_as(&f, CONTEXT_READ_ONLY);
	assert_int_equal(lease_read(&f, &h, &err), 0);
	assert_string_equal(h.owner, "bob");
	assert_true(h.live);
}
