#include "tests/lib/walk_rig.h"

enum { STRIDES = 150, MAX_IDS = 400 };

static uint64_t seed;

static unsigned pick(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* Every action ever printed. */
static struct asked {
	char id[80], section[40], words[80];
	bool script, answered;
	char word[40];
} asked[MAX_IDS];
static size_t n_asked;

static struct asked *find(const char *id)
{
	for (size_t i = 0; i < n_asked; i++)
		if (strcmp(asked[i].id, id) == 0)
			return &asked[i];
	return NULL;
}

static void learn(const json *a)
{
	const char *id = json_get_str(a, "id");
	struct asked *n;

	if (!id || find(id))
		return;
	assert_true(n_asked < MAX_IDS);
	n = &asked[n_asked++];
	*n = (struct asked){.script = json_get(a, "command")};
	(void)snprintf(n->id, sizeof(n->id), "%s", id);
	(void)snprintf(n->section, sizeof(n->section), "%s", json_get_str(a, WIRE_WRITES));
	(void)snprintf(n->words, sizeof(n->words), "%s", json_get_str(a, WIRE_FORMAT));
}

static void learn_output(void)
{
	CLEANUP(json_free) json *array = NULL;
	struct error err;

	assert_int_equal(json_parse(&array, buf_str(&t.out), &err), 0);
	assert_true(json_len(array) > 0);
	for (const json *a = json_first(array); a; a = json_next(a))
		learn(a);
}

/* A step that fails changes nothing; nor does one that is repeated. */
static void stride_step(bool returned)
{
	bool there = n_asked > 0;
	char *text = there ? document() : NULL, *journal = there ? events() : NULL, *out;

	t.push_fails = pick(8) == 0;
	if (step_as("ADR-7", returned, NULL) < 0) {
		assert_int_equal(t.err.code, ERR_SYSTEM);
		if (there)
			assert_string_equal(document(), text);
		if (there)
			assert_string_equal(events(), journal);
		return;
	}
	learn_output();
	out = arena_dup(&t.arena, buf_str(&t.out));
	text = document();
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	assert_string_equal(t.out.s, out);
	assert_string_equal(document(), text);
}

/* The agents of the last array have returned, and the call that reports it is made twice. */
static void stride_returned_id(void)
{
	const char *id;
	char *text, *out;

	t.push_fails = false;
	if (!n_asked)
		return;
	id = asked[n_asked - 1].id;
	assert_int_equal(step_as("ADR-7", true, id), 0);
	learn_output();
	out = arena_dup(&t.arena, buf_str(&t.out));
	text = document();
	assert_int_equal(step_as("ADR-7", true, id), 0);
	assert_string_equal(t.out.s, out);
	assert_string_equal(document(), text);
}

static const char *any_word(const struct asked *a)
{
	struct str rest = str_of(a->words), words[4];
	size_t n = 0;

	while (rest.n) {
		size_t end = str_find(rest, STR("|"));

		words[n++] = str_trim(str_sub(rest, 0, end));
		rest = str_sub(rest, end < rest.n ? end + 1 : end, rest.n);
	}
	/* The first word is the positive one: it is chosen more often, or no walk gets far. */
	return arena_dup(&t.arena, words[pick(4) ? 0 : pick((unsigned)n)]);
}

static void stride_answer(void)
{
	struct asked *a =
		n_asked ? &asked[n_asked - 1 - pick(n_asked < 4 ? (unsigned)n_asked : 4)] : NULL;
	const char *word, *text;
	char *before;

	if (!a)
		return;
	word = any_word(a);
	text = a->script                                    ? word
	       : strcmp(a->section, WIRE_PULL_REQUEST) == 0 ? "https://git.example/o/r/pull/7"
							    : "text";
	before = document();
	if (answer_as(a->id, word, text) < 0) {
		assert_int_equal(t.err.code, ERR_STATE);
		assert_string_equal(document(), before);
		return;
	}
	if (a->answered) { /* the same again */
		assert_string_equal(a->word, word);
		assert_string_equal(document(), before);
	}
	a->answered = true;
	(void)snprintf(a->word, sizeof(a->word), "%s", word);
}

static void stride_user(void)
{
	if (n_asked && *value("question"))
		set(WIRE_INPUT_KEY, "go on");
}

void engine_walk(unsigned number, unsigned ends[2])
{
	seed = number * 7919u + 1;
	n_asked = 0;
	engine_rig_replay();
	engine_rig_forget();
	for (unsigned i = 0; i < STRIDES; i++) {
		switch (pick(7)) {
		case 0:
			stride_step(false);
			break;
		case 1:
			stride_step(true);
			break;
		case 2:
			stride_returned_id();
			break;
		case 3:
			stride_user();
			break;
		default:
			stride_answer();
		}
	}
	ends[0] += strcmp(value("state"), "done") == 0;
	ends[1] += strcmp(value("state"), "failed") == 0;
}
