/*
 * tar: it can run programs in many ways, none of which is in the row. What an archive holds cannot
 * be told without reading it, so nothing is taken out of one but to standard output.
 */
#include "src/policy/bin.h"

#define ROW                                                                                        \
	"-c,--create -x,--extract,--get -t,--list -r,--append -u,--update -d,--diff,--compare "    \
	"-f,--file:text -C,--directory:text -z,--gzip,--gunzip,--ungzip -j,--bzip2 -J,--xz "       \
	"--zstd "                                                                                  \
	"-a,--auto-compress -v,--verbose -k,--keep-old-files --skip-old-files "                    \
	"-p,--preserve-permissions,--same-permissions --no-same-owner --no-same-permissions "      \
	"-m,--touch "                                                                              \
	"-O,--to-stdout --exclude:text -X,--exclude-from:read --exclude-vcs --wildcards "          \
	"--no-wildcards --strip-components:number --transform:text --no-recursion "                \
	"--sort:word{none,name,inode} --mtime:text --owner:text --group:text --numeric-owner "     \
	"--mode:text --format:name --one-file-system --totals --null -W,--verify"

/* `tar xzf FILE`: letters without a dash, their values behind them in order. */
static int spell_out(struct check *c, const struct call *call, struct call *out)
{
	const struct arg *first = &call->args[1];
	size_t at = 2;

	*out = *call;
	if (call->n < 2 || first->origin != ARG_KNOWN || !first->text.n || first->text.p[0] == '-')
		return 0;
	out->args = arena_alloc(c->arena, (call->n + 2 * first->text.n) * sizeof(*out->args));
	out->args[0] = call->args[0];
	out->n = 1;
	for (size_t i = 0; i < first->text.n; i++) {
		char letter = first->text.p[i];
		struct arg *option = &out->args[out->n++];

		*option = *first;
		option->text = str_of(arena_printf(c->arena, "-%c", letter));
		if (!strchr("fCX", letter))
			continue;
		if (at >= call->n)
			return bin_refuse(c, RULE_OPTION, first, "no value for an option of tar");
		out->args[out->n++] = call->args[at++];
	}
	while (at < call->n)
		out->args[out->n++] = call->args[at++];
	return 0;
}

/* `--transform s/x/y/e`, and names that a flag turns into other places. */
static int check_transform(struct check *c, const struct arg *value)
{
	size_t slash = value->text.n;

	while (slash && value->text.p[slash - 1] != '/')
		slash--;
	for (size_t i = slash; i < value->text.n; i++)
		if (!strchr("gi", value->text.p[i]))
			return bin_refuse(c, RULE_SCRIPT, value, "an expression with flags");
	if (value->origin != ARG_KNOWN || !str_starts(value->text, "s/") ||
		str_find(value->text, STR("..")) < value->text.n)
		return bin_refuse(c, RULE_SCRIPT, value, "an expression that is not understood");
	return 0;
}

static int check_archive(
	struct check *c, const struct call *call, const struct arg *file, bool writes)
{
	/* HOST:FILE would be fetched by another program. */
	if (str_find(file->text, STR(":")) < file->text.n)
		return bin_refuse(c, RULE_OPTION, file, "an archive on another machine");
	if (bin_is(file, "-"))
		return 0;
	/* A found name may have a colon too; behind the slash that find puts in front it is none.
	 */
	if (file->origin != ARG_KNOWN &&
		!(c->finder && str_is(bin_base(c->finder->args[0].text), "find")))
		return bin_refuse(c, RULE_PATH_DYNAMIC, file, "an archive that is not known");
	return check_value(c, call, file, writes ? STR("write") : STR("read"));
}

/* The archive is opened before -C takes effect; *inside becomes where the rest happens. */
static int check_given(
	struct check *c, const struct call *call, const struct parsed *p, struct call *inside)
{
	bool writes = given_any(p, "-c") || given_any(p, "-r") || given_any(p, "-u");
	bool entered = false;

	*inside = *call;
	for (size_t i = 0; i < p->n; i++) {
		const struct given *g = &p->options[i];

		if (str_is(g->name, "-f") && check_archive(c, call, &g->value, writes) < 0)
			return -1;
		if (str_is(g->name, "--transform") &&
			(!writes || check_transform(c, &g->value) < 0))
			return bin_refuse(c, RULE_OPTION, &g->value,
				"names are only changed in a new archive, by s/OLD/NEW/");
		if (!str_is(g->name, "-C"))
			continue;
		if (entered)
			return bin_refuse(c, RULE_OPTION, &g->value, "more than one directory");
		entered = true;
		if (bin_enter(c, call, &g->value, inside) < 0)
			return -1;
	}
	return 0;
}

int check_tar(struct check *c, const struct call *call)
{
	struct call spelled, inside;
	struct parsed p;

	if (spell_out(c, call, &spelled) < 0 || check_options(c, &spelled, 1, ROW, &p) < 0 ||
		check_given(c, &spelled, &p, &inside) < 0)
		return -1;
	if (given_any(&p, "-t"))
		return check_operands(c, &inside, &p, "text*");
	/* What comes out may be a protected file at any depth, or a link that leads out. */
	if (given_any(&p, "-x") && !given_any(&p, "-O"))
		return bin_refuse(c, RULE_OPTION, &call->args[0],
			"what an archive holds is not known: only -t, or -x with -O");
	if (given_any(&p, "-x"))
		return check_operands(c, &inside, &p, "text*");
	if (!given_any(&p, "-c") && !given_any(&p, "-r") && !given_any(&p, "-u") &&
		!given_any(&p, "-d"))
		return bin_refuse(c, RULE_OPTION, &call->args[0], "nothing that tar is to do");
	/* What stands before -C is looked for from where tar was started. */
	if (check_operands(c, &spelled, &p, "read*") < 0)
		return -1;
	return check_operands(c, &inside, &p, "read*");
}
