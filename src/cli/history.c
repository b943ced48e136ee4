#include "src/base/error.h"
#include "src/cli/cli.h"
#include "src/verify/history.h"
#include "src/verify/replay.h"

struct history_options {
	int64_t last;
	bool json;
};

static const struct option list_options[] = {
	OPTION_NUMBER(struct history_options, last, "last", "N", 1, JSON_MAX_INT,
		"only the last N revisions"),
	OPTION_FLAG(struct history_options, json, "json", "print JSON: a line for each state"),
	OPTION_END,
};
static const struct option verify_options[] = {
	OPTION_FLAG(struct history_options, json, "json", "print JSON: one line"),
	OPTION_END,
};

/* What the words name: a history and up to two of its revisions. */
struct history_request {
	struct history_place place;
	int64_t rev[2]; /* 0: not given */
	size_t n;       /* of rev */
};

/* `FILE@N M` is `FILE N M`. */
static int history_read_request(
	struct invocation *in, struct history_request *q, size_t min, size_t max, struct error *err)
{
	const char *file;

	*q = (struct history_request){0};
	if (history_split(in->arena, in->words[0], &file, &q->rev[0], err) < 0 ||
		cli_find_document(in, file, &file, err) < 0 ||
		history_find(in->arena, file, &q->place, err) < 0)
		return -1;
	q->n = q->rev[0] > 0;
	for (size_t i = 1; i < in->n; i++) {
		if (q->n == max)
			return error_set(
				err, ERR_USAGE, "%s: unexpected '%.200s'", in->path, in->words[i]);
		if (history_rev(in->words[i], &q->rev[q->n++], err) < 0)
			return -1;
	}
	if (q->n < min)
		return error_set(err, ERR_USAGE, "%s: no revision given: write 'FILE N'", in->path);
	return q->n <= max ? 0 : error_set(err, ERR_USAGE, "%s: takes no revision", in->path);
}

/* The revisions before the damage are listed all the same. */
static int history_run_list(struct invocation *in, struct error *err)
{
	const struct history_options *o = in->values;
	struct history_request q;

	if (history_read_request(in, &q, 0, 0, err) < 0)
		return -1;
	if (history_list(&q.place, o->last, o->json, in->out, err) == 0)
		return 0;
	if (err->code != ERR_INPUT || !in->out->len)
		return -1;
	error_print(err);
	return ERR_INPUT;
}

static int history_run_show(struct invocation *in, struct error *err)
{
	struct history_request q;

	if (history_read_request(in, &q, 1, 1, err) < 0)
		return -1;
	return history_document(&q.place, q.rev[0], in->out, NULL, err);
}

static int run_diff(struct invocation *in, struct error *err)
{
	struct history_request q;

	if (history_read_request(in, &q, 1, 2, err) < 0)
		return -1;
	return history_diff(in->arena, &q.place, q.rev[0], q.rev[1], in->out, err);
}

static int history_run_verify(struct invocation *in, struct error *err)
{
	const struct history_options *o = in->values;
	CLEANUP(json_free) json *result = NULL;
	struct history_request q;

	if (history_read_request(in, &q, 0, 0, err) < 0 ||
		replay_verify(&q.place, &result, err) < 0)
		return -1;
	if (o->json)
		json_print_line(in->out, json_copy(result));
	else
		replay_report(result, in->out);
	return json_is_true(json_get(result, "same")) ? 0 : ERR_CHECK;
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("list", "ID|FILE", history_run_list,
		"list the revisions; '!' marks edits by hand", .options = {list_options}),
	CLI_SUBCOMMAND("show", "ID|FILE [N]", history_run_show,
		"print the document at revision N, byte for byte"),
	CLI_SUBCOMMAND("diff", "ID|FILE [N] [M]", run_diff,
		"print the changes from revision N to M, or to the current document"),
	CLI_SUBCOMMAND("verify", "ID|FILE", history_run_verify,
		"replay the recorded history and compare every state; exit status 1 if one differs",
		.options = {verify_options}),
	NULL,
};

const struct verb verb_history = {
	.name = "history",
	.group = "Workflows",
	.about = "list, show, compare and verify the revisions of a document",
	.details =
		"Without a subcommand it lists the revisions. FILE is the document, which need not "
		"exist any more, or its events file. 'FILE@N' means 'FILE N', and the subcommand "
		"may follow FILE.",
	.examples = "dev-team history ADR-1\n"
		    "dev-team history diff ADR-1 3 4\n"
		    "dev-team history verify ADR-1",
	.words = "ID|FILE",
	.options = {list_options},
	.size = sizeof(struct history_options),
	.subcommands = subcommands,
	.run = history_run_list,
};
