/* audit.c: reads the journal on the simulated disk and notes the first check that fails. */
#include <stdarg.h>
#include "src/store/store.h"
#include "src/sys/digest.h"
#include "tests/model/audit.h"

void audit_init(struct audit *a, const struct workflow *w)
{
	*a = (struct audit){.workflow = w};
}

void audit_release(struct audit *a)
{
	buf_release(&a->journal);
	buf_release(&a->document);
	buf_release(&a->edit_text);
	free(a->actions);
	*a = (struct audit){0};
}

void audit_copy(struct audit *to, const struct audit *from)
{
	struct audit old = *to;

	*to = *from;
	to->journal = old.journal;
	to->document = old.document;
	to->edit_text = old.edit_text;
	buf_clear(&to->journal);
	buf_clear(&to->document);
	buf_clear(&to->edit_text);
	buf_add(&to->journal, buf_str(&from->journal));
	buf_add(&to->document, buf_str(&from->document));
	buf_add(&to->edit_text, buf_str(&from->edit_text));
	to->actions = xrealloc(old.actions, (from->n + 1) * sizeof(*to->actions));
	to->cap = from->n + 1;
	if (from->n)
		memcpy(to->actions, from->actions, from->n * sizeof(*to->actions));
}

void audit_fail(struct audit *a, const char *fmt, ...)
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

static struct audit_action *add_action(struct audit *a, struct str id)
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

bool audit_is_final(const struct audit *a)
{
	const struct workflow_state *st = workflow_state(a->workflow, a->state);

	return st ? st->terminal : strcmp(a->state, "failed") == 0 || strcmp(a->state, "done") == 0;
}

static struct str section(struct str all, const char *sentinel)
{
	size_t at = str_find(all, str_of(sentinel));
	struct str rest = at < all.n ? str_sub(all, at + strlen(sentinel), all.n) : (struct str){0};

	return str_sub(rest, 0, str_find(rest, STR("\n<!-- section:")));
}

/* The text of a member that begins with `opening`, up to the next quote. Ids, words and checksums
 * have no escapes. */
static struct str member_text(struct str line, const char *opening)
{
	size_t at = str_find(line, str_of(opening));
	struct str rest;

	if (at == line.n)
		return (struct str){"", 0};
	rest = str_sub(line, at + strlen(opening), line.n);
	return str_sub(rest, 0, str_find(rest, STR("\"")));
}

/* -1: none */
static int64_t member_number(struct str line, const char *opening)
{
	size_t at = str_find(line, str_of(opening));
	int64_t n = 0;

	if (at == line.n)
		return -1;
	for (at += strlen(opening); at < line.n && line.p[at] >= '0' && line.p[at] <= '9'; at++)
		n = n * 10 + (line.p[at] - '0');
	return n;
}

static void read_action(struct audit *a, struct str line, bool by_hand)
{
	struct str id = member_text(line, "\"id\":\"");
	struct audit_action *x;
	char name[AUDIT_NAME];

	if (!id.n || id.n >= sizeof(name))
		return;
	(void)snprintf(name, sizeof(name), "%.*s", (int)id.n, id.p);
	x = audit_find(a, name);
	if (!x && !by_hand)
		audit_fail(a, "action '%s' is outstanding and was never dispatched", name);
	if (!x)
		x = add_action(a, id);
	x->listed = true;
	x->marked_answered = str_find(line, STR("\"answered\":")) < line.n;
}

/* An action that is no longer outstanding is used and must not come back. */
static void update_action(struct audit *a, struct audit_action *x, bool by_hand)
{
	if (by_hand)
		x->by_hand = true;
	else if (x->listed && x->used && !x->by_hand)
		audit_fail(a, "action '%s' is outstanding again: it was used", x->id);
	else if (x->listed && x->answered && !x->marked_answered && !x->by_hand)
		audit_fail(a, "the answer to '%s' was recorded and is gone", x->id);
	x->used = !x->listed && (x->used || x->outstanding);
	x->outstanding = x->listed;
	x->answered = x->marked_answered || (x->answered && !by_hand);
}

/* The document changed since the last commit. `by_hand`: a person changed it. */
static void read_document(struct audit *a, bool by_hand)
{
	struct str rest = section(buf_str(&a->document), "<!-- section:Actions -->"), line;
	struct str state = audit_value(a, "state");

	for (size_t i = 0; i < a->n; i++)
		a->actions[i].listed = a->actions[i].marked_answered = false;
	while (str_line(&rest, &line))
		if (line.n && line.p[0] == '{')
			read_action(a, line, by_hand);
	for (size_t i = 0; i < a->n; i++)
		update_action(a, &a->actions[i], by_hand);
	if (audit_is_final(a) && !by_hand && !str_is(state, a->state))
		audit_fail(a, "the run was at its end '%s' and went on to '%.*s'", a->state,
			(int)state.n, state.p);
	(void)snprintf(a->state, sizeof(a->state), "%.*s", (int)state.n, state.p);
}

void audit_check_printed(struct audit *a, const char *id, const char *owner, bool running)
{
	struct audit_action *x = audit_find(a, id);

	if (!x || !x->outstanding)
		audit_fail(a, "action '%s' is printed and is not on the disk", id);
	else if (x->answered)
		audit_fail(a, "action '%s' is printed and answered already", id);
	else if (owner && x->owner[0] && strcmp(x->owner, owner) != 0 && !running && !x->by_hand)
		audit_fail(a, "action '%s' was printed to '%s' and is printed to '%s'", id,
			x->owner, owner);
	if (x && owner)
		(void)snprintf(x->owner, sizeof(x->owner), "%s", owner);
}

void audit_note_edit(struct audit *a, const struct buf *text)
{
	buf_clear(&a->edit_text);
	if (text)
		buf_add(&a->edit_text, buf_str(text));
	a->edited = true;
	a->edit_seen =
		text ? a->exists && str_eq(buf_str(text), buf_str(&a->document)) : !a->exists;
}

/* ---- the journal ---- */

/* One commit: its lines, and the last of them. */
struct commit {
	struct str lines, head;
	int64_t rev;
	bool by_hand;
};

/* `ID/STATE/N`: the numbers of a state only grow. */
static void check_number(struct audit *a, const char *id)
{
	const char *slash = strrchr(id, '/');
	size_t n = slash ? (size_t)(slash - id) + 1 : 0;
	unsigned long number = slash ? strtoul(slash + 1, NULL, 10) : 0;

	for (size_t i = 0; i < a->n; i++)
		if (n && strncmp(a->actions[i].id, id, n) == 0 &&
			strtoul(a->actions[i].id + n, NULL, 10) >= number)
			audit_fail(a, "the numbers go back: '%s' after '%s'", id, a->actions[i].id);
}

static void read_dispatch(struct audit *a, const char *id, int64_t rev)
{
	struct audit_action *x = audit_find(a, id);

	if (x && !x->by_hand) {
		audit_fail(a, "action '%s' is dispatched twice", id);
		return;
	}
	check_number(a, id);
	if (!x)
		x = add_action(a, str_of(id));
	x->dispatched = rev;
}

static void read_answer(struct audit *a, const char *id)
{
	struct audit_action *x = audit_find(a, id);

	if (!x || (!x->outstanding && !x->dispatched))
		audit_fail(a, "an answer to '%s' is accepted, which was never requested", id);
	else if (x->used && !x->by_hand)
		audit_fail(a, "an answer to '%s' is accepted, which is used", id);
	else if (x->answered && !x->by_hand)
		audit_fail(a, "a second answer to '%s' is accepted", id);
	if (!x)
		return;
	x->answered = x->ever_answered = true;
	a->answers++;
}

static void read_event(struct audit *a, struct str line, int64_t rev)
{
	struct str type = member_text(line, "\"type\":\""),
		   action = member_text(line, "\"action\":\"");
	int64_t seq = member_number(line, "{\"seq\":"), says = member_number(line, ",\"rev\":");
	char id[AUDIT_NAME];

	if (seq != a->seq + 1)
		audit_fail(a, "event %lld follows event %lld", (long long)seq, (long long)a->seq);
	if (says != rev)
		audit_fail(a, "event %lld is in the commit %lld and says %lld", (long long)seq,
			(long long)rev, (long long)says);
	a->seq = seq;
	(void)snprintf(id, sizeof(id), "%.*s", (int)action.n, action.p);
	if (str_is(type, "dispatch"))
		read_dispatch(a, id, rev);
	else if (str_is(type, "answer"))
		read_answer(a, id);
	else if (str_is(type, "refusal"))
		a->refusals++;
}

/* Each owner has a fence, and fences only grow. A release keeps the fence. The value is JSON in
 * JSON. */
static void read_holder(struct audit *a, struct str head)
{
	size_t at = str_find(head, STR("\"holder\":[\""));
	struct str value, owner;
	uint64_t fence;

	if (at == head.n)
		return;
	value = str_sub(head, at, head.n);
	value = str_sub(value, 0, str_find(value, STR("}\"")));
	at = str_find(value, STR("\\\"owner\\\":\\\""));
	owner = at < value.n ? str_sub(value, at + 12, value.n) : (struct str){"", 0};
	owner = str_sub(owner, 0, str_find(owner, STR("\\\"")));
	fence = (uint64_t)member_number(value, "\\\"fence\\\":");
	if (fence < a->fence || (fence == a->fence && owner.n && !str_is(owner, a->owner)))
		audit_fail(a, "'%.*s' holds it by number %llu after '%s' by %llu", (int)owner.n,
			owner.p, (unsigned long long)fence, a->owner, (unsigned long long)a->fence);
	a->fence = fence;
	(void)snprintf(a->owner, sizeof(a->owner), "%.*s", (int)owner.n, owner.p);
}

static bool sum_is(struct str text, struct str sum)
{
	char own[DIGEST_TEXT];

	digest_text(text, own);
	return str_is(sum, own);
}

static void document_changed(struct audit *a, const struct commit *c)
{
	a->changed |= !c->by_hand;
	if (a->edited && c->by_hand && str_eq(buf_str(&a->edit_text), buf_str(&a->document)))
		a->edit_seen = true;
	if (!a->exists) {
		a->state[0] = '\0'; /* the run starts over */
		return;
	}
	read_document(a, c->by_hand);
}

/* The new text of a change line; false when it removes the document. */
static bool changed_text(struct audit *a, struct str line, struct buf *out)
{
	static const char opening[] = "\"delta\":";
	CLEANUP(json_free) json *delta = NULL;
	size_t at = str_find(line, STR(opening));
	struct error err = {0};

	if (at == line.n)
		return false;
	at += sizeof(opening) - 1;
	if (json_parse(&delta, str_sub(line, at, line.n - 1), &err) < 0 ||
		delta_apply(delta, buf_str(&a->document), out, &err) < 0)
		audit_fail(a, "a change cannot be made: %.200s", err.text);
	else if (!sum_is(buf_str(out), member_text(line, "\"to\":\"")))
		audit_fail(a, "a change has another checksum");
	return true;
}

static void read_change(struct audit *a, const struct commit *c, struct str line)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool exists = changed_text(a, line, &text);
	struct buf old;

	if (member_number(line, "{\"change\":") != c->rev)
		audit_fail(a, "a change of commit %lld names another commit", (long long)c->rev);
	if (a->fault[0] || (a->exists && exists && str_eq(buf_str(&text), buf_str(&a->document))))
		return;
	a->exists = exists;
	old = a->document;
	a->document = text;
	text = old;
	document_changed(a, c);
}

/* Edits by a person may undo anything. */
static bool is_by_hand(struct str head)
{
	struct str op = member_text(head, "\"note\":{\"op\":\"");

	return str_is(op, "edit") || str_is(op, "removed") || str_is(op, "restore") ||
	       str_is(op, "set");
}

static void read_commit(struct audit *a, struct commit *c)
{
	struct str rest = c->lines, line;

	c->rev = member_number(c->head, "{\"commit\":");
	c->by_hand = is_by_hand(c->head);
	if (c->rev <= a->rev)
		audit_fail(a, "commit %lld comes after %lld", (long long)c->rev, (long long)a->rev);
	a->rev = c->rev;
	while (str_line(&rest, &line))
		if (str_starts(line, "{\"seq\":"))
			read_event(a, line, c->rev);
	read_holder(a, c->head);
	rest = c->lines;
	while (str_line(&rest, &line))
		if (str_starts(line, "{\"change\":"))
			read_change(a, c, line);
}

/* The checksum covers all bytes of the commit before it. */
static bool sum_holds(struct str all, size_t at, struct str head)
{
	static const char opening[] = ",\"sum\":\"";
	size_t n = sizeof(opening) - 1 + DIGEST_TEXT - 1 + 2; /* and `"}` */
	const char *from = head.p + head.n - n;

	return head.n > n && memcmp(from, opening, sizeof(opening) - 1) == 0 &&
	       sum_is((struct str){all.p + at, (size_t)(from - all.p) - at},
		       (struct str){from + sizeof(opening) - 1, DIGEST_TEXT - 1});
}

/* The next commit from `at` on; false when there is no whole one. Lines without a commit line do
 * not count. */
static bool next_commit(struct str all, size_t at, struct commit *c, size_t *end)
{
	struct str rest = str_sub(all, at, all.n), line;

	while (memchr(rest.p, '\n', rest.n) && str_line(&rest, &line)) {
		if (!str_starts(line, "{\"commit\":"))
			continue;
		*c = (struct commit){
			.lines = str_sub(all, at, (size_t)(line.p - all.p)), .head = line};
		*end = (size_t)(rest.p - all.p);
		return sum_holds(all, at, line);
	}
	return false;
}

static void read_from(struct audit *a, struct str all, size_t at)
{
	struct commit c;
	size_t end;

	while (!a->fault[0] && next_commit(all, at, &c, &end)) {
		read_commit(a, &c);
		at = end;
	}
	buf_add(&a->journal, str_sub(all, a->journal.len, at));
}

static bool begins_with(struct str all, struct str start)
{
	return all.n >= start.n && (!start.n || memcmp(all.p, start.p, start.n) == 0);
}

/* The journal was cut: only commits that were not acknowledged may be missing. */
static void read_again(struct audit *a, struct str all)
{
	struct audit fresh = {.workflow = a->workflow,
		.acknowledged = a->acknowledged,
		.edited = a->edited,
		.edit_text = a->edit_text};

	if (!begins_with(all, str_sub(buf_str(&a->journal), 0, a->acknowledged)))
		audit_fail(a, "commits that were acknowledged are gone from the journal");
	if (a->fault[0])
		return;
	read_from(&fresh, all, 0);
	for (size_t i = 0; i < a->n; i++) {
		struct audit_action *x = audit_find(&fresh, a->actions[i].id);

		if (x)
			memcpy(x->owner, a->actions[i].owner, sizeof(x->owner));
	}
	a->edit_text = (struct buf)BUF_INIT;
	audit_release(a);
	*a = fresh;
}

void audit_read(struct audit *a, const struct disk *d, const char *journal, bool acknowledged)
{
	struct str all;

	a->changed = false;
	a->refusals = a->answers = 0;
	(void)sim_disk_view(d, journal, &all);
	if (begins_with(all, buf_str(&a->journal)))
		read_from(a, all, a->journal.len);
	else
		read_again(a, all);
	if (acknowledged && a->journal.len != all.n)
		audit_fail(a, "the journal ends within a commit after a call that succeeded");
	if (acknowledged)
		a->acknowledged = a->journal.len;
}

void audit_check_document(struct audit *a, const struct disk *d, const char *path)
{
	struct str text;
	bool exists = sim_disk_view(d, path, &text);

	if (exists != a->exists)
		audit_fail(a, "the journal %s a document, the disk %s",
			a->exists ? "has" : "has not", exists ? "has" : "has not");
	else if (exists && !str_eq(text, buf_str(&a->document)))
		audit_fail(a, "the document differs from the one that the journal has");
}
