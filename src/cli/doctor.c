#include <stdarg.h>
#include "src/base/log.h"
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
	check_layers(&c);
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
 * What the plugin's commands allow for the run that they start. The client refuses narrower Bash
 * patterns for what agents must do: an answer with JSON in a here document, a pipe behind a build,
 * a loop.
 */
static int permissions(struct invocation *in)
{
	static const char *const allow[] = {"Bash", "Read", "Edit", "Write", "Agent", "Skill"};

	buf_adds(in->out, "{\n  \"permissions\": {\n    \"allow\": [\n");
	for (size_t i = 0; i < COUNT(allow); i++)
		add_entry(in->out, allow[i], i + 1 == COUNT(allow));
	buf_adds(in->out, "    ]\n  }\n}\n");
	log_line(
		"The plugin's commands bring these with them for the run that they start; put them "
		"into");
	log_line(".claude/settings.json for what you ask for yourself, or for runs started in "
		 "another "
		 "way.");
	log_line("What must never be run belongs into \"deny\" there, which always wins.");
	return 0;
}

static int run(struct invocation *in, struct error *err)
{
	(void)err;
	return in->args->value[PERMISSIONS] ? permissions(in) : checkup(in);
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
