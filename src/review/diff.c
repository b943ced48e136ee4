#include "src/base/number.h"
#include "src/base/vec.h"
#include "src/sys/git.h"
#include "src/review/classifier.h"

/* ---- the reader ---- */

struct diff_file {
	unsigned line;                /* of its first line */
	const char *old, *new, *both; /* NULL: not known yet */
	unsigned traits;
	bool sides;           /* --- and +++ were read */
	bool whitespace_only; /* so far */
	unsigned blocks;      /* of changed lines */
};

struct diff_reader {
	struct arena *arena;
	const char *name;
	struct str rest;
	unsigned line; /* the line read last */
	struct error *err;
	VEC(const char *) paths;
	VEC(unsigned) traits;
	int64_t added, removed;
	bool in_file, whitespace_only;
	unsigned arg; /* of the row of headers[] */
	struct diff_file file;
	struct buf out, in; /* the removed and added lines of a block, trimmed */
};

static inline void diff_reader_release(struct diff_reader *r)
{
	buf_release(&r->out);
	buf_release(&r->in);
}

static int diff_fault(const struct diff_reader *r, const char *what)
{
	return error_at(r->err, r->name, r->line, 1, "%s", what);
}

/* Without its newline; a CR is part of the line. */
static bool diff_next_line(struct diff_reader *r, struct str *line)
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

static bool diff_skip(struct str *s, const char *prefix)
{
	if (!str_starts(*s, prefix))
		return false;
	*s = str_sub(*s, strlen(prefix), s->n);
	return true;
}

/* ---- names ---- */

static bool octal(char c)
{
	return c >= '0' && c <= '7';
}

/* The byte that an escape stands for; *i moves from its first to its last byte. -1: unknown. */
static int unescape(struct str s, size_t *i)
{
	static const char from[] = "abtnvfr\"\\", to[] = "\a\b\t\n\v\f\r\"\\";
	const char *at;

	if (*i + 2 < s.n && s.p[*i] >= '0' && s.p[*i] <= '3' && octal(s.p[*i + 1]) &&
		octal(s.p[*i + 2])) {
		int byte = (s.p[*i] - '0') * 64 + (s.p[*i + 1] - '0') * 8 + s.p[*i + 2] - '0';

		*i += 2;
		return byte ? byte : -1;
	}
	at = *i < s.n && s.p[*i] ? strchr(from, s.p[*i]) : NULL;
	return at ? to[at - from] : -1;
}

/* Cuts `"..."` off the beginning of *text. */
static bool unquote(struct str *text, struct buf *out)
{
	for (size_t i = 1; i < text->n; i++) {
		int c = (unsigned char)text->p[i];

		if (c == '"') {
			*text = str_sub(*text, i + 1, text->n);
			return true;
		}
		if (c == '\\') {
			i++;
			c = unescape(*text, &i);
		}
		if (c < 0)
			return false;
		buf_addc(out, (char)c);
	}
	return false;
}

static const char *less_prefix(struct arena *a, struct str name, const char *prefix)
{
	bool good = diff_skip(&name, prefix) && name.n && !memchr(name.p, '\0', name.n);

	return good ? arena_dup(a, name) : NULL;
}

/* Cuts a name, quoted as git does or up to the end, and its prefix off *text. NULL: there is none.
 */
static const char *cut_name(struct arena *a, struct str *text, const char *prefix)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;

	if (text->n && text->p[0] == '"')
		return unquote(text, &name) ? less_prefix(a, buf_str(&name), prefix) : NULL;
	/* Git quotes names that contain these. */
	if (text->n && (memchr(text->p, '\t', text->n) || memchr(text->p, '\r', text->n)))
		return NULL;
	buf_add(&name, *text);
	*text = (struct str){0};
	return less_prefix(a, buf_str(&name), prefix);
}

static const char *quoted_pair(struct arena *a, struct str text)
{
	const char *old = cut_name(a, &text, "a/"), *new;

	if (!old || !str_starts(text, " \"") || !diff_skip(&text, " "))
		return NULL;
	new = cut_name(a, &text, "b/");
	return new && !text.n &&strcmp(old, new) == 0 ? old : NULL;
}

/* The name that `a/NAME b/NAME` gives twice. NULL: unknown, as of a renamed file. */
static const char *header_name(struct arena *a, struct str text)
{
	size_t half = text.n / 2; /* the blank between two of one length */
	struct str old, new;

	if (text.n && text.p[0] == '"')
		return quoted_pair(a, text);
	if (text.n < 7 || text.n % 2 == 0 || text.p[half] != ' ')
		return NULL;
	old = str_sub(text, 0, half);
	new = str_sub(text, half + 1, text.n);
	if (!str_starts(old, "a/") || !str_starts(new, "b/") ||
		!str_eq(str_sub(old, 2, old.n), str_sub(new, 2, new.n)))
		return NULL;
	return cut_name(a, &old, "a/");
}

/* ---- paths ---- */

static void diff_add_path(struct diff_reader *r, const char *path)
{
	vec_push_in(r->arena, &r->paths, path);
	vec_push_in(r->arena, &r->traits, r->file.traits);
}

static bool diff_same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* A name is printed up to three times; all must be equal. */
static int agree(struct diff_reader *r, bool is_new, const char *now)
{
	const char **known = is_new ? &r->file.new : &r->file.old;

	if (!*known)
		*known = now;
	return diff_same(*known, now) ? 0 : diff_fault(r, "the name differs from the lines above");
}

/* Adds the names of the file that ends here. */
static int end_file(struct diff_reader *r)
{
	struct diff_file *f = &r->file;

	if (!r->in_file)
		return 0;
	r->in_file = false;
	if (!f->old && !f->new)
		f->old = f->new = f->both;
	if (!f->old || !f->new)
		f->old = f->new = f->old ? f->old : f->new;
	if (!f->old)
		return error_at(
			r->err, r->name, f->line, 1, "the names of this file cannot be determined");
	if (f->both && (!diff_same(f->old, f->both) || !diff_same(f->new, f->both)))
		return error_at(r->err, r->name, f->line, 1,
			"this line and those below it name different files");
	if (r->paths.n >= DIFF_FILES_MAX)
		return diff_fault(r, "more than 100000 files");
	diff_add_path(r, f->old);
	if (!diff_same(f->old, f->new))
		diff_add_path(r, f->new);
	r->whitespace_only = r->whitespace_only && f->whitespace_only && f->blocks;
	return 0;
}

/* ---- hunks ---- */

enum { LINES_MAX = 100000000 };

static bool diff_number(struct str *s, int64_t *n)
{
	uint64_t value;
	size_t digits = number_digits(*s, &value);

	if (!digits || value > LINES_MAX)
		return false;
	*n = (int64_t)value;
	*s = str_sub(*s, digits, s->n);
	return true;
}

/* `-12,3`; the number of lines is 1 if it is missing. */
static bool diff_range(struct str *s, const char *sign, int64_t *lines)
{
	int64_t first;

	if (!diff_skip(s, sign) || !diff_number(s, &first))
		return false;
	*lines = 1;
	return !diff_skip(s, ",") || diff_number(s, lines);
}

static bool ranges(struct str s, int64_t *old, int64_t *new)
{
	return diff_range(&s, "-", old) && diff_skip(&s, " ") && diff_range(&s, "+", new) &&
	       str_starts(s, " @@");
}

/* A line that may begin, end or continue a string over several lines, where whitespace counts. */
static bool whitespace_matters(struct str line)
{
	static const char *const marks[] = {"`", "\"\"\"", "'''", "R\"", "@\"", "@$\""};

	line = str_trim(line);
	for (size_t i = 0; i < COUNT(marks); i++)
		if (str_find(line, str_of(marks[i])) < line.n)
			return true;
	return str_ends(line, "\\") || str_ends(line, "?\?/");
}

static void add_trimmed(struct buf *to, struct str line)
{
	line = str_trim(line);
	if (!line.n)
		return;
	buf_add(to, line);
	buf_addc(to, '\n');
}

/* A line that moved past others is in another block, so it counts as a change. */
static void end_block(struct diff_reader *r)
{
	if (!r->out.len && !r->in.len)
		return;
	if (!str_eq(buf_str(&r->out), buf_str(&r->in)))
		r->file.whitespace_only = false;
	buf_clear(&r->out);
	buf_clear(&r->in);
}

static void take_changed(struct diff_reader *r, struct str line, bool added)
{
	*(added ? &r->added : &r->removed) += 1;
	r->file.blocks++;
	if (r->file.whitespace_only)
		add_trimmed(added ? &r->in : &r->out, str_sub(line, 1, line.n));
}

/* Some mailers remove the space of an empty context line. */
static int take_hunk_line(struct diff_reader *r, struct str line, int64_t *old, int64_t *new)
{
	char first = line.n ? line.p[0] : ' ';

	if (whitespace_matters(line))
		r->file.whitespace_only = false;
	switch (first) {
	case ' ':
		end_block(r);
		--*old;
		--*new;
		break;
	case '-':
		if (r->in.len)
			end_block(r);
		--*old;
		take_changed(r, line, false);
		break;
	case '+':
		--*new;
		take_changed(r, line, true);
		break;
	case '\\':
		return 0;
	default:
		return diff_fault(r, "a line of a hunk must begin with a space, '+', '-' or '\\'");
	}
	return *old < 0 || *new < 0 ? diff_fault(r, "the hunk has more lines than its header says")
				    : 0;
}

static int take_hunk(struct diff_reader *r, struct str text)
{
	int64_t old, new;
	struct str line;

	if (!r->file.sides || !ranges(text, &old, &new))
		return diff_fault(r, "invalid hunk header");
	while (old > 0 || new > 0) {
		if (!diff_next_line(r, &line))
			return diff_fault(r, "the diff ends within a hunk");
		if (take_hunk_line(r, line, &old, &new) < 0)
			return -1;
	}
	if (str_starts(r->rest, "\\ ")) /* `\ No newline at end of file` */
		(void)diff_next_line(r, &line);
	end_block(r);
	return 0;
}

/* `literal N` or `delta N`, base-85 lines, an empty line; twice. */
static bool binary_line(struct str line)
{
	if (str_starts(line, "literal ") || str_starts(line, "delta ") || !line.n)
		return true;
	return line.n <= 67 && !memchr(line.p, ' ', line.n);
}

static int skip_binary(struct diff_reader *r)
{
	struct str line;

	while (r->rest.n && !str_starts(r->rest, "diff --git ")) {
		(void)diff_next_line(r, &line);
		if (!binary_line(line))
			return diff_fault(r, "unknown line");
	}
	return 0;
}

/* ---- lines before the hunks ---- */

/* The name after `--- ` or `+++ `: a tab follows if it contains a space. */
static int take_side(struct diff_reader *r, struct str text)
{
	bool is_new = r->arg;
	const char *name;

	r->file.sides = r->file.sides || is_new;
	if (str_is(text, "/dev/null")) {
		r->file.whitespace_only = false; /* added or removed */
		return 0;
	}
	if (str_ends(text, "\t"))
		text.n--;
	name = cut_name(r->arena, &text, is_new ? "b/" : "a/");
	if (!name || text.n)
		return diff_fault(r, "unknown name: it must begin with 'a/' or 'b/' "
				     "(git diff without --no-prefix)");
	return agree(r, is_new, name);
}

static int take_moved(struct diff_reader *r, struct str text)
{
	const char *name = cut_name(r->arena, &text, "");

	if (!name || text.n)
		return diff_fault(r, "unknown name");
	r->file.both = NULL; /* the two names of the first line differ */
	r->file.whitespace_only = false;
	return agree(r, r->arg, name);
}

/* Six octal digits. */
static int diff_take_mode(struct diff_reader *r, struct str text)
{
	unsigned mode = 0;

	if (text.n != 6)
		return diff_fault(r, "unknown mode");
	for (size_t i = 0; i < text.n; i++) {
		if (!octal(text.p[i]))
			return diff_fault(r, "unknown mode");
		mode = mode * 8 + (unsigned)(text.p[i] - '0');
	}
	r->file.traits |= r->arg;
	r->file.whitespace_only = r->file.whitespace_only && !r->arg;
	if ((mode & 0170000) == 0120000)
		r->file.traits |= TRAIT_SYMLINK;
	else if ((mode & 0170000) == 0160000)
		r->file.traits |= TRAIT_SUBMODULE;
	else if ((mode & 0170000) != 0100000)
		return diff_fault(r, "unknown mode");
	else if (mode & 0111)
		r->file.traits |= TRAIT_EXECUTABLE;
	return 0;
}

/* `abc123..def456 100644`; without a mode if that has its own line. */
static int take_index(struct diff_reader *r, struct str text)
{
	size_t blank = str_find(text, STR(" "));

	return blank < text.n ? diff_take_mode(r, str_sub(text, blank + 1, text.n)) : 0;
}

static int take_trait(struct diff_reader *r, struct str text)
{
	(void)text;
	r->file.traits |= r->arg;
	return 0;
}

static int take_patch(struct diff_reader *r, struct str text)
{
	if (text.n)
		return diff_fault(r, "unknown line");
	r->file.traits |= TRAIT_BINARY;
	return skip_binary(r);
}

static const struct {
	const char *begins, *ends;
	int (*take)(struct diff_reader *r, struct str text);
	unsigned arg;
} headers[] = {
	{"index ", "", take_index, 0},
	{"--- ", "", take_side, false},
	{"+++ ", "", take_side, true},
	{"@@ ", "", take_hunk, 0},
	{"new file mode ", "", diff_take_mode, 0},
	{"deleted file mode ", "", diff_take_mode, 0},
	{"old mode ", "", diff_take_mode, TRAIT_MODE},
	{"new mode ", "", diff_take_mode, TRAIT_MODE},
	{"similarity index ", "%", take_trait, 0},
	{"dissimilarity index ", "%", take_trait, 0},
	{"rename from ", "", take_moved, false},
	{"rename to ", "", take_moved, true},
	{"copy from ", "", take_moved, false},
	{"copy to ", "", take_moved, true},
	{"Binary files ", " differ", take_trait, TRAIT_BINARY},
	{"GIT binary patch", "", take_patch, 0},
};

static int take_header(struct diff_reader *r, struct str line)
{
	for (size_t i = 0; i < COUNT(headers); i++) {
		struct str text = line;

		r->arg = headers[i].arg;
		if (diff_skip(&text, headers[i].begins) && str_ends(text, headers[i].ends))
			return headers[i].take(r, text);
	}
	return diff_fault(r, "unknown line");
}

static int begin_file(struct diff_reader *r, struct str names)
{
	if (end_file(r) < 0)
		return -1;
	r->file = (struct diff_file){.line = r->line, .whitespace_only = true};
	r->file.both = header_name(r->arena, names);
	r->in_file = true;
	return 0;
}

static int diff_take_line(struct diff_reader *r, struct str line)
{
	if (diff_skip(&line, "diff --git "))
		return begin_file(r, line);
	if (str_starts(line, "diff --cc ") || str_starts(line, "diff --combined "))
		return diff_fault(r,
			"the combined diff of a merge is not supported: compare with one parent");
	if (!r->in_file)
		return diff_fault(r, "not the output of 'git diff'");
	return take_header(r, line);
}

int review_diff_read(struct arena *a, const char *name, struct str text, struct change_stats *out,
	struct error *err)
{
	CLEANUP(diff_reader_release)
	struct diff_reader r = {
		.arena = a, .name = name, .rest = text, .err = err, .whitespace_only = true};
	struct str line;

	*out = (struct change_stats){0};
	if (text.n > DIFF_MAX)
		return error_at(err, name, 1, 1, "over %d MiB", DIFF_MAX >> 20);
	while (diff_next_line(&r, &line))
		if (diff_take_line(&r, line) < 0)
			return -1;
	if (end_file(&r) < 0)
		return -1;
	*out = (struct change_stats){.paths = r.paths.items,
		.traits = r.traits.items,
		.files = r.paths.n,
		.added = r.added,
		.removed = r.removed,
		.whitespace_only = r.paths.n && r.whitespace_only,
		.excerpts = true};
	return 0;
}

/* ---- the diff of commits ---- */

enum {
	DIFF_S = 120,
	OUTPUT_MAX = 16 << 20, /* the limit of git_command() */
	CONTEXT_LINES = 3,
	WHOLE_FILE = 1000000,
};

static int check_base(const char *base, struct error *err)
{
	if (!base[0] || base[0] == '-' || strpbrk(base, " \t\n:?*[\\") || strstr(base, ".."))
		return error_set(err, ERR_USAGE,
			"bad value '%.100s' of --base: must be a branch, a tag or a commit", base);
	return 0;
}

/* The commit-graph is ignored, as an agent in the repository can write it. Git warns of an
 * ambiguous name, which makes the output invalid. */
#define GIT                                                                                        \
	"git", "-c", "core.commitGraph=false", "-c", "core.warnAmbiguousRefs=true", "-c",          \
		"core.quotePath=true", "-c", "diff.suppressBlankEmpty=false", "-c",                \
		"core.attributesFile=/dev/null"

/* Ignores `shallow`, as an agent in the repository can write it. */
static int diff_run_git(
	const char *repo, const char *const *argv, struct buf *out, int *status, struct error *err)
{
	static const char *const env[] = {
		"GIT_SHALLOW_FILE=", "GIT_DIFF_OPTS", "GIT_TRACE", "GIT_TRACE2", NULL};
	const struct git_command c = {.dir = repo,
		.name = "git",
		.argv = argv,
		.env = env,
		.limit_s = DIFF_S,
		.warnings = true};

	return git_command(&c, out, status, err);
}

/* The output must be one object id and nothing else; if not: ERR_STATE, `otherwise`. */
static int find_id(struct arena *a, const char *repo, const char *const *argv,
	const char *otherwise, const char **id, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str text;
	int status = 0;

	if (diff_run_git(repo, argv, &out, &status, err) < 0)
		return -1;
	text = str_trim(buf_str(&out));
	*id = arena_dup(a, text);
	if (status || text.n < 40 || strspn(*id, "0123456789abcdef") != text.n)
		return error_set(err, ERR_STATE, "%s", otherwise);
	return 0;
}

static int find_commit(
	struct arena *a, const char *repo, const char *name, const char **id, struct error *err)
{
	const char *const argv[] = {
		GIT, "rev-parse", "--verify", arena_printf(a, "%s^{commit}", name), NULL};

	return find_id(a, repo, argv,
		arena_printf(a, "'%.100s' does not name exactly one commit", name), id, err);
}

/* With several merge bases, each may hide a change that was reverted since another one. */
static int find_merge_base(struct arena *a, const char *repo, const char *base, const char *head,
	const char **id, struct error *err)
{
	const char *const argv[] = {GIT, "merge-base", "--all", base, head, NULL};

	return find_id(a, repo, argv, "there is not exactly one merge base", id, err);
}

/*
 * Overrides every setting and attribute of the user and the repository that could hide a change:
 * both names of a moved file, submodules, no external programs.
 */
static int print_diff(struct arena *a, const char *repo, const char *const ids[2], int lines,
	struct buf *out, struct error *err)
{
	const char *const argv[] = {GIT, "diff-tree", "-r", "-p", "--no-ext-diff", "--no-textconv",
		"--no-color", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/",
		"--submodule=short", "--ignore-submodules=none",
		arena_printf(a, "--unified=%d", lines), "--inter-hunk-context=0", "--full-index",
		"--diff-algorithm=myers", ids[0], ids[1], "--", NULL};

	return diff_run_git(repo, argv, out, NULL, err);
}

/* Decides `whitespace_only` from whole files; a change too large for that is not. */
static int check_whole_files(struct arena *a, const char *repo, const char *const ids[2],
	struct change_stats *s, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct change_stats whole;

	if (print_diff(a, repo, ids, WHOLE_FILE, &text, err) < 0)
		return -1;
	if (text.len >= OUTPUT_MAX)
		return 0;
	if (review_diff_read(a, "git diff", buf_str(&text), &whole, err) < 0)
		return -1;
	s->whitespace_only = whole.whitespace_only;
	s->excerpts = false;
	return 0;
}

/* A clone has origin/HEAD only where git has asked for the default branch. */
static int find_base(
	struct arena *a, const char *repo, const char *base, const char **id, struct error *err)
{
	struct git_default known = {0};

	if (strcmp(base, "origin/HEAD") == 0 && git_read_default(a, repo, &known, err) < 0)
		return -1;
	return find_commit(a, repo, known.remote ? known.ref : base, id, err);
}

int review_diff_commits(struct arena *a, const char *repo, const char *base,
	struct change_stats *out, struct error *err)
{
	const char *ids[2], *from;
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (check_base(base, err) < 0 || find_base(a, repo, base, &from, err) < 0 ||
		find_commit(a, repo, "HEAD", &ids[1], err) < 0 ||
		find_merge_base(a, repo, from, ids[1], &ids[0], err) < 0 ||
		print_diff(a, repo, ids, CONTEXT_LINES, &text, err) < 0)
		return -1;
	if (text.len >= OUTPUT_MAX)
		return error_set(err, ERR_INPUT,
			"the change is over %d MiB: too large to be classified", OUTPUT_MAX >> 20);
	if (review_diff_read(a, "git diff", buf_str(&text), out, err) < 0)
		return -1;
	return out->whitespace_only ? check_whole_files(a, repo, ids, out, err) : 0;
}
