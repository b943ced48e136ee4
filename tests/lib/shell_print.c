/*
 * shell_print.c: canonical text. The lines of a here document are put out as soon as a newline may
 * stand in the text, so that no quoted newline can come before them.
 */
#include "tests/lib/shell_tree.h"

struct printer {
	struct buf *out;
	struct buf later; /* lines of here documents that wait for the next newline */
	bool open;        /* single quotes */
};

static void print_node(struct printer *o, const struct node *n);

static bool shell_pattern_byte(char c, bool *bracket)
{
	if (c == '[')
		*bracket = true;
	if (c == '*' || c == '?' || c == '[')
		return true;
	return *bracket &&
	       ((unsigned char)c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		       (c >= '0' && c <= '9') || strchr("]_.:=!^-", c));
}

/* Ends the line when something waits for that. */
static bool flush(struct printer *o)
{
	if (!o->later.len)
		return false;
	buf_addc(o->out, '\n');
	buf_add(o->out, buf_str(&o->later));
	buf_clear(&o->later);
	return true;
}

static void blank_or_newline(struct printer *o)
{
	if (!flush(o))
		buf_addc(o->out, ' ');
}

static void add_quoted(struct printer *o, struct str text)
{
	if (!o->open)
		buf_addc(o->out, '\'');
	o->open = true;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\'')
			buf_adds(o->out, "'\\''");
		else
			buf_addc(o->out, text.p[i]);
	}
}

static void close_quotes(struct printer *o)
{
	if (o->open)
		buf_addc(o->out, '\'');
	o->open = false;
}

static void print_pattern(struct printer *o, struct str text, bool *bracket)
{
	while (text.n) {
		bool bare = shell_pattern_byte(text.p[0], bracket);
		size_t n = 1;

		while (n < text.n && shell_pattern_byte(text.p[n], bracket) == bare)
			n++;
		if (bare) {
			close_quotes(o);
			buf_add(o->out, str_sub(text, 0, n));
		} else {
			add_quoted(o, str_sub(text, 0, n));
		}
		text = str_sub(text, n, text.n);
	}
}

static void print_output(struct printer *o, const struct node *n)
{
	struct printer inner = {.out = o->out};

	buf_adds(o->out, "$( ");
	print_node(&inner, n);
	blank_or_newline(&inner);
	buf_addc(o->out, ')');
	buf_release(&inner.later);
}

static void print_part(struct printer *o, const struct part *part)
{
	close_quotes(o);
	if (part->quoted)
		buf_addc(o->out, '"');
	if (part->kind == PART_OUTPUT) {
		print_output(o, part->node);
	} else {
		buf_adds(o->out, "${");
		buf_add(o->out, part->text);
		buf_addc(o->out, '}');
	}
	if (part->quoted)
		buf_addc(o->out, '"');
}

static void print_word(struct printer *o, const struct word *w)
{
	bool bracket = false, seen = !w->quoted; /* that it is a word though nothing may be in it */

	for (size_t i = 0; i < w->n; i++) {
		const struct part *part = &w->parts[i];

		if (part->kind != PART_TEXT)
			print_part(o, part);
		else if (w->pattern && !part->quoted)
			print_pattern(o, part->text, &bracket);
		else
			add_quoted(o, part->text);
		seen |= part->quoted || part->kind == PART_TEXT;
	}
	close_quotes(o);
	if (!seen)
		buf_adds(o->out, "''");
}

void shell_print_word(struct buf *out, const struct word *w)
{
	struct printer o = {.out = out};

	print_word(&o, w);
	buf_release(&o.later);
}

static void print_words(struct printer *o, const struct word *words, size_t n, const char *between)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_adds(o->out, between);
		print_word(o, &words[i]);
	}
}

/* No line of the body is EOF with so many underscores. */
static size_t underscores(struct str body)
{
	struct str line;
	size_t most = 0;

	while (str_line(&body, &line)) {
		size_t n = 3;

		if (!str_starts(line, "EOF"))
			continue;
		while (n < line.n && line.p[n] == '_')
			n++;
		if (n == line.n && n - 2 > most)
			most = n - 2;
	}
	return most;
}

static void print_delimiter(struct buf *out, size_t n)
{
	buf_adds(out, "EOF");
	for (size_t i = 0; i < n; i++)
		buf_addc(out, '_');
}

static void print_document(struct printer *o, struct str body)
{
	size_t n = underscores(body);

	buf_adds(o->out, "<<'");
	print_delimiter(o->out, n);
	buf_addc(o->out, '\'');
	buf_add(&o->later, body);
	print_delimiter(&o->later, n);
	buf_addc(&o->later, '\n');
}

static void print_redirect(struct printer *o, const struct redirect *r)
{
	static const char *const operators[] = {
		[REDIRECT_READ] = "<",
		[REDIRECT_WRITE] = ">",
		[REDIRECT_APPEND] = ">>",
		[REDIRECT_BOTH] = "&>",
		[REDIRECT_BOTH_APPEND] = "&>>",
		[REDIRECT_DUP] = ">&",
		[REDIRECT_CLOSE] = ">&-",
		[REDIRECT_TEXT] = "<<<",
	};

	if (!r->both_ways)
		buf_addf(o->out, "%d", r->fd);
	if (r->document) {
		print_document(o, r->text);
		return;
	}
	buf_adds(o->out, r->clobber ? ">|" : operators[r->kind]);
	if (r->kind == REDIRECT_DUP)
		buf_addf(o->out, "%d", r->other);
	else if (r->kind != REDIRECT_CLOSE)
		print_word(o, &r->word);
}

/* That of |& is written with the pipe. */
static bool of_pipe(const struct redirect *r)
{
	return r->both_ways && r->kind == REDIRECT_DUP;
}

static void print_redirects(struct printer *o, const struct node *n)
{
	for (size_t i = 0; i < n->n_redirects; i++) {
		if (of_pipe(&n->redirects[i]))
			continue;
		if (i || n->n_words || n->n_assignments || n->kind != NODE_COMMAND)
			buf_addc(o->out, ' ');
		print_redirect(o, &n->redirects[i]);
	}
}

static void print_command(struct printer *o, const struct node *n)
{
	for (size_t i = 0; i < n->n_assignments; i++) {
		if (i)
			buf_addc(o->out, ' ');
		buf_add(o->out, n->assignments[i].name);
		buf_addc(o->out, '=');
		print_word(o, &n->assignments[i].value);
	}
	if (n->n_assignments && n->n_words)
		buf_addc(o->out, ' ');
	print_words(o, n->words, n->n_words, " ");
}

static void print_pipe(struct printer *o, const struct node *n)
{
	for (size_t i = 0; i < n->n; i++) {
		const struct node *child = n->children[i];

		print_node(o, child);
		if (i + 1 == n->n)
			break;
		buf_adds(o->out,
			child->n_redirects && of_pipe(&child->redirects[child->n_redirects - 1])
				? " |&"
				: " |");
		blank_or_newline(o);
	}
}

/* `n` and what ends it: `;`, unless it ends in `&` or with a line. */
static void print_ended(struct printer *o, const struct node *n)
{
	const struct node *last = n->kind == NODE_LIST ? n->children[n->n - 1] : n;

	print_node(o, n);
	if (!flush(o))
		buf_adds(o->out, last->kind == NODE_BACKGROUND ? " " : "; ");
}

static void print_list(struct printer *o, const struct node *n)
{
	for (size_t i = 0; i + 1 < n->n; i++)
		print_ended(o, n->children[i]);
	print_node(o, n->children[n->n - 1]);
}

static void print_if(struct printer *o, const struct node *n)
{
	for (size_t i = 0; i < n->n; i++) {
		bool otherwise = i % 2 == 0 && i + 1 == n->n;

		buf_adds(o->out, i == 0 ? "if " : i % 2 ? "then " : otherwise ? "else " : "elif ");
		print_ended(o, n->children[i]);
	}
	buf_adds(o->out, "fi");
}

static void print_do(struct printer *o, const struct node *body)
{
	buf_adds(o->out, "do ");
	print_ended(o, body);
	buf_adds(o->out, "done");
}

static void print_for(struct printer *o, const struct node *n)
{
	buf_adds(o->out, "for ");
	buf_add(o->out, n->name);
	buf_adds(o->out, " in ");
	print_words(o, n->words, n->n_words, " ");
	buf_adds(o->out, "; ");
	print_do(o, n->children[0]);
}

static void print_case(struct printer *o, const struct node *n)
{
	buf_adds(o->out, "case ");
	print_word(o, &n->words[0]);
	buf_adds(o->out, " in ");
	for (size_t i = 0; i < n->n_arms; i++) {
		print_words(o, n->arms[i].patterns, n->arms[i].n, " | ");
		buf_adds(o->out, ") ");
		if (n->arms[i].body) {
			print_node(o, n->arms[i].body);
			blank_or_newline(o);
		}
		buf_adds(o->out, ";; ");
	}
	buf_adds(o->out, "esac");
}

static void print_group(struct printer *o, const struct node *n)
{
	if (n->kind == NODE_GROUP) {
		buf_adds(o->out, "{ ");
		print_ended(o, n->children[0]);
		buf_addc(o->out, '}');
		return;
	}
	buf_adds(o->out, "( ");
	print_node(o, n->children[0]);
	blank_or_newline(o);
	buf_addc(o->out, ')');
}

static void print_pair(struct printer *o, const struct node *n)
{
	print_node(o, n->children[0]);
	buf_adds(o->out, n->kind == NODE_AND ? " &&" : " ||");
	blank_or_newline(o);
	print_node(o, n->children[1]);
}

static void print_before(struct printer *o, const char *what, const struct node *n)
{
	buf_adds(o->out, what);
	print_node(o, n->children[0]);
}

static void print_loop(struct printer *o, const struct node *n)
{
	buf_adds(o->out, n->kind == NODE_WHILE ? "while " : "until ");
	print_ended(o, n->children[0]);
	print_do(o, n->children[1]);
}

static void print_kind(struct printer *o, const struct node *n)
{
	switch (n->kind) {
	case NODE_COMMAND:
		print_command(o, n);
		break;
	case NODE_PIPE:
		print_pipe(o, n);
		break;
	case NODE_AND:
	case NODE_OR:
		print_pair(o, n);
		break;
	case NODE_NOT:
		print_before(o, "! ", n);
		break;
	case NODE_TIME:
		print_before(o, n->posix ? "time -p " : "time ", n);
		break;
	case NODE_LIST:
		print_list(o, n);
		break;
	case NODE_BACKGROUND:
		print_before(o, "", n);
		buf_adds(o->out, " &");
		break;
	case NODE_SUBSHELL:
	case NODE_GROUP:
		print_group(o, n);
		break;
	case NODE_IF:
		print_if(o, n);
		break;
	case NODE_WHILE:
	case NODE_UNTIL:
		print_loop(o, n);
		break;
	case NODE_FOR:
		print_for(o, n);
		break;
	case NODE_CASE:
		print_case(o, n);
	}
}

static void print_node(struct printer *o, const struct node *n)
{
	print_kind(o, n);
	print_redirects(o, n);
}

void shell_print(struct buf *out, const struct node *n)
{
	struct printer o = {.out = out};

	print_node(&o, n);
	(void)flush(&o);
	buf_release(&o.later);
}
