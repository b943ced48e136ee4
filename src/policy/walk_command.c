#include <fcntl.h>
#include "src/policy/binary.h"
#include "src/policy/where.h"
#include "src/policy/state.h"

/* The directory that a command is in, as a path. */
static struct str full_path(struct walker *w)
{
	const char *root = w->check->root->path;
	const struct str in = w->in->path;

	return str_of(arena_printf(w->check->arena, "%s%s%.*s", root,
		in.n && strcmp(root, "/") != 0 ? "/" : "", (int)in.n, in.p));
}

static int value_of(void *of, struct str name, struct span at, struct arg *out)
{
	struct walker *w = of;
	const struct variable *v = state_get(&w->now, name);

	if (str_is(name, "?")) {
		*out = (struct arg){.origin = ARG_DYNAMIC, .commits = true}; /* a number */
		return 0;
	}
	if (str_is(name, "PWD")) {
		*out = (struct arg){.origin = ARG_KNOWN, .text = full_path(w)};
		return 0;
	}
	if (!v)
		return deny_word(w->check->v, RULE_VALUE_DYNAMIC, at, name, STR(""),
			"the value of '%.*s' is not known", (int)(name.n < 60 ? name.n : 60),
			name.p);
	*out = v->values[w->choice[v - w->now.variables]];
	return 0;
}

static bool is_call(const struct call *call, const char *const *words)
{
	size_t n = 0;

	while (words[n] && n < call->n && str_is(call->args[n].text, words[n]))
		n++;
	return !words[n] && n == call->n;
}

/* `date +%F` and the like: a format without blanks gives one word, and `+` does not stay. */
static bool is_one_date(const struct call *call)
{
	struct str format = call->n == 2 ? call->args[1].text : STR("");

	return str_is(call->args[0].text, "date") && str_starts(format, "+%") &&
	       str_find(format, STR(" ")) == format.n && str_find(format, STR("%c")) == format.n &&
	       str_find(format, STR("\n")) == format.n && str_find(format, STR("%n")) == format.n &&
	       str_find(format, STR("%t")) == format.n && str_find(format, STR("%-")) == format.n;
}

/* Whether the root is what git takes for the top of the worktree. */
static bool in_git(const struct root *r)
{
	return r->git_dir || r->inner_git ||
	       faccessat(r->fd, ".git/HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What a command puts out, as far as the text alone tells. */
static void foresee(struct walker *w, const struct node *n, struct arg *out)
{
	static const char *const top[] = {"git", "rev-parse", "--show-toplevel", NULL};
	static const char *const pwd[] = {"pwd", NULL}, *const cpus[] = {"nproc", NULL};
	static const char *const lines[] = {"wc", "-l", NULL}, *const bytes[] = {"wc", "-c", NULL};
	const struct expander e = walker_expander(w);
	struct call call;

	if (n->kind == NODE_PIPE && !n->n_redirects) {
		n = n->children[n->n - 1];
		if (!n->n_redirects && expand_feeder(&e, n, &call))
			out->commits = is_call(&call, lines) || is_call(&call, bytes);
		return;
	}
	if (n->n_redirects || n->n_assignments || !expand_feeder(&e, n, &call))
		return;
	out->commits =
		git_puts_commits(w->check, &call) || is_call(&call, cpus) || is_one_date(&call);
	if (is_call(&call, pwd) || (is_call(&call, top) && in_git(w->check->root)))
		*out = (struct arg){.origin = ARG_KNOWN,
			.text = is_call(&call, pwd) ? full_path(w) : str_of(w->check->root->path)};
}

/* What is inside is checked as in a subshell. */
static int output_of(void *of, const struct node *node, struct arg *out)
{
	struct walker *w = of;
	struct state in = w->now;
	struct ends ignored;

	in.cwds = (struct folder *)w->in;
	in.n_cwds = 1;
	*out = (struct arg){.origin = ARG_DYNAMIC};
	if (walk(w->check, node, &in, &ignored) < 0)
		return -1;
	foresee(w, node, out);
	return 0;
}

struct expander walker_expander(struct walker *w)
{
	return (struct expander){.check = w->check,
		.cwd = w->in->path,
		.variable = value_of,
		.output = output_of,
		.of = w};
}

static void mark_word(const struct state *s, const struct word *w, bool *used)
{
	for (size_t i = 0; w->dynamic && i < w->n; i++) {
		const struct part *p = &w->parts[i];
		const struct variable *v = p->kind == PART_VARIABLE ? state_get(s, p->text) : NULL;

		if (v)
			used[v - s->variables] = true;
	}
}

static void mark_used(const struct state *s, const struct node *n, bool *used)
{
	for (size_t i = 0; i < n->n_words; i++)
		mark_word(s, &n->words[i], used);
	for (size_t i = 0; i < n->n_assignments; i++)
		mark_word(s, &n->assignments[i].value, used);
	for (size_t i = 0; i < n->n_redirects; i++)
		mark_word(s, &n->redirects[i].word, used);
}

/* The next combination of values; false after the last one. */
static bool next_choice(struct walker *w, const bool *used)
{
	for (size_t i = 0; i < w->now.n_variables; i++) {
		if (!used[i])
			continue;
		if (++w->choice[i] < w->now.variables[i].n)
			return true;
		w->choice[i] = 0;
	}
	return false;
}

static int count(struct check *c, struct span at)
{
	if (!c->left)
		return deny(
			c->v, RULE_LIMIT, at, "too many commands, values and directories together");
	c->left--;
	return 0;
}

int walk_redirects(struct walker *w, const struct node *n)
{
	const struct expander e = walker_expander(w);

	for (size_t i = 0; i < n->n_redirects; i++) {
		const struct redirect *r = &n->redirects[i];
		struct arg target = {0};
		struct place ignored;

		if (!r->document && (r->word.n || r->word.quoted) &&
			expand_single(&e, &r->word, &target) < 0)
			return -1;
		if (check_redirect(w->check, r, &target, w->in->path, &ignored) < 0)
			return -1;
	}
	return 0;
}

/* Tries `one` in each working directory, with each combination of the values that `n` uses. */
/* Most lines that are denied for this only forgot to say what happens when cd fails. */
static int hint_at_cd(struct check *c, const struct state *in)
{
	static const char hint[] = " (cd before it may fail: join them with &&)";
	size_t n = strlen(c->v->reason);
	bool about_paths = c->v->rule == RULE_PATH_OUTSIDE || c->v->rule == RULE_PATH_GLOB ||
			   c->v->rule == RULE_CWD;

	if (in->n_cwds > 1 && about_paths && n + sizeof(hint) <= sizeof(c->v->reason) &&
		!str_ends(str_of(c->v->reason), hint))
		memcpy(c->v->reason + n, hint, sizeof(hint));
	return -1;
}

int walk_each_way(struct check *c, const struct node *n, const struct state *in,
	int (*one)(struct walker *w, const struct node *n, void *arg), void *arg)
{
	struct walker w = {.check = c, .now = *in};
	bool used[STATE_VARIABLES] = {0};
	size_t choice[STATE_VARIABLES];

	w.choice = choice;
	mark_used(in, n, used);
	for (size_t i = 0; i < in->n_cwds; i++) {
		w.in = &in->cwds[i];
		memset(choice, 0, sizeof(choice));
		do {
			if (count(c, n->at) < 0 || one(&w, n, arg) < 0)
				return hint_at_cd(c, in);
		} while (next_choice(&w, used));
	}
	return 0;
}

static int set_at(struct walker *w, struct ends *out, struct str name, const struct arg *value)
{
	struct state with = w->now;

	with.cwds = (struct folder *)w->in;
	with.n_cwds = 1;
	if (state_set(w->check, &with, name, value) < 0 ||
		state_join(w->check, &out->ok, &with) < 0)
		return -1;
	out->no = out->ok;
	return 0;
}

struct simple {
	struct ends *out;
	const struct node *feeder; /* the part before in the pipeline, or NULL */
	bool more;                 /* `out` has a way in it already */
};

/* All assignments of one command take effect together. */
static int assign(struct walker *w, const struct node *n, struct simple *s)
{
	const struct expander e = walker_expander(w);
	struct state with = w->now;

	with.cwds = (struct folder *)w->in;
	with.n_cwds = 1;
	for (size_t i = 0; i < n->n_assignments; i++) {
		const struct assignment *a = &n->assignments[i];
		struct arg value;

		if (expand_single(&e, &a->value, &value) < 0)
			return -1;
		if (n->n_words) {
			value.at = a->at;
			if (check_assignment(w->check, w->in->path, a->name, &value) < 0)
				return -1;
		} else if (check_variable(w->check, a->name, a->at) < 0 ||
			   state_set(w->check, &with, a->name, &value) < 0) {
			return -1;
		}
	}
	if (n->n_words)
		return 0;
	if (state_join(w->check, &s->out->ok, &with) < 0)
		return -1;
	s->out->no = s->out->ok;
	return 0;
}

/* The shell counts names where the disk has a link: what `..` means from there on depends on who
 * asks. */
static bool follows_link(struct walker *w, struct str path, struct str to)
{
	struct arena *a = w->check->arena;
	struct str root = str_of(w->check->root->path);

	return !str_eq(path_by_name(a, full_path(w), path), path_by_name(a, root, to));
}

static int change_folder(struct walker *w, const struct call *call, struct simple *s)
{
	struct folder *to = arena_alloc(w->check->arena, sizeof(*to));
	struct check quiet = *w->check; /* the rules have been asked, and noted, before */
	struct state there = w->now, here = w->now;
	struct str path = call->args[call->n - 1].text;

	quiet.trace = NULL;
	if (check_cd(&quiet, call, &to->path) < 0)
		return -1;
	to->linked = follows_link(w, path, to->path) || (w->in->linked && path.p[0] != '/');
	if (to->linked && path_goes_up(path))
		return deny_word(w->check->v, RULE_CWD, call->at, path, STR(""),
			"'..' behind a symbolic link means one directory or another");
	check_enters(w->check, to->path);
	there.cwds = to;
	here.cwds = (struct folder *)w->in;
	there.n_cwds = here.n_cwds = 1;
	return state_join(w->check, &s->out->ok, &there) < 0 ||
			       state_join(w->check, &s->out->no, &here) < 0
		       ? -1
		       : 0;
}

static bool is_name(struct str s)
{
	bool ok = s.n > 0 && !(s.p[0] >= '0' && s.p[0] <= '9');

	for (size_t i = 0; i < s.n; i++)
		ok &= s.p[i] == '_' || (s.p[i] >= '0' && s.p[i] <= '9') ||
		      (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z');
	return ok;
}

/* read NAME.., export NAME=VALUE..: the rules have passed them. */
static int set_by_builtin(struct walker *w, const struct call *call, struct simple *s)
{
	static const struct arg unknown = {.origin = ARG_DYNAMIC};
	bool reads = str_is(call->args[0].text, "read");

	for (size_t i = 1; i < call->n; i++) {
		struct str text = call->args[i].text;
		size_t equals = str_find(text, STR("="));
		struct str name = str_sub(text, 0, equals);
		struct arg value = {.origin = call->args[i].origin};

		if (!is_name(name) || (!reads && equals == text.n))
			continue;
		value.text = str_sub(text, equals < text.n ? equals + 1 : equals, text.n);
		if (set_at(w, s->out, name, reads ? &unknown : &value) < 0)
			return -1;
		w->now.variables = s->out->ok.variables;
		w->now.n_variables = s->out->ok.n_variables;
	}
	return 0;
}

static int stay(struct walker *w, struct simple *s)
{
	struct state here = w->now;

	here.cwds = (struct folder *)w->in;
	here.n_cwds = 1;
	if (state_join(w->check, &s->out->ok, &here) < 0)
		return -1;
	return state_join(w->check, &s->out->no, &here);
}

/* What holds here may hold behind the loop, or at its next turn. */
static int jump(struct walker *w)
{
	struct state here = w->now;

	here.cwds = (struct folder *)w->in;
	here.n_cwds = 1;
	return w->check->jumps ? state_join(w->check, w->check->jumps, &here) : 0;
}

static int after(struct walker *w, const struct call *call, struct simple *s)
{
	struct str name = call->args[0].text;

	if (str_is(name, "cd"))
		return change_folder(w, call, s);
	if (str_is(name, "read") || str_is(name, "export"))
		if (set_by_builtin(w, call, s) < 0)
			return -1;
	if (str_is(name, "break") || str_is(name, "continue"))
		if (jump(w) < 0)
			return -1;
	return stay(w, s);
}

static int simple_command(struct walker *w, const struct node *n, void *arg)
{
	struct simple *s = arg;
	const struct expander e = walker_expander(w);
	struct args_list words = {0};
	struct call call, feeder;
	struct str program;
	struct walker own = *w; /* what builtins set is for the commands after it */

	if (assign(w, n, s) < 0 || walk_redirects(w, n) < 0)
		return -1;
	for (size_t i = 0; i < n->n_words; i++)
		if (expand_word(&e, &n->words[i], &words) < 0)
			return -1;
	if (!n->n_words)
		return n->n_assignments ? 0 : stay(w, s);
	if (!words.n)
		return deny(w->check->v, RULE_NAME_DYNAMIC, n->at, "there may be no command");
	call = (struct call){.args = words.p, .n = words.n, .cwd = w->in->path, .at = n->at};
	if (n->words[0].dynamic || n->words[0].pattern)
		return deny_word(w->check->v, RULE_NAME_DYNAMIC, n->words[0].at, call.args[0].text,
			STR(""), "the name of the program depends on more than the text");
	if (s->feeder && reads_pipe(n) && expand_feeder(&e, s->feeder, &feeder))
		call.feeds = &feeder;
	return check_call(w->check, &call, &program) < 0 ? -1 : after(&own, &call, s);
}

int walk_command(struct check *c, const struct node *n, const struct node *feeder,
	const struct state *in, struct ends *out)
{
	struct simple s = {.out = out, .feeder = feeder};

	*out = (struct ends){0};
	return walk_each_way(c, n, in, simple_command, &s);
}
