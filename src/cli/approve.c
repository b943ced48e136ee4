/* approve.c: the answer of a person to the approval that an item waits for; `reject` too. */
#include <pwd.h>
#include "src/cli/cli.h"
#include "src/machine/answer.h"
#include "src/machine/place.h"
#include "src/run/status.h"
#include "src/sys/git.h"

enum { SHOWN_MAX = 64 << 10 };

struct approve_options {
	struct cli_item item;
	bool show;
};

static const struct option options[] = {
	OPTION_FLAG(struct approve_options, show, "show",
		"only show what is to be approved: its commits, changed files, pull request"),
	OPTION_END,
};

/* `user@host` */
static const char *person(struct arena *a)
{
	const struct passwd *me = getpwuid(geteuid());
	char host[256] = "";

	(void)gethostname(host, sizeof(host) - 1);
	return me ? arena_printf(a, "%s@%s", me->pw_name, host)
		  : arena_printf(a, "%u@%s", (unsigned)geteuid(), host);
}

/* ---- what is to be approved ---- */

static void approve_add_output(struct buf *out, const char *directory, const char *const *argv)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct git_command git = {.dir = directory, .name = "git", .argv = argv};
	struct error ignored;

	if (git_command(&git, &text, NULL, &ignored) == 0)
		buf_add(out, str_cut(buf_str(&text), SHOWN_MAX));
}

static int approve_show(struct invocation *in, const char *document, struct error *err)
{
	CLEANUP(json_free) json *item = status_item(document, false);
	struct item_place place;
	const char *range;

	status_add_details(in->out, item);
	if (place_read(in->arena, document, &place, err) < 0)
		return -1;
	if (!place.directory || !place.base)
		return 0;
	range = arena_printf(in->arena, "%s..HEAD", place.base);
	buf_addc(in->out, '\n');
	approve_add_output(in->out, place.directory,
		(const char *const[]){"git", "log", "--oneline", "--no-decorate", range, NULL});
	approve_add_output(in->out, place.directory,
		(const char *const[]){"git", "diff", "--stat", range, NULL});
	return 0;
}

/* ---- the answer ---- */

/* *id: of the action, in the arena. */
static int find_approval(
	struct arena *a, const char *document, const char *item, const char **id, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *actions = NULL;
	const json *action;

	if (context_open(&f, document, CONTEXT_READ_ONLY, err) < 0 ||
		action_load(&f.doc, &actions, err) < 0)
		return -1;
	action = action_open_approval(&f.doc, actions);
	if (!action)
		return error_set(err, ERR_STATE, "'%s' waits for no approval", item);
	*id = arena_dup(a, str_of(json_get_str(action, "id")));
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

	if (find_approval(in->arena, document, in->words[0], &offer.id, err) < 0)
		return -1;
	if (!text.n)
		offer.text = str_of(arena_printf(in->arena, "%s by %s.", word, offer.person));
	if (context_open(&f, document, CONTEXT_MUST_EXIST, err) < 0 ||
		answer_record(&f, &offer, err) < 0)
		return -1;
	buf_addf(in->out, "%s: %s by %s; continue it with: ", in->words[0], word, offer.person);
	cli_put_continuation(in->out, &f);
	return 0;
}

static int approve_run(struct invocation *in, struct error *err)
{
	const struct approve_options *o = in->values;
	const char *document, *id;

	if (cli_find_item(in, &document, err) < 0)
		return -1;
	if (!o->show)
		return cli_answer_approval(in, document, "approved", (struct str){0}, err);
	return find_approval(in->arena, document, in->words[0], &id, err) < 0
		       ? -1
		       : approve_show(in, document, err);
}

const struct verb verb_approve = {
	.name = "approve",
	.group = "Everyday",
	.about = "approve what a work item waits for a person to approve",
	.details = "A state with 'approve' waits for this or for 'reject', from any terminal. The "
		   "approval is for the branch as it was when it was asked for: if it has moved "
		   "since, the next step asks again. --show shows what is to be approved.\n"
		   "\n"
		   "Exit status 4 if the item waits for no approval.",
	.examples = "dev-team approve ADR-1 --show\n"
		    "dev-team approve ADR-1",
	.words = "ID",
	.options = {options, cli_item_options},
	.size = sizeof(struct approve_options),
	.run = approve_run,
};
