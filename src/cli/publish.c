/*
 * publish.c: `backlog publish`: pushes the branch of a task, and opens its pull request.
 */
#include "context/file.h"
#include "src/backlog/backlog.h"
#include "src/cli/cli.h"
#include "src/run/status.h"
#include "src/setup/setup.h"
#include "src/sys/forge.h"
#include "src/sys/git.h"
#include "src/sys/secrets.h"
#include "src/tick/admission.h"

enum { TITLE_MAX = 250, BODY_MAX = 60000 }; /* bytes; forges accept 255 and 65,536 characters */

/* What the developer says of the work, in the document of the task's item; "": nothing. */
static const char *summary_of(struct arena *a, const char *repo, const char *id)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf masked = BUF_INIT;
	struct secrets secrets = {0};
	struct error ignored;
	const char *dir;

	if (status_directory(a, repo, &dir, &ignored) < 0 ||
		context_open(
			&f, arena_printf(a, "%s/%s.md", dir, id), CONTEXT_READ_ONLY, &ignored) < 0)
		return "";
	secrets_add(a, &secrets, (const char *const *)environ, NULL);
	secrets_mask(&secrets, str_trim(context_section(&f.doc, CONTEXT_SUMMARY)), &masked);
	return arena_dup(a, buf_str(&masked));
}

static const char *body_of(struct arena *a, const char *repo, const struct task *t)
{
	CLEANUP(buf_release) struct buf body = BUF_INIT;
	const char *summary = summary_of(a, repo, t->id);
	struct task_criteria criteria = {0};

	task_criteria(a, t, &criteria);
	if (*summary)
		buf_addf(&body, "%s\n\n", summary);
	for (size_t i = 0; i < criteria.n; i++)
		buf_addf(&body, "%s- %.*s\n", i ? "" : "## Acceptance criteria\n\n",
			(int)criteria.items[i].text.n, criteria.items[i].text.p);
	buf_addf(&body, "%sTask `%s`, `%s`\n", criteria.n ? "\n" : "", t->id, t->file);
	if (body.len > BODY_MAX) {
		size_t n = BODY_MAX;

		while (n && ((unsigned char)body.s[n] & 0xc0) == 0x80)
			n--;
		buf_cut(&body, n);
		buf_adds(&body, "\n...\n");
	}
	return arena_dup(a, buf_str(&body));
}

int cli_publish_task(struct invocation *in, const char *repo, const struct task *t, bool as_json,
	struct error *err)
{
	const char *program, *title, *url, *branch;
	char *remote = NULL;
	bool skipped, made;

	if (t->faults.n)
		return error_set(err, ERR_INPUT,
			"'%s' has faults: 'dev-team backlog check' prints them", t->file);
	if (git_read_branch(in->arena, repo, &branch, err) < 0)
		return -1;
	if (!branch || strcmp(branch, admission_branch(in->arena, t)) != 0)
		return error_set(err, ERR_STATE, "'%s' is checked out, not the branch '%s' of '%s'",
			branch ? branch : "a commit", admission_branch(in->arena, t), t->id);
	if (git_push(repo, NULL, &skipped, err) < 0)
		return -1;
	if (skipped)
		return error_set(err, ERR_CHECK,
			"there is nothing to open a pull request for: '%s' has no commits of its "
			"own, or there is no remote 'origin'",
			branch);
	if (remote_find_url(in->arena, repo, &remote, err) < 0)
		return -1;
	program = remote ? forge_program(str_of(remote)) : NULL;
	program = program ? program : "gh"; /* a forge of unknown kind may be GitHub's */
	if (!*program)
		return error_set(err, ERR_CHECK,
			"'%s' is pushed; no program is known that opens a pull request at '%s'",
			branch, remote);
	title = arena_printf(in->arena, "%s (%s)",
		arena_printable(in->arena, str_of(t->title), TITLE_MAX - strlen(t->id)), t->id);
	if (forge_open(in->arena, repo, program, branch, title, body_of(in->arena, repo, t), &url,
		    &made, err) < 0)
		return -1;
	buf_addf(in->out, "%s\n%s: %s. '%s' is pushed.\n", url, t->id,
		made ? "opened" : "it was open", branch);
	cli_put_json(in, as_json, JSON_OBJECT(JSON_TEXT("url", url), JSON_BOOL("made", made)));
	return 0;
}
