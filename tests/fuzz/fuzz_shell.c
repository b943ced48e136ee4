/*
 * Any bytes as a command line. Denied: with a reason and a position inside the text. Accepted: the
 * leaves of the tree cover each byte at most once, in order and inside their parents, with nothing
 * between them but blanks, comments, operators and reserved words; the canonical text parses to the
 * same tree.
 */
#include "src/shell/parse.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/shell_tree.h"

struct text {
	const char *s;
	size_t n;
	bool *held; /* by a leaf */
};

static void see_node(struct text *t, const struct node *n, struct span within);

static void expect_within(struct span at, struct span outer)
{
	expect(outer.from <= at.from && at.from <= at.to && at.to <= outer.to);
}

static void hold(struct text *t, size_t from, size_t to)
{
	expect(from <= to && to <= t->n);
	for (size_t i = from; i < to; i++) {
		expect(!t->held[i]);
		t->held[i] = true;
	}
}

/* Quotes, and continued lines in them, are between the parts of a word. */
static void see_between(struct text *t, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		expect(strchr("'\"\\\n", t->s[i]) && t->s[i]);
	hold(t, from, to);
}

static void see_part(struct text *t, const struct part *p)
{
	expect(p->at.from < p->at.to);
	if (p->kind != PART_OUTPUT) {
		expect(p->text.n > 0 && p->text.n <= p->at.to - p->at.from);
		hold(t, p->at.from, p->at.to);
		return;
	}
	expect(t->s[p->at.from] == '$' && t->s[p->at.from + 1] == '(' && t->s[p->at.to - 1] == ')');
	hold(t, p->at.from, p->at.from + 2);
	see_node(t, p->node, (struct span){p->at.from + 2, p->at.to - 1});
	hold(t, p->at.to - 1, p->at.to);
}

static void see_word(struct text *t, const struct word *w, struct span within)
{
	size_t at = w->at.from;
	bool dynamic = false;

	expect_within(w->at, within);
	for (size_t i = 0; i < w->n; i++) {
		expect_within(w->parts[i].at, (struct span){at, w->at.to});
		see_between(t, at, w->parts[i].at.from);
		see_part(t, &w->parts[i]);
		at = w->parts[i].at.to;
		dynamic |= w->parts[i].kind != PART_TEXT;
	}
	see_between(t, at, w->at.to);
	expect(dynamic == w->dynamic);
}

static void see_redirect(struct text *t, const struct redirect *r, struct span within)
{
	bool of_pipe = r->both_ways && r->kind == REDIRECT_DUP;
	size_t to = r->at.to;

	if (!of_pipe)
		expect_within(r->at, within);
	expect(r->fd >= 0 && r->fd <= 2 && r->other >= 0 && r->other <= 2);
	if (r->word.at.to) {
		see_word(t, &r->word, r->at);
		expect(r->word.at.to == r->at.to);
		to = r->word.at.from;
	}
	/* Blanks may be in between. */
	for (size_t i = r->at.from; i < to; i++)
		if (strchr("0123456789<>&|-", t->s[i]))
			hold(t, i, i + 1);
	if (r->document) {
		expect(r->body.from < r->body.to && r->body.from >= r->at.to);
		expect(!r->text.n || r->text.p[r->text.n - 1] == '\n');
		hold(t, r->body.from, r->body.to);
	}
}

/* The name of `for` has no node of its own. */
static void see_name(struct text *t, const struct node *n)
{
	size_t i = n->at.from + strlen("for");

	while (strchr(" \t\\\n", t->s[i]))
		i++;
	expect(!memcmp(t->s + i, n->name.p, n->name.n));
	hold(t, i, i + n->name.n);
}

static void see_command(struct text *t, const struct node *n)
{
	for (size_t i = 0; i < n->n_assignments; i++) {
		const struct assignment *a = &n->assignments[i];

		expect_within(a->at, n->at);
		expect(a->value.at.from == a->at.from + a->name.n + 1);
		expect(t->s[a->value.at.from - 1] == '=' && !a->value.pattern);
		hold(t, a->at.from, a->value.at.from);
		see_word(t, &a->value, a->at);
	}
	for (size_t i = 0; i < n->n_words; i++) {
		see_word(t, &n->words[i], n->at);
		expect(n->words[i].at.from < n->words[i].at.to);
		expect(!i || n->words[i - 1].at.to <= n->words[i].at.from);
	}
	for (size_t i = 0; i < n->n_redirects; i++) {
		see_redirect(t, &n->redirects[i], n->at);
		expect(!i || n->redirects[i - 1].at.to <= n->redirects[i].at.from);
	}
	expect(n->kind != NODE_COMMAND || n->n_assignments || n->n_words || n->n_redirects);
}

static void see_arms(struct text *t, const struct node *n)
{
	size_t last = n->at.from;

	for (size_t i = 0; i < n->n_arms; i++) {
		const struct arm *arm = &n->arms[i];

		expect_within(arm->at, (struct span){last, n->at.to});
		last = arm->at.to;
		expect(arm->n > 0);
		for (size_t j = 0; j < arm->n; j++)
			see_word(t, &arm->patterns[j], arm->at);
		if (arm->body)
			see_node(t, arm->body, arm->at);
	}
}

static void see_node(struct text *t, const struct node *n, struct span within)
{
	size_t last = n->at.from;

	expect(n->at.from < n->at.to);
	expect_within(n->at, within);
	if (n->kind == NODE_FOR)
		see_name(t, n);
	see_command(t, n);
	see_arms(t, n);
	for (size_t i = 0; i < n->n; i++) {
		see_node(t, n->children[i], (struct span){last, n->at.to});
		last = n->children[i]->at.to;
	}
}

static bool is_reserved(const char *s, size_t n)
{
	static const char *const words[] = {"!", "{", "}", "-p", "case", "do", "done", "elif",
		"else", "esac", "fi", "for", "if", "in", "then", "time", "until", "while"};

	for (size_t i = 0; i < COUNT(words); i++)
		if (strlen(words[i]) == n && !memcmp(words[i], s, n))
			return true;
	return false;
}

/* The bytes that no leaf covers. */
static void see_rest(const struct text *t)
{
	size_t i = 0, n;

	while (i < t->n) {
		if (t->held[i] || strchr(" \t\n;&|()", t->s[i])) {
			i++;
		} else if (t->s[i] == '\\') {
			expect(i + 1 < t->n && t->s[i + 1] == '\n' && !t->held[i + 1]);
			i += 2;
		} else if (t->s[i] == '#') {
			for (; i < t->n && t->s[i] != '\n'; i++)
				expect(!t->held[i]);
		} else {
			for (n = 0; i + n < t->n && !t->held[i + n] &&
				    !strchr(" \t\n;&|()\\", t->s[i + n]);)
				n++;
			expect(is_reserved(t->s + i, n));
			i += n;
		}
	}
}

static void see_drawing(const struct node *tree)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	shell_draw(&out, tree);
	expect(out.len && !str_utf8_fault(buf_str(&out)));
}

static void see_denial(const struct verdict *v, size_t size)
{
	expect(v->denied && v->at.from <= v->at.to && v->at.to <= size);
	expect(v->reason[0] && !str_utf8_fault(str_of(v->reason)));
	expect(v->rule <= RULE_CONSTRUCT || v->rule == RULE_REDIRECT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = {0};
	struct str text = {(const char *)data, size};
	struct verdict v = {0};
	struct node *tree = NULL;

	if (shell_parse(&a, text, &tree, &v) == 0) {
		struct text t = {arena_dup(&a, text), size, arena_alloc(&a, size + 1)};

		expect(!v.denied);
		see_node(&t, tree, (struct span){0, size});
		see_rest(&t);
		see_drawing(tree);
	} else {
		expect(!tree);
		see_denial(&v, size);
	}
	arena_release(&a);
	return 0;
}
