#include "src/workflow/diagram.h"
#include "src/workflow/words.h"

/*
 * Mermaid's own reader takes no `-` in a state's id, so a diagram that is to be seen as well as run
 * writes `state "fixing-pr" as fixing_pr`. Ids that differ only in these two letters are therefore
 * one state, and how each was spelled is kept until the last line is known.
 */
struct spelling {
	bool renamed;
	struct str other; /* a second spelling, n 0 when there is none */
	struct place other_at;
	struct place end_at;
};

struct link {
	size_t from, to;
	const char *trigger;
	struct place at;
};

static bool same_id(const char *a, struct str b)
{
	size_t n = strlen(a);

	if (n != b.n)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((a[i] == '-' ? '_' : a[i]) != (b.p[i] == '-' ? '_' : b.p[i]))
			return false;
	return true;
}

/* The slot of `name`: the one that holds it, or the free one where it belongs. */
static uint16_t *slot_of(struct diagram *d, struct str name)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < name.n; i++)
		h = (h ^ (unsigned char)(name.p[i] == '-' ? '_' : name.p[i])) * 16777619u;
	for (size_t i = h;; i++) {
		uint16_t *slot = &d->slots[i % COUNT(d->slots)];

		if (!*slot || same_id(d->states[*slot - 1].name, name))
			return slot;
	}
}

static void *grow(struct arena *a, void *old, size_t n, size_t *cap, size_t size)
{
	void *more;

	if (n < *cap)
		return old;
	*cap = *cap ? *cap * 2 : 16;
	more = arena_alloc(a, *cap * size);
	if (n)
		memcpy(more, old, n * size);
	return more;
}

static void add_state(struct diagram *d, struct str name, struct place at)
{
	struct workflow_state *s;
	size_t cap = d->cap_states;

	d->states = grow(d->arena, d->states, d->n_states, &cap, sizeof(*d->states));
	d->spellings =
		grow(d->arena, d->spellings, d->n_states, &d->cap_states, sizeof(*d->spellings));
	s = &d->states[d->n_states++];
	s->name = arena_dup(d->arena, name);
	s->line = at.line;
	s->col = at.col;
}

int diagram_state(struct diagram *d, struct str name, struct place at, size_t *index)
{
	char text[SHOWN];
	uint16_t *slot;

	if (!word_valid(name))
		return error_at(d->err, d->file, at.line, at.col,
			"'%s' is no name for a state: 1 to %d letters, digits, '_' and, inside, "
			"'-'",
			shown(name, text), FLOW_NAME);
	if (str_is(name, "troubleshooter"))
		return error_at(d->err, d->file, at.line, at.col,
			"'troubleshooter' is the machine's own and cannot be a state");
	slot = slot_of(d, name);
	if (*slot) {
		struct spelling *sp = &d->spellings[*slot - 1];

		if (!sp->other.n && !str_is(name, d->states[*slot - 1].name)) {
			sp->other = arena_str(d->arena, name);
			sp->other_at = at;
		}
	} else if (d->n_states == FLOW_STATES) {
		return error_at(d->err, d->file, at.line, at.col,
			"state '%s' is one too many: at most %d", shown(name, text), FLOW_STATES);
	} else {
		add_state(d, name, at);
		*slot = (uint16_t)d->n_states;
	}
	*index = (size_t)*slot - 1;
	return 0;
}

static size_t characters(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

int diagram_label(struct diagram *d, size_t index, struct str label, struct place at)
{
	struct workflow_state *s = &d->states[index];

	if (characters(label) > FLOW_LABEL)
		return error_at(d->err, d->file, at.line, at.col,
			"label of '%s' is longer than %d characters", s->name, FLOW_LABEL);
	if (word_valid(label) && same_id(s->name, label) && !d->spellings[index].renamed) {
		d->spellings[index].renamed = true;
		s->name = arena_dup(d->arena, label);
	} else if (label.n && !s->label) {
		s->label = arena_dup(d->arena, label);
	}
	return 0;
}

int diagram_initial(struct diagram *d, size_t index, struct place at)
{
	if (d->initial_at.line)
		return error_at(d->err, d->file, at.line, at.col,
			"second initial state '%s': '%s' is the initial state since line %u",
			d->states[index].name, d->states[d->initial].name, d->initial_at.line);
	d->initial = index;
	d->initial_at = at;
	return 0;
}

int diagram_end(struct diagram *d, size_t index, struct place at)
{
	if (!d->states[index].terminal)
		d->spellings[index].end_at = at;
	d->states[index].terminal = true;
	return 0;
}

int diagram_edge(struct diagram *d, size_t from, size_t to, struct str trigger, struct place at)
{
	char text[SHOWN];

	if (trigger.n && !word_valid(trigger))
		return error_at(d->err, d->file, at.line, at.col,
			"'%s' is no trigger: 1 to %d letters, digits, '_' and, inside, '-'",
			shown(trigger, text), FLOW_NAME);
	if (d->n_links == FLOW_EDGES)
		return error_at(d->err, d->file, at.line, at.col,
			"this edge is one too many: at most %d", FLOW_EDGES);
	d->links = grow(d->arena, d->links, d->n_links, &d->cap_links, sizeof(*d->links));
	d->links[d->n_links++] = (struct link){from, to, arena_dup(d->arena, trigger), at};
	return 0;
}

static int compare_links(const void *pa, const void *pb)
{
	const struct link *a = *(const struct link *const *)pa;
	const struct link *b = *(const struct link *const *)pb;
	int c;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	c = strcmp(a->trigger, b->trigger);
	return c ? c : (a < b ? -1 : a > b);
}

/* Sorted, two edges with one meaning stand side by side; of all such pairs the first in the file is
 * told. */
static int check_twins(struct diagram *d)
{
	const struct link **order = arena_alloc(d->arena, (d->n_links + 1) * sizeof(*order));
	const struct link *twin = NULL, *first = NULL;

	for (size_t i = 0; i < d->n_links; i++)
		order[i] = &d->links[i];
	qsort(order, d->n_links, sizeof(*order), compare_links);
	for (size_t i = 1; i < d->n_links; i++) {
		if (order[i]->from == order[i - 1]->from &&
			!strcmp(order[i]->trigger, order[i - 1]->trigger) &&
			(!twin || order[i] < twin)) {
			twin = order[i];
			first = order[i - 1];
		}
	}
	if (!twin)
		return 0;
	return error_at(d->err, d->file, twin->at.line, twin->at.col,
		"second edge from '%s' with the trigger '%s': the first is in line %u",
		d->states[twin->from].name, twin->trigger, first->at.line);
}

static int check_edges(struct diagram *d)
{
	for (size_t i = 0; i < d->n_links; i++) {
		const struct link *l = &d->links[i];
		const struct workflow_state *from = &d->states[l->from];

		if (from->terminal)
			return error_at(d->err, d->file, l->at.line, l->at.col,
				"edge out of '%s', which is an end since line %u", from->name,
				d->spellings[l->from].end_at.line);
		if (!l->trigger[0] && l->from != d->initial)
			return error_at(d->err, d->file, l->at.line, l->at.col,
				"edge from '%s' to '%s' has no trigger", from->name,
				d->states[l->to].name);
	}
	return check_twins(d);
}

static int check_spellings(struct diagram *d)
{
	for (size_t i = 0; i < d->n_states; i++) {
		const struct spelling *sp = &d->spellings[i];
		char text[SHOWN];

		if (sp->other.n && !sp->renamed)
			return error_at(d->err, d->file, sp->other_at.line, sp->other_at.col,
				"'%s' is '%s' in line %u: mermaid cannot tell '-' and '_' apart",
				shown(sp->other, text), d->states[i].name, d->states[i].line);
	}
	return 0;
}

int diagram_finish(struct diagram *d, struct place first, struct workflow *w)
{
	if (!d->initial_at.line)
		return error_at(d->err, d->file, first.line, first.col,
			"no initial state: one edge must be '[*] --> NAME'");
	if (check_spellings(d) < 0 || check_edges(d) < 0)
		return -1;
	for (size_t i = 0; i < d->n_states; i++)
		if (!d->states[i].label)
			d->states[i].label = d->states[i].name;
	w->states = d->states;
	w->n_states = d->n_states;
	w->initial = d->states[d->initial].name;
	w->edges = arena_alloc(d->arena, (d->n_links + 1) * sizeof(*w->edges));
	w->n_edges = d->n_links;
	for (size_t i = 0; i < d->n_links; i++) {
		const struct link *l = &d->links[i];

		w->edges[i] = (struct workflow_edge){d->states[l->from].name, d->states[l->to].name,
			l->trigger, l->at.line, l->at.col};
	}
	return 0;
}
