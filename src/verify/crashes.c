#include "src/sys/digest.h"
#include "src/verify/crashes.h"
#include "src/verify/sequel.h"

enum { SEEN_MAX = 64 };

/* How the machine stops. After a call is before the next one; after the last, the call of the
 * program is acknowledged. */
struct stop {
	enum sim_fault fault;
	bool power;
	const char *how;
};

static const struct stop stops[] = {
	{SIM_STOP, false, "killed before"},
	{SIM_STOP_HALF, false, "killed in the midst of"},
	{SIM_STOP, true, "the power fails before"},
	{SIM_STOP_HALF, true, "the power fails in the midst of"},
};

struct crash {
	struct walk *k;
	uint32_t node;
	const struct stage *at;
	const struct deed *deed;
	struct arena arena;
	struct buf kept, whole; /* the journal as it is at first, and when the deed is done */
	struct sequel before, after;
	bool done; /* a deed that is no step, and a good one: whoever made it makes it again */
	char (*seen)[DIGEST_TEXT]; /* disks that were judged */
	size_t n_seen;
	const struct stop *stop;
	unsigned call;
	bool told;
};

int deed_do(struct play *p, const struct deed *deed, struct error *err)
{
	CLEANUP(json_free) json *printed = NULL;

	if (deed->action)
		return play_form_by(p, deed->step.owner, deed->action, deed->form, err);
	if (deed->key)
		return stage_set(p->stage, deed->key, str_of(deed->value), err);
	return play_call(p, &deed->step, &printed, err);
}

static void tell(struct crash *c, const char *what, const char *detail)
{
	const struct deed *d = c->deed;
	char *text = arena_printf(&c->arena, "%s, %s call %u to the disk: %s", d->what,
		c->stop ? c->stop->how : "after", c->call, detail);

	if (!c->told)
		walk_broken_by(c->k, c->node, what, text, d->offers, d->n_offers);
	c->told = true;
}

static bool starts_with(const struct buf *text, const struct buf *with)
{
	return text->len >= with->len && (!with->len || memcmp(text->s, with->s, with->len) == 0);
}

/* Both the document and its journal, and what else lies there. */
static void digest_disk(const struct stage *s, char out[DIGEST_TEXT])
{
	CLEANUP(buf_release) struct buf names = BUF_INIT, all = BUF_INIT;
	struct str rest, line;
	struct arena a = {0};

	sim_disk_list(s->disk, &names);
	rest = buf_str(&names);
	while (str_line(&rest, &line)) {
		buf_add(&all, line);
		buf_addc(&all, '\n');
		(void)sim_disk_get(s->disk, arena_dup(&a, line), &all);
	}
	arena_release(&a);
	digest_text(buf_str(&all), out);
}

/* With the same bytes on the disk the same comes of it. */
static bool judged(struct crash *c, const struct stage *s, bool acknowledged)
{
	char sum[DIGEST_TEXT];

	digest_disk(s, sum);
	sum[0] = acknowledged ? '!' : sum[0];
	for (size_t i = 0; i < c->n_seen; i++)
		if (strcmp(c->seen[i], sum) == 0)
			return true;
	if (c->n_seen < SEEN_MAX)
		memcpy(c->seen[c->n_seen++], sum, sizeof(sum));
	return false;
}

static bool check_journal(struct crash *c, const struct stage *s, bool acknowledged)
{
	CLEANUP(buf_release) struct buf journal = BUF_INIT;

	(void)stage_journal(s, &journal);
	if (starts_with(&journal, acknowledged ? &c->whole : &c->kept))
		return true;
	tell(c, "a crash loses what was acknowledged",
		acknowledged ? "this call" : "calls before it");
	return false;
}

static void compare(struct crash *c, const struct sequel *got, const struct sequel *first,
	const struct sequel *second, const char *next)
{
	enum sequel_part differs = sequel_differs(got, second);

	if (got->twice)
		tell(c, "an action is dispatched twice after a crash", got->twice);
	if (differs == SEQUEL_ALL || (first && sequel_differs(got, first) == SEQUEL_ALL))
		return;
	tell(c, "a crash leaves neither what was nor what comes",
		arena_printf(&c->arena, "%s leads to %s, %.300s", next, sequel_names[differs],
			got->part[differs]));
}

/* Whoever made the call makes it again, not knowing what became of it. */
static void judge_again(struct crash *c, const struct stage *at)
{
	CLEANUP(play_end) struct play p;
	struct sequel got;
	struct error err;

	play_begin(&p, c->k, c->node, at);
	if (deed_do(&p, c->deed, &err) < 0) {
		tell(c, "a call that a crash has stopped cannot be made again", err.text);
		return;
	}
	sequel_of(&c->arena, &p, &c->deed->next, &got);
	compare(c, &got, NULL, &c->after, "the same call and a step");
}

static void judge(struct crash *c, struct play *p, bool acknowledged)
{
	struct sequel got;

	c->k->crashes++;
	if (judged(c, p->stage, acknowledged) || !check_journal(c, p->stage, acknowledged))
		return;
	if (c->done && !acknowledged)
		judge_again(c, p->stage);
	sequel_of(&c->arena, p, &c->deed->next, &got);
	compare(c, &got, acknowledged ? NULL : &c->before, &c->after, "the next step");
}

/* True while there is such a call at which it can stop. */
static bool crash_at(struct crash *c)
{
	CLEANUP(play_end) struct play p;
	struct error err;
	bool stopped;

	play_begin(&p, c->k, c->node, c->at);
	sim_disk_seed(p.stage->disk, c->call);
	stage_fault(p.stage, c->call, c->stop->fault);
	(void)deed_do(&p, c->deed, &err);
	stopped = sim_disk_stopped(p.stage->disk);
	stage_fault(p.stage, 0, SIM_NONE);
	stage_restart(p.stage, c->stop->power);
	judge(c, &p, !stopped);
	return stopped && !c->told;
}

/* What comes without a crash. */
static void prepare(struct crash *c)
{
	CLEANUP(play_end) struct play untouched, done;
	struct error err;

	play_begin(&untouched, c->k, c->node, c->at);
	play_begin(&done, c->k, c->node, c->at);
	(void)stage_journal(c->at, &c->kept);
	sequel_of(&c->arena, &untouched, &c->deed->next, &c->before);
	c->done = deed_do(&done, c->deed, &err) == 0 && (c->deed->action || c->deed->key);
	(void)stage_journal(done.stage, &c->whole);
	sequel_of(&c->arena, &done, &c->deed->next, &c->after);
}

void crash_deed(struct walk *k, uint32_t node, const struct stage *at, const struct deed *deed)
{
	struct crash c = {.k = k, .node = node, .at = at, .deed = deed};

	c.seen = arena_alloc(&c.arena, SEEN_MAX * sizeof(*c.seen));
	prepare(&c);
	for (size_t i = 0; i < COUNT(stops); i++) {
		c.stop = &stops[i];
		for (c.call = 1; !c.told && crash_at(&c); c.call++)
			;
	}
	buf_release(&c.kept);
	buf_release(&c.whole);
	arena_release(&c.arena);
}
