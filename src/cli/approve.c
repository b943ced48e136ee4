/* approve.c: the answer of a person to the approval that an item waits for; `reject` too. */
#include <pwd.h>
#include "src/cli/cli.h"
#include "src/machine/answer.h"
#include "src/machine/place.h"
#include "src/run/status.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { SHOWN_MAX = 64 << 10 };

struct approve_options {
	struct cli_item item;
	bool show;
};

static const struct option options[] = {
	OPTION_FLAG(struct approve_options, show, "show",
		"only show what is to be approved: its commits, changed files, what is not "
		"committed, pull request, and the same of its children"),
	OPTION_END,
};

/* `user@host` */
static const char *person(struct arena *a)
{
	const struct passwd *me = getpwuid(geteuid());
	const char *host = process_host(a);

	return me ? arena_printf(a, "%s@%s", me->pw_name, host)
		  : arena_printf(a, "%u@%s", (unsigned)geteuid(), host);
}

/* ---- what is to be approved ---- */

/* Below a heading, if there is something. */
static void approve_add_output(
	struct buf *out, const char *heading, const char *directory, const char *const *argv)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct git_command git = {.dir = directory, .name = "git", .argv = argv};
	struct error err;

	if (git_command(&git, &text, NULL, &err) < 0)
		buf_addf(&text, "%s\n", err.text);
	if (!text.len)
		return;
	buf_addf(out, "\n%s\n", heading);
	buf_add(out, str_cut(buf_str(&text), SHOWN_MAX));
}

/* A child's worktree may have been removed, with nothing that was not committed. */
static void approve_add_work(struct invocation *in, const struct item_place *p)
{
	bool there = path_exists(p->directory);
	const char *directory = there ? p->directory : p->repo;
	const char *range = arena_printf(in->arena, there ? "%s..HEAD" : "%s..refs/heads/%s",
		p->base, p->branch ? p->branch : "HEAD");

	approve_add_output(in->out, "commits", directory,
		(const char *const[]){"git", "log", "--oneline", "--no-decorate", range, NULL});
	approve_add_output(in->out, "changed files", directory,
		(const char *const[]){"git", "diff", "--stat", range, NULL});
	if (there)
		approve_add_output(in->out, "not committed", directory,
			(const char *const[]){"git", GIT_FIND_CHANGES, "status", "--short",
				"--untracked-files=all", "--ignore-submodules=none", NULL});
}

/* Of the item and, below it, of its children. */
static int approve_show(struct invocation *in, const char *document, struct error *err)
{
	CLEANUP(json_free) json *children = status_children(document);
	struct item_place place;

	if (place_read(in->arena, document, &place, err) < 0)
		return -1;
	if (place.directory && place.base)
		approve_add_work(in, &place);
	for (const json *c = json_first(children); c; c = json_next(c)) {
		buf_addc(in->out, '\n');
		status_add_title(in->out, c);
		if (approve_show(in, json_get_str(c, "file"), err) < 0)
			return -1;
	}
	return 0;
}

/* ---- the answer ---- */

/* The command, with `after` at its end, for the first item below that waits for an approval; NULL:
 * none does. */
static const char *approval_below(
	const struct invocation *in, const char *document, const char *after)
{
	static const char verb[] = "dev-team approve ";
	CLEANUP(json_free) json *children = status_children(document);
	const char *found = NULL;

	for (const json *c = json_first(children); c && !found; c = json_next(c)) {
		const char *command = json_get_str(c, "continue");

		found = command && str_starts(str_of(command), verb)
				? arena_printf(in->arena, "dev-team %s %s%s", in->path,
					  command + strlen(verb), after)
				: approval_below(in, json_get_str(c, "file"), after);
	}
	return found;
}

/* *id: of the action, in the arena. */
static int find_approval(struct invocation *in, const char *document, const char *after,
	const char **id, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *actions = NULL;
	const char *below;
	const json *action;

	if (context_open(&f, document, CONTEXT_READ_ONLY, err) < 0 ||
		action_load(&f.doc, &actions, err) < 0)
		return -1;
	action = action_open_approval(&f.doc, actions);
	below = action ? NULL : approval_below(in, document, after);
	if (!action)
		return error_set(err, ERR_STATE, "'%s' waits for no approval%s%s", in->words[0],
			below ? ", but its child does: " : "", below ? below : "");
	*id = arena_dup(in->arena, str_of(json_get_str(action, "id")));
	return 0;
}

int cli_answer_approval(struct invocation *in, const char *document, const char *word,
	struct str text, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct answer_offer offer = {.word = word,
		.person = person(in->arena),
		.caller = getenv("DEV_TEAM_ACTION"),
		.text = text};

	if (find_approval(in, document, text.n ? " TEXT" : "", &offer.id, err) < 0)
		return -1;
	if (!text.n)
		offer.text = str_of(arena_printf(in->arena, "%s by %s.", word, offer.person));
	if (context_open(&f, document, CONTEXT_MUST_EXIST, err) < 0 ||
		answer_record(&f, &offer, err) < 0)
		return -1;
	if (offer.outcome == ANSWER_AGAIN)
		return error_set(err, ERR_STATE,
			"'%s' was dealt with before the document was put back: a step asks again, "
			"/dev-team:continue %s or dev-team step %s",
			offer.id, in->words[0], in->words[0]);
	buf_addf(in->out, "%s: %s by %s; ", in->words[0], word, offer.person);
	status_add_next(in->out, &f);
	return 0;
}

static int approve_run(struct invocation *in, struct error *err)
{
	const struct approve_options *o = in->values;
	CLEANUP(json_free) json *item = NULL;
	const char *document, *id;

	if (cli_find_item(in, &document, err) < 0)
		return -1;
	if (!o->show)
		return cli_answer_approval(in, document, "approved", (struct str){0}, err);
	if (find_approval(in, document, " --show", &id, err) < 0)
		return -1;
	item = status_item(document, false);
	status_add_details(in->out, item);
	return approve_show(in, document, err);
}

const struct verb verb_approve = {
	.name = "approve",
	.group = "Everyday",
	.about = "approve what a work item waits for a person to approve",
	.details = "A state with 'approve' waits for this or for 'reject', from any terminal. The "
		   "approval is for the branch as it was when it was asked for: if it has moved "
		   "since, or a file that is not committed has changed, the next step asks "
		   "again. --show shows what is to be approved.\n"
		   "\n"
		   "Exit status 4 if the item waits for no approval.",
	.examples = "dev-team approve ADR-1 --show\n"
		    "dev-team approve ADR-1",
	.words = "ID",
	.options = {options, cli_item_options},
	.size = sizeof(struct approve_options),
	.run = approve_run,
};
