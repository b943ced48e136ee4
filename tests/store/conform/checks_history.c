/* Checks of the history: which commits a range has, in which order, and what they say. */
#include "src/base/clock.h"
#include "tests/store/conform/probe.h"

static json *event_of(const char *type)
{
	json *e = json_object();

	json_put_str(e, "type", str_of(type));
	return e;
}

/* A commit with the note {"op":NAME} and an event of that type; `text` of doc/D.md, NULL: none. */
static int64_t commit_named(struct probe *p, struct store *s, const char *name, const char *text)
{
	struct store_op op = PUT("doc/D.md", text ? text : "");
	struct store_txn t = {.ops = &op, .n_ops = text != NULL};
	CLEANUP(json_free) json *note = json_object(), *events = json_array();
	struct store_result r = {0};

	json_put_str(note, "op", str_of(name));
	json_push(events, event_of(name));
	t.note = note;
	t.events = events;
	t.ts = "2026-01-01T00:00:07Z";
	NEED_STATUS(probe_try(p, s, &r, &t), STORE_OK);
	return r.rev;
}

/* `NAME=TEXT` of each commit with a note, `NAME` of one without a document, `-` for a deletion. */
static const char *history_text(struct probe *p, struct store *s, const struct store_range *range)
{
	struct store_history *h = NULL;
	struct store_commit c;
	struct error err = {0};
	enum store_status got = store_history(s, range, &h, &err);
	int rc = 0;

	buf_clear(&p->text);
	buf_adds(&p->text, "");
	while (got == STORE_OK && (rc = store_history_next(h, &c, &err)) > 0) {
		const char *name = json_get_str(c.note, "op");

		if (!name && !c.document)
			continue;
		buf_addf(&p->text, "%s%s", p->text.len ? " " : "", name ? name : "?");
		if (c.document && c.removed)
			buf_addf(&p->text, "-%.*s", (int)c.text.n, c.text.p);
		else if (c.document)
			buf_addf(&p->text, "=%.*s", (int)c.text.n, c.text.p);
	}
	if (got == STORE_OK && rc == 0) /* the end stays the end */
		rc = store_history_next(h, &c, &err);
	store_history_close(&h);
	NEED_STATUS(got, STORE_OK);
	if (rc)
		MISS("%s", rc < 0 ? err.text : "a commit after the last one");
	return arena_dup(&p->arena, buf_str(&p->text));
}

#define NEED_HISTORY(s, want, ...)                                                                 \
	do {                                                                                       \
		const char *is_ = history_text(p, s, &(struct store_range){__VA_ARGS__});          \
		if (!str_is(str_of(is_), want))                                                    \
			MISS("the history is: %s, not: %s", is_, want);                            \
	} while (0)

CHECK(all_commits, "the history has every commit, in both directions")
{
	NEED_HISTORY(s, "", .texts = true);
	NEED_HISTORY(s, "", .backwards = true);
	commit_named(p, s, "a", "1\n");
	commit_named(p, s, "b", NULL);
	commit_named(p, s, "c", "1\n2\n");
	probe_del(p, s, "doc/D.md");
	commit_named(p, s, "e", "3\n");
	for (int n = 0; n < 2; n++) {
		NEED_HISTORY(s, "a=1\n b c=1\n2\n ?- e=3\n", .texts = true);
		NEED_HISTORY(s, "e=3\n ?- c=1\n2\n b a=1\n", .texts = true, .backwards = true);
		s = probe_rejoin(p, s);
	}
	NEED_HISTORY(probe_join(p, STORE_HISTORY), "a=1\n b c=1\n2\n ?- e=3\n", .texts = true);
	NEED_HISTORY(probe_join(p, STORE_READ), "a= b c= ?- e=");
}

CHECK(from_revisions, "the history begins at any revision")
{
	int64_t rev[3];

	rev[0] = commit_named(p, s, "a", "1\n");
	rev[1] = commit_named(p, s, "b", NULL);
	rev[2] = commit_named(p, s, "c", "2\n");
	NEED_HISTORY(s, "a=1\n b c=2\n", .from = rev[0], .texts = true);
	NEED_HISTORY(s, "b c=2\n", .from = rev[0] + 1, .texts = true);
	NEED_HISTORY(s, "c=2\n", .from = rev[2], .texts = true);
	NEED_HISTORY(s, "", .from = rev[2] + 1, .texts = true);
	NEED_HISTORY(s, "c=2\n b a=1\n", .from = rev[2] + 9, .backwards = true, .texts = true);
	NEED_HISTORY(s, "b a=1\n", .from = rev[2] - 1, .backwards = true, .texts = true);
	NEED_HISTORY(s, "b a=1\n", .from = rev[1], .backwards = true, .texts = true);
	NEED_HISTORY(s, "a=1\n", .from = rev[0], .backwards = true, .texts = true);
}

CHECK(after_events, "the history begins after any event")
{
	int64_t last = store_last_seq(s);

	commit_named(p, s, "a", NULL);
	probe_put(p, s, "k", "no event");
	commit_named(p, s, "b", NULL);
	commit_named(p, s, "c", NULL);
	NEED(store_last_seq(s) == last + 3);
	NEED_HISTORY(s, "b c", .after_seq = last + 1);
	NEED_HISTORY(s, "c", .after_seq = last + 2);
	NEED_HISTORY(s, "", .after_seq = last + 3);
}

CHECK(many_commits, "a document of many commits is rebuilt at each of them")
{
	int64_t rev[150];
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (int i = 0; i < 150; i++) {
		buf_clear(&text);
		for (int line = 0; line < 80; line++)
			buf_addf(&text, "line %d of %d\n", line, line == i % 80 ? i : 0);
		rev[i] = commit_named(p, s, "x", text.s);
	}
	for (int i = 0; i < 150; i += 7) {
		const struct store_range range = {.from = rev[i], .backwards = true, .texts = true};
		struct store_history *h = NULL;
		struct store_commit c = {0};
		struct error err = {0};
		bool same;

		buf_clear(&text);
		for (int line = 0; line < 80; line++)
			buf_addf(&text, "line %d of %d\n", line, line == i % 80 ? i : 0);
		NEED_STATUS(store_history(s, &range, &h, &err), STORE_OK);
		same = store_history_next(h, &c, &err) > 0 && c.rev == rev[i] &&
		       str_eq(c.text, buf_str(&text));
		store_history_close(&h);
		NEED(same);
	}
}

CHECK(what_a_commit_says, "a commit of the history says what its transaction was")
{
	int64_t first = store_last_seq(s) + 1, rev;
	struct store_history *h = NULL;
	struct store_commit c;
	struct error err = {0};
	json *event = NULL, *second = event_of("note");
	bool put = false, said;
	char now[CLOCK_TEXT];

	p->events = json_array();
	json_push(p->events, event_of("x"));
	json_push(p->events, event_of("y"));
	rev = COMMIT(s, .actor = "Ada", .opid = "1", .ts = "2026-01-01T00:00:09Z",
		OPS(PUT("doc/D.md", "one\n"), PUT_LEASED("k", "v", 60)), .events = p->events,
		.note = second);
	json_free(&second);
	NEED_STATUS(store_history(s, &(struct store_range){.from = rev}, &h, &err), STORE_OK);
	NEED(store_history_next(h, &c, &err) == 1);
	for (size_t i = 0; i < c.n_changes; i++)
		put = put ||
		      (str_is(c.changes[i].kv.key, "k") && str_is(c.changes[i].kv.value, "v") &&
			      c.changes[i].kv.ttl_s == 60 && !c.changes[i].deleted);
	event = store_next_event(&c.events, "");
	second = store_next_event(&c.events, "");
	said = c.rev == rev && str_is(str_of(c.actor), "Ada") &&
	       json_str_is(c.note, "type", "note") &&
	       str_is(str_of(c.ts), "2026-01-01T00:00:09Z") &&
	       str_is(str_of(c.document), "doc/D.md") && !c.removed && c.sum && *c.sum && put &&
	       json_str_is(event, "type", "x") &&
	       json_str_is(event, "ts", "2026-01-01T00:00:09Z") &&
	       json_get_int(event, "seq", 0) == first && json_get_int(event, "rev", 0) == rev &&
	       json_str_is(second, "type", "y") && json_get_int(second, "seq", 0) == first + 1 &&
	       !store_next_event(&c.events, "");
	json_free(&event);
	json_free(&second);
	store_history_close(&h);
	NEED(said);
	/* Without a time of its own it has the engine's, and nothing that it was not given. */
	clock_text(clock_now(), now);
	rev = probe_put(p, s, "k", "v");
	NEED_STATUS(store_history(s, &(struct store_range){.from = rev}, &h, &err), STORE_OK);
	said = store_history_next(h, &c, &err) == 1 && str_is(str_of(c.ts), now) && !c.actor &&
	       !c.note && !c.document && !c.events.n && c.n_changes == 1 &&
	       str_is(c.changes[0].kv.key, "k");
	store_history_close(&h);
	NEED(said);
}

CHECK(equal_sums, "equal texts have equal checksums in the history")
{
	static const char *const texts[] = {"one\n", "two\n", "one\n"};
	char sums[3][64] = {{0}};
	struct store_history *h = NULL;
	struct store_commit c;
	struct error err = {0};

	for (size_t i = 0; i < 3; i++)
		commit_named(p, s, "x", texts[i]);
	NEED_STATUS(store_history(s, &(struct store_range){0}, &h, &err), STORE_OK);
	for (size_t i = 0; i < 3 && store_history_next(h, &c, &err) > 0; i += c.document != NULL)
		if (c.document)
			(void)snprintf(sums[i], sizeof(sums[i]), "%s", c.sum);
	store_history_close(&h);
	NEED(*sums[0] && strcmp(sums[0], sums[2]) == 0 && strcmp(sums[0], sums[1]) != 0);
}

CHECK_ALONE(no_history, "a store that is not there has no history to open")
{
	struct error err = {0};
	int rc = p->b->open(p->b, p->ns, STORE_HISTORY, &s, &err);

	if (rc == 0)
		store_close(&s);
	NEED(rc < 0 && err.code == ERR_INPUT);
}

CHECK(edits_in_history, "an edit by hand is in the history")
{
	const struct str edit = STR("by a person\n");

	commit_named(p, s, "a", "1\n");
	probe_by_hand(p, &edit);
	(void)probe_get(p, s, "doc/D.md");
	NEED_HISTORY(s, "a=1\n edit=by a person\n", .texts = true);
}
