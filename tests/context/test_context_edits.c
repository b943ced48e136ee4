/* Edits of a document by a user, and their operations in the history. */
#include "context/file.h"
#include "src/store/store.h"
#include "tests/lib/scratch.h"
#include "tests/lib/wire.h"

static struct error err;

static void create(void)
{
	CLEANUP(context_close) struct context_file f = {0};

	assert_int_equal(context_open(&f, at("T-1.md"), CONTEXT_MAY_CREATE, &err), 0);
	assert_int_equal(context_create(&f, "T-1", "init", &err), 0);
	(void)context_op(&f, "step");
	assert_int_equal(context_save(&f, &err), 0);
}

static void set(const char *key, const char *value)
{
	CLEANUP(context_close) struct context_file f = {0};

	assert_int_equal(context_open(&f, at("T-1.md"), CONTEXT_MUST_EXIST, &err), 0);
	(void)context_op(&f, "set");
	context_set(&f.doc, key, str_of(value));
	assert_int_equal(context_save(&f, &err), 0);
}

/* Dispatches the next action of `state`. */
static void dispatch(const char *state)
{
	CLEANUP(context_close) struct context_file f = {0};

	assert_int_equal(context_open(&f, at("T-1.md"), CONTEXT_MUST_EXIST, &err), 0);
	(void)context_next_attempt(&f.doc, state);
	assert_int_equal(context_save(&f, &err), 0);
}

static void by_hand(const char *text)
{
	scratch_write("T-1.md", text);
}

static char *document(void)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	assert_true(tree_read(at("T-1.md"), &text));
	return arena_dup(&arena, buf_str(&text));
}

/* The operations of the history, and finally the document rebuilt from it. */
static char *history(struct buf *last)
{
	CLEANUP(store_close) struct store *s = NULL;
	CLEANUP(store_history_close) struct store_history *h = NULL;
	CLEANUP(buf_release) struct buf ops = BUF_INIT;
	struct store_commit c;
	int64_t rev = 0;

	buf_clear(last);
	assert_int_equal(store_open(&s, store_backend(), base, "T-1", STORE_HISTORY, 0, &err), 0);
	assert_int_equal(
		store_history(s, &(struct store_range){.texts = true}, &h, &err), STORE_OK);
	while (store_history_next(h, &c, &err) == 1) {
		assert_true(c.rev > rev);
		rev = c.rev;
		buf_addf(&ops, "%s%s", ops.len ? " " : "",
			c.note ? json_get_str(c.note, "op") : "-");
		if (!c.document)
			continue;
		buf_clear(last);
		buf_add(last, c.text);
	}
	return arena_dup(&arena, buf_str(&ops));
}

static void history_is(const char *ops, const char *document)
{
	CLEANUP(buf_release) struct buf last = BUF_INIT;

	assert_string_equal(history(&last), ops);
	assert_string_equal(last.len ? last.s : "", document);
}

SCRATCH_TEST(an_edit_is_noticed_before_anything_else_is_saved)
{
	char *text;

	create();
	text = arena_printf(&arena, "%s\n<!-- section:Notes -->\n\nby hand\n", document());
	by_hand(text);
	set(WIRE_SPEC_KEY, "a.md");
	history_is("step edit set", document());
	assert_non_null(strstr(document(), "by hand"));
}

SCRATCH_TEST(a_broken_edit_is_refused_with_its_place_and_is_not_lost)
{
	struct context_file f;
	char *good;

	create();
	good = document();
	by_hand("---\nstate: [\n---\n");
	for (int i = 0; i < 2; i++) {
		assert_fails(
			context_open(&f, at("T-1.md"), CONTEXT_MUST_EXIST, &err), err, ERR_INPUT);
		assert_true(err.line > 0);
		context_close(&f);
	}
	history_is("step edit", "---\nstate: [\n---\n");
	by_hand(good);
	set(WIRE_SPEC_KEY, "a.md");
	history_is("step edit edit set", document());
}

SCRATCH_TEST(a_broken_edit_can_be_replaced)
{
	struct context_file f;
	char *good;

	create();
	good = document();
	by_hand("\xff\xfe broken");
	assert_int_equal(context_open(&f, at("T-1.md"), CONTEXT_MUST_EXIST, &err), -1);
	(void)context_op(&f, "restore");
	assert_int_equal(context_replace(&f, str_of(good), &err), 0);
	context_close(&f);
	assert_string_equal(document(), good);
	history_is("step edit restore", good);
	set(WIRE_SPEC_KEY, "a.md");
	history_is("step edit restore set", document());
}

SCRATCH_TEST(a_document_that_was_removed_begins_anew_with_higher_numbers)
{
	struct context_file f;

	create();
	dispatch("one");
	assert_int_equal(unlink(at("T-1.md")), 0);
	assert_int_equal(context_open(&f, at("T-1.md"), CONTEXT_MUST_EXIST, &err), -1);
	context_close(&f);
	create();
	history_is("step - removed step", document());
	assert_non_null(strstr(document(), "\nattempts: {one: 1}\n"));
}

SCRATCH_TEST(an_edit_does_not_lower_the_numbers_of_actions)
{
	char *first;

	create();
	first = document();
	dispatch("one");
	dispatch("two words");
	by_hand("---\nstate: a\n" WIRE_ITEM_KEY
		": T-1\nattempts:\n    one: 7\n    \"three\": 2\n---\n");
	dispatch("one");
	assert_non_null(strstr(document(), "{one: 8, three: 2, two words: 1}\n"));
	by_hand(first);
	dispatch("three");
	assert_non_null(strstr(document(), "{one: 8, three: 3, two words: 1}\n"));
	by_hand(first);
	set(WIRE_SPEC_KEY, "a.md");
	assert_non_null(strstr(document(), "{one: 8, three: 3, two words: 1}\n"));
}

/* Numbers of another style, which no save has changed, are known too. */
SCRATCH_TEST(numbers_that_were_set_by_hand_are_remembered)
{
	create();
	by_hand("---\nstate: a\n" WIRE_ITEM_KEY ": T-1\nattempts:\n    one: 7\n---\n");
	set(WIRE_SPEC_KEY, "a.md");
	by_hand("---\nstate: a\n" WIRE_ITEM_KEY ": T-1\n---\n");
	dispatch("one");
	assert_non_null(strstr(document(), "\nattempts: {one: 8}\n"));
}

SCRATCH_TEST(a_document_that_comes_without_its_events_is_taken_in)
{
	char *text;

	create();
	text = document();
	assert_int_equal(unlink(at("T-1.events.jsonl")), 0);
	set(WIRE_SPEC_KEY, "a.md");
	history_is("import set", document());
	assert_string_not_equal(document(), text);
}

/* ---- another process, where the store offers no hold ---- */

static unsigned others; /* commits of another process that are still to come */

static void put_behind(struct context_file *f, const char *value)
{
	const struct store_op op = {.what = STORE_PUT, .key = "k", .value = str_of(value)};
	struct store_txn t = {.ops = &op, .n_ops = 1};
	struct store_result result;

	assert_int_equal(store_txn(f->store, &f->arena, &t, &result, &err), STORE_OK);
}

/* Adds a letter to the key; another process commits between the read and the save. */
static int add_letter(struct context_file *f, void *data, struct error *e)
{
	struct str old;

	if (context_get_key(f, "k", &old, e) < 0)
		return -1;
	old = str_of(arena_printf(&arena, "%.*s", (int)old.n, old.p));
	if (others) {
		others--;
		put_behind(f, arena_printf(&arena, "%so", old.p));
	}
	context_put_key(f, "k", str_of(arena_printf(&arena, "%s%s", old.p, (char *)data)));
	return context_log(f, e);
}

SCRATCH_TEST(a_change_of_another_process_is_not_overwritten)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct str value;
	char m[] = "m";

	create();
	assert_int_equal(context_open(&f, at("T-1.md"), CONTEXT_MUST_EXIST, &err), 0);
	(void)context_event(&f, "kept");
	others = 9;
	assert_int_equal(context_update(&f, add_letter, m, &err), 0);
	assert_int_equal(context_get_key(&f, "k", &value, &err), 0);
	assert_string_equal(value.p, "ooooooooom");
	assert_int_equal(context_update(&f, add_letter, m, &err), 0);
	assert_int_equal(context_get_key(&f, "k", &value, &err), 0);
	assert_string_equal(value.p, "ooooooooomm");
	others = 4;
	setenv("DEV_TEAM_LOCK_WAIT_MS", "0", 1);
	assert_int_equal(context_update(&f, add_letter, m, &err), -1);
	unsetenv("DEV_TEAM_LOCK_WAIT_MS");
	assert_int_equal(err.code, ERR_STATE);
	assert_int_equal(others, 0);
}

static unsigned next(unsigned *seed, unsigned below)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % below;
}

static void change(struct context *c, unsigned *seed)
{
	static const char *const sections[] = {"A", "B b", WIRE_BRIEF},
				 *const keys[] = {
					 WIRE_SPEC_KEY, WIRE_PULL_REQUEST_KEY, "mine", "state"};
	struct str text = str_of(arena_printf(&arena, "%.*s", (int)next(seed, 60),
		"<!-- section:X -->\nline \xc3\xa4 two\n\n\nthree --- four\n\n# five"));

	if (next(seed, 2))
		context_put(c, sections[next(seed, 3)], str_utf8_fault(text) ? STR("y") : text);
	else
		context_set(c, keys[next(seed, 4)],
			str_of(arena_printf(&arena, "v%.*u", (int)next(seed, 9) + 1, *seed)));
}

SCRATCH_TEST(the_history_rebuilds_whatever_was_saved)
{
	unsigned seed = 7;

	for (int run = 0; run < 40; run++) {
		CLEANUP(buf_release) struct buf last = BUF_INIT;

		(void)unlink(at("T-1.md"));
		create();
		if (run % 2)
			by_hand("---\r\nstate: x\r\n" WIRE_ITEM_KEY ": T-1\r\n---\r\nfree\r\n<!-- "
				"section:A -->"
				"\r\n\r\nb\r\n\r\n<!-- section:C -->\r\nlast");
		for (int i = 0; i < 12; i++) {
			CLEANUP(context_close) struct context_file f = {0};

			assert_int_equal(
				context_open(&f, at("T-1.md"), CONTEXT_MUST_EXIST, &err), 0);
			for (unsigned n = next(&seed, 4); n; n--)
				change(&f.doc, &seed);
			assert_int_equal(context_save(&f, &err), 0);
			change(&f.doc, &seed);
			assert_int_equal(context_save(&f, &err), 0);
		}
		(void)history(&last);
		assert_string_equal(last.s, document());
	}
}
