/* Programs that tell about the machine and the time, and that put out what they are given. */
#include "src/policy/bin.h"

/* `date 0101` would set the clock: formats only. */
static int check_date(struct check *c, const struct call *call)
{
	struct parsed p;

	if (check_options(c, call, 1,
		    "-d,--date:text --debug -f,--file:read -I,--iso-8601?text -R,--rfc-email "
		    "--rfc-3339:word{date,seconds,ns} -r,--reference:read -u,--utc,--universal "
		    "--resolution",
		    &p) < 0)
		return -1;
	for (size_t i = 0; i < p.n_operands; i++)
		if (!str_starts(p.operands[i].text, "+"))
			return bin_refuse(c, RULE_OPERAND, &p.operands[i], "not a format of date");
	return 0;
}

/* Takes its words as they are, whatever they begin with. */
static int check_texts(struct check *c, const struct call *call)
{
	return asked(c, RULE_OPERAND, call->at, call->args[0].text, STR(""), 0);
}

/* `%n` sets a variable in some shells, PATH for one. */
static int check_printf(struct check *c, const struct call *call)
{
	struct parsed p;
	struct str format;

	if (check_options(c, call, 1, "+", &p) < 0 || !p.n_operands)
		return c->v->denied ? -1 : 0;
	format = p.operands[0].text;
	if (p.operands[0].origin != ARG_KNOWN)
		return bin_refuse(c, RULE_VALUE_DYNAMIC, &p.operands[0],
			"a format that is not known from the text");
	for (size_t i = 0; i < format.n; i++) {
		if (format.p[i] != '%')
			continue;
		while (++i < format.n && format.p[i] &&
			strchr("-+ #0'123456789.*hlLjztq", format.p[i]))
			;
		if (i < format.n && format.p[i] == 'n')
			return bin_refuse(
				c, RULE_OPERAND, &p.operands[0], "a format that sets a variable");
	}
	return 0;
}

const struct binary binaries_system[] = {
	{"echo", NULL, NULL, 0, check_texts},
	{"true", NULL, NULL, 0, check_texts},
	{"false", NULL, NULL, 0, check_texts},
	{"printf", NULL, NULL, 0, check_printf},
	{"test", NULL, NULL, 0, check_test},
	{"[", NULL, NULL, 0, check_test},
	{"pwd", "-L,--logical -P,--physical", "", 0, NULL},
	{"basename", "-a,--multiple -s,--suffix:text -z,--zero", "text*", 0, NULL},
	{"dirname", "-z,--zero", "text*", 0, NULL},
	{"seq", "+ -f,--format:text -s,--separator:text -w,--equal-width -#",
		"number number number", 0, NULL},
	{"sleep", "", "number*", 0, NULL},
	{"expr", "+", "text*", 0, NULL},
	{"date", NULL, NULL, 0, check_date},
	{"nproc", "--all --ignore:number", "", 0, NULL},
	{"uname",
		"-a,--all -s,--kernel-name -n,--nodename -r,--kernel-release -v,--kernel-version "
		"-m,--machine -p,--processor -i,--hardware-platform -o,--operating-system",
		"", 0, NULL},
	{"arch", "", "", 0, NULL},
	{"whoami", "", "", 0, NULL},
	{"id", "-g,--group -G,--groups -n,--name -r,--real -u,--user -z,--zero", "name", 0, NULL},
	{"hostname", "-s,--short -f,--fqdn,--long", "", 0, NULL},
	{"which", "-a -s", "name*", 0, NULL},
	{"getconf", "", "name", 0, NULL},
	{"tty", "-s,--silent,--quiet", "", 0, NULL},
	{"numfmt",
		"--from:name --to:name --suffix:text --padding:number --format:text --field:text "
		"--header?number -d,--delimiter:text --from-unit:number --to-unit:number "
		"--round:name --grouping --invalid:name",
		"text*", 0, NULL},
	{"factor", "", "number*", 0, NULL},
	{NULL, NULL, NULL, 0, NULL},
};
