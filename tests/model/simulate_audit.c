#include <stdarg.h>
#include "tests/model/simulate_account.h"

void audit_init(struct audit *a, const struct workflow *w)
{
	*a = (struct audit){.workflow = w};
}

void audit_release(struct audit *a)
{
	buf_release(&a->journal);
	buf_release(&a->document);
	buf_release(&a->hand);
	free(a->actions);
	*a = (struct audit){0};
}

void audit_copy(struct audit *to, const struct audit *from)
{
	struct audit old = *to;

	*to = *from;
	to->journal = old.journal;
	to->document = old.document;
	to->hand = old.hand;
	buf_clear(&to->journal);
	buf_clear(&to->document);
	buf_clear(&to->hand);
	buf_add(&to->journal, buf_str(&from->journal));
	buf_add(&to->document, buf_str(&from->document));
	buf_add(&to->hand, buf_str(&from->hand));
	to->actions = xrealloc(old.actions, (from->n + 1) * sizeof(*to->actions));
	to->cap = from->n + 1;
	if (from->n)
		memcpy(to->actions, from->actions, from->n * sizeof(*to->actions));
}

void audit_broken(struct audit *a, const char *fmt, ...)
{
	va_list ap;

	if (a->fault[0])
		return;
	va_start(ap, fmt);
	(void)vsnprintf(a->fault, sizeof(a->fault), fmt, ap);
	va_end(ap);
}

struct audit_action *audit_find(const struct audit *a, const char *id)
{
	for (size_t i = a->n; i-- > 0;)
		if (strcmp(a->actions[i].id, id) == 0)
			return &a->actions[i];
	return NULL;
}

struct audit_action *account_add(struct audit *a, struct str id)
{
	struct audit_action *new;

	if (a->n == a->cap) {
		a->cap = a->cap ? a->cap * 2 : 32;
		a->actions = xrealloc(a->actions, a->cap * sizeof(*a->actions));
	}
	new = &a->actions[a->n++];
	*new = (struct audit_action){0};
	(void)snprintf(new->id, sizeof(new->id), "%.*s", (int)id.n, id.p);
	return new;
}

/* The text between a key at the start of a line of the frontmatter and the end of that line. */
struct str audit_value(const struct audit *a, const char *key)
{
	struct str all = buf_str(&a->document), line;
	size_t n = strlen(key);

	(void)str_line(&all, &line);
	while (str_line(&all, &line) && !str_is(line, "---"))
		if (line.n > n && line.p[n] == ':' && memcmp(line.p, key, n) == 0)
			return str_trim(str_sub(line, n + 1, line.n));
	return (struct str){"", 0};
}

bool audit_ended(const struct audit *a)
{
	const struct workflow_state *fs = workflow_state(a->workflow, a->state);

	return fs ? fs->terminal : strcmp(a->state, "failed") == 0 || strcmp(a->state, "done") == 0;
}

static struct str section(struct str all, const char *sentinel)
{
	size_t at = str_find(all, str_of(sentinel));
	struct str rest = at < all.n ? str_sub(all, at + strlen(sentinel), all.n) : (struct str){0};

	return str_sub(rest, 0, str_find(rest, STR("\n<!-- section:")));
}

struct str account_member(struct str line, const char *opening)
{
	size_t at = str_find(line, str_of(opening));
	struct str rest;

	if (at == line.n)
		return (struct str){"", 0};
	rest = str_sub(line, at + strlen(opening), line.n);
	return str_sub(rest, 0, str_find(rest, STR("\"")));
}

int64_t account_number(struct str line, const char *opening)
{
	size_t at = str_find(line, str_of(opening));
	int64_t n = 0;

	if (at == line.n)
		return -1;
	for (at += strlen(opening); at < line.n && line.p[at] >= '0' && line.p[at] <= '9'; at++)
		n = n * 10 + (line.p[at] - '0');
	return n;
}

static void see_action(struct audit *a, struct str line, bool by_hand)
{
	struct str id = account_member(line, "\"id\":\"");
	struct audit_action *x;
	char name[AUDIT_NAME];

	if (!id.n || id.n >= sizeof(name))
		return;
	(void)snprintf(name, sizeof(name), "%.*s", (int)id.n, id.p);
	x = audit_find(a, name);
	if (!x && !by_hand)
		audit_broken(a, "action '%s' is outstanding and was never dispatched", name);
	if (!x)
		x = account_add(a, id);
	x->here = true;
	x->says_answered = str_find(line, STR("\"answered\":")) < line.n;
}

/* What was outstanding and is not any more is used up, for ever. */
static void settle(struct audit *a, struct audit_action *x, bool by_hand)
{
	if (by_hand)
		x->by_hand = true;
	else if (x->here && x->used && !x->by_hand)
		audit_broken(a, "action '%s' is outstanding again: it was used up", x->id);
	else if (x->here && x->answered && !x->says_answered && !x->by_hand)
		audit_broken(a, "the answer to '%s' was there and is gone", x->id);
	x->used = !x->here && (x->used || x->outstanding);
	x->outstanding = x->here;
	x->answered = x->says_answered || (x->answered && !by_hand);
}

void account_document(struct audit *a, bool by_hand)
{
	struct str rest = section(buf_str(&a->document), "<!-- section:Actions -->"), line;
	struct str state = audit_value(a, "state");

	for (size_t i = 0; i < a->n; i++)
		a->actions[i].here = a->actions[i].says_answered = false;
	while (str_line(&rest, &line))
		if (line.n && line.p[0] == '{')
			see_action(a, line, by_hand);
	for (size_t i = 0; i < a->n; i++)
		settle(a, &a->actions[i], by_hand);
	if (audit_ended(a) && !by_hand && !str_is(state, a->state))
		audit_broken(a, "the run was at its end '%s' and went on to '%.*s'", a->state,
			(int)state.n, state.p);
	(void)snprintf(a->state, sizeof(a->state), "%.*s", (int)state.n, state.p);
}

void audit_printed(struct audit *a, const char *id, const char *owner, bool running)
{
	struct audit_action *x = audit_find(a, id);

	if (!x || !x->outstanding)
		audit_broken(a, "action '%s' is printed and not on the disk", id);
	else if (x->answered)
		audit_broken(a, "action '%s' is printed and answered already", id);
	else if (owner && x->owner[0] && strcmp(x->owner, owner) != 0 && !running && !x->by_hand)
		audit_broken(a, "action '%s' was printed to '%s' and is printed to '%s'", id,
			x->owner, owner);
	if (x && owner)
		(void)snprintf(x->owner, sizeof(x->owner), "%s", owner);
}

void audit_edit(struct audit *a, const struct buf *text)
{
	buf_clear(&a->hand);
	if (text)
		buf_add(&a->hand, buf_str(text));
	a->edited = true;
	a->hand_seen =
		text ? a->exists && str_eq(buf_str(text), buf_str(&a->document)) : !a->exists;
}
