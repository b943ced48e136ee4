#include "src/sys/path.h"
#include "src/config/violation.h"
#include "src/machine/script.h"

enum { REPORT_MAX = 16 << 20 };

/* The file that this very program was started from, whatever stands under its name by now. */
const char *script_program = "/proc/self/exe";

const char *const *script_argv(struct arena *a, const struct script *s, const char **report)
{
	const char *const argv[] = {script_program, "policy", "exec", "--policy", s->policy,
		"--cwd", s->folder, "--timeout", arena_printf(a, "%u", s->timeout_s), "--report",
		*report = arena_printf(a, "%s.report", s->lock), "--", s->inner, NULL};
	const char **copy = arena_alloc(a, sizeof(argv));

	memcpy(copy, argv, sizeof(argv));
	return copy;
}

static int read_report(const char *path, json **report, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (file_read(&text, path, REPORT_MAX, NULL, err) < 0)
		return -1;
	return json_parse(report, str_trim(buf_str(&text)), err);
}

/* Why, if not by its own exit status. */
static const char *why(struct arena *a, const struct script *s, const json *report)
{
	if (json_is_true(json_get(report, "timed_out")))
		return arena_printf(a, " \xe2\x80\x94 timed out after %u s", s->timeout_s);
	return "";
}

static char *denied(struct arena *a, const struct script *s, const struct breach *b)
{
	CLEANUP(json_free) json *j = breach_json(b);
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_addf(&text, "failed \xe2\x80\x94 security violation: %s \xe2\x80\x94 log: %s\n\n",
		breach_line(a, b), s->log);
	json_print(&text, j);
	return arena_dup(a, buf_str(&text));
}

/* Which layers of the kernel the run had belongs to what is kept of it. */
static const char *layers_of(struct arena *a, const struct script *s, const json *report)
{
	const json *layers = json_get(report, "layers");
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!layers)
		return "";
	json_print(&text, layers);
	return arena_printf(
		a, "dev-team: ran under the policy '%s', layers: %s\n", s->policy, text.s);
}

int script_judge(struct arena *a, const struct script *s, const char *path, int status, char **text,
	const char **layers, struct error *err)
{
	CLEANUP(json_free) json *report = NULL;
	struct breach b;
	bool passed = status == 0;
	int rc = read_report(path, &report, err);

	if (rc == 0)
		rc = breach_read(a, report, s->violation, &b, err);
	if (rc < 0 && report && json_get_str(report, "error"))
		return error_prefix(err, "nothing ran under the policy '%.200s'", s->policy);
	if (rc < 0)
		return error_prefix(err,
			"nothing ran under the policy '%.200s' (its word is in the log)",
			s->policy);
	*layers = layers_of(a, s, report);
	if (rc == 1) {
		*text = denied(a, s, &b);
		return 0;
	}
	passed &= !json_is_true(json_get(report, "timed_out"));
	*text = arena_printf(a, "%s%s \xe2\x80\x94 log: %s", passed ? "passed" : "failed",
		why(a, s, report), s->log);
	return passed;
}
