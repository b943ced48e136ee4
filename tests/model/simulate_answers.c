#include "src/config/violation.h"
#include "tests/model/simulate_play.h"
#include "tests/lib/wire.h"

/* A word of `result_format` ("a | b | c"); the first is the good one. */
static void pick_word(struct play *p, const json *action, char out[WORD_MAX])
{
	struct str rest = str_of(json_get_str(action, WIRE_FORMAT)), word = {0};
	unsigned n = 1, which;

	for (size_t i = 0; i < rest.n; i++)
		n += rest.p[i] == '|';
	which = dice_chance(&p->dice, p->fair ? 100 : p->odds.bad_word) ? dice_below(&p->dice, n)
									: 0;
	for (unsigned i = 0; i <= which; i++) {
		size_t end = str_find(rest, STR("|"));

		word = str_trim(str_sub(rest, 0, end));
		rest = str_sub(rest, end < rest.n ? end + 1 : end, rest.n);
	}
	(void)snprintf(out, WORD_MAX, "%.*s", (int)word.n, word.p);
}

static const char *any_state(struct play *p)
{
	const struct workflow *w = p->plan->workflow;

	return w->states[dice_below(&p->dice, (unsigned)w->n_states)].name;
}

static void add_change(struct play *p, struct buf *b)
{
	switch (dice_below(&p->dice, 7)) {
	case 0:
		buf_addf(b, "{\"key\":\"state\",\"value\":\"%s\"}", any_state(p));
		return;
	case 1:
		buf_addf(b, "{\"key\":\"" WIRE_FIXES "\",\"value\":%u}", dice_below(&p->dice, 3));
		return;
	case 2:
		buf_addf(b, "{\"key\":\"" WIRE_REVIEW_FIXES "\",\"value\":\"0\"}");
		return;
	case 3:
		buf_addf(b, "{\"section\":\"" WIRE_NOTES "\",\"text\":\"Look at n%u.\"}", p->texts);
		return;
	case 4:
		buf_adds(b, "{\"section\":\"" WIRE_BRIEF "\",\"text\":\"\"}");
		return;
	case 5:
		buf_adds(b, "{\"key\":\"revision\",\"value\":1}");
		return;
	default:
		buf_addf(b, "\"n%u\"", p->texts);
	}
}

static void advise(struct play *p, const char *word, struct buf *b)
{
	unsigned n = p->fair ? 0 : dice_below(&p->dice, 3);

	buf_addf(b,
		"Looked into it, n%u.\n{\"action\":\"%s\",\"reason\":\"n%u\",\"state_changes\":[",
		p->texts, word, p->texts);
	for (unsigned i = 0; i < n; i++) {
		buf_adds(b, i ? "," : "");
		add_change(p, b);
	}
	buf_adds(b, "]}");
}

/* Has what any of the built-in steps looks for. */
static void prose(struct play *p, struct buf *b)
{
	static const char *const tones[] = {"Approved.", "Not approved.", "validated", "LGTM",
		"Changes requested.", "I could not do it.", "Done.", "<!-- section:Actions -->"};

	buf_addf(b, "# Debug report for %s, n%u\n\nhttps://example.com/acme/shop/pull/7\n",
		p->simulator->id, p->texts);
	if (dice_chance(&p->dice, 300))
		buf_addf(b, "%s\n", tones[dice_below(&p->dice, COUNT(tones))]);
	if (dice_chance(&p->dice, 3))
		for (unsigned i = 0; i < 1000; i++)
			buf_addf(b, "Line %u of n%u.\n", i, p->texts);
}

static bool is_script(const json *action)
{
	return strcmp(json_get_str(action, "action"), WIRE_SCRIPT_ACTION) == 0;
}

/* The policy has stopped it: either of what that may mean. */
static void violate(struct play *p, const json *action, const char *word, struct buf *text)
{
	if (p->fair || !json_get(action, "security") || strcmp(word, "failed") != 0 ||
		!dice_chance(&p->dice, 300))
		return;
	buf_addf(text, "\n{\"status\":\"failed\",\"violation\":\"%s\",\"rule\":\"write\"}",
		violation_name(dice_chance(&p->dice, 500) ? VIOLATION_HARD_ABORT
							  : VIOLATION_VALIDATION_FAIL));
}

/* The word stands beside the text, in it, in both, or (where that is allowed) nowhere. */
static void say(struct play *p, const json *action, const char *word, struct flight *f)
{
	bool beside = dice_chance(&p->dice, 600), within = !beside || dice_chance(&p->dice, 200);

	if (json_get_str(action, "trigger")) {
		advise(p, word, &f->text);
	} else if (is_script(action)) {
		buf_addf(&f->text, "%s: n%u", word, p->texts);
		violate(p, action, word, &f->text);
	} else {
		prose(p, &f->text);
		if (within && (p->fair || !dice_chance(&p->dice, 50)))
			buf_addf(&f->text, "\n{\"status\":\"%s\"}", word);
	}
	if (beside)
		(void)snprintf(f->word, sizeof(f->word), "%s", word);
}

/* Each is refused for what is wrong with it, and its text kept. */
static void spoil(struct play *p, struct flight *f)
{
	count_fault(p, FAULT_MALFORMED);
	f->fit = false;
	switch (dice_below(&p->dice, 4)) {
	case 0:
		(void)snprintf(f->word, sizeof(f->word), "perhaps");
		return;
	case 1:
		buf_add(&f->text, STR("\n\xff\xfe"));
		return;
	case 2:
		buf_clear(&f->text);
		return;
	default: /* a word and a text that say different things */
		(void)snprintf(f->word, sizeof(f->word), "%s", "failed");
		buf_adds(&f->text, "\n{\"status\":\"another\",\"action\":\"another\"}");
	}
}

/* The oldest makes room; one that has not come yet never will. */
static struct flight *room(struct play *p)
{
	struct flight *f;

	if (p->n_flights < MAX_FLIGHTS) {
		f = &p->flights[p->n_flights++];
	} else {
		f = &p->flights[p->oldest];
		p->oldest = (p->oldest + 1) % MAX_FLIGHTS;
	}
	buf_clear(&f->text);
	*f = (struct flight){.text = f->text, .fit = true};
	buf_reserve(&f->text, 256);
	return f;
}

static void delay(struct play *p, const json *action, struct flight *f)
{
	count_fault(p, FAULT_LATE);
	f->due = p->turn + 1 + dice_below(&p->dice, 6);
	if (is_script(action) && dice_chance(&p->dice, 500))
		memcpy(p->running, f->id, sizeof(p->running));
}

struct flight *answer_new(struct play *p, const json *action, const char *owner)
{
	const char *id = json_get_str(action, "id");
	char word[WORD_MAX];
	struct flight *f;

	if (!p->fair && dice_chance(&p->dice, p->odds.silent)) {
		count_fault(p, FAULT_SILENT);
		return NULL;
	}
	f = room(p);
	p->texts++;
	(void)snprintf(f->id, sizeof(f->id), "%s", id);
	f->owner = dice_chance(&p->dice, 500) ? owner : NULL;
	f->due = p->turn;
	pick_word(p, action, word);
	say(p, action, word, f);
	if (p->fair)
		return f;
	if (dice_chance(&p->dice, p->odds.malformed))
		spoil(p, f);
	if (dice_chance(&p->dice, p->odds.late))
		delay(p, action, f);
	return f;
}
