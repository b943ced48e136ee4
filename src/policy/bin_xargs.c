/*
 * xargs: the words that it adds must be known to be names of files below the root, or harmless
 * texts. That is so only behind programs that put out such names, and filters that leave whole
 * names in or out.
 */
#include "src/policy/found.h"

#define LS_FILES                                                                                   \
	"-z -c,--cached -m,--modified -o,--others --exclude-standard -d,--deleted --deduplicate "  \
	"-x,--exclude:text"
#define GIT_GREP                                                                                   \
	"-l,--files-with-matches,--name-only -L,--files-without-match -z,--null -i,--ignore-case " \
	"-w,--word-regexp -E,--extended-regexp -F,--fixed-strings -P,--perl-regexp -G -I -e:text " \
	"--cached --untracked -v,--invert-match -a -n,--line-number"
#define GIT_DIFF "--name-only -z --cached,--staged --diff-filter:text --no-renames --relative -M"

/* Asks without denying anything. */
static bool quiet_options(struct check *c, const struct call *call, size_t first,
	const char *options, struct parsed *out)
{
	struct verdict unused = {0};
	struct check look = *c;

	look.v = &unused;
	look.trace = NULL;
	return check_options(&look, call, first, options, out) == 0;
}

static bool all_known(const struct call *call)
{
	for (size_t i = 0; i < call->n; i++)
		if (call->args[i].origin != ARG_KNOWN)
			return false;
	return true;
}

static const struct binary *row_of(struct check *c, const struct call *call)
{
	return binary_find(c->arena, c->policy, bin_base(call->args[0].text));
}

/* grep -l: names of the files that it is given, or of those below. */
static bool grep_finding(struct check *c, const struct call *call, struct finding *out)
{
	bool rg = str_is(bin_base(call->args[0].text), "rg"), files;
	const struct binary *row = row_of(c, call);
	struct parsed p;
	size_t pattern;

	if (!row || !row->options || !quiet_options(c, call, 1, row->options, &p))
		return false;
	files = rg && given_any(&p, "--files");
	if (!given_any(&p, "-l") && !given_any(&p, rg ? "--files-without-match" : "-L") && !files)
		return false;
	/* --label is put out like a name of a file. */
	if (given_any(&p, "-c") || given_any(&p, "--json") || given_any(&p, "--label"))
		return false;
	if (!rg && p.n_operands < 2 && !given_any(&p, "-r") && !given_any(&p, "-d"))
		return false;
	pattern = !files && !given_any(&p, "-e") && !given_any(&p, "-f");
	if (p.n_operands < pattern)
		return false;
	*out = (struct finding){.starts = p.operands + pattern, .n = p.n_operands - pattern};
	out->zero = given_any(&p, rg ? "-0" : "-Z");
	out->bare = !out->n;
	/* Of what they are given they open links, of what is below they do not. */
	out->plain = true;
	for (size_t i = 0; i < p.n; i++)
		if (str_is(p.options[i].name, "--include") && !rg)
			out->names = out->names.n ? STR("*") : p.options[i].value.text;
	/* Without being told rg does not look into hidden directories. */
	out->tracked =
		rg && !given_any(&p, "-.") && !given_any(&p, "--hidden") && !given_any(&p, "-u");
	return true;
}

/* The one pattern of a pathspec that has one; git's `*` goes through directories. */
static void pathspec_finding(const struct parsed *p, size_t from, struct finding *out)
{
	*out = (struct finding){.zero = given_any(p, "-z"),
		.bare = true,
		.tracked = true,
		.of_git = true,
		.indexed = true};
	if (p->n_operands == from + 1 && str_starts(p->operands[from].text, "*."))
		out->names = p->operands[from].text;
}

/* No file that is only in commits: it would have a name that neither tree nor index tell. */
static bool leaves_removed_out(const struct parsed *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct str value = p->options[i].value.text;
		bool other = false;

		if (!str_is(p->options[i].name, "--diff-filter"))
			continue;
		for (size_t k = 0; k < value.n; k++)
			other |= !strchr("ACMRTd", value.p[k]);
		return value.n && !other;
	}
	return false;
}

/* The names are those of the tree or the index, whichever of them is compared with what. */
static bool names_what_is(const struct parsed *p)
{
	if (p->n_before > 1 ||
		(p->n_before && str_find(p->operands[0].text, STR("..")) < p->operands[0].text.n))
		return false;
	return (!p->n_before && !given_any(p, "--cached")) || leaves_removed_out(p);
}

static bool git_diff_finding(struct check *c, const struct call *call, struct finding *out)
{
	struct parsed p;

	if (!quiet_options(c, call, 2, GIT_DIFF, &p) || !given_any(&p, "--name-only") ||
		!names_what_is(&p))
		return false;
	/* Names are seen from the top of the worktree. */
	if (call->cwd.n && !given_any(&p, "--relative"))
		return false;
	pathspec_finding(&p, p.n_before, out);
	return true;
}

static bool git_finding(struct check *c, const struct call *call, struct finding *out)
{
	struct parsed p;
	bool pattern;

	if (call->n < 2)
		return false;
	if (str_is(call->args[1].text, "ls-files")) {
		if (!quiet_options(c, call, 2, LS_FILES, &p))
			return false;
		pathspec_finding(&p, 0, out);
		out->indexed = !given_any(&p, "-o");
		return true;
	}
	if (str_is(call->args[1].text, "diff"))
		return git_diff_finding(c, call, out);
	if (!str_is(call->args[1].text, "grep") || !quiet_options(c, call, 2, GIT_GREP, &p))
		return false;
	pattern = !given_any(&p, "-e");
	/* A revision would stand in front of each name. */
	if (!(given_any(&p, "-l") || given_any(&p, "-L")) || p.n_before > pattern)
		return false;
	pathspec_finding(&p, pattern, out);
	out->indexed = !given_any(&p, "--untracked");
	return true;
}

bool finding_of(struct check *c, const struct call *call, struct finding *out)
{
	struct str name = bin_base(call->args[0].text);

	if (!all_known(call))
		return false;
	if (str_is(name, "find"))
		return find_finding(call, out);
	if (str_is(name, "git"))
		return git_finding(c, call, out);
	if (str_is(name, "grep") || str_is(name, "egrep") || str_is(name, "fgrep") ||
		str_is(name, "rg"))
		return grep_finding(c, call, out);
	return false;
}

/* Programs that leave lines out or change their order, and nothing in them. */
static const struct filter {
	const char *name, *options;
	size_t operands;
} filters[] = {
	{"sort", "-u,--unique -r,--reverse -n -V -f -h -z,--zero-terminated", 0},
	{"uniq", "-u -d -i -z,--zero-terminated", 0},
	{"head", "-n,--lines:text -q -# -z,--zero-terminated", 0},
	{"tail", "-n,--lines:text -q -# -z,--zero-terminated", 0},
	{"grep", "-v,--invert-match -E -F -G -P -i -w -x -m:number -h -z,--null-data", 1},
};

static bool is_filter(struct check *c, const struct call *call, bool *zero)
{
	struct parsed p;

	for (size_t i = 0; i < COUNT(filters); i++)
		if (str_is(bin_base(call->args[0].text), filters[i].name) && all_known(call) &&
			quiet_options(c, call, 1, filters[i].options, &p) &&
			p.n_operands == filters[i].operands) {
			*zero = given_any(&p, "-z");
			return true;
		}
	return false;
}

/* What is at the beginning of the pipeline; NULL: nothing that is understood. */
static const struct call *find_feeder(
	struct check *c, const struct call *call, struct finding *out, bool *mixed)
{
	const struct call *from = call->feeds;
	unsigned lines = 0, zeros = 0;
	bool zero;

	for (unsigned depth = 0; from && depth < 16; depth++, from = from->feeds) {
		if (finding_of(c, from, out)) {
			*mixed = out->zero ? lines > 0 : zeros > 0;
			return from;
		}
		if (!is_filter(c, from, &zero))
			return NULL;
		lines += !zero;
		zeros += zero;
	}
	return NULL;
}

struct xargs {
	struct check *c;
	const struct call *call;
	struct parsed p;
	const char *replace; /* -I */
	struct call inner;
};

static void add(struct xargs *x, struct arg arg)
{
	x->inner.args[x->inner.n++] = arg;
}

/* The command, `extra` room behind it. */
static void begin(struct xargs *x, size_t extra)
{
	x->inner = *x->call;
	x->inner.feeds = NULL;
	x->inner.n = 0;
	x->inner.args =
		arena_alloc(x->c->arena, (x->p.n_operands + extra + 1) * sizeof(*x->inner.args));
	for (size_t i = 0; i < x->p.n_operands; i++)
		add(x, x->replace ? found_in(&x->p.operands[i], x->replace, false)
				  : x->p.operands[i]);
	if (!x->p.n_operands)
		add(x, (struct arg){.text = STR("echo"), .at = x->call->args[0].at});
}

static const char *bad_bytes(const struct xargs *x)
{
	for (size_t i = 0; i < x->p.n; i++)
		if (str_is(x->p.options[i].name, "-d"))
			return "\n";
	return " \t\n\r\v\f\"'\\";
}

static int check_files(
	struct xargs *x, const struct call *finder, const struct finding *f, bool mixed)
{
	bool zero = given_any(&x->p, "-0");

	if (mixed || zero != f->zero)
		return bin_refuse(x->c, RULE_WRAPPER, &x->call->args[0],
			"one side separates names by NUL, the other by lines");
	if (check_names(x->c, finder, f, zero ? "" : bad_bytes(x), &x->call->args[0]) < 0)
		return -1;
	begin(x, 1);
	if (!x->replace)
		add(x, (struct arg){.origin = ARG_FOUND, .split = true, .at = x->call->args[0].at});
	return check_found(x->c, &x->inner, finder);
}

static bool is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || strchr("\"'\\", s.p[i]))
			return false;
	return s.n > 0 && s.p[0] != '-';
}

/* All words at once, or with -n 1 a command for each. */
static int check_echoed(struct xargs *x, const struct call *echo, size_t from, size_t to)
{
	begin(x, echo->n);
	for (size_t i = from; i < to; i++) {
		if (echo->args[i].origin != ARG_KNOWN || !is_plain(echo->args[i].text))
			return bin_refuse(
				x->c, RULE_WRAPPER, &echo->args[i], "not a plain word for xargs");
		add(x, echo->args[i]);
	}
	return check_inner(x->c, &x->inner, 0, x->inner.n);
}

/* echo WORD.. | xargs: the words are known. */
static int check_words(struct xargs *x, const struct call *echo)
{
	bool each = x->p.n && bin_is(&x->p.options[0].value, "1");

	if (x->p.n > 1 || (x->p.n && !str_is(x->p.options[0].name, each ? "-n" : "-r")))
		return bin_refuse(x->c, RULE_WRAPPER, &x->call->args[0],
			"with words from echo only -n 1 or -r is understood");
	if (!each)
		return check_echoed(x, echo, 1, echo->n);
	for (size_t i = 1; i < echo->n; i++)
		if (check_echoed(x, echo, i, i + 1) < 0)
			return -1;
	return 0;
}

static int check_delimiter(struct xargs *x)
{
	for (size_t i = 0; i < x->p.n; i++) {
		const struct given *g = &x->p.options[i];

		if (str_is(g->name, "-d") && !bin_is(&g->value, "\\n") && !bin_is(&g->value, "\n"))
			return bin_refuse(x->c, RULE_WRAPPER, &g->value,
				"only a newline is understood with -d");
		if (!str_is(g->name, "-I") && !str_is(g->name, "-i"))
			continue;
		x->replace = g->has_value ? arena_dup(x->c->arena, g->value.text) : "{}";
		if (!*x->replace || (g->has_value && g->value.origin != ARG_KNOWN))
			return bin_refuse(x->c, RULE_WRAPPER, &x->call->args[0],
				"the text to replace is not known");
	}
	return 0;
}

int check_xargs(struct check *c, const struct call *call)
{
	struct xargs x = {.c = c, .call = call};
	struct finding f;
	const struct call *finder;
	bool mixed = false;

	if (check_options(c, call, 1,
		    "+ -0,--null -d,--delimiter:text -I:text -i,--replace?text -L:number "
		    "--max-lines?number -n,--max-args:number -P,--max-procs:number "
		    "-r,--no-run-if-empty -s,--max-chars:number -t,--verbose -x,--exit",
		    &x.p) < 0 ||
		check_delimiter(&x) < 0)
		return -1;
	finder = find_feeder(c, call, &f, &mixed);
	if (finder)
		return check_files(&x, finder, &f, mixed);
	if (call->feeds && str_is(call->feeds->args[0].text, "echo"))
		return check_words(&x, call->feeds);
	return bin_refuse(c, RULE_WRAPPER, &call->args[0],
		"what xargs adds is not known: only behind find, git ls-files, git diff "
		"--name-only "
		"--diff-filter=d or grep -l, with sort, uniq, head, tail or grep between");
}
