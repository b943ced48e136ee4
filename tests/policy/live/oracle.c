/*
 * oracle: in whatever our parser accepts of the generated text (and of the corpus, and of what the
 * fuzzer kept), shfmt finds the same commands, words and redirections at the same bytes. What
 * `bash -n` refuses does not run, so that it is no matter what is found in it.
 *
 *     oracle LINES [FILE...]
 *
 * Many texts go through one process. What does not come out as it should is asked again alone, so
 * that no text is blamed for its neighbour, and none can hide behind it.
 */
#include <ctype.h>
#include "src/sys/path.h"
#include "tests/lib/random.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"
#include "tests/policy/live/generate.h"
#include "tests/policy/live/notes.h"

enum { BATCH = 250, SHOWN = 20 };

struct text {
	struct buf text, notes;
	struct buf for_shfmt; /* see notes_ours() */
	size_t from, to;      /* in the source of the batch */
	bool out;             /* of what is asked next */
};

struct oracle {
	struct text texts[BATCH];
	size_t n;
	struct buf source;
	size_t made, accepted, refused, wrong;
	size_t left_out; /* shfmt reads them otherwise than bash */
	size_t shown;
	bool shfmt;
};

static void complain(struct oracle *o, const struct text *t, struct str what)
{
	if (o->shown++ >= SHOWN)
		return;
	tap_notef("shfmt sees another text than we do:");
	tap_note(buf_str(&t->text));
	if (t->notes.len) {
		tap_notef("as we see it:");
		tap_note(buf_str(&t->notes));
	}
	tap_notef("as shfmt sees it:");
	tap_note(what);
}

/* Lays the texts [from, to) one below the other; those that are out are left out. */
static void lay(struct oracle *o, size_t from, size_t to, bool for_shfmt)
{
	buf_clear(&o->source);
	for (size_t i = from; i < to; i++) {
		struct text *t = &o->texts[i];

		if (t->out)
			continue;
		t->from = o->source.len;
		buf_add(&o->source, buf_str(for_shfmt ? &t->for_shfmt : &t->text));
		t->to = o->source.len;
		buf_addc(&o->source, '\n');
	}
}

static void ask_bash(struct oracle *o, size_t from, size_t to)
{
	static const char *const argv[] = {"bash", "--norc", "-n", "/dev/stdin", NULL};
	struct run r = {.argv = argv, .limit_s = 60};

	lay(o, from, to, false);
	r.input = buf_str(&o->source);
	run(&r);
	if (r.status == 0 && r.err.len == 0) {
		run_release(&r);
		return;
	}
	if (to - from == 1) {
		o->refused++;
		o->texts[from].out = true;
	}
	run_release(&r);
	if (to - from > 1) {
		ask_bash(o, from, (from + to) / 2);
		ask_bash(o, (from + to) / 2, to);
	}
}

static void wrong(struct oracle *o, struct text *t, struct str what)
{
	t->out = true;
	o->wrong++;
	complain(o, t, what);
}

/* True when nothing of [from, to) was found to differ. */
static bool compare(struct oracle *o, size_t from, size_t to, const json *file)
{
	CLEANUP(buf_release) struct buf notes = BUF_INIT;
	const json *at = shfmt_statements(file);
	bool good = true;

	for (size_t i = from; i < to; i++) {
		struct text *t = &o->texts[i];

		if (t->out)
			continue;
		buf_clear(&notes);
		buf_reserve(&notes, 1);
		notes_shfmt(&notes, buf_str(&o->source), &at, t->from, t->to);
		if (str_eq(buf_str(&notes), buf_str(&t->notes)))
			continue;
		if (to - from > 1)
			return false;
		wrong(o, t, buf_str(&notes));
		good = false;
	}
	return good;
}

/* The text that holds line `line` of the source; NULL: none. */
static struct text *at_line(struct oracle *o, size_t from, size_t to, unsigned line)
{
	size_t at = 0;

	while (line > 1 && at < o->source.len)
		line -= o->source.s[at++] == '\n';
	for (size_t i = from; i < to; i++)
		if (!o->texts[i].out && at >= o->texts[i].from && at <= o->texts[i].to)
			return &o->texts[i];
	return NULL;
}

static unsigned line_of(struct str message)
{
	size_t at = str_find(message, STR(">:"));

	return at < message.n ? (unsigned)strtoul(message.p + at + 2, NULL, 10) : 0;
}

/* bash accepts a `!` without a command on its line. */
static bool is_bang_alone(struct str message)
{
	return str_find(message, STR("\"!\" cannot form a statement alone")) < message.n;
}

static bool ask_shfmt_once(struct oracle *o, size_t from, size_t to, struct text **fault)
{
	static const char *const argv[] = {"shfmt", "-ln", "bash", "--to-json", NULL};
	struct run r = {.argv = argv, .limit_s = 120};
	CLEANUP(json_free) json *file = NULL;
	struct error err;
	bool good = false;

	*fault = NULL;
	lay(o, from, to, true);
	r.input = buf_str(&o->source);
	if (!r.input.n)
		return true;
	run(&r);
	if (r.status == 0 && json_parse(&file, buf_str(&r.out), &err) == 0) {
		good = compare(o, from, to, file);
	} else if (to - from == 1 && is_bang_alone(buf_str(&r.err))) {
		o->texts[from].out = true;
		o->left_out++;
	} else if (to - from == 1) {
		wrong(o, &o->texts[from], r.status ? buf_str(&r.err) : str_of(err.text));
	} else if (r.status) {
		*fault = at_line(o, from, to, line_of(buf_str(&r.err)));
	}
	run_release(&r);
	return good;
}

static void ask_shfmt(struct oracle *o, size_t from, size_t to)
{
	struct text *fault;

	while (!ask_shfmt_once(o, from, to, &fault)) {
		if (to - from <= 1)
			return;
		if (fault) {
			size_t i = (size_t)(fault - o->texts);

			ask_shfmt(o, i, i + 1);
			if (o->texts[i].out)
				continue; /* the rest without it */
		}
		ask_shfmt(o, from, (from + to) / 2);
		ask_shfmt(o, (from + to) / 2, to);
		return;
	}
}

static void ask(struct oracle *o)
{
	if (!o->n)
		return;
	ask_bash(o, 0, o->n);
	if (o->shfmt)
		ask_shfmt(o, 0, o->n);
	o->n = 0;
}

/* The `#` at `i` is inside a word, behind quotes, an expansion or `=`: a comment for shfmt only. */
static bool is_no_comment(struct str text, size_t i)
{
	if (strchr("\"')}=", text.p[i - 1]))
		return true;
	while (i > 1 && (isalnum((unsigned char)text.p[i - 1]) || strchr("_?", text.p[i - 1])))
		i--;
	return text.p[i - 1] == '$';
}

/* It also joins the line behind a comment that ends with a backslash. */
static bool has_misread_comment(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		size_t n = str_find(str_sub(text, i, text.n), STR("\n"));

		if (text.p[i] != '#')
			continue;
		if (i && is_no_comment(text, i))
			return true;
		if (n && i + n < text.n && text.p[i + n - 1] == '\\')
			return true;
	}
	return false;
}

/* shfmt takes the name `a.b=c[` for an assignment to a variable that has no such name. */
static bool has_misread_name(struct str text, const struct command *c)
{
	for (; c; c = c->next) {
		struct str name = c->n_words ? str_sub(text, c->words[0].at.from, c->words[0].at.to)
					     : STR("");

		if (str_find(name, STR("[")) < name.n &&
			str_find(name, STR("=")) < str_find(name, STR("[")))
			return true;
	}
	return false;
}

/* Keeps `text` for the next round when our parser accepts it. */
static void offer(struct oracle *o, struct str text)
{
	CLEANUP(arena_release) struct arena arena = {0};
	struct text *t = &o->texts[o->n];
	struct verdict v = {0};
	struct command *commands;

	o->made++;
	if (shell_parse(&arena, text, &commands, &v) < 0)
		return;
	o->accepted++;
	if (has_misread_comment(text) || has_misread_name(text, commands)) {
		o->left_out++;
		return;
	}
	t->out = false;
	buf_clear(&t->text);
	buf_add(&t->text, text);
	buf_clear(&t->notes);
	buf_clear(&t->for_shfmt);
	buf_add(&t->for_shfmt, text);
	if (!notes_ours(&t->notes, commands, &t->for_shfmt))
		o->left_out++;
	else if (++o->n == BATCH)
		ask(o);
}

static void corpus_rows(struct oracle *o, struct str text)
{
	struct str line;

	while (str_line(&text, &line)) {
		CLEANUP(json_free) json *j = NULL;
		struct error err;

		if (json_parse(&j, line, &err) == 0 && json_get_str(j, "command"))
			offer(o, str_of(json_get_str(j, "command")));
	}
}

/* Rows of a table, or a file that is one text. */
static void file(struct oracle *o, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!tree_read(path, &text))
		die("there is no '%s'", path);
	if (str_ends(str_of(path), ".jsonl"))
		corpus_rows(o, buf_str(&text));
	else
		offer(o, buf_str(&text));
}

static bool there(const char *program)
{
	return run_succeeds((const char *const[]){program, "--version", NULL});
}

static void report(struct oracle *o, const char *what)
{
	if (o->shfmt)
		tap(o->wrong == 0, "shfmt sees what we see, %s", what);
	tap_notef("figures: %s: %zu texts, %zu accepted (%.1f %%), %zu refused by bash, %zu not "
		  "compared, "
		  "%zu other to shfmt%s",
		what, o->made, o->accepted,
		o->made ? 100.0 * (double)o->accepted / (double)o->made : 0.0, o->refused,
		o->left_out, o->wrong, o->shfmt ? "" : " (absent)");
	o->made = o->accepted = o->refused = o->left_out = o->wrong = o->shown = 0;
}

int main(int argc, char **argv)
{
	static struct oracle o;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	uint64_t lines = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, seed = random_seed(NULL);

	if (!there("bash")) {
		tap_skip("bash and shfmt see what we see", "bash is not installed");
		return tap_end();
	}
	/* shfmt lives for one batch: what it does not clean up costs nothing. */
	setenv("GOGC", "off", 1);
	setenv("GOMAXPROCS", "1", 1);
	o.shfmt = there("shfmt");
	if (!o.shfmt)
		tap_skip("shfmt sees what we see", "shfmt is not installed");
	for (int i = 2; i < argc; i++)
		file(&o, argv[i]);
	ask(&o);
	report(&o, "files");
	for (uint64_t i = 0; i < lines; i++) {
		generate(&text, seed, i);
		offer(&o, buf_str(&text));
	}
	ask(&o);
	report(&o, "generated");
	return tap_end();
}
