#include <stdarg.h>
#include "src/base/json.h"
#include "src/cli/common.h"
#include "src/cli/doctor.h"

enum { PERMISSIONS, REPO };

static const struct option_spec options[] = {
	[PERMISSIONS] = {"permissions", NULL, "print the settings entries that a run needs", false},
	[REPO] = {"repo", "DIR", "the repository to look at", false},
	{0},
};

void finding(struct checkup *c, enum health health, const char *what, const char *fmt, ...)
{
	static const char *const names[] = {"ok", "warn", "fail"};
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	buf_addf(c->out, "%-4s  %-12s  %s\n", names[health], what, text);
	c->failed = c->failed || health == HEALTH_FAIL;
}

static int checkup(struct invocation *in)
{
	struct checkup c = {
		.arena = in->arena, .out = in->out, .given_repo = in->args->value[REPO]};

	check_programs(&c);
	check_state(&c);
	check_installation(&c);
	check_repository(&c);
	return c.failed ? ERR_CHECK : 0;
}

static void add_entry(struct buf *out, const char *entry, bool last)
{
	CLEANUP(json_free) json *one = json_array();
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	json_push_str(one, str_of(entry));
	json_print(&text, one);
	buf_adds(out, "      ");
	buf_add(out, str_sub(buf_str(&text), 1, text.len - 1));
	buf_adds(out, last ? "\n" : ",\n");
}

/*
 * The commands' own `allowed-tools` cover a run and its agents; these are for who would rather
 * have it in the settings, or runs an agent by hand. An absolute path has two slashes there.
 */
static int permissions(struct invocation *in, struct error *err)
{
	struct buf *out = in->out;
	char *state, *root;

	if (state_folder(in->arena, &state, err) < 0 ||
		plugin_root(in->arena, NULL, &root, err) < 0)
		return -1;
	if (utf8_fault(str_of(state)) || utf8_fault(str_of(root)))
		return error_set(err, ERR_INPUT, "the folder's name is not UTF-8 text");
	buf_adds(out, "{\n  \"permissions\": {\n    \"allow\": [\n");
	add_entry(out, "Bash(dev-team:*)", false);
	add_entry(out, "Agent", false);
	add_entry(out, "Skill", false);
	add_entry(out, "Edit", false);
	add_entry(out, "Write", false);
	add_entry(out, arena_printf(in->arena, "Read(/%s/**)", state), false);
	add_entry(out, arena_printf(in->arena, "Read(/%s/**)", root), true);
	buf_adds(out, "    ]\n  }\n}\n");
	say("The commands of the plugin bring these with them; settings are for the rest.");
	say("The agents also run git, gh, and your own build and tests. What of it may be run");
	say("without a question is yours to say: \"Bash(git:*)\", \"Bash(gh:*)\", "
	    "\"Bash(make:*)\" ...");
	return 0;
}

static int run(struct invocation *in, struct error *err)
{
	return in->args->value[PERMISSIONS] ? permissions(in, err) : checkup(in);
}

const struct verb verb_doctor = {
	.name = "doctor",
	.synopsis = "[--repo DIR] [--permissions]",
	.about = "look at what a run needs, and say what to do about it",
	.details = "One line for each thing: 'ok', 'warn' (a run may do without) or 'fail', what "
		   "it is, and what to do\n"
		   "about it. Exit status 1 when something fails.\n"
		   "\n"
		   "With --permissions it prints entries for .claude/settings.json instead.",
	.options = options,
	.max_words = 0,
	.run = run,
};
