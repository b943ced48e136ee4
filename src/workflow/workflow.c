#include <strings.h>
#include "src/sys/path.h"
#include "src/workflow/workflow.h"

enum { MAX_SKILL = 100 };

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static bool made_of(struct str s, size_t max, const char *inside)
{
	if (!s.n || s.n > max || !is_word_char(s.p[0]) || !is_word_char(s.p[s.n - 1]))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_word_char(s.p[i]) && (!s.p[i] || !strchr(inside, s.p[i])))
			return false;
	return true;
}

bool workflow_word_valid(struct str s)
{
	return made_of(s, FLOW_NAME, "-");
}

bool workflow_skill_valid(struct str s)
{
	return made_of(s, MAX_SKILL, "-.:");
}

const char *workflow_word_shown(struct str s, char out[WORD_SHOWN])
{
	size_t n = s.n < WORD_SHOWN - 4 ? s.n : WORD_SHOWN - 4;

	while (n < s.n && n > 0 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f ? '?' : s.p[i];
	out[n] = '\0';
	return out;
}

/* A part of the file, and the line that it begins in. */
struct workflow_part {
	struct str text;
	unsigned line;
};

/* A file that begins with `---` has frontmatter up to the next such line. */
static int split(const char *file, struct str text, struct workflow_part *front,
	struct workflow_part *body, struct error *err)
{
	struct str rest = text, line;
	unsigned n = 1;

	*front = (struct workflow_part){{text.p, 0}, 1};
	*body = (struct workflow_part){text, 1};
	if (!str_line(&rest, &line) || !str_is(str_trim(line), "---") || line.p[0] != '-')
		return 0;
	*front = (struct workflow_part){rest, 2};
	while (str_line(&rest, &line)) {
		n++;
		if (!str_starts(line, "---") || !str_is(str_trim(line), "---"))
			continue;
		front->text.n = (size_t)(line.p - front->text.p);
		*body = (struct workflow_part){rest, n + 1};
		if (front->text.n > FRONTMATTER_MAX)
			return error_at(err, file, 1, 1, "frontmatter is larger than %zu bytes",
				FRONTMATTER_MAX);
		return 0;
	}
	return error_at(err, file, 1, 1, "frontmatter is not closed: a line '---' must follow");
}

struct workflow_fence {
	char c; /* ` or ~, 0: not a fence */
	size_t n;
	struct str info;
};

/* Three or more ` or ~ after at most three blanks, as in CommonMark. */
static struct workflow_fence fence_of(struct str line)
{
	struct workflow_fence f = {0};
	size_t i = 0;

	while (i < line.n && i < 4 && line.p[i] == ' ')
		i++;
	if (i < 4 && i < line.n && (line.p[i] == '`' || line.p[i] == '~'))
		f.c = line.p[i];
	while (f.c && i < line.n && line.p[i] == f.c) {
		f.n++;
		i++;
	}
	f.info = str_trim(str_sub(line, i, line.n));
	if (f.n < 3 || (f.c == '`' && str_find(f.info, STR("`")) < f.info.n))
		f.c = 0;
	return f;
}

static bool is_mermaid(struct str info)
{
	static const char word[] = "mermaid";
	size_t n = sizeof(word) - 1;

	return info.n >= n && !strncasecmp(info.p, word, n) &&
	       (info.n == n || strchr(" \t{,", info.p[n]));
}

/* The one block of the body that is called mermaid. */
static int find_diagram(const char *file, const struct workflow_part *body,
	struct workflow_part *diagram, struct error *err)
{
	struct str rest = body->text, line;
	struct workflow_fence open = {0};
	unsigned n = body->line - 1, opened = 0, seen = 0;

	while (str_line(&rest, &line)) {
		struct workflow_fence f = fence_of(line);

		n++;
		if (!f.c)
			continue;
		if (!open.c) {
			open = f;
			opened = n;
			if (is_mermaid(f.info) && seen)
				return error_at(err, file, n, 1,
					"second mermaid block: the first begins in line %u", seen);
			if (is_mermaid(f.info)) {
				*diagram = (struct workflow_part){rest, n + 1};
				seen = n;
			}
		} else if (f.c == open.c && f.n >= open.n && !f.info.n) {
			if (opened == seen)
				diagram->text.n = (size_t)(line.p - diagram->text.p);
			open.c = 0;
		}
	}
	if (open.c)
		return error_at(err, file, opened, 1,
			"block is not closed: a line '%.*s' must follow", 3,
			open.c == '`' ? "```" : "~~~");
	if (!seen)
		return error_at(err, file, body->line, 1, "file has no fenced block 'mermaid'");
	return 0;
}

static void link_declared(struct workflow *w)
{
	for (size_t i = 0; i < w->n_declared; i++)
		for (size_t k = 0; k < w->n_states; k++)
			if (!strcmp(w->states[k].name, w->declared[i].name))
				w->states[k].declared = &w->declared[i];
}

static int check_text(const char *file, struct str text, struct error *err)
{
	size_t bad = str_utf8_fault(text);
	unsigned line, col;

	if (text.n > WORKFLOW_MAX)
		return error_at(err, file, 1, 1, "file is larger than %zu bytes", WORKFLOW_MAX);
	if (!bad)
		return 0;
	str_position(text, bad - 1, &line, &col);
	return error_at(err, file, line, col, "byte 0x%02x is not UTF-8 text",
		(unsigned)(unsigned char)text.p[bad - 1]);
}

/* `done` and `failed` are terminal by name if no edge leaves them and they are not declared. */
static void mark_ends(struct workflow *w)
{
	for (size_t i = 0; i < w->n_states; i++) {
		struct workflow_state *s = &w->states[i];
		bool leaves = false;

		if (s->declared || (strcmp(s->name, "done") != 0 && strcmp(s->name, "failed") != 0))
			continue;
		for (size_t k = 0; k < w->n_edges; k++)
			leaves |= strcmp(w->edges[k].from, s->name) == 0;
		s->terminal |= !leaves;
	}
}

int workflow_parse(
	struct arena *a, const char *file, struct str text, struct workflow *w, struct error *err)
{
	struct workflow_part front, body, diagram = {0};

	*w = (struct workflow){.limits = WORKFLOW_LIMITS};
	w->file = arena_dup(a, str_of(file));
	if (check_text(file, text, err) < 0)
		return -1;
	w->source = arena_str(a, text);
	if (str_starts(text, "\xef\xbb\xbf")) /* some editors begin a file with this mark */
		text = str_sub(text, 3, text.n);
	if (split(file, text, &front, &body, err) < 0 ||
		find_diagram(file, &body, &diagram, err) < 0 ||
		frontmatter_parse(a, file, front.line, front.text, w, err) < 0 ||
		workflow_parse_mermaid(a, file, diagram.line, diagram.text, w, err) < 0)
		return -1;
	link_declared(w);
	mark_ends(w);
	return 0;
}

int workflow_load(struct arena *a, const char *path, struct workflow *w, struct error *err)
{
	bool missing;
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (sys_read_file(&text, path, WORKFLOW_MAX, &missing, err) < 0)
		return missing ? error_set(err, ERR_INPUT, "no workflow file '%s'", path)
			       : error_prefix(err, "workflow");
	return workflow_parse(a, path, buf_str(&text), w, err);
}

const struct workflow_state *workflow_state(const struct workflow *w, const char *name)
{
	for (size_t i = 0; i < w->n_states; i++)
		if (!strcmp(w->states[i].name, name))
			return &w->states[i];
	return NULL;
}

const char *workflow_target(const struct workflow *w, const char *from, const char *trigger)
{
	for (size_t i = 0; i < w->n_edges; i++)
		if (!strcmp(w->edges[i].from, from) && !strcmp(w->edges[i].trigger, trigger))
			return w->edges[i].to;
	return NULL;
}

const struct workflow_edge *workflow_only_edge(const struct workflow *w, const char *from)
{
	const struct workflow_edge *only = NULL;

	for (size_t i = 0; i < w->n_edges; i++) {
		if (strcmp(w->edges[i].from, from) != 0)
			continue;
		if (only)
			return NULL;
		only = &w->edges[i];
	}
	return only;
}
