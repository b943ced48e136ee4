#include <stdarg.h>
#include "src/sys/path.h"
#include "src/cli/cli.h"

#define X(name) &verb_##name,
const struct verb *const verbs[] = {
#include "src/cli/list.h"
	NULL,
};
#undef X

void help_all(struct buf *out)
{
	buf_adds(out, "dev-team: a re-entrant step machine that takes a work item from a task to a "
		      "pull request\n\n"
		      "usage: dev-team VERB [OPTION...] [WORD...]\n\n");
	for (size_t i = 0; verbs[i]; i++)
		buf_addf(out, "  %-10s %s\n", verbs[i]->name, verbs[i]->about);
	buf_adds(out,
		"\n  --help     this text; 'dev-team VERB --help' tells more\n"
		"  --version  the version\n\n"
		"exit status: 0 done, 1 what was checked is not so, 2 usage, 3 input refused,\n"
		"             4 state refused (locked, stale, foreign), 5 system\n");
}

static void help_option(struct buf *out, const struct option_spec *o)
{
	char head[64];

	if (!o->argument)
		(void)snprintf(head, sizeof(head), "--%s", o->name);
	else if (o->argument[0] == '[')
		(void)snprintf(head, sizeof(head), "--%s[=%.*s]", o->name,
			(int)strlen(o->argument) - 2, o->argument + 1);
	else
		(void)snprintf(head, sizeof(head), "--%s %s", o->name, o->argument);
	buf_addf(out, "  %-26s %s%s\n", head, o->help, o->repeats ? " (may be repeated)" : "");
}

void help_verb(struct buf *out, const struct verb *v)
{
	buf_addf(out, "dev-team %s: %s\n\nusage: dev-team %s %s\n", v->name, v->about, v->name,
		v->synopsis);
	if (v->options && v->options[0].name)
		buf_addc(out, '\n');
	for (size_t i = 0; v->options && v->options[i].name; i++)
		help_option(out, &v->options[i]);
	if (v->details)
		buf_addf(out, "\n%s\n", v->details);
}
