/* Edits by hand between the load of a document and its save, for each operation that saves. */
#include "src/machine/agents.h"
#include "src/machine/answer.h"
#include "src/store/disk.h"
#include "tests/lib/engine_rig.h"
#include "tests/lib/match.h"

/* ---- a disk on which a person edits the document right before a call ---- */

/* LATE: the file is opened, and written after a commit has replaced it and looked at it. */
enum edit_way { BY_RENAME, IN_PLACE, HALF_WRITTEN, LATE };

static struct {
	struct disk disk;
	struct disk_ops ops;
	unsigned calls, at; /* from 1; 0: never */
	bool each;          /* before each call from `at` on that makes a save durable */
	enum edit_way way;
	unsigned edits;
	bool twice;        /* another one before the first is put back */
	bool late;         /* an edit came after the commit: then the document is the editor's */
	unsigned replaced; /* calls since a commit has replaced the file, with that one */
	FILE *file;
	struct buf rest; /* what is not written yet of a text that is half written */
} hand;

/* The editor keeps the file open until it has written the rest. */
static void write_in_place(struct str text)
{
	size_t n = hand.way == LATE ? 0 : hand.way == HALF_WRITTEN ? 9 : text.n;

	hand.file = fopen(t.path, hand.way == LATE ? "r+" : "w");
	assert_non_null(hand.file);
	assert_int_equal(setvbuf(hand.file, NULL, _IONBF, 0), 0);
	assert_int_equal(fwrite(text.p, 1, n, hand.file), n);
	if (hand.way == IN_PLACE)
		assert_int_equal(fclose(hand.file), 0);
	else
		buf_add(&hand.rest, str_sub(text, n, text.n));
}

static void write_rest(void)
{
	assert_int_equal(fwrite(hand.rest.s, 1, hand.rest.len, hand.file), hand.rest.len);
	assert_int_equal(ftruncate(fileno(hand.file), ftell(hand.file)), 0);
	assert_int_equal(fclose(hand.file), 0);
	buf_release(&hand.rest);
}

/* Each edit adds a key of its own. */
static void edit(void)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, all = BUF_INIT;
	char *new = arena_printf(&t.arena, "%s.tmp", t.path);
	size_t head = strlen("---\n");

	if (!tree_read(t.path, &text) || text.len < head)
		return;
	buf_addf(&all, "---\nhand_%u: yes\n%s", ++hand.edits, text.s + head);
	if (hand.way == BY_RENAME) {
		tree_write(new, buf_str(&all));
		assert_int_equal(rename(new, t.path), 0);
	} else {
		write_in_place(buf_str(&all));
	}
}

static void count_call(bool saves)
{
	if (hand.rest.len && (hand.way != LATE || hand.replaced > 1))
		write_rest();
	hand.replaced += hand.replaced > 0;
	hand.calls++;
	if (hand.at && (hand.each ? saves && hand.calls >= hand.at : hand.calls == hand.at))
		edit();
}

static const struct disk_ops *real(void)
{
	return disk_real()->ops;
}

static int hand_read(struct disk *d, const char *path, size_t max, struct buf *out, bool *missing,
	struct error *err)
{
	(void)d;
	count_call(false);
	return real()->read(disk_real(), path, max, out, missing, err);
}

static int hand_write(
	struct disk *d, const char *path, const char *like, struct str text, struct error *err)
{
	(void)d;
	count_call(true);
	return real()->write(disk_real(), path, like, text, err);
}

static int hand_exchange(struct disk *d, const char *from, const char *to, struct error *err)
{
	unsigned edits = hand.edits;

	(void)d;
	count_call(false);
	hand.late = hand.late || hand.edits > edits || (hand.way == LATE && hand.edits);
	if (hand.twice && hand.late && hand.edits == 1 && edits == 1)
		edit();
	hand.replaced = hand.edits > 0;
	return real()->exchange(disk_real(), from, to, err);
}

static bool hand_being_written(struct disk *d, const char *path)
{
	bool is = real()->being_written(disk_real(), path);

	(void)d;
	assert_true(!is || hand.rest.len);
	count_call(false);
	return is;
}

static int hand_sync_directory(struct disk *d, const char *dir, struct error *err)
{
	(void)d;
	count_call(false);
	return real()->sync_directory(disk_real(), dir, err);
}

/* ---- operations, each from its open to its close ---- */

static int open_document(struct context_file *f)
{
	hand.disk.ops = &hand.ops;
	hand.ops = *real();
	hand.ops.read = hand_read;
	hand.ops.write = hand_write;
	hand.ops.exchange = hand_exchange;
	hand.ops.being_written = hand_being_written;
	hand.ops.sync_directory = hand_sync_directory;
	t.err = (struct error){0};
	return context_open_on(f, store_files(&hand.disk), t.path, CONTEXT_MAY_CREATE, &t.err);
}

/* As git: what was pushed before is not pushed again. */
static int carry_out(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	unsigned *times = strcmp(input->what, "commit") == 0 ? &t.commits : &t.pushes;

	(void)data, (void)a, (void)err;
	*answer = json_string((*times)++ ? STR("no") : STR("yes"));
	return 0;
}

static int do_step(void)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct environment environment = {.find_specs = engine_rig_find_specs,
		.carry_out = carry_out,
		.evidence = engine_rig_evidence};
	struct engine e = {.file = &f,
		.workflow = &t.workflow,
		.step_for = steps_find,
		.environment = &environment,
		.id = "ADR-7",
		.research_skill = "researcher-plan",
		.repo = "/r",
		.returned = t.take_over,
		.owner = t.owner,
		.take_over = t.take_over};

	buf_clear(&t.out);
	return open_document(&f) < 0 ? -1 : engine_step(&e, &t.out, &t.err);
}

static int record(const char *id, const char *word, const char *text)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct answer_offer offer = {.id = id, .word = word, .text = str_of(text)};

	if (open_document(&f) < 0)
		return -1;
	agents_note_turn(&f, "one", id);
	return answer_record(&f, &offer, &t.err);
}

static int do_record(void)
{
	return record("ADR-7/researching/1", "briefed", "The brief.");
}

static int do_refused_record(void)
{
	return record("ADR-7/researching/1", "good", "The brief.") < 0 && t.err.code == ERR_INPUT
		       ? 0
		       : -1;
}

static int do_set(void)
{
	CLEANUP(context_close) struct context_file f = {0};

	if (open_document(&f) < 0)
		return -1;
	return context_set_key(&f, "user_note", STR("mine"), &t.err);
}

static void to_researching(void)
{
	steps_to("ADR-7/researching/1");
}

static void to_brief(void)
{
	to_researching();
	answer("ADR-7/researching/1", "briefed", "The brief.");
}

static void to_validated(void)
{
	to_brief();
	steps_to("ADR-7/implementing/1");
	answer("ADR-7/implementing/1", "implemented", "Done.");
	steps_to("ADR-7/validating/1");
	answer("ADR-7/validating/1", "passed", "passed");
}

static void to_other_owner(void)
{
	t.owner = "ann";
	to_researching();
	t.owner = "bob";
	t.take_over = true;
}

static const struct operation {
	const char *name;
	void (*prepare)(void);
	int (*run)(void);
	const char *event; /* in the journal exactly once afterwards */
	const char *want;  /* in the document, or the array */
} operations[] = {
	{"step: a new item", NULL, do_step, "\"action\":\"ADR-7/researching/1\"",
		"\"id\":\"ADR-7/researching/1\""},
	{"step: an answer", to_brief, do_step, "\"action\":\"ADR-7/implementing/1\"",
		"\"id\":\"ADR-7/implementing/1\""},
	{"step: a push", to_validated, do_step, "\"effect\":\"push\"",
		"\"id\":\"ADR-7/reviewing/1\""},
	{"step: a take-over", to_other_owner, do_step, "\"action\":\"ADR-7/researching/2\"",
		"\"id\":\"ADR-7/researching/2\""},
	{"record", to_researching, do_record, "\"type\":\"answer\"", "The brief."},
	{"record: its turn", to_researching, do_record, "\"entry\":\"one\"", "The brief."},
	{"record: a refused answer", to_researching, do_refused_record, "\"type\":\"refusal\"",
		"hand_1"},
	{"set", to_researching, do_set, "\"type\":\"set\"", "user_note: mine"},
};

static void begin(const struct operation *o)
{
	hand.calls = hand.at = hand.edits = 0;
	hand.each = hand.late = false;
	hand.replaced = 0;
	t.owner = NULL;
	t.take_over = false;
	t.commits = t.pushes = 0;
	tree_remove(t.dir);
	tree_mkdirs(t.dir);
	if (o->prepare)
		o->prepare();
	t.commits = t.pushes = 0;
}

static char *journal(void)
{
	return read_all(arena_printf(&t.arena, "%s/ADR-7.events.jsonl", t.dir));
}

/* Commits an edit that the operation did not look for. */
static void open_again(void)
{
	CLEANUP(context_close) struct context_file f = {0};

	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
}

/* False when the operation makes fewer calls. */
static bool edit_at(const struct operation *o, unsigned at, enum edit_way way)
{
	int rc;

	begin(o);
	hand.at = at;
	hand.way = way;
	rc = o->run();
	hand.at = 0;
	if (hand.rest.len)
		write_rest();
	open_again();
	if (rc < 0 || count(events(), o->event) != 1 || t.commits > 2 || t.pushes > 2)
		fail_msg(
			"%s, call %u, way %d: %s\n%s", o->name, at, (int)way, t.err.text, events());
	if (hand.edits && (!strstr(journal(), "hand_1") || !document_has("hand_1: yes")))
		fail_msg("%s, call %u, way %d: the edit is lost\n%s", o->name, at, (int)way,
			document());
	if (!document_has(o->want) && !strstr(t.out.s ? t.out.s : "", o->want) && hand.edits &&
		!hand.late)
		fail_msg("%s, call %u, way %d:\n%s", o->name, at, (int)way, document());
	engine_rig_replay();
	return hand.calls > at;
}

ENGINE_TEST(an_edit_during_a_save_loses_neither)
{
	for (size_t i = 0; i < COUNT(operations); i++)
		for (enum edit_way way = BY_RENAME; way <= LATE; way++)
			for (unsigned n = 1; edit_at(&operations[i], n, way); n++)
				;
}

ENGINE_TEST(two_edits_during_an_exchange_are_both_kept)
{
	for (unsigned n = 1; n < 12; n++) {
		begin(&operations[1]);
		hand.at = n;
		hand.way = BY_RENAME;
		hand.twice = true;
		assert_int_equal(operations[1].run(), 0);
		hand.at = 0;
		open_again();
		if (hand.edits)
			assert_true(
				document_has(arena_printf(&t.arena, "hand_%u: yes", hand.edits)));
		for (unsigned i = 1; i <= hand.edits; i++)
			assert_non_null(
				strstr(journal(), arena_printf(&t.arena, "hand_%u: yes", i)));
	}
	hand.twice = false;
}

ENGINE_TEST(an_edit_during_each_attempt_is_reported)
{
	setenv("DEV_TEAM_LOCK_WAIT_MS", "0", 1);
	for (size_t i = 0; i < COUNT(operations); i++) {
		begin(&operations[i]);
		if (operations[i].run == do_refused_record || !operations[i].prepare)
			continue;
		hand.at = 1;
		hand.each = true;
		assert_fails(operations[i].run(), t.err, ERR_STATE);
		assert_non_null(strstr(t.err.text, "ADR-7.md' was changed during each of "));
		assert_int_equal(count(t.err.text, "\n"), 0);
		if (operations[i].run == do_record)
			assert_non_null(strstr(t.err.text, "/logs/ADR-7-unrecorded-"));
		assert_true(hand.edits > 1);
		for (unsigned n = 1; n <= hand.edits; n++)
			assert_true(document_has(arena_printf(&t.arena, "hand_%u: yes", n)));
	}
	unsetenv("DEV_TEAM_LOCK_WAIT_MS");
}

ENGINE_TEST(an_answer_to_a_document_that_is_removed_meanwhile_is_kept)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct answer_offer offer = {
		.id = "ADR-7/researching/1", .word = "briefed", .text = STR("The brief.")};

	steps_to("ADR-7/researching/1");
	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
	assert_int_equal(unlink(t.path), 0);
	assert_int_equal(answer_record(&f, &offer, &t.err), -1);
	assert_non_null(strstr(t.err.text, "no context file '"));
	assert_non_null(strstr(t.err.text, "/logs/ADR-7-unrecorded-"));
}
