#include "tests/model/simulate_play.h"
#include "tests/lib/wire.h"

static bool fails(struct play *p)
{
	bool does = dice_chance(&p->dice, p->odds.effect);

	if (does)
		count_fault(p, FAULT_EFFECT);
	return does;
}

void world_now(struct play *p)
{
	struct simulator_environment *w = &p->simulator->environment;

	*w = (struct simulator_environment){
		.specs = 1, .running = p->running[0] ? p->running : NULL};
	if (p->fair || !p->odds.effect)
		return;
	w->specs = fails(p) ? 2 * dice_below(&p->dice, 2) : 1;
	w->find_fails = fails(p);
	w->commit_fails = fails(p);
	w->push_fails = fails(p);
	w->nothing_to_commit = dice_chance(&p->dice, 300);
	w->no_remote = dice_chance(&p->dice, 100);
	w->checks = (enum simulator_checks)dice_below(&p->dice, 3);
}

/* Some seconds; or a jump over the end of a lease, or back. */
void world_clock(struct play *p)
{
	static const int jumps[] = {7199, 7201, 86400, 2592000, -30, -7300, -86400};

	if (!dice_chance(&p->dice, p->odds.clock)) {
		p->simulator->now += dice_below(&p->dice, 90);
		return;
	}
	p->simulator->now += jumps[dice_below(&p->dice, COUNT(jumps))];
	count_fault(p, FAULT_CLOCK);
	trace_note(p, "the clock jumps");
}

/* What lay there may have been broken already: a power cut can bring back what was mended. */
static bool readable(struct str text)
{
	struct context c = {0};
	struct error ignored;
	bool good = context_parse(&c, "", text, &ignored) == 0;

	context_release(&c);
	return good;
}

static void put(struct play *p, const struct buf *text, const char *what)
{
	CLEANUP(buf_release) struct buf old = BUF_INIT;

	if (text && simulator_document(p->simulator, &old) && str_eq(buf_str(text), buf_str(&old)))
		return; /* nothing is edited */
	if (text)
		simulator_put_document(p->simulator, buf_str(text));
	else
		sim_disk_remove(p->simulator->disk, p->simulator->path);
	p->broken_by_hand = text && !readable(buf_str(text));
	audit_edit(&p->audit, text);
	trace_note(p, "a person %s", what);
}

/* Replaces the value behind a key of the frontmatter. */
static void set_key(struct buf *text, const char *key, const char *value)
{
	char opening[AUDIT_NAME];
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str all = buf_str(text);
	size_t at, end;
	struct buf old;

	(void)snprintf(opening, sizeof(opening), "\n%s:", key);
	at = str_find(all, str_of(opening));
	if (at == all.n)
		return;
	at += strlen(opening);
	end = at + str_find(str_sub(all, at, all.n), STR("\n"));
	buf_add(&out, str_sub(all, 0, at));
	buf_addf(&out, " %s", value);
	buf_add(&out, str_sub(all, end, all.n));
	old = *text;
	*text = out;
	out = old;
}

static void cut_section(struct buf *text, const char *sentinel)
{
	struct str all = buf_str(text);
	size_t at = str_find(all, str_of(sentinel)), end;
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct buf old;

	if (at == all.n)
		return;
	end = at + 1 + str_find(str_sub(all, at + 1, all.n), STR("\n<!-- section:"));
	buf_add(&out, str_sub(all, 0, at));
	buf_add(&out, str_sub(all, end, all.n));
	old = *text;
	*text = out;
	out = old;
}

static void write_by_hand(struct play *p, struct buf *text)
{
	static const char *const sections[] = {"Notes", WIRE_VALIDATION, WIRE_NOTES, WIRE_SUMMARY,
		WIRE_BRIEF, WIRE_FIX " 1", WIRE_SIGNOFF_RESEARCH};
	const char *name = sections[dice_below(&p->dice, COUNT(sections))];
	char sentinel[AUDIT_NAME];

	(void)snprintf(sentinel, sizeof(sentinel), "<!-- section:%s -->", name);
	if (str_find(buf_str(text), str_of(sentinel)) == text->len)
		buf_addf(text, "\n%s\n\npassed: n%u, by hand\n", sentinel, ++p->texts);
}

static void edit_well(struct play *p, struct buf *text)
{
	const struct workflow *w = p->plan->workflow;
	const char *state = w->states[dice_below(&p->dice, (unsigned)w->n_states)].name;

	count_fault(p, FAULT_EDIT);
	switch (dice_below(&p->dice, 6)) {
	case 0:
		set_key(text, "state", state);
		put(p, text, "sets the state");
		return;
	case 1:
		set_key(text, WIRE_FAILURES, "2");
		put(p, text, "sets a counter");
		return;
	case 2:
		cut_section(text, "<!-- section:Actions -->");
		put(p, text, "removes the section 'Actions'");
		return;
	case 3:
		if (p->earlier.len)
			put(p, &p->earlier, "puts an earlier document back");
		return;
	default:
		write_by_hand(p, text);
		put(p, text, "writes into the document");
	}
}

static void edit_badly(struct play *p, struct buf *text)
{
	count_fault(p, FAULT_BREAK);
	switch (dice_below(&p->dice, 3)) {
	case 0:
		set_key(text, "state", "[");
		break;
	case 1:
		buf_adds(text, "\n<!-- section:Twice -->\n\n<!-- section:Twice -->\n");
		break;
	default:
		buf_clear(text);
		buf_adds(text, "What was here?\n");
	}
	put(p, text, "breaks the document");
}

void world_edit(struct play *p)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	unsigned kind = dice_below(&p->dice, 10);

	if (!simulator_document(p->simulator, &text) || p->broken_by_hand)
		return;
	if (kind == 0) {
		count_fault(p, FAULT_REMOVE);
		put(p, NULL, "removes the document");
	} else if (kind < 3) {
		edit_badly(p, &text);
	} else {
		edit_well(p, &text);
	}
}

void world_blackout(struct play *p)
{
	count_fault(p, FAULT_BLACKOUT);
	trace_note(p, "the power fails");
	sim_disk_restart(p->simulator->disk, true);
	audit_read(&p->audit, p->simulator->disk, p->journal, false);
}
