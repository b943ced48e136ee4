#include "src/base/clock.h"
#include "tests/model/protocol_internal.h"

/* A power cut at one point is tried with so many choices of what is lost. */
enum { POWER_CUTS = 2 };

/* Two at once, one of them a script, then one more: partial answers, and a step from state to
 * state. Nothing else needs more. */
static const char workflow_text[] =
	"---\n"
	"limits: {max_actions: 1000, consecutive_failures: 100}\n"
	"states:\n"
	"  work:\n"
	"    all:\n"
	"      - {agent: one, skill: s, writes: Left, results: {passed: good, failed: bad}}\n"
	"      - {command: make, writes: Right, results: {passed: good, failed: bad}}\n"
	"  check:\n"
	"    agent: two\n"
	"    skill: s\n"
	"    writes: Last\n"
	"    results: {passed: good, failed: bad}\n"
	"---\n"
	"```mermaid\nstateDiagram-v2\n"
	"[*] --> init\ninit --> work : start\nwork --> check : good\nwork --> failed : bad\n"
	"check --> done : good\ncheck --> failed : bad\ndone --> [*]\nfailed --> [*]\n```\n";

/* A state that was seen, and how many moves were left then: with more left it is gone through
 * again. */
struct seen {
	char key[DIGEST_TEXT];
	unsigned char left; /* + 1; 0: a free place */
};

struct search {
	const struct protocol_plan *plan;
	struct protocol_sums *sums;
	struct seen *table;
	size_t size; /* a power of two */
	struct move path[64];
	unsigned n_path;
	bool broken;
};

static size_t place(const struct seen *table, size_t size, const char *key)
{
	char head[16];
	size_t at;

	memcpy(head, key, 15);
	head[15] = '\0';
	for (at = strtoul(head, NULL, 16) & (size - 1); table[at].left; at = (at + 1) & (size - 1))
		if (memcmp(table[at].key, key, DIGEST_TEXT) == 0)
			break;
	return at;
}

static void grow(struct search *s)
{
	size_t size = s->size ? s->size * 2 : 4096;
	struct seen *table = xmalloc(size * sizeof(*table));

	memset(table, 0, size * sizeof(*table));
	for (size_t i = 0; i < s->size; i++)
		if (s->table[i].left)
			table[place(table, size, s->table[i].key)] = s->table[i];
	free(s->table);
	s->table = table;
	s->size = size;
}

/* False when nothing new can come of it. *fresh: it was never seen. */
static bool enter_state(struct search *s, const char *key, unsigned left, bool *fresh)
{
	struct seen *t;

	if (s->sums->states * 2 >= s->size)
		grow(s);
	t = &s->table[place(s->table, s->size, key)];
	*fresh = !t->left;
	if (t->left > left) {
		s->sums->merged++;
		return false;
	}
	memcpy(t->key, key, DIGEST_TEXT);
	t->left = (unsigned char)(left + 1);
	s->sums->states += *fresh;
	return true;
}

static void go_through(struct search *s, const struct play *from, unsigned left, unsigned crashes);

static bool broke(struct search *s, const struct play *p)
{
	if (!p->audit.fault[0])
		return false;
	s->broken = true;
	(void)snprintf(s->sums->fault, sizeof(s->sums->fault), "%s", p->audit.fault);
	return true;
}

/* One move from a copy of `from`, and what comes after it. How many calls to the disk it took. */
static unsigned try_move(
	struct search *s, const struct play *from, struct move m, unsigned left, unsigned crashes)
{
	char key[DIGEST_TEXT];
	struct play to;
	unsigned calls;
	bool fresh;

	state_copy(&to, from);
	s->path[s->n_path++] = m;
	calls = move_make(&to, &m);
	s->sums->moves++;
	s->sums->crashes += m.crash_at > 0;
	if (!broke(s, &to)) {
		state_key(&to, crashes, key);
		if (enter_state(s, key, left - 1, &fresh)) {
			if (fresh)
				check_progress(&to, s->sums);
			if (!broke(s, &to))
				go_through(s, &to, left - 1, crashes);
		}
	}
	if (!s->broken)
		s->n_path--;
	state_release(&to);
	return calls;
}

static void go_through(struct search *s, const struct play *from, unsigned left, unsigned crashes)
{
	struct move moves[MOVES_MAX];
	unsigned n = left ? moves_from(from, moves) : 0;

	for (unsigned i = 0; i < n && !s->broken; i++) {
		unsigned calls = try_move(s, from, moves[i], left, crashes);

		if (moves[i].kind == MOVE_BLACKOUT || !crashes)
			continue;
		for (unsigned k = 1; k <= calls && !s->broken; k++)
			for (unsigned power = 0; power <= POWER_CUTS && !s->broken; power++) {
				struct move m = moves[i];

				m.crash_at = (unsigned short)k;
				m.power = (unsigned short)power;
				(void)try_move(s, from, m, left, crashes - 1);
			}
	}
}

/* The way to what was broken, once more and told. */
static void tell(const struct search *s, const struct simulate_plan *plan, struct buf *trace)
{
	struct protocol_sums ignored = {0};
	struct simulate_sums sums = {0};
	struct play p;

	state_init(&p, plan, &sums);
	p.trace = trace;
	for (unsigned i = 0; i < s->n_path; i++)
		(void)move_make(&p, &s->path[i]);
	if (!p.audit.fault[0])
		check_progress(&p, &ignored);
	trace_note(&p, "BROKEN: %s", s->sums->fault);
	state_release(&p);
}

int protocol_check(const struct protocol_plan *plan, struct protocol_sums *sums, struct buf *trace,
	struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct simulate_sums played = {0};
	struct simulate_plan of_play = {.sabotage = plan->sabotage};
	struct search s = {.plan = plan, .sums = sums};
	int64_t begun = clock_ticks();
	struct workflow w;
	struct play start;

	*sums = (struct protocol_sums){0};
	if (plan->depth >= COUNT(s.path))
		return error_set(err, ERR_USAGE, "the depth must be below %zu", COUNT(s.path));
	if (workflow_parse(&a, "protocol.md", str_of(workflow_text), &w, err) < 0)
		return -1;
	of_play.workflow = &w;
	state_init(&start, &of_play, &played);
	go_through(&s, &start, plan->depth, plan->crashes);
	state_release(&start);
	if (s.broken)
		tell(&s, &of_play, trace);
	clock_fix(-1);
	free(s.table);
	sums->ms = clock_ticks() - begun;
	return 0;
}
