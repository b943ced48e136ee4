/*
 * make and its like. What they run is the repository's: here only that they run that, and nothing
 * which comes with the command line, and that all of it stays below the root.
 */
#include "src/policy/bin.h"

/* Variables by which make itself, or the shell that it starts, runs something else. */
static bool is_special(struct str name)
{
	static const char *const names[] = {"SHELL", "MAKE", "MAKEFLAGS", "MAKEFILES", "MFLAGS",
		"GNUMAKEFLAGS", "MAKEOVERRIDES", "MAKECMDGOALS", "MAKE_COMMAND", "MAKEFILE_LIST",
		"MAKESHELL", "CURDIR", "VPATH", "PATH", "ENV", "BASH_ENV", "IFS", "HOME",
		"SUFFIXES", "PS4", "TMPDIR", "CDPATH", "PAGER", "EDITOR", "VISUAL"};
	static const char *const begins[] = {"LD_", "GIT_", "BASH_", "PYTHON", "PERL", "NODE_",
		"RUBY", "GCC_", "COMPILER_", "SSH_"};

	for (size_t i = 0; i < COUNT(names); i++)
		if (str_is(name, names[i]))
			return true;
	for (size_t i = 0; i < COUNT(begins); i++)
		if (str_starts(name, begins[i]))
			return true;
	return false;
}

/* True when the rules of the environment have a say in it. */
static bool is_passed_on(struct str name)
{
	static const char *const names[] = {"CC", "CXX", "CPP", "LD", "AR", "RANLIB", "NM", "STRIP",
		"CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LDLIBS"};

	for (size_t i = 0; i < COUNT(names); i++)
		if (str_is(name, names[i]))
			return true;
	return false;
}

static bool takes_words(struct str name)
{
	static const char *const ends[] = {
		"FLAGS", "ARGS", "OPTS", "OPTIONS", "TESTS", "FILES", "SRCS", "TARGETS", "GOALS"};

	for (size_t i = 0; i < COUNT(ends); i++)
		if (str_ends(name, ends[i]))
			return true;
	return false;
}

static int check_variable_of(
	struct check *c, const struct call *call, const struct arg *arg, size_t equals)
{
	struct str name = str_sub(arg->text, 0, equals);
	struct arg value = bin_part(arg, equals + 1, arg->text.n);

	/* `:=`, `+=` and `!=`, which runs a shell, do not get this far. */
	if (!bin_is_variable(name) || is_special(name))
		return bin_refuse(c, RULE_ASSIGN_NAME, arg, "make may not be given this variable");
	if (is_passed_on(name))
		return check_assignment(c, call->cwd, name, &value);
	if (arg->origin != ARG_KNOWN && !arg->commits)
		return bin_refuse(
			c, RULE_ASSIGN_VALUE, arg, "the value of a variable must be known");
	if (!bin_has_only(value.text, takes_words(name) ? " ._:/@+,=-%" : "._:/@+,=-%"))
		return bin_refuse(
			c, RULE_ASSIGN_VALUE, arg, "a byte that is special to make or its shell");
	if (value.text.n && str_find(value.text, STR("/")) < value.text.n &&
		str_find(value.text, STR(" ")) == value.text.n)
		return check_value(c, call, &value, STR("read"));
	return 0;
}

static int check_goal(struct check *c, const struct call *call, const struct arg *arg)
{
	size_t equals = str_find(arg->text, STR("="));

	if (equals < arg->text.n)
		return check_variable_of(c, call, arg, equals);
	if (arg->origin != ARG_KNOWN)
		return bin_refuse(
			c, RULE_VALUE_DYNAMIC, arg, "a target that is not known from the text");
	if (!bin_has_only(arg->text, "._:/@+,-%~"))
		return bin_refuse(
			c, RULE_OPERAND, arg, "a byte that is special to make or its shell");
	if (str_find(arg->text, STR("/")) < arg->text.n)
		return check_value(c, call, arg, STR("read"));
	return 0;
}

static int check_given(struct check *c, const struct call *call, const struct parsed *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct given *g = &p->options[i];

		if (str_is(g->name, "-f") && bin_is(&g->value, "-"))
			return bin_refuse(
				c, RULE_OPTION, &g->value, "a makefile on standard input");
		if ((str_is(g->name, "-f") || str_is(g->name, "-o") || str_is(g->name, "-W")) &&
			check_value(c, call, &g->value, STR("read")) < 0)
			return -1;
	}
	return 0;
}

int check_make(struct check *c, const struct call *call)
{
	struct call inside = *call;
	struct parsed p;

	if (check_options(c, call, 1,
		    "-b -m -B,--always-make -C,--directory:text -d --debug?text "
		    "-e,--environment-overrides -f,--file,--makefile:text -i,--ignore-errors "
		    "-j,--jobs?number -k,--keep-going -l,--load-average,--max-load?number "
		    "-L,--check-symlink-times -n,--just-print,--dry-run,--recon "
		    "-o,--old-file,--assume-old:text "
		    "-O,--output-sync?word{none,line,target,recurse} -p,--print-data-base "
		    "-q,--question -r,--no-builtin-rules -R,--no-builtin-variables "
		    "-s,--silent,--quiet --no-silent -S,--no-keep-going,--stop -t,--touch --trace "
		    "-w,--print-directory --no-print-directory "
		    "-W,--what-if,--new-file,--assume-new:text --warn-undefined-variables -v -h",
		    &p) < 0)
		return -1;
	for (size_t i = 0; i < p.n; i++) {
		struct call from = inside;

		if (str_is(p.options[i].name, "-C") &&
			bin_enter(c, &from, &p.options[i].value, &inside) < 0)
			return -1;
	}
	if (check_given(c, &inside, &p) < 0)
		return -1;
	for (size_t i = 0; i < p.n_operands; i++)
		if (p.operands[i].split && !p.operands[i].commits)
			return bin_refuse(
				c, RULE_VALUE_DYNAMIC, &p.operands[i], "may become several words");
		else if (check_goal(c, &inside, &p.operands[i]) < 0)
			return -1;
	return 0;
}

int check_ninja(struct check *c, const struct call *call)
{
	struct call inside = *call;
	struct parsed p;

	if (check_options(c, call, 1,
		    "-C:text -f:text -j:number -k:number -l:number -n -v,--verbose --quiet -d:name "
		    "-w:text -t:word{clean,cleandead,compdb,commands,deps,graph,inputs,query,"
		    "recompact,rules,targets}",
		    &p) < 0)
		return -1;
	for (size_t i = 0; i < p.n; i++)
		if (str_is(p.options[i].name, "-C") &&
			bin_enter(c, call, &p.options[i].value, &inside) < 0)
			return -1;
	if (check_given(c, &inside, &p) < 0)
		return -1;
	return check_operands(c, &inside, &p, "read*");
}

/* ar: letters, with or without a dash, then an archive and its members. */
int check_ar(struct check *c, const struct call *call)
{
	static const struct arg here = {.text = {".", 1}};
	const struct arg *letters = call->n > 1 ? &call->args[1] : NULL;
	struct str text = letters ? letters->text : STR("");
	bool extract, looks;

	if (text.n && text.p[0] == '-')
		text = str_sub(text, 1, text.n);
	for (size_t i = 0; i < text.n; i++)
		if (!strchr("dmpqrstxcDosSTuUvV", text.p[i]))
			text.n = 0;
	if (!text.n || letters->origin != ARG_KNOWN)
		return bin_refuse(c, RULE_OPTION, letters ? letters : &call->args[0],
			"letters of ar that are not known");
	extract = str_find(text, STR("x")) < text.n;
	looks = extract || str_find(text, STR("p")) < text.n || str_find(text, STR("t")) < text.n;
	if (extract && check_value(c, call, &here, STR("tree")) < 0)
		return -1;
	for (size_t i = 2; i < call->n; i++) {
		const struct arg *arg = &call->args[i];

		if (arg->text.n && (arg->text.p[0] == '@' || arg->text.p[0] == '-'))
			return bin_refuse(c, RULE_OPTION, arg, "options out of a file, or behind");
		if (check_value(c, call, arg, i > 2 || looks ? STR("read") : STR("write")) < 0)
			return -1;
	}
	return 0;
}
