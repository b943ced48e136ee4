/*
 * awk is an interpreter: what it can do beyond text (run, read and write files, look at variables)
 * is told by a few words and signs. No program with one of them is let through, in whatever place
 * it stands: to know a place would take a reading that every awk agrees with.
 */
#include "src/policy/bin.h"

static const char *find_word(struct str s)
{
	static const char *const words[] = {"system", "getline", "ENVIRON", "ARGV", "ARGC",
		"PROCINFO", "SYMTAB", "FUNCTAB", "extension", "@"};

	for (size_t i = 0; i < COUNT(words); i++)
		if (str_find(s, str_of(words[i])) < s.n)
			return words[i];
	return NULL;
}

/* `a || b` is no pipe. */
static bool has_pipe(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != '|')
			continue;
		if (i + 1 >= s.n || s.p[i + 1] != '|' || (i + 2 < s.n && s.p[i + 2] == '|'))
			return true;
		i++;
	}
	return false;
}

/* Only print and printf take what is behind `>` for a file. */
static bool prints_to_file(struct str s)
{
	size_t at = str_find(s, STR("print"));

	return at < s.n && str_find(str_sub(s, at, s.n), STR(">")) < s.n - at;
}

static int check_program(struct check *c, const struct arg *arg)
{
	if (arg->origin != ARG_KNOWN)
		return bin_refuse(c, RULE_SCRIPT, arg, "a program that is not known from the text");
	if (find_word(arg->text))
		return bin_refuse(c, RULE_SCRIPT, arg,
			"a program of awk that may look at more than its input");
	if (has_pipe(arg->text))
		return bin_refuse(c, RULE_SCRIPT, arg, "a program of awk with a '|'");
	if (prints_to_file(arg->text))
		return bin_refuse(
			c, RULE_SCRIPT, arg, "a program of awk with a '>' behind a print");
	return asked(c, RULE_SCRIPT, arg->at, arg->text, STR(""), 0);
}

int check_awk(struct check *c, const struct call *call)
{
	struct parsed p;

	if (check_options(c, call, 1, "+ -F:text -v:text", &p) < 0)
		return -1;
	if (!p.n_operands)
		return bin_refuse(c, RULE_OPERAND, &call->args[0], "no program");
	if (check_program(c, &p.operands[0]) < 0)
		return -1;
	return check_operands(c, call, &p, "text read*");
}
