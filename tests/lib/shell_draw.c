/*
 * shell_draw.c: the tree for people: a line a node, word, assignment and redirection, each with its
 * bytes.
 */
#include "tests/lib/shell_tree.h"

static void draw_node(struct buf *out, const struct node *n, unsigned level);

static void begin(struct buf *out, unsigned level, struct span at)
{
	for (unsigned i = 0; i < level; i++)
		buf_adds(out, "  ");
	buf_addf(out, "%zu-%zu ", at.from, at.to);
}

static void draw_visible(struct buf *out, const struct word *w)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	shell_print_word(&text, w);
	text_visible(out, buf_str(&text));
}

/* What runs inside its $( ) comes below it. */
static void draw_outputs(struct buf *out, const struct word *w, unsigned level)
{
	for (size_t i = 0; i < w->n; i++) {
		if (w->parts[i].kind != PART_OUTPUT)
			continue;
		begin(out, level, w->parts[i].at);
		buf_adds(out, "output of\n");
		draw_node(out, w->parts[i].node, level + 1);
	}
}

static void draw_word(struct buf *out, const char *what, const struct word *w, unsigned level)
{
	begin(out, level, w->at);
	buf_addf(out, "%s ", what);
	draw_visible(out, w);
	buf_adds(out, w->pattern ? " (pattern)\n" : "\n");
	draw_outputs(out, w, level + 1);
}

static void draw_assignment(struct buf *out, const struct assignment *a, unsigned level)
{
	begin(out, level, a->at);
	buf_addf(out, "assignment %.*s = ", (int)a->name.n, a->name.p);
	draw_visible(out, &a->value);
	buf_addc(out, '\n');
	draw_outputs(out, &a->value, level + 1);
}

static void draw_redirect(struct buf *out, const struct redirect *r, unsigned level)
{
	static const char *const kinds[] = {
		[REDIRECT_READ] = "reads from",
		[REDIRECT_WRITE] = "writes to",
		[REDIRECT_APPEND] = "appends to",
		[REDIRECT_BOTH] = "and 2 write to",
		[REDIRECT_BOTH_APPEND] = "and 2 append to",
		[REDIRECT_DUP] = "becomes a copy of",
		[REDIRECT_CLOSE] = "is closed",
		[REDIRECT_TEXT] = "reads the text",
	};

	begin(out, level, r->at);
	buf_addf(out, "redirection: %d %s", r->fd, kinds[r->kind]);
	if (r->kind == REDIRECT_DUP) {
		buf_addf(out, " %d\n", r->other);
	} else if (r->kind == REDIRECT_CLOSE) {
		buf_addc(out, '\n');
	} else if (r->document) {
		buf_addf(out, " of bytes %zu-%zu\n", r->body.from, r->body.to);
	} else {
		buf_addc(out, ' ');
		draw_visible(out, &r->word);
		buf_adds(out, r->word.pattern ? " (pattern)\n" : "\n");
		draw_outputs(out, &r->word, level + 1);
	}
}

static void draw_arm(struct buf *out, const struct arm *arm, unsigned level)
{
	begin(out, level, arm->at);
	buf_adds(out, "arm\n");
	for (size_t i = 0; i < arm->n; i++)
		draw_word(out, "pattern", &arm->patterns[i], level + 1);
	if (arm->body)
		draw_node(out, arm->body, level + 1);
}

static void draw_node(struct buf *out, const struct node *n, unsigned level)
{
	static const char *const kinds[] = {
		[NODE_COMMAND] = "command",
		[NODE_PIPE] = "pipeline",
		[NODE_AND] = "and",
		[NODE_OR] = "or",
		[NODE_NOT] = "not",
		[NODE_TIME] = "time",
		[NODE_LIST] = "list",
		[NODE_BACKGROUND] = "background",
		[NODE_SUBSHELL] = "subshell",
		[NODE_GROUP] = "group",
		[NODE_IF] = "if",
		[NODE_WHILE] = "while",
		[NODE_UNTIL] = "until",
		[NODE_FOR] = "for",
		[NODE_CASE] = "case",
	};

	begin(out, level, n->at);
	buf_adds(out, kinds[n->kind]);
	if (n->kind == NODE_FOR)
		buf_addf(out, " %.*s", (int)n->name.n, n->name.p);
	buf_addc(out, '\n');
	for (size_t i = 0; i < n->n_assignments; i++)
		draw_assignment(out, &n->assignments[i], level + 1);
	for (size_t i = 0; i < n->n_words; i++)
		draw_word(out, "word", &n->words[i], level + 1);
	for (size_t i = 0; i < n->n_arms; i++)
		draw_arm(out, &n->arms[i], level + 1);
	for (size_t i = 0; i < n->n; i++)
		draw_node(out, n->children[i], level + 1);
	for (size_t i = 0; i < n->n_redirects; i++)
		draw_redirect(out, &n->redirects[i], level + 1);
}

void shell_draw(struct buf *out, const struct node *n)
{
	draw_node(out, n, 0);
}
