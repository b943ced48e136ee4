#include "tests/store/conform/conformance.h"
#include <stdio.h>
#include "src/base/clock.h"
#include "tests/store/conform/probe.h"

static const struct check *const tables[] = {txn_checks, guard_checks, limit_checks,
	document_checks, list_checks, receipt_checks, lease_checks, lease_key_checks, watch_checks,
	crowd_checks};

/* In a function of its own: nothing that lives across the jump is in registers. */
static void attempt(struct probe *p, const struct check *c)
{
	if (!setjmp(p->out))
		c->run(p);
}

static bool run(const struct backend *b, const struct check *c, unsigned n, struct probe *p)
{
	memset(p, 0, sizeof(*p));
	p->b = b;
	snprintf(p->ns, sizeof(p->ns), "check-%u", n);
	clock_fix(CONFORMANCE_TIME);
	attempt(p, c);
	for (size_t i = 0; i < PROBE_CLIENTS; i++)
		store_close(&p->clients[i]);
	arena_release(&p->arena);
	buf_release(&p->scratch);
	buf_release(&p->text);
	delta_release(&p->delta);
	json_free(&p->events);
	return p->skipped || !p->why[0];
}

unsigned conformance(const struct backend *b, const char *only,
	void (*tell)(void *to, const struct verdict *v), void *to)
{
	unsigned n = 0, failed = 0;
	static struct probe p;

	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++)
		for (const struct check *c = tables[t]; c->name; c++) {
			bool good;

			n++;
			if (only && !strstr(c->name, only))
				continue;
			good = run(b, c, n, &p);
			failed += !good;
			if (tell)
				tell(to, &(struct verdict){
						 c->name, p.why[0] ? p.why : NULL, p.skipped});
		}
	return failed;
}
