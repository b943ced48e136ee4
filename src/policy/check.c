#include <stdlib.h>
#include "src/policy/binary.h"
#include "src/policy/where.h"
#include "src/policy/expand.h"
#include "src/shell/parse.h"

enum { CALLS_MAX = 512, PATTERNS_MAX = 64 };

static void note(struct check *c, struct asked a)
{
	struct trace *t = c->trace;

	if (t->n == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 32;
		struct asked *grown = arena_alloc(c->arena, cap * sizeof(*grown));

		if (t->n)
			memcpy(grown, t->list, t->n * sizeof(*grown));
		t->list = grown;
		t->cap = cap;
	}
	t->list[t->n++] = a;
}

int asked(struct check *c, enum rule r, struct span at, struct str word, struct str path, int rc)
{
	if (c->trace)
		note(c, (struct asked){r, at, word, path, rc < 0});
	return rc;
}

static int no(struct check *c, enum rule r, const struct arg *arg, const char *fmt)
{
	(void)deny_word(c->v, r, arg->at, arg->text, STR(""), "%s", fmt);
	return asked(c, r, arg->at, arg->text, STR(""), -1);
}

static bool is_ascii(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 0x7f)
			return false;
	return s.n > 0;
}

/* A program of the repository that the policy names. */
static int check_script(struct check *c, const struct call *call, struct str *program)
{
	const struct arg *name = &call->args[0];
	int rc = script_allowed(
		c->arena, c->root, c->policy, call->cwd, name->text, name->at, program, c->v);

	return asked(c, RULE_NAME_TRUSTED, name->at, name->text, rc < 0 ? STR("") : *program, rc);
}

static struct str last_part(struct str path)
{
	size_t i = path.n;

	while (i > 0 && path.p[i - 1] != '/')
		i--;
	return str_sub(path, i, path.n);
}

static int find_program(struct check *c, const struct arg *name, struct str *program)
{
	struct str known = c->memory ? memory_program(c->memory, name->text) : (struct str){0};
	int rc;

	*program = known;
	rc = known.p ? 0 : trusted_program(c->arena, name->text, name->at, program, c->v);
	if (rc == 0 && !known.p && c->memory)
		memory_put_program(c->memory, name->text, *program);
	return asked(c, RULE_NAME_TRUSTED, name->at, name->text, rc < 0 ? STR("") : *program, rc);
}

static int check_program(struct check *c, const struct call *call, struct str *program)
{
	const struct arg *name = &call->args[0];
	struct str plain = last_part(name->text);
	const struct binary *row;

	if (!texts_have(&c->policy->allow, plain))
		return no(c, RULE_NAME_LISTED, name, "the policy does not allow this program");
	row = binary_find(c->arena, c->policy, plain);
	if (!row)
		return no(c, RULE_NAME_LISTED, name, "nothing is known of this program");
	(void)asked(c, RULE_NAME_LISTED, name->at, plain, STR(""), 0);
	if (row->flags & BINARY_BUILTIN && plain.n != name->text.n)
		return no(c, RULE_NAME_TRUSTED, name, "a builtin has no path");
	if (!(row->flags & BINARY_BUILTIN) && find_program(c, name, program) < 0)
		return -1;
	return check_binary(c, call, row);
}

int check_call(struct check *c, const struct call *call, struct str *program)
{
	const struct arg *name = &call->args[0];

	*program = STR("");
	if (name->origin != ARG_KNOWN)
		return no(c, RULE_NAME_DYNAMIC, name, "the name of the program is not known");
	if (!is_ascii(name->text))
		return no(c, RULE_NAME_BYTES, name, "the name is not plain ASCII");
	if (str_find(name->text, STR("/")) < name->text.n && name->text.p[0] != '/')
		return check_script(c, call, program);
	return check_program(c, call, program);
}

/*
 * A directory that is only about to be made is a plain directory inside the one that is there, so
 * `..` in it leads back.
 */
static void step_out(struct check *c, struct str *cwd, struct str *path, struct span at)
{
	while (cwd->n && (str_is(*path, "..") || str_starts(*path, "../"))) {
		struct verdict unused = {0};
		struct place place;

		if (where(c->arena, c->root, c->policy, STR(""), *cwd, ACCESS_READ, false, at,
			    &place, &unused) < 0 ||
			place.exists)
			return;
		cwd->n -= last_part(*cwd).n;
		cwd->n -= cwd->n > 0;
		*path = str_sub(*path, path->n > 2 ? 3 : 2, path->n);
		while (path->n && path->p[0] == '/')
			*path = str_sub(*path, 1, path->n);
	}
	if (!path->n)
		*path = STR(".");
}

static int look(struct check *c, const struct question *q, struct span at, struct place *out)
{
	const struct place *known = c->memory ? memory_place(c->memory, q) : NULL;

	if (known) {
		*out = *known;
		return 0;
	}
	if (where(c->arena, c->root, c->policy, q->cwd, q->path, q->access, q->whole, at, out,
		    c->v) < 0)
		return -1;
	if (c->memory)
		memory_put_place(c->memory, q, out);
	return 0;
}

/*
 * What a patch, an archive or another branch brings may be a link to anywhere. Only what is there
 * now is known; a new file may be written where its directory is there.
 */
static bool foreseen(struct check *c, const struct place *place, enum access access)
{
	struct verdict unused = {0};
	struct place folder;
	struct str up = str_sub(place->path, 0, place->path.n - last_part(place->path).n);

	if (!c->unforeseen || c->live || place->exists || place->outside || place->device)
		return true;
	if (access != ACCESS_WRITE && access != ACCESS_ENTRY)
		return false;
	return where(c->arena, c->root, c->policy, STR(""), up.n ? up : STR("."), ACCESS_READ,
		       false, (struct span){0}, &folder, &unused) == 0 &&
	       folder.exists;
}

static int find_place(struct check *c, struct str cwd, const struct arg *path, enum access access,
	bool whole, struct place *out)
{
	struct str text = path->text;
	int rc;

	if (path->origin == ARG_DYNAMIC)
		return no(c, RULE_PATH_DYNAMIC, path, "a path that is not known from the text");
	if (access == ACCESS_WRITE && !c->policy->write && !str_is(text, "/dev/null"))
		return no(c, RULE_WRITE, path, "the policy does not allow writing");
	if (text.n)
		step_out(c, &cwd, &text, path->at);
	rc = look(c, &(struct question){cwd, text, access, whole}, path->at, out);
	if (rc == 0 && !foreseen(c, out, access))
		return no(c, RULE_PATH_OUTSIDE, path,
			"a path that does not exist yet, behind a command that may make it a link");
	c->wrote |= rc == 0 && !out->device && (access == ACCESS_WRITE || access == ACCESS_ENTRY);
	return asked(c, rc < 0 && c->v->denied ? c->v->rule : RULE_PATH_OUTSIDE, path->at,
		path->text, rc < 0 ? c->v->path : out->full, rc);
}

int check_path(struct check *c, const struct call *call, const struct arg *path, enum access access,
	bool whole)
{
	struct place ignored;

	/* What find and git name is below the root; that it may be written is still to be asked. */
	if (path->origin == ARG_FOUND) {
		if (access == ACCESS_WRITE && !c->policy->write)
			return no(c, RULE_WRITE, path, "the policy does not allow writing");
		return asked(c, RULE_PATH_OUTSIDE, path->at, path->text, STR(""), 0);
	}
	return find_place(c, call->cwd, path, access, whole, &ignored);
}

int check_redirect(struct check *c, const struct redirect *r, const struct arg *target,
	struct str cwd, struct place *out)
{
	*out = (struct place){0};
	switch (r->kind) {
	case REDIRECT_DUP:
	case REDIRECT_CLOSE:
	case REDIRECT_TEXT:
		return asked(c, RULE_REDIRECT, r->at, STR(""), STR(""), 0);
	case REDIRECT_READ:
		return find_place(c, cwd, target, ACCESS_READ, false, out);
	case REDIRECT_WRITE:
	case REDIRECT_APPEND:
	case REDIRECT_BOTH:
	case REDIRECT_BOTH_APPEND:
		return find_place(c, cwd, target, ACCESS_WRITE, false, out);
	}
	return deny(c->v, RULE_INTERNAL, r->at, "an unknown kind of redirection");
}

int check_cd(struct check *c, const struct call *call, struct str *to)
{
	const struct arg *path = &call->args[call->n - 1];
	struct place place;

	*to = call->cwd;
	if (call->n == 3 && !str_is(call->args[1].text, "--") && !str_is(call->args[1].text, "-P"))
		return no(c, RULE_CWD, &call->args[1], "an option of cd that is not known");
	if (call->n < 2 || call->n > 3)
		return no(c, RULE_CWD, &call->args[0], "cd must have one operand");
	if (path->origin != ARG_KNOWN || !path->text.n || path->text.p[0] == '-')
		return no(c, RULE_CWD, path, "cd to a directory that is not known from the text");
	if (find_place(c, call->cwd, path, ACCESS_ENTER, false, &place) < 0)
		return -1;
	*to = place.path;
	return asked(c, RULE_CWD, path->at, path->text, place.full, 0);
}

void check_enters(struct check *c, struct str path)
{
	struct entered *e;

	if (!c->entered || check_entered(c, path))
		return;
	e = arena_alloc(c->arena, sizeof(*e));
	*e = (struct entered){path, *c->entered};
	*c->entered = e;
}

bool check_entered(const struct check *c, struct str path)
{
	const struct entered *e = c->entered ? *c->entered : NULL;

	for (; e; e = e->next)
		if (e->path.n >= path.n && str_eq(str_sub(e->path, 0, path.n), path) &&
			(e->path.n == path.n || !path.n || e->path.p[path.n] == '/'))
			return true;
	return false;
}

int policy_cwd(
	struct arena *a, const struct root *r, const char *cwd, struct str *out, struct verdict *v)
{
	CLEANUP(base_free) char *real = realpath(cwd, NULL);
	struct str root = str_of(r->path);
	struct str path = str_of(real);

	if (!real)
		return deny(
			v, RULE_CWD, (struct span){0, 0}, "the working directory cannot be found");
	if (root.n > 1 && (path.n < root.n || !str_eq(str_sub(path, 0, root.n), root) ||
				  (path.n > root.n && path.p[root.n] != '/')))
		return deny(v, RULE_CWD, (struct span){0, 0},
			"the working directory is not below the root");
	path = str_sub(path, root.n, path.n);
	while (path.n && path.p[0] == '/')
		path = str_sub(path, 1, path.n);
	*out = arena_str(a, path);
	return 0;
}

int policy_check(struct arena *a, const struct policy *p, const struct root *r, const char *cwd,
	struct str command, struct node **tree, struct verdict *v, struct trace *trace)
{
	struct check c = {.arena = a,
		.policy = p,
		.root = r,
		.v = v,
		.trace = trace,
		.left = CALLS_MAX + (unsigned)command.n / 8,
		.linked = path_is_alias(a, cwd),
		.patterns = PATTERNS_MAX,
		.memory = memory_new(a),
		.entered = arena_alloc(a, sizeof(struct entered *))};
	struct str in = STR("");

	*v = (struct verdict){0};
	if (shell_parse(a, command, tree, v) == 0 && policy_cwd(a, r, cwd, &in, v) == 0 &&
		check_tree(&c, *tree, in) == 0)
		return 0;
	/* A check that fails and does not say why has failed itself. */
	return v->denied ? -1
			 : deny(v, RULE_INTERNAL, (struct span){0, command.n},
				   "the check itself failed");
}
