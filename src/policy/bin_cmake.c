/*
 * cmake: what it configures and builds is the repository's. A definition of the command line must
 * not put another program in the place of the compiler.
 */
#include "src/policy/bin.h"

static bool has(struct str s, const char *part)
{
	return str_find(s, str_of(part)) < s.n;
}

/* Definitions by which another program is started, or another file is run. */
static bool names_program(struct str name)
{
	static const char *const parts[] = {
		"LAUNCH", "EMULATOR", "MAKE_PROGRAM", "EXECUTABLE", "_LINKER", "RULE_", "PROGRAM"};
	static const char *const tools[] = {"CMAKE_AR", "CMAKE_LD", "CMAKE_NM", "CMAKE_RANLIB",
		"CMAKE_STRIP", "CMAKE_OBJCOPY", "CMAKE_OBJDUMP", "CMAKE_DLLTOOL"};

	for (size_t i = 0; i < COUNT(parts); i++)
		if (has(name, parts[i]))
			return true;
	if (str_ends(name, "_COMMAND") || has(name, "_COMMAND:"))
		return true;
	for (size_t i = 0; i < COUNT(tools); i++)
		if (str_starts(name, tools[i]))
			return true;
	return false;
}

static bool is_tool(const struct arg *value)
{
	static const char *const names[] = {"", "ar", "ccache", "gcc-ar", "gcc-nm", "gcc-ranlib",
		"ld", "llvm-ar", "llvm-ranlib", "make", "ninja", "nm", "ranlib", "sccache",
		"strip"};

	for (size_t i = 0; i < COUNT(names); i++)
		if (bin_is(value, names[i]))
			return true;
	return false;
}

static bool is_compiler(struct str name)
{
	size_t colon = str_find(name, STR(":"));

	return str_ends(str_sub(name, 0, colon), "_COMPILER");
}

/* Where things are installed may be anywhere: writing there is not for cmake to say. */
static bool is_place(struct str name)
{
	return str_starts(name, "CMAKE_INSTALL_");
}

static int check_define(struct check *c, const struct call *call, const struct arg *define)
{
	size_t equals = str_find(define->text, STR("="));
	struct str name = str_sub(define->text, 0, equals);
	struct arg value = bin_part(define, equals + (equals < define->text.n), define->text.n);
	bool climbs = has(value.text, "..") || str_starts(value.text, "/");

	if (equals == define->text.n)
		return bin_refuse(c, RULE_OPTION, define, "a definition without a value");
	if (value.origin != ARG_KNOWN && !value.commits)
		return bin_refuse(c, RULE_VALUE_DYNAMIC, define, "the value must be known");
	if (is_compiler(name))
		return check_compiler(c, value.text, call->cwd, value.at);
	if (names_program(name))
		return is_tool(&value) ? 0
				       : bin_refuse(c, RULE_OPTION, define,
						 "another program would be started");
	if (has(name, "FLAGS"))
		return check_flags(c, value.text, call->cwd, value.at);
	if ((climbs && !is_place(name)) || has(name, "TOOLCHAIN_FILE") || has(name, "INCLUDE"))
		return check_value(c, call, &value, STR("read"));
	return 0;
}

static int check_defines(struct check *c, const struct call *call, const struct parsed *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (str_is(p->options[i].name, "-D") &&
			check_define(c, call, &p->options[i].value) < 0)
			return -1;
	return 0;
}

/* Words behind `--` are for the tool that cmake starts. */
static int check_native(struct check *c, const struct arg *arg)
{
	static const char *const flags[] = {"-k", "-s", "-n", "-v", "-i", "V=1", "VERBOSE=1", "-B"};
	struct str text = arg->text;
	bool number = text.n > 1 && text.p[0] == '-' && strchr("jkl", text.p[1]);

	for (size_t i = 2; number && i < text.n; i++)
		number = text.p[i] >= '0' && text.p[i] <= '9';
	for (size_t i = 0; i < COUNT(flags) && !number; i++)
		number = str_is(text, flags[i]);
	if (number && (arg->origin == ARG_KNOWN || arg->commits))
		return 0;
	return check_value(c, NULL, arg, STR("name"));
}

int check_cmake(struct check *c, const struct call *call)
{
	struct parsed p;

	if (check_options(c, call, 1,
		    "= -S:read -B:folder -C:read -D:text -U:text -G:text -T:text -A:text "
		    "--toolchain:read "
		    "--install-prefix:tree -Wdev -Wno-dev -Werror=dev -Wno-error=dev -Wdeprecated "
		    "-Wno-deprecated --preset:name --list-presets?name -L -LA -LAH -LH -N --fresh "
		    "--build:folder -t,--target:name -j,--parallel?number --config:name "
		    "--clean-first "
		    "-v,--verbose --use-stderr --install:folder --prefix:tree --component:name "
		    "--strip "
		    "--graphviz:write --log-level:name --log-context --debug-output --debug-find "
		    "--trace --trace-expand --warn-uninitialized --no-warn-unused-cli "
		    "--compile-no-warning-as-error",
		    &p) < 0 ||
		check_defines(c, call, &p) < 0)
		return -1;
	for (size_t i = p.n_before; i < p.n_operands; i++)
		if (check_native(c, &p.operands[i]) < 0)
			return -1;
	if (p.n_before < p.n_operands && !given_any(&p, "--build"))
		return bin_refuse(c, RULE_OPERAND, &p.operands[p.n_before], "words for no tool");
	p.n_operands = p.n_before;
	return check_operands(c, call, &p, "read*");
}
