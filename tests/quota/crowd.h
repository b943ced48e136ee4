/*
 * crowd.h: eight processes reserve, settle and die on one window, and some are killed in the
 * middle. The history of the store shows every commit: no grant over the cap, and exact sums.
 */
#ifndef DT_TESTS_QUOTA_CROWD_H
#define DT_TESTS_QUOTA_CROWD_H

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include "src/sys/process.h"
#include "tests/lib/random.h"
#include "tests/lib/run.h"
#include "tests/quota/quota_rig.h"

enum { CROWD = 8, SPIN_MAX = 3000, KEPT = 1000 };

#define START "2026-04-08T19:00:00Z"

/* Clocks differ by hours now and then, so that windows end and begin again. */
static int64_t jumping_clock(struct random *r)
{
	int64_t t = time_of(START) + random_below(r, 600);

	if (random_chance(r, 100))
		t += ((int64_t)random_below(r, 13) - 6) * 3600;
	return t;
}

static void one_operation(const char *action, struct random *r)
{
	struct subscription_plan p = plan_p();
	struct quota_request q = request(&p, 1, action, jumping_clock(r));
	int64_t estimate = 1 + random_below(r, 300000);

	if (quota_open(&quota, base, true, &err) < 0)
		_exit(2);
	q.owner = process_own_name(&arena);
	if (admit(q, estimate, 0).verdict == QUOTA_GRANTED && !random_chance(r, 150)) {
		q.now = jumping_clock(r);
		(void)settle(q, random_below(r, 400000), 0);
	}
	_exit(0);
}

/* Kills a part of them, after a random part of their work. */
static bool run_operation(const char *action, struct random *r)
{
	bool kills = random_chance(r, 300);
	unsigned spins = random_below(r, SPIN_MAX);
	pid_t pid = fork();
	int status;

	if (pid == 0)
		one_operation(action, r);
	for (unsigned i = 0; kills && i < spins && waitpid(pid, &status, WNOHANG) == 0; i++)
		(void)sched_yield();
	if (kills && kill(pid, SIGKILL) < 0)
		return true; /* it had ended and was waited for */
	return waitpid(pid, &status, 0) < 0 || WIFSIGNALED(status) || WEXITSTATUS(status) == 0;
}

struct crowd_round {
	uint64_t seed;
	unsigned number, each;
};

static int member(unsigned i, void *data)
{
	const struct crowd_round *round = data;
	struct random r = {(round->seed + round->number) * CROWD + i};
	bool good = true;

	for (unsigned k = 0; k < round->each; k++) {
		(void)random_next(&r);
		good &= run_operation(arena_printf(&arena, "m%u-%u-%u", round->number, i, k), &r);
	}
	return !good;
}

struct sums {
	int64_t consumed, reserved, cap;
	size_t holds;
};

static struct sums sums_of(const char *text, size_t n)
{
	CLEANUP(json_free) json *j = NULL;
	const json *w, *h;
	struct sums s = {0};

	assert_int_equal(json_parse(&j, (struct str){text, n}, &err), 0);
	w = json_at(json_get(j, "windows"), 0);
	s.consumed = json_get_int(w, "consumed", -1);
	s.cap = json_get_int(w, "cap", 0);
	for (h = json_first(json_get(j, "holds")); h; h = json_next(h)) {
		s.reserved += json_get_int(h, "charge", -1);
		s.holds++;
	}
	return s;
}

static struct sums sums_after(const struct store_commit *c, const struct sums *before)
{
	struct sums now = *before;

	for (size_t i = 0; i < c->n_changes; i++)
		if (str_starts(c->changes[i].kv.key, "entry/"))
			now = sums_of(c->changes[i].kv.value.p, c->changes[i].kv.value.n);
	return now;
}

static void check_commit(const struct store_commit *c, struct sums *before, unsigned *settled)
{
	int64_t charge = -1;
	struct sums now = sums_after(c, before);

	for (size_t i = 0; i < c->n_changes; i++) {
		const struct store_kv *kv = &c->changes[i].kv;
		CLEANUP(json_free) json *j = NULL;

		if (!str_starts(kv->key, "done/"))
			continue;
		assert_int_equal(json_parse(&j, kv->value, &err), 0);
		charge = json_get_int(j, "charge", -1);
		(*settled)++;
	}
	if (charge < 0 && now.holds > before->holds)
		assert_true(now.consumed + now.reserved <= now.cap);
	if (charge >= 0) /* the window had ended, or had not */
		assert_true(now.consumed == charge || now.consumed == before->consumed + charge);
	else
		assert_true(now.consumed == 0 || now.consumed == before->consumed);
	*before = now;
}

/* Commits after *seen; then *seen is the last one. Returns how many actions were settled. */
static unsigned check_history(struct sums *sums, int64_t *seen)
{
	CLEANUP(store_close) struct store *s = NULL;
	CLEANUP(store_history_close) struct store_history *h = NULL;
	struct store_commit c;
	unsigned settled = 0;
	int got;

	assert_int_equal(
		store_open(&s, store_backend(), base, "ledger", STORE_HISTORY, 0, &err), 0);
	assert_int_equal(store_history(s, &(struct store_range){.from = *seen + 1, .changes = true},
				 &h, &err),
		STORE_OK);
	while ((got = store_history_next(h, &c, &err)) == 1) {
		if (c.rev != *seen + 1) { /* the ledger has dropped its history */
			assert_int_equal(c.rev % KEPT, 0);
			*sums = sums_after(&c, sums);
		} else {
			check_commit(&c, sums, &settled);
		}
		*seen = c.rev;
	}
	if (got < 0)
		fail_msg("%s", err.text);
	return settled;
}

/* The history is read after each round, because the ledger drops it at every 1,000th commit. */
static void crowd_works(unsigned rounds, unsigned each, uint64_t seed)
{
	struct sums sums = {0};
	unsigned settled = 0;
	int64_t seen = 0;

	run_wait_for_locks();
	for (unsigned i = 0; i < rounds; i++) {
		struct crowd_round round = {seed, i, each};

		assert_int_equal(run_processes(CROWD, member, &round), CROWD);
		settled += check_history(&sums, &seen);
	}
	assert_in_range(settled, rounds * each / 2, rounds * each * CROWD);
}

#endif
