#include "src/review/diff_internal.h"

/* ---- paths ---- */

static void add_path(struct reader *r, const char *path, unsigned traits)
{
	if (r->n == r->cap) {
		size_t cap = r->cap ? 2 * r->cap : 64;
		const char **paths = arena_alloc(r->arena, cap * sizeof(*paths));
		unsigned *bits = arena_alloc(r->arena, cap * sizeof(*bits));

		if (r->n) {
			memcpy(paths, r->paths, r->n * sizeof(*paths));
			memcpy(bits, r->traits, r->n * sizeof(*bits));
		}
		r->paths = paths;
		r->traits = bits;
		r->cap = cap;
	}
	r->paths[r->n] = path;
	r->traits[r->n++] = traits;
}

static bool same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* A name may be told up to three times; all must say the same. */
static bool agree(const char **known, const char *now)
{
	if (!*known)
		*known = now;
	return same(*known, now);
}

int diff_fault(const struct reader *r, const char *what)
{
	return error_at(r->err, r->name, r->line, 1, "%s", what);
}

/* The names of a file are settled: both count. */
static int end_file(struct reader *r)
{
	struct file *f = &r->file;

	if (!r->in_file)
		return 0;
	r->in_file = false;
	if (!f->old && !f->new)
		f->old = f->new = f->both;
	if (!f->old || !f->new)
		f->old = f->new = f->old ? f->old : f->new;
	if (!f->old)
		return error_at(
			r->err, r->name, f->line, 1, "the names of this file cannot be told");
	if (f->both && (!same(f->old, f->both) || !same(f->new, f->both)))
		return error_at(r->err, r->name, f->line, 1,
			"this line and those below it name "
			"different files");
	if (r->n >= DIFF_FILES_MAX)
		return diff_fault(r, "more than 100000 files");
	add_path(r, f->old, f->traits);
	if (!same(f->old, f->new))
		add_path(r, f->new, f->traits);
	r->blanks_only = r->blanks_only && f->blanks_only && f->blocks;
	return 0;
}

/* ---- lines before the hunks ---- */

/* Behind `--- ` and `+++ `: a tab ends a name that has a blank in it. */
static const char *side_name(struct reader *r, struct str text, const char *prefix, bool *none)
{
	struct str rest = text;
	const char *name;

	*none = str_is(text, "/dev/null");
	if (*none)
		return NULL;
	if (text.n && text.p[text.n - 1] == '\t')
		rest = str_sub(text, 0, text.n - 1);
	name = diff_name(r->arena, &rest, prefix);
	return name && !rest.n ? name : NULL;
}

static int take_side(struct reader *r, struct str text, const char *prefix, const char **known)
{
	bool none;
	const char *name = side_name(r, text, prefix, &none);

	if (none)
		return 0;
	if (!name)
		return diff_fault(r,
			"a name that is not understood: it needs 'a/' or 'b/' in front "
			"(git diff without --no-prefix)");
	return agree(known, name) ? 0 : diff_fault(r, "another name than above");
}

static int take_moved(struct reader *r, struct str text, const char **known)
{
	const char *name = diff_name(r->arena, &text, "");

	if (!name || text.n)
		return diff_fault(r, "a name that is not understood");
	r->file.both = NULL; /* the first line is no pair of equals then */
	return agree(known, name) ? 0 : diff_fault(r, "another name than above");
}

/* Six octal digits. */
static int take_mode(struct reader *r, struct str text, unsigned also)
{
	unsigned mode = 0;

	if (text.n != 6)
		return diff_fault(r, "a mode that is not understood");
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '7')
			return diff_fault(r, "a mode that is not understood");
		mode = mode * 8 + (unsigned)(text.p[i] - '0');
	}
	r->file.traits |= also;
	if ((mode & 0170000) == 0120000)
		r->file.traits |= TRAIT_SYMLINK;
	else if ((mode & 0170000) == 0160000)
		r->file.traits |= TRAIT_SUBMODULE;
	else if ((mode & 0170000) != 0100000)
		return diff_fault(r, "a mode that is not understood");
	else if (mode & 0111)
		r->file.traits |= TRAIT_EXECUTABLE;
	return 0;
}

/* `abc123..def456 100644`: the mode is left out where it has a line of its own. */
static int take_index(struct reader *r, struct str text)
{
	size_t blank = str_find(text, STR(" "));

	return blank < text.n ? take_mode(r, str_sub(text, blank + 1, text.n), 0) : 0;
}

static int take_binary(struct reader *r, struct str text)
{
	if (!str_ends(text, " differ"))
		return diff_fault(r, "this line is not understood");
	r->file.traits |= TRAIT_BINARY;
	return 0;
}

static int take_similarity(struct reader *r, struct str text)
{
	return str_ends(text, "%") ? 0 : diff_fault(r, "this line is not understood");
}

static int take_old_mode(struct reader *r, struct str text)
{
	return take_mode(r, text, TRAIT_MODE);
}

static int take_only_mode(struct reader *r, struct str text)
{
	return take_mode(r, text, 0);
}

static int take_old_side(struct reader *r, struct str text)
{
	return take_side(r, text, "a/", &r->file.old);
}

static int take_new_side(struct reader *r, struct str text)
{
	r->file.sides = true;
	return take_side(r, text, "b/", &r->file.new);
}

static int take_from(struct reader *r, struct str text)
{
	return take_moved(r, text, &r->file.old);
}

static int take_to(struct reader *r, struct str text)
{
	return take_moved(r, text, &r->file.new);
}

static int take_patch(struct reader *r, struct str text)
{
	if (text.n)
		return diff_fault(r, "this line is not understood");
	r->file.traits |= TRAIT_BINARY;
	return diff_skip_binary(r);
}

static const struct {
	const char *begins;
	int (*take)(struct reader *r, struct str text);
} headers[] = {
	{"index ", take_index},
	{"--- ", take_old_side},
	{"+++ ", take_new_side},
	{"@@ ", diff_take_hunk},
	{"new file mode ", take_only_mode},
	{"deleted file mode ", take_only_mode},
	{"old mode ", take_old_mode},
	{"new mode ", take_old_mode},
	{"similarity index ", take_similarity},
	{"dissimilarity index ", take_similarity},
	{"rename from ", take_from},
	{"rename to ", take_to},
	{"copy from ", take_from},
	{"copy to ", take_to},
	{"Binary files ", take_binary},
	{"GIT binary patch", take_patch},
};

static int take_header(struct reader *r, struct str line)
{
	for (size_t i = 0; i < COUNT(headers); i++)
		if (str_starts(line, headers[i].begins))
			return headers[i].take(r, str_sub(line, strlen(headers[i].begins), line.n));
	return diff_fault(r, "this line is not understood");
}

static int begin_file(struct reader *r, struct str names)
{
	if (end_file(r) < 0)
		return -1;
	r->file = (struct file){.line = r->line, .blanks_only = true};
	r->file.both = diff_names(r->arena, names);
	r->in_file = true;
	return 0;
}

static int take_line(struct reader *r, struct str line)
{
	static const char first[] = "diff --git ";

	if (str_starts(line, first))
		return begin_file(r, str_sub(line, strlen(first), line.n));
	if (str_starts(line, "diff --cc ") || str_starts(line, "diff --combined "))
		return diff_fault(r, "the combined diff of a merge is not taken: compare with one "
				     "side");
	if (!r->in_file)
		return diff_fault(r, "this is not what 'git diff' prints");
	return take_header(r, line);
}

/* Without its LF alone: a CR is part of the line. */
bool diff_next_line(struct reader *r, struct str *line)
{
	const char *end;

	if (!r->rest.n)
		return false;
	end = memchr(r->rest.p, '\n', r->rest.n);
	*line = (struct str){r->rest.p, end ? (size_t)(end - r->rest.p) : r->rest.n};
	r->rest = str_sub(r->rest, line->n + (end != NULL), r->rest.n);
	r->line++;
	return true;
}

int diff_read(struct arena *a, const char *name, struct str text, struct change_stats *out,
	struct error *err)
{
	CLEANUP(reader_release)
	struct reader r = {.arena = a, .name = name, .rest = text, .err = err, .blanks_only = true};
	struct str line;

	*out = (struct change_stats){0};
	if (text.n > DIFF_MAX)
		return error_at(err, name, 1, 1, "over %d MiB", DIFF_MAX >> 20);
	while (diff_next_line(&r, &line))
		if (take_line(&r, line) < 0)
			return -1;
	if (end_file(&r) < 0)
		return -1;
	*out = (struct change_stats){.paths = r.paths,
		.traits = r.traits,
		.files = r.n,
		.added = r.added,
		.removed = r.removed,
		.whitespace_only = r.n && r.blanks_only,
		.excerpts = true};
	return 0;
}
