#include "src/sys/gh.h"
#include "src/sys/process.h"

enum { CHECKS_S = 60, OUTPUT_MAX = 1 << 20 };
enum { SOME_FAILED = 1, SOME_PENDING = 8 }; /* exit statuses of `gh pr checks` */

/* `name TAB state TAB time TAB url`, as gh writes when nobody looks. */
static bool tells_failure(struct str line)
{
	size_t tab = str_find(line, STR("\t"));
	struct str state = tab < line.n ? str_sub(line, tab + 1, line.n) : (struct str){0};

	state = str_sub(state, 0, str_find(state, STR("\t")));
	return str_is(state, "fail") || str_is(state, "cancel");
}

static void failing(struct str said, struct buf *out)
{
	struct str line;

	while (str_line(&said, &line)) {
		if (!tells_failure(line))
			continue;
		if (out->len)
			buf_addc(out, '\n');
		buf_add(out, line);
	}
}

static bool is_github(struct str url)
{
	return str_starts(url, "https://") && str_find(url, STR("/merge_requests/")) == url.n;
}

static int judge(const struct process *p, const struct process_end *end, struct buf *lines,
	struct error *err)
{
	struct str said = buf_str(p->out);

	failing(said, lines);
	if (end->status == SOME_PENDING && !end->timed_out)
		return 0;
	if (end->status == SOME_FAILED && !end->timed_out &&
		(lines->len || str_find(said, STR("no checks reported")) < said.n))
		return 0;
	return process_check(p, end, "gh pr checks", said, err);
}

int gh_failing_checks(
	struct arena *a, const char *root, const char *pr_url, char **text, struct error *err)
{
	const char *const argv[] = {"gh", "pr", "checks", pr_url, NULL};
	static const char *const env[] = {"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1",
		"NO_COLOR=1", "GH_FORCE_TTY", "CLICOLOR_FORCE", "GIT_DIR", "GIT_WORK_TREE",
		"GIT_INDEX_FILE", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT, lines = BUF_INIT;
	struct process p = {.argv = argv,
		.cwd = root,
		.env = env,
		.output = -1,
		.out = &out,
		.out_max = OUTPUT_MAX,
		.timeout_s = CHECKS_S};
	struct process_end end;

	*text = arena_dup(a, STR(""));
	if (!is_github(str_of(pr_url)))
		return 0;
	if (process_run(&p, &end, err) < 0)
		return end.missing ? 0 : -1;
	if (judge(&p, &end, &lines, err) < 0)
		return -1;
	buf_utf8_repair(&lines);
	*text = arena_dup(a, buf_str(&lines));
	return 0;
}
