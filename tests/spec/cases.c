#include "tests/spec/cases.h"

enum { MAX_CASES = 500, MAX_BLOCKS = 60, MAX_SHARED = 10 };

static const struct {
	const char *word;
	enum block_kind kind;
	bool path;
} kinds[] = {
	{"file", BLOCK_FILE, true},
	{"repo", BLOCK_REPO, true},
	{"console", BLOCK_CONSOLE, false},
	{"stderr", BLOCK_STDERR, false},
	{"expect", BLOCK_EXPECT, true},
};

struct parser {
	struct arena *arena;
	const char *file;
	struct str rest;
	unsigned line; /* of the line taken last */
	struct spec_file *out;
	struct block shared[MAX_SHARED]; /* from above the first case */
	size_t n_shared;
	struct error *err;
};

static bool take(struct parser *p, struct str *line)
{
	if (!str_line(&p->rest, line))
		return false;
	p->line++;
	return true;
}

static size_t fence_of(struct str line)
{
	size_t n = 0;

	while (n < line.n && line.p[n] == '`')
		n++;
	return n >= 3 ? n : 0;
}

static int block_kind(struct parser *p, struct str info, struct block *b)
{
	size_t end = str_find(info, STR(" "));
	struct str word = str_sub(info, 0, end);

	b->path = str_trim(str_sub(info, end, info.n));
	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (!str_is(word, kinds[i].word))
			continue;
		if (kinds[i].path != (b->path.n > 0))
			return error_at(p->err, p->file, p->line, 1,
				kinds[i].path ? "a block '%s' needs a path"
					      : "a block '%s' takes no path",
				kinds[i].word);
		b->kind = kinds[i].kind;
		return 0;
	}
	return error_at(p->err, p->file, p->line, 1, "unknown block '%.*s'", (int)info.n, info.p);
}

static int read_block(struct parser *p, struct str opening, struct block *b)
{
	size_t fence = fence_of(opening);
	const char *start = p->rest.p;
	struct str line;

	b->line = p->line;
	if (block_kind(p, str_trim(str_sub(opening, fence, opening.n)), b) < 0)
		return -1;
	for (;;) {
		const char *here = p->rest.p;

		if (!take(p, &line))
			return error_at(
				p->err, p->file, b->line, 1, "this block has no closing fence");
		if (fence_of(line) == fence && line.n == fence) {
			b->body = (struct str){start, (size_t)(here - start)};
			return 0;
		}
	}
}

/* A stderr block belongs to the console block right before it. */
static int add_block(struct parser *p, struct spec_case *c, const struct block *b)
{
	if (b->kind == BLOCK_STDERR && (!c->n || c->blocks[c->n - 1].kind != BLOCK_CONSOLE))
		return error_at(p->err, p->file, b->line, 1,
			"a block 'stderr' must follow a block 'console'");
	if (c->n == MAX_BLOCKS)
		return error_at(p->err, p->file, b->line, 1, "too many blocks in a case");
	c->blocks[c->n++] = *b;
	return 0;
}

static int check_case(struct parser *p, const struct spec_case *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->blocks[i].kind == BLOCK_CONSOLE)
			return 0;
	return error_at(p->err, p->file, c->line, 1, "the case '%.*s' runs no command",
		(int)c->title.n, c->title.p);
}

static struct spec_case *add_case(struct parser *p, struct str title)
{
	struct spec_case *c = &p->out->cases[p->out->n++];

	c->title = str_trim(title);
	c->line = p->line;
	c->prose = (struct str){p->rest.p, 0};
	c->blocks = arena_alloc(p->arena, MAX_BLOCKS * sizeof(*c->blocks));
	c->n = p->n_shared;
	memcpy(c->blocks, p->shared, sizeof(p->shared));
	return c;
}

/* A block above the first case begins every case. */
static int share_block(struct parser *p, const struct block *b)
{
	if (b->kind != BLOCK_FILE && b->kind != BLOCK_REPO)
		return error_at(p->err, p->file, b->line, 1,
			"only 'file' and 'repo' can be above the first case");
	if (p->n_shared == MAX_SHARED)
		return error_at(
			p->err, p->file, b->line, 1, "too many blocks above the first case");
	p->shared[p->n_shared++] = *b;
	return 0;
}

static int block_in_case(struct parser *p, struct spec_case *c, struct str line)
{
	struct block b = {0};

	if (!c)
		return read_block(p, line, &b) < 0 ? -1 : share_block(p, &b);
	if (c->n == p->n_shared)
		c->prose.n = (size_t)(line.p - c->prose.p);
	if (read_block(p, line, &b) < 0)
		return -1;
	return add_block(p, c, &b);
}

int cases_parse(struct arena *a, const char *file, struct str text, struct spec_file *out,
	struct error *err)
{
	struct parser p = {.arena = a, .file = file, .rest = text, .out = out, .err = err};
	struct spec_case *c = NULL;
	struct str line;

	out->n = 0;
	out->cases = arena_alloc(a, MAX_CASES * sizeof(*out->cases));
	while (take(&p, &line)) {
		if (fence_of(line)) {
			if (block_in_case(&p, c, line) < 0)
				return -1;
		} else if (str_starts(line, "## ")) {
			if ((c && check_case(&p, c) < 0) || out->n == MAX_CASES)
				return out->n == MAX_CASES
					       ? error_at(err, file, p.line, 1, "too many cases")
					       : -1;
			c = add_case(&p, str_sub(line, 3, line.n));
		}
	}
	if (!c)
		return error_at(err, file, 1, 1, "no case in this file");
	return check_case(&p, c);
}

static int status_of(struct str digits, int *status)
{
	*status = 0;
	if (!digits.n || digits.n > 3)
		return -1;
	for (size_t i = 0; i < digits.n; i++) {
		if (digits.p[i] < '0' || digits.p[i] > '9')
			return -1;
		*status = *status * 10 + (digits.p[i] - '0');
	}
	return 0;
}

int command_next(struct arena *a, const char *file, struct str *body, unsigned *line_no,
	struct command *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, expected = BUF_INIT;
	struct str line, ahead = *body;
	bool more = true;

	if (!str_line(body, &line))
		return 0;
	*out = (struct command){.line = (*line_no)++};
	if (!str_starts(line, "$ "))
		return error_at(err, file, out->line, 1, "a console block begins with '$ command'");
	buf_add(&text, str_sub(line, 2, line.n));
	for (ahead = *body; str_line(&ahead, &line) && !str_starts(line, "$ "); *body = ahead) {
		(*line_no)++;
		if (more && (str_starts(line, "> ") || str_is(line, ">"))) {
			buf_addc(&text, '\n');
			buf_add(&text, str_sub(line, line.n > 1 ? 2 : 1, line.n));
			continue;
		}
		more = false;
		if (str_starts(line, "?")) {
			if (status_of(str_sub(line, 1, line.n), &out->status) < 0)
				return error_at(err, file, *line_no - 1, 1,
					"'?' takes an exit status of 0 to 999");
			continue;
		}
		buf_add(&expected, str_starts(line, "\\") ? str_sub(line, 1, line.n) : line);
		buf_addc(&expected, '\n');
	}
	out->text = arena_str(a, buf_str(&text));
	out->expected = arena_str(a, buf_str(&expected));
	return 1;
}
