/*
 * cp, mv, install, ln, chmod: what they write is the target, or, where the target is a directory, a
 * name in it that comes from the source.
 */
#include <fcntl.h>
#include "src/policy/found.h"
#include "src/policy/where.h"

#define BACKUP "-b --backup?word{none,off,numbered,t,existing,nil,simple,never} "

struct targets {
	struct check *c;
	const struct call *call;
	struct parsed p;
	enum access access; /* to the target */
	struct arg folder;  /* -t, or the last operand */
	const struct arg *sources;
	size_t n;
	bool listed;    /* -t: `directory` is a directory, whatever is there now */
	bool no_folder; /* -T */
	bool deep;      /* directories with their contents */
	bool moves;     /* the sources themselves, which are not there afterwards */
	bool below;     /* --parents: the whole path of a source is made again */
};

static int ask(struct targets *t, const struct arg *arg, enum access access, bool whole)
{
	if (arg->origin == ARG_FOUND && access != ACCESS_READ)
		return check_value(t->c, t->call, arg, STR("entry"));
	if (access == ACCESS_READ)
		return check_value(t->c, t->call, arg, STR("read"));
	if (!t->c->policy->write)
		return bin_refuse(t->c, RULE_WRITE, arg, "the policy does not allow writing");
	return check_path(t->c, t->call, arg, access, whole);
}

/* DIRECTORY/NAME, where NAME is the last part of the source. */
static int ask_inside(struct targets *t, const struct arg *source)
{
	struct arg target = t->folder;
	struct str base = bin_base(source->text);

	if (source->origin != ARG_KNOWN || t->below || str_is(base, ".") || str_is(base, "..") ||
		str_is(base, "/"))
		return ask(t, &target, ACCESS_WRITE, true);
	target.text = str_of(arena_printf(
		t->c->arena, "%.*s/%.*s", (int)target.text.n, target.text.p, (int)base.n, base.p));
	return ask(t, &target, t->access, true);
}

static struct str path_of(const struct targets *t, const struct place *folder, struct str base)
{
	return str_of(arena_printf(t->c->arena, "%.*s%s%.*s", (int)folder->path.n, folder->path.p,
		folder->path.n ? "/" : "", (int)base.n, base.p));
}

/*
 * What the shell calls the source, relative to the root. A directory that the line goes into
 * without a link on the way has no other name; behind a link there is no `..`.
 */
static struct str name_below(const struct targets *t, struct str source)
{
	struct arena *a = t->c->arena;
	struct str root = str_of(t->c->root->path);
	struct str cwd = str_of(
		arena_printf(a, "%s/%.*s", t->c->root->path, (int)t->call->cwd.n, t->call->cwd.p));
	struct str name = path_by_name(a, cwd, source);

	if (!str_starts(name, t->c->root->path))
		return str_of("..");
	name = str_sub(name, root.n, name.n);
	return name.n ? str_sub(name, 1, name.n) : name;
}

static int refuse_entered(struct targets *t, const struct arg *source)
{
	return bin_refuse(t->c, RULE_CWD, source,
		"a working directory of the line would be moved, and what is above it with it");
}

/* Where links lead depends on where they are: one that climbs is not moved about. */
static int ask_moved_link(struct targets *t, const struct arg *source)
{
	char to[4096];
	struct place folder;
	struct arg parent = *source;
	struct str base = bin_base(source->text);
	ssize_t n;

	if (source->origin != ARG_KNOWN || !base.n)
		return 0;
	if (t->moves && check_entered(t->c, name_below(t, source->text)))
		return refuse_entered(t, source);
	parent.text = str_sub(source->text, 0, (size_t)(base.p - source->text.p));
	if (!parent.text.n)
		parent.text = STR(".");
	if (bin_place(t->c, t->call, &parent, &folder) < 0 || folder.outside)
		return 0;
	if (t->moves && check_entered(t->c, path_of(t, &folder, base)))
		return refuse_entered(t, source);
	if (t->deep && check_moved(t->c, t->call, source) < 0)
		return -1;
	n = readlinkat(t->c->root->fd, path_of(t, &folder, base).p, to, sizeof(to));
	if (n > 0 && (to[0] == '/' || str_find((struct str){to, (size_t)n}, STR("..")) < (size_t)n))
		return bin_refuse(t->c, RULE_PATH_OUTSIDE, source,
			"a link that is absolute or has '..' in it is not moved about");
	return 0;
}

static int ask_targets(struct targets *t)
{
	struct place place;
	bool there, known = t->folder.origin == ARG_KNOWN && !t->folder.split;

	/* `mv {} {}.bak`: beside the file that was found. */
	if (t->folder.origin == ARG_FOUND && !t->folder.split && t->folder.commits && t->n == 1)
		return ask(t, &t->folder, ACCESS_WRITE, true);
	there = known && bin_place(t->c, t->call, &t->folder, &place) == 0;

	if (!known)
		return bin_refuse(t->c, RULE_PATH_DYNAMIC, &t->folder,
			"the target is not known from the text");
	/* A link to a directory is followed, unless -T says that it is none. */
	if (ask(t, &t->folder, t->no_folder ? t->access : ACCESS_WRITE, false) < 0)
		return -1;
	if (t->no_folder || (!t->listed && !(there && place.folder) && t->n == 1))
		return ask(t, &t->folder, t->access, true);
	for (size_t i = 0; i < t->n; i++)
		if (ask_inside(t, &t->sources[i]) < 0)
			return -1;
	return 0;
}

/* Sets sources and directory. */
static int part(struct targets *t)
{
	t->sources = t->p.operands;
	t->n = t->p.n_operands;
	t->no_folder = given_any(&t->p, "-T");
	t->below = given_any(&t->p, "--parents");
	for (size_t i = 0; i < t->p.n; i++)
		if (str_is(t->p.options[i].name, "-t")) {
			t->listed = true;
			t->folder = t->p.options[i].value;
		}
	if (t->listed)
		return 0;
	if (!t->n)
		return bin_refuse(t->c, RULE_OPERAND, &t->call->args[0], "no operands");
	t->folder = t->sources[--t->n];
	return 0;
}

static int check_targets(
	struct targets *t, const char *options, enum access source, bool moves_links)
{
	if (check_options(t->c, t->call, 1, options, &t->p) < 0 || part(t) < 0)
		return -1;
	t->moves = source == ACCESS_ENTRY;
	t->deep = t->moves || given_any(&t->p, "-R") || given_any(&t->p, "-a");
	if (moves_links && bin_links(t->c, &t->call->args[0], false) < 0)
		return -1;
	for (size_t i = 0; i < t->n; i++)
		if (ask(t, &t->sources[i], source, source != ACCESS_READ) < 0 ||
			(moves_links && ask_moved_link(t, &t->sources[i]) < 0))
			return -1;
	return ask_targets(t);
}

int check_copy(struct check *c, const struct call *call)
{
	struct targets t = {.c = c, .call = call, .access = ACCESS_WRITE};

	return check_targets(&t,
		"-a,--archive --attributes-only " BACKUP "-d -f,--force -i,--interactive "
		"-n,--no-clobber -P,--no-dereference -p --preserve?text --no-preserve:text "
		"--parents "
		"-R,-r,--recursive --reflink?word{always,auto,never} --remove-destination "
		"--sparse:word{auto,always,never} --strip-trailing-slashes "
		"-t,--target-directory:text -T,--no-target-directory -u,--update -v,--verbose "
		"-x,--one-file-system",
		ACCESS_READ, true);
}

int check_move(struct check *c, const struct call *call)
{
	struct targets t = {.c = c, .call = call, .access = ACCESS_ENTRY};

	return check_targets(&t,
		BACKUP "-f,--force -i,--interactive -n,--no-clobber --strip-trailing-slashes "
		       "-t,--target-directory:text -T,--no-target-directory -u,--update "
		       "-v,--verbose",
		ACCESS_ENTRY, true);
}

int check_install(struct check *c, const struct call *call)
{
	const char *options = BACKUP "-c -C,--compare -d,--directory -D -m,--mode:mode "
				     "-p,--preserve-timestamps -t,--target-directory:text "
				     "-T,--no-target-directory -v,--verbose";
	struct targets t = {.c = c, .call = call, .access = ACCESS_WRITE};
	struct parsed p;

	if (check_options(c, call, 1, options, &p) < 0)
		return -1;
	if (given_any(&p, "-d"))
		return check_operands(c, call, &p, "write*");
	return check_targets(&t, options, ACCESS_READ, false);
}

int check_chmod(struct check *c, const struct call *call)
{
	struct call rest = *call;
	struct parsed p;
	bool minus = false;

	/* `chmod -w FILE`: a mode, though it looks like an option. */
	rest.args = arena_alloc(c->arena, call->n * sizeof(*rest.args));
	rest.n = 0;
	for (size_t i = 0; i < call->n; i++) {
		struct str text = call->args[i].text;
		bool mode =
			i && call->args[i].origin == ARG_KNOWN && text.n > 1 && text.p[0] == '-';

		for (size_t k = 1; mode && k < text.n; k++)
			mode = strchr("rwxX", text.p[k]) != NULL;
		if (!mode || minus)
			rest.args[rest.n++] = call->args[i];
		minus |= mode;
	}
	if (check_options(c, &rest, 1,
		    "-c,--changes -f,--silent,--quiet -v,--verbose --preserve-root "
		    "--reference:read -R,--recursive",
		    &p) < 0)
		return -1;
	return check_operands(c, &rest, &p, minus ? "tree*" : "mode(--reference) tree*");
}
