/* torture_audit.c: whether all that a torture run has acknowledged is in the histories, once. */
#include "context/context.h"
#include "src/base/json.h"
#include "src/base/number.h"
#include "src/base/vec.h"
#include "src/store/store.h"
#include "src/sys/path.h"
#include "tests/crash/torture.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"

struct texts {
	VEC(const char *) all;
};

struct audit {
	const struct torture *t;
	unsigned item;
	struct arena a;
	struct texts dispatched, answered, answers, refused; /* answers: `ACTION CHECKSUM` */
	bool *edits;                                         /* by number */
	struct buf document;                                 /* as of the last commit */
	unsigned commits, doubled, torn, lost, edited, slow;
};

static const char *path_of(struct audit *u, const char *name)
{
	return arena_printf(&u->a, "%s/%s", u->t->dir, name);
}

static void add(struct audit *u, struct texts *to, const char *text)
{
	if (text)
		vec_push_in(&u->a, &to->all, arena_dup(&u->a, str_of(text)));
}

static bool has(const struct texts *t, const char *text)
{
	return t->all.n &&
	       bsearch(&text, t->all.items, t->all.n, sizeof(*t->all.items), vec_by_text) != NULL;
}

/* Sorts them; counts those that are there twice. */
static void count_doubled(struct audit *u, struct texts *t, const char *what)
{
	vec_sort(&t->all, vec_by_text);
	for (size_t i = 1; i < t->all.n; i++) {
		if (strcmp(t->all.items[i - 1], t->all.items[i]) != 0)
			continue;
		u->doubled++;
		tap_notef("%s twice: %s", what, t->all.items[i]);
	}
}

static void lose(struct audit *u, const char *what, const char *which)
{
	u->lost++;
	tap_notef("item %u: lost: %s %s", u->item, what, which);
}

/* ---- the history of an item ---- */

static void see_event(struct audit *u, const json *e)
{
	const char *action = json_get_str(e, "action");

	if (json_str_is(e, "type", "dispatch"))
		add(u, &u->dispatched, action);
	if (json_str_is(e, "type", "refusal")) {
		const char *kept = json_get_str(e, "kept");

		add(u, &u->refused, action);
		if (kept && !path_exists(path_of(u, kept)))
			lose(u, "the refused text", kept);
	}
	if (!json_str_is(e, "type", "answer"))
		return;
	if (json_get_str(e, "log") && !path_exists(path_of(u, json_get_str(e, "log"))))
		lose(u, "the log of", action);
	add(u, &u->answered, action);
	add(u, &u->answers, arena_printf(&u->a, "%s %s", action, json_get_str(e, "sum")));
}

struct str torture_markers(struct str text)
{
	size_t at = str_find(text, STR("\nhand: "));

	text = str_sub(text, at < text.n ? at + strlen("\nhand: ") : at, text.n);
	return str_sub(text, 0, str_find(text, STR("\n")));
}

bool torture_next_marker(struct str *list, unsigned long *n)
{
	size_t end = str_find(*list, STR(" "));
	bool more = list->n;

	*n = number_or(str_sub(*list, 0, end), UINT32_MAX, 0);
	*list = str_sub(*list, end < list->n ? end + 1 : end, list->n);
	return more;
}

static void see_edits(struct audit *u, struct str text)
{
	struct str list = torture_markers(text);
	unsigned long n;

	while (torture_next_marker(&list, &n))
		if (n <= u->t->edits[u->item])
			u->edits[n] = true;
}

/* Half of a text that the editor wrote may have a fault, the machine's texts have none. */
static void see_document(struct audit *u, const struct store_commit *c)
{
	CLEANUP(context_release) struct context doc = {0};
	struct error err;

	buf_clear(&u->document);
	buf_add(&u->document, c->text);
	see_edits(u, c->text);
	if ((c->actor && strcmp(c->actor, "hand") == 0) ||
		context_parse(&doc, "T", c->text, &err) == 0)
		return;
	u->torn++;
	tap_notef("item %u, revision %lld: %s", u->item, (long long)c->rev, err.text);
}

static void see_history(struct audit *u)
{
	CLEANUP(store_close) struct store *s = NULL;
	CLEANUP(store_history_close) struct store_history *h = NULL;
	const struct store_range range = {.texts = true};
	struct error err = {0};
	struct store_commit c;
	int more = store_open(&s, store_backend(), u->t->dir, arena_printf(&u->a, "T-%u", u->item),
		STORE_HISTORY, 0, &err);

	if (more == 0 && store_history(s, &range, &h, &err) != STORE_OK)
		more = -1;
	while (more >= 0 && (more = store_history_next(h, &c, &err)) > 0) {
		u->commits++;
		for (json *e; (e = store_next_event(&c.events, "")); json_free(&e))
			see_event(u, e);
		if (c.document)
			see_document(u, &c);
	}
	if (more == 0)
		return;
	u->torn++;
	tap_notef("item %u: %s", u->item, err.text);
}

/* ---- what must be in it ---- */

static void check_answers(struct audit *u)
{
	for (unsigned i = 0;; i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		struct str rest, line;

		if (!tree_read(path_of(u, arena_printf(&u->a, "acks.%u", i)), &text))
			return;
		for (rest = buf_str(&text); str_line(&rest, &line);) {
			size_t space = str_find(line, STR(" "));
			const char *answer = arena_dup(&u->a, str_sub(line, space + 1, line.n));

			if (number_or(str_sub(line, 0, space), UINT32_MAX, 0) == u->item &&
				!has(&u->answers, answer))
				lose(u, "the answer", answer);
		}
	}
}

/* `DIR/.T-1.check-7.exec` is of `T-1/check/7`. A result that came too late is refused, or kept. */
static void check_scripts(struct audit *u)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *start = path_of(u, arena_printf(&u->a, ".T-%u.check-", u->item));
	struct str rest, line;
	struct texts ran = {{0}};

	(void)tree_read(path_of(u, "produced"), &text);
	for (rest = buf_str(&text); str_line(&rest, &line);) {
		const char *lock = arena_dup(&u->a, line), *id;

		if (!str_starts(line, start))
			continue;
		id = arena_printf(&u->a, "T-%u/check/%llu", u->item,
			strtoull(lock + strlen(start), NULL, 10));
		add(u, &ran, id);
		if (!has(&u->answered, id) && !has(&u->refused, id) && !path_exists(lock))
			lose(u, "the result of", id);
	}
	count_doubled(u, &ran, "ran");
}

/* Edits that may be lost count as seen. */
static void excuse_slow_edits(struct audit *u)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;

	(void)tree_read(path_of(u, "slow"), &text);
	for (rest = buf_str(&text); str_line(&rest, &line);) {
		size_t space = str_find(line, STR(" "));
		uint64_t n = number_or(str_sub(line, space + 1, line.n), UINT32_MAX, 0);

		if (number_or(str_sub(line, 0, space), UINT32_MAX, 0) != u->item ||
			n > u->t->edits[u->item] || u->edits[n])
			continue;
		u->edits[n] = true;
		u->slow++;
	}
}

static void check_edits(struct audit *u)
{
	excuse_slow_edits(u);
	for (unsigned n = 1; n <= u->t->edits[u->item]; n++)
		if (!u->edits[n])
			lose(u, "edit", arena_printf(&u->a, "%u", n));
	u->edited += u->t->edits[u->item];
}

static void check_document(struct audit *u)
{
	CLEANUP(buf_release) struct buf disk = BUF_INIT;
	const char *file = path_of(u, arena_printf(&u->a, "T-%u.md", u->item));
	struct run r = {.argv = (const char *const[]){"dev-team", "history", "verify", file, NULL}};

	if (!tree_read(file, &disk) || !str_eq(buf_str(&disk), buf_str(&u->document))) {
		u->torn++;
		tap_notef("item %u: the document is not that of the last revision", u->item);
	}
	run(&r);
	if (r.status) {
		u->torn++;
		tap_notef("item %u: history verify: status %d: %s%s", u->item, r.status,
			r.out.s ? r.out.s : "", r.err.s ? r.err.s : "");
	}
	run_release(&r);
}

static void audit_item(struct audit *u, unsigned item)
{
	u->item = item;
	u->dispatched = u->answered = u->answers = u->refused = (struct texts){{0}};
	u->edits = arena_alloc(&u->a, (u->t->edits[u->item] + 1) * sizeof(*u->edits));
	see_history(u);
	count_doubled(u, &u->dispatched, "dispatched");
	count_doubled(u, &u->answered, "answered");
	vec_sort(&u->answers.all, vec_by_text);
	vec_sort(&u->refused.all, vec_by_text);
	check_answers(u);
	check_scripts(u);
	check_edits(u);
	check_document(u);
}

bool torture_audit(const struct torture *t)
{
	struct audit u = {.t = t};
	size_t answers = 0, refusals = 0;

	for (unsigned item = 0; item < TORTURE_ITEMS; item++) {
		audit_item(&u, item);
		answers += u.answers.all.n;
		refusals += u.refused.all.n;
	}
	tap(!u.lost && answers, "no answer, result or edit is lost");
	tap(!u.doubled, "no action is dispatched, run or answered twice");
	tap(!u.torn, "every revision can be read, and is what its operation makes");
	tap_notef("figures: torture of %d items: %u commits, %zu answers, %zu refusals, %u edits "
		  "by hand (%u lost while the editor stalled): %u lost, %u doubled, %u torn",
		TORTURE_ITEMS, u.commits, answers, refusals, u.edited, u.slow, u.lost, u.doubled,
		u.torn);
	buf_release(&u.document);
	arena_release(&u.a);
	return !u.lost && !u.doubled && !u.torn;
}
