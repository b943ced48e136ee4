/* Several clients at once. */
#include <stdlib.h>
#include "tests/store/conform/probe.h"

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

static void exact_counter(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct store_kv kv;

	probe_fork(p, ADDERS, add_many);
	kv = probe_get(p, s, "n");
	NEED(str_is(kv.value, arena_printf(&p->arena, "%d", ADDERS * ADDS)));
	NEED(store_revision(s) >= ADDERS * ADDS && kv.mod == store_revision(s));
	NEED(probe_watch(p, s, "n", 1, 10000).n == ADDERS * ADDS);
}

/* The same by clients that take turns, each with what it read before the turns of the others. */
static void turns(struct probe *p)
{
	struct store *s[ADDERS];
	struct store_kv kv[ADDERS];
	int done = 0, refused = 0;

	for (int i = 0; i < ADDERS; i++)
		s[i] = probe_join(p, STORE_WRITE);
	for (int round = 0; done < ADDS; round++) {
		for (int i = 0; i < ADDERS; i++)
			kv[i] = probe_get(p, s[i], "n");
		for (int i = 0; i < ADDERS; i++) {
			int who = (i + round) % ADDERS;
			int n = probe_number(kv[who].value);
			enum store_status status =
				TRY(s[who], NULL, GUARDS(MOD_IS("n", kv[who].mod)),
					OPS(PUT("n", arena_printf(&p->arena, "%d", n + 1))));

			NEED_STATUS(status, i ? STORE_REFUSED : STORE_OK);
			done += status == STORE_OK;
			refused += status == STORE_REFUSED;
		}
	}
	NEED_VALUE(s[0], "n", arena_printf(&p->arena, "%d", ADDS));
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

/* The pair and the document are each of one commit, and time does not go back. */
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

static void readers_among_writers(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);

	COMMIT(s, OPS(PUT("k/a", "0"), PUT("k/b", "0"), PUT("doc/D.md", "0\n0\n")));
	probe_fork(p, 3, write_or_read);
}

/* Each process lets go of the gate before the next gets it; in it nobody else is. */
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

static void gate(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);

	probe_fork(p, ADDERS, pass_the_gate);
	NEED_VALUE(s, "in", arena_printf(&p->arena, "%d", ADDERS * 15));
	NEED_VALUE(s, "gate", NULL);
}

const struct check crowd_checks[] = {
	{"clients that take turns count exactly", turns},
	{"processes that write at once count exactly", exact_counter},
	{"readers see whole commits while others write", readers_among_writers},
	{"a gate lets one in at a time", gate},
	{NULL, NULL},
};
