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

/* Why the commits of an operation are taken as they are recorded, for people. */
static const char *why_taken(const char *op)
{
	static const char *const why[][2] = {
		{"record", "answers that changed nothing"},
		{"retry", "begun again after a failure"},
		{"wait", "waits for a usage limit"},
		{"restore", "restored to an earlier revision"},
		{"give back", "leases that a session gave back"},
		{"edit", "edited by hand"},
		{"removed", "removed by hand"},
		{"import", "taken over without a journal"},
		{"fork", "the beginning of a fork"},
		{"request", "what people asked of a run"},
		{"exec", "calls of exec that renewed a lease"},
		{"keep", "leases that a run kept"},
		{"clock set back", "new ends of leases after the clock was set back"},
	};

	for (size_t i = 0; i < COUNT(why); i++)
		if (strcmp(why[i][0], op) == 0)
			return why[i][1];
	return op;
}

static long long number(const json *of, const char *key)
{
	return (long long)json_get_int(of, key, 0);
}

static void report_difference(const json *d, struct buf *out)
{
	const char *by = json_get_str(d, "by");

	buf_addf(out, "revision %lld (%s)", number(d, "rev"), json_get_str(d, "op"));
	if (json_get(d, "line"))
		buf_addf(out, ", line %lld of the %s:\n  recorded: %s\n  replayed: %s\n",
			number(d, "line"), json_get_str(d, "what"), json_get_str(d, "recorded"),
			json_get_str(d, "replayed"));
	else
		buf_addf(out, ": %s\n", json_get_str(d, "what"));
	if (by)
		buf_addf(out, "  it was written by version %s, this is %s\n", by, DEV_TEAM_VERSION);
}

static void report(const json *result, struct buf *out)
{
	const json *first = json_get(result, "first");

	buf_addf(out, "%s: %lld commits, %lld events; %lld replayed, %lld differ\n",
		json_get_str(result, "file"), number(result, "commits"), number(result, "events"),
		number(result, "replayed"), number(result, "differ"));
	for (const json *t = json_first(json_get(result, "taken")); t; t = json_next(t))
		buf_addf(out, "taken as they are: %lld, %s\n", (long long)json_int(t, 0),
			why_taken(json_key(t)));
	if (json_first(first))
		report_difference(first, out);
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
		report(result, in->out);
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
