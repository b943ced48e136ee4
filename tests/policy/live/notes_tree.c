#include "tests/policy/live/notes.h"

void pieces_end(struct pieces *p)
{
	if (p->kind)
		buf_addc(p->out, p->kind);
	p->kind = '\0';
}

void piece(struct pieces *p, bool quoted, char c)
{
	char kind = quoted ? '"' : '\'';

	if (p->kind != kind) {
		pieces_end(p);
		buf_addc(p->out, kind);
		p->kind = kind;
	}
	buf_addc(p->out, c);
}

struct notes {
	struct buf *out, *text;
};

static void node(const struct notes *s, const struct node *n);

static void word(const struct notes *s, const struct word *w, bool offsets)
{
	struct pieces p = {s->out, '\0'};

	buf_addc(s->out, '(');
	if (offsets)
		buf_addf(s->out, "%zu-%zu", w->at.from, w->at.to);
	for (size_t i = 0; i < w->n; i++) {
		const struct part *part = &w->parts[i];

		if (part->kind == PART_TEXT) {
			for (size_t k = 0; k < part->text.n; k++)
				piece(&p, part->quoted, part->text.p[k]);
			continue;
		}
		pieces_end(&p);
		buf_addc(s->out, '$');
		if (part->quoted)
			buf_addc(s->out, '"');
		if (part->kind == PART_VARIABLE)
			buf_add(s->out, part->text);
		else
			node(s, part->node);
	}
	pieces_end(&p);
	buf_addc(s->out, ')');
}

static void redirect(const struct notes *s, const struct redirect *r)
{
	static const char *const names[] = {[REDIRECT_READ] = "<",
		[REDIRECT_WRITE] = ">",
		[REDIRECT_APPEND] = ">>",
		[REDIRECT_BOTH] = "&>",
		[REDIRECT_BOTH_APPEND] = "&>>",
		[REDIRECT_DUP] = "&",
		[REDIRECT_CLOSE] = "&",
		[REDIRECT_TEXT] = "<<<"};

	buf_addf(s->out, " %d%s", r->fd, r->document ? "<<" : r->clobber ? ">|" : names[r->kind]);
	if (r->kind == REDIRECT_DUP)
		buf_addf(s->out, "%d", r->other);
	else if (r->kind == REDIRECT_CLOSE)
		buf_addc(s->out, '-');
	else if (r->document)
		json_print_text(s->out, r->text);
	else
		word(s, &r->word, true);
}

/* The word is written as it stands: plain text, nothing quoted. */
static bool declares(const struct node *n)
{
	static const char *const names[] = {
		"export", "declare", "local", "readonly", "typeset", "nameref", "let"};
	const struct word *w = n->words;

	if (!n->n_words || w->n != 1 || w->quoted || w->parts[0].kind != PART_TEXT)
		return false;
	for (size_t i = 0; i < COUNT(names); i++)
		if (str_is(w->parts[0].text, names[i]))
			return true;
	return false;
}

static void capital(const struct notes *s, const struct word *w)
{
	struct str text = w->parts[0].text;
	char *at = s->text->s + w->at.from;

	*at = (char)(*at - 'a' + 'A');
	buf_addf(s->out, "(%zu-%zu'%c%.*s')", w->at.from, w->at.to, *at, (int)text.n - 1,
		text.p + 1);
}

static void command(const struct notes *s, const struct node *n)
{
	bool special = declares(n);

	buf_addc(s->out, '[');
	for (size_t i = 0; i < n->n_assignments; i++) {
		buf_addf(s->out, "%zu:", n->assignments[i].at.from);
		buf_add(s->out, n->assignments[i].name);
		buf_addc(s->out, '=');
		word(s, &n->assignments[i].value, false);
	}
	if (special)
		capital(s, &n->words[0]);
	for (size_t i = special; i < n->n_words; i++)
		word(s, &n->words[i], true);
	buf_addc(s->out, ']');
}

static void children(const struct notes *s, const struct node *n, const char *open,
	const char *between, const char *close)
{
	buf_adds(s->out, open);
	for (size_t i = 0; i < n->n; i++) {
		if (i)
			buf_adds(s->out, between);
		node(s, n->children[i]);
	}
	buf_adds(s->out, close);
}

/* a && b || c goes from left to right, whoever holds whom. */
static void chain(const struct notes *s, const struct node *n)
{
	if (n->kind != NODE_AND && n->kind != NODE_OR) {
		node(s, n);
		return;
	}
	for (size_t i = 0; i < n->n; i++) {
		if (i)
			buf_adds(s->out, n->kind == NODE_AND ? " && " : " || ");
		chain(s, n->children[i]);
	}
}

static void if_command(const struct notes *s, const struct node *n)
{
	for (size_t i = 0; i + 1 < n->n; i += 2) {
		buf_adds(s->out, i ? " elif " : "{if ");
		node(s, n->children[i]);
		buf_adds(s->out, " then ");
		node(s, n->children[i + 1]);
	}
	if (n->n % 2) {
		buf_adds(s->out, " else ");
		node(s, n->children[n->n - 1]);
	}
	buf_addc(s->out, '}');
}

static void for_command(const struct notes *s, const struct node *n)
{
	buf_adds(s->out, "{for ");
	buf_add(s->out, n->name);
	for (size_t i = 0; i < n->n_words; i++)
		word(s, &n->words[i], true);
	children(s, n, " do ", "; ", "}");
}

static void case_command(const struct notes *s, const struct node *n)
{
	buf_adds(s->out, "{case ");
	word(s, &n->words[0], true);
	for (size_t i = 0; i < n->n_arms; i++) {
		const struct arm *arm = &n->arms[i];

		buf_adds(s->out, " arm");
		for (size_t k = 0; k < arm->n; k++)
			word(s, &arm->patterns[k], true);
		buf_addc(s->out, ':');
		if (arm->body)
			node(s, arm->body);
	}
	buf_addc(s->out, '}');
}

static const struct {
	const char *open, *between, *close;
} brackets[] = {
	[NODE_PIPE] = {"{", " | ", "}"},
	[NODE_NOT] = {"{! ", "", "}"},
	[NODE_TIME] = {"{time ", "", "}"},
	[NODE_LIST] = {"", "; ", ""},
	[NODE_BACKGROUND] = {"", "", " &"},
	[NODE_SUBSHELL] = {"{(", "", ")}"},
	[NODE_GROUP] = {"{{", "", "}}"},
	[NODE_WHILE] = {"{while ", " do ", "}"},
	[NODE_UNTIL] = {"{until ", " do ", "}"},
};

static void bare(const struct notes *s, const struct node *n)
{
	switch (n->kind) {
	case NODE_COMMAND:
		command(s, n);
		break;
	case NODE_AND:
	case NODE_OR:
		buf_addc(s->out, '{');
		chain(s, n);
		buf_addc(s->out, '}');
		break;
	case NODE_IF:
		if_command(s, n);
		break;
	case NODE_FOR:
		for_command(s, n);
		break;
	case NODE_CASE:
		case_command(s, n);
		break;
	default:
		children(s, n, brackets[n->kind].open, brackets[n->kind].between,
			brackets[n->kind].close);
	}
}

static void node(const struct notes *s, const struct node *n)
{
	bare(s, n);
	for (size_t i = 0; i < n->n_redirects; i++)
		redirect(s, &n->redirects[i]);
}

void notes_tree(struct buf *out, const struct node *tree, struct buf *text)
{
	const struct notes s = {out, text};

	node(&s, tree);
}
