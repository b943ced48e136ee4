#include "src/sys/digest.h"
#include "tests/model/simulate_account.h"
#include "src/store/store.h"

/* One commit: its lines, and what its last one says. */
struct commit {
	struct str lines, head;
	int64_t rev;
	bool by_hand;
};

/* `ID/STATE/N`: no number of a state is given out twice, or it would name two requests. */
static void check_number(struct audit *a, const char *id)
{
	const char *slash = strrchr(id, '/');
	size_t n = slash ? (size_t)(slash - id) + 1 : 0;
	unsigned long number = slash ? strtoul(slash + 1, NULL, 10) : 0;

	for (size_t i = 0; i < a->n; i++)
		if (n && strncmp(a->actions[i].id, id, n) == 0 &&
			strtoul(a->actions[i].id + n, NULL, 10) >= number)
			audit_broken(
				a, "the numbers go back: '%s' after '%s'", id, a->actions[i].id);
}

static void see_dispatch(struct audit *a, const char *id, int64_t rev)
{
	struct audit_action *x = audit_find(a, id);

	if (x && !x->by_hand) {
		audit_broken(a, "action '%s' is dispatched twice", id);
		return;
	}
	check_number(a, id);
	if (!x)
		x = account_add(a, str_of(id));
	x->dispatched = rev;
}

static void see_answer(struct audit *a, const char *id, bool word)
{
	struct audit_action *x = audit_find(a, id);

	if (!x || (!x->outstanding && !x->dispatched))
		audit_broken(a, "an answer to '%s' is taken, which nobody was asked", id);
	else if (x->used && !x->by_hand)
		audit_broken(a, "an answer to '%s' is taken, which is used up", id);
	else if (x->answered && !x->by_hand && !(x->wordless && word))
		audit_broken(a, "a second answer to '%s' is taken", id);
	if (!x)
		return;
	x->answered = x->ever = true;
	x->wordless = !word;
	a->answers++;
}

static void see_event(struct audit *a, struct str line, int64_t rev)
{
	struct str type = account_member(line, "\"type\":\""),
		   action = account_member(line, "\"action\":\"");
	int64_t seq = account_number(line, "{\"seq\":"), says = account_number(line, ",\"rev\":");
	char id[AUDIT_NAME];

	if (seq != a->seq + 1)
		audit_broken(a, "event %lld follows event %lld", (long long)seq, (long long)a->seq);
	if (says != rev)
		audit_broken(a, "event %lld is in the commit %lld and says %lld", (long long)seq,
			(long long)rev, (long long)says);
	a->seq = seq;
	(void)snprintf(id, sizeof(id), "%.*s", (int)action.n, action.p);
	if (str_is(type, "dispatch"))
		see_dispatch(a, id, rev);
	else if (str_is(type, "answer"))
		see_answer(a, id, account_member(line, "\"result\":\"").n > 0);
	else if (str_is(type, "refusal"))
		a->refusals++;
}

/*
 * One owner at a time: each is told by a number of its own, and the numbers only grow. Who gives it
 * back leaves the number there. The value is JSON in JSON.
 */
static void see_holder(struct audit *a, struct str head)
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
	fence = (uint64_t)account_number(value, "\\\"fence\\\":");
	if (fence < a->fence || (fence == a->fence && owner.n && !str_is(owner, a->owner)))
		audit_broken(a, "'%.*s' holds it by number %llu after '%s' by %llu", (int)owner.n,
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

static void see_revision(struct audit *a, int64_t rev)
{
	int64_t saved = (int64_t)strtoul(audit_value(a, "revision").p, NULL, 10);

	if (saved <= a->saved || saved > rev)
		audit_broken(a, "the document says revision %lld in commit %lld, after %lld",
			(long long)saved, (long long)rev, (long long)a->saved);
	a->saved = saved;
}

/* The document as it is from now on. */
static void take_document(struct audit *a, const struct commit *c, int64_t rev)
{
	a->changed |= !c->by_hand;
	if (a->edited && c->by_hand && str_eq(buf_str(&a->hand), buf_str(&a->document)))
		a->hand_seen = true;
	if (!a->exists)
		return;
	account_document(a, c->by_hand);
	if (!c->by_hand)
		see_revision(a, rev);
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
		audit_broken(a, "a change cannot be made: %.200s", err.text);
	else if (!sum_is(buf_str(out), account_member(line, "\"to\":\"")))
		audit_broken(a, "a change leads to another text");
	return true;
}

static void see_change(struct audit *a, const struct commit *c, struct str line)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool exists = changed_text(a, line, &text);
	struct buf old;

	if (account_number(line, "{\"change\":") != c->rev)
		audit_broken(a, "a change of commit %lld says another", (long long)c->rev);
	if (a->fault[0] || (a->exists && exists && str_eq(buf_str(&text), buf_str(&a->document))))
		return;
	a->exists = exists;
	old = a->document;
	a->document = text;
	text = old;
	take_document(a, c, c->rev);
}

/* What a person did: nothing that was said before binds them. */
static bool done_by_hand(struct str head)
{
	struct str op = account_member(head, "\"note\":{\"op\":\"");

	return str_is(op, "edit") || str_is(op, "removed") || str_is(op, "restore") ||
	       str_is(op, "set");
}

static void see_commit(struct audit *a, struct commit *c)
{
	struct str rest = c->lines, line;

	c->rev = account_number(c->head, "{\"commit\":");
	c->by_hand = done_by_hand(c->head);
	if (c->rev <= a->rev)
		audit_broken(
			a, "commit %lld comes after %lld", (long long)c->rev, (long long)a->rev);
	a->rev = c->rev;
	while (str_line(&rest, &line))
		if (str_starts(line, "{\"seq\":"))
			see_event(a, line, c->rev);
	see_holder(a, c->head);
	rest = c->lines;
	while (str_line(&rest, &line))
		if (str_starts(line, "{\"change\":"))
			see_change(a, c, line);
}

/* The sum at the end of the last line is that of all bytes of the commit before it. */
static bool sum_holds(struct str all, size_t at, struct str head)
{
	static const char opening[] = ",\"sum\":\"";
	size_t n = sizeof(opening) - 1 + DIGEST_TEXT - 1 + 2; /* and `"}` */
	const char *from = head.p + head.n - n;

	return head.n > n && memcmp(from, opening, sizeof(opening) - 1) == 0 &&
	       sum_is((struct str){all.p + at, (size_t)(from - all.p) - at},
		       (struct str){from + sizeof(opening) - 1, DIGEST_TEXT - 1});
}

/*
 * The next commit behind `at`; false when there is none that is whole. What is behind the last one
 * never happened: lines without a commit, and what a power cut made of them.
 */
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
		see_commit(a, &c);
		at = end;
	}
	buf_add(&a->journal, str_sub(all, a->journal.len, at));
}

static bool begins_with(struct str all, struct str start)
{
	return all.n >= start.n && (!start.n || memcmp(all.p, start.p, start.n) == 0);
}

/* Only what nobody was told of may be gone: then the account is made anew from the start. */
static void begin_anew(struct audit *a, struct str all)
{
	struct audit fresh = {.workflow = a->workflow,
		.acknowledged = a->acknowledged,
		.edited = a->edited,
		.hand = a->hand};

	if (!begins_with(all, str_sub(buf_str(&a->journal), 0, a->acknowledged)))
		audit_broken(a, "commits that were acknowledged are gone from the journal");
	if (a->fault[0])
		return;
	read_from(&fresh, all, 0);
	for (size_t i = 0; i < a->n; i++) {
		struct audit_action *x = audit_find(&fresh, a->actions[i].id);

		if (x)
			memcpy(x->owner, a->actions[i].owner, sizeof(x->owner));
	}
	a->hand = (struct buf)BUF_INIT;
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
		begin_anew(a, all);
	if (acknowledged && a->journal.len != all.n)
		audit_broken(a, "the journal ends within a commit after a call that succeeded");
	if (acknowledged)
		a->acknowledged = a->journal.len;
}

void audit_document(struct audit *a, const struct disk *d, const char *path)
{
	struct str text;
	bool exists = sim_disk_view(d, path, &text);

	if (exists != a->exists)
		audit_broken(a, "the journal %s a document, the disk %s",
			a->exists ? "has" : "has not", exists ? "has" : "has not");
	else if (exists && !str_eq(text, buf_str(&a->document)))
		audit_broken(a, "the document is another than the journal rebuilds");
}
