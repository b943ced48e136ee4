#include "src/cli/cli.h"
#include "src/run/locate.h"
#include "src/tick/board.h"

struct board_options {
	const char *repo;
	bool all, json;
};

static const struct option decide_options[] = {
	OPTION_FLAG(struct board_options, all, "all", "all requests that are on the board"),
	OPTION_END,
};
static const struct option repo_options[] = {
	CLI_REPO(struct board_options),
	OPTION_END,
};

static void put_row(struct buf *out, const json *r)
{
	const char *owner = json_get_str(r, "owner");

	buf_addf(out, "%-24s %-9s %-12s since %s%s%s", json_get_str(r, "id"),
		json_get_str(r, "state"), json_get_str(r, "what"), json_get_str(r, "since"),
		owner ? "  " : "", owner ? owner : "");
	cli_end_row(out);
}

static int board_run_list(struct invocation *in, struct error *err)
{
	const struct board_options *o = in->values;
	const char *repo;
	json *list;

	if (locate_repository(in->arena, o->repo, &repo, err) < 0 ||
		board_list(in->arena, repo, &list, err) < 0)
		return -1;
	for (const json *r = json_first(list); r; r = json_next(r))
		put_row(in->out, r);
	if (!json_len(list))
		error_log("the board is empty: 'dev-team tick --queue' puts requests on it");
	cli_put_json(in, o->json, list);
	return 0;
}

static int cli_board_decide(struct invocation *in, enum board_decision decision, struct error *err)
{
	const struct board_options *o = in->values;
	const char *repo;
	size_t n;

	if (o->all == (in->words[0] != NULL))
		return error_set(err, ERR_USAGE,
			"name requests or tasks, or give --all: 'dev-team board list' shows them");
	if (locate_repository(in->arena, o->repo, &repo, err) < 0 ||
		board_decide(in->arena, repo, decision, in->words, &n, err) < 0)
		return -1;
	buf_addf(in->out, "%zu request%s %s\n", n, n == 1 ? "" : "s", board_decisions[decision]);
	return 0;
}

static int run_approve(struct invocation *in, struct error *err)
{
	return cli_board_decide(in, BOARD_APPROVED, err);
}

static int run_hold(struct invocation *in, struct error *err)
{
	return cli_board_decide(in, BOARD_HELD, err);
}

static int run_drop(struct invocation *in, struct error *err)
{
	return cli_board_decide(in, BOARD_DROPPED, err);
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("list", NULL, board_run_list,
		"list the requests on the board with state, age and the session that took each",
		.options = {repo_options, CLI_JSON_TABLE(struct board_options)}),
	CLI_SUBCOMMAND("approve", "[ID...]", run_approve,
		"let sessions take requests; with the id of a task: all of its, now and later",
		.options = {decide_options, repo_options}),
	CLI_SUBCOMMAND("hold", "[ID...]", run_hold,
		"let no session take requests, or any of a task",
		.options = {decide_options, repo_options}),
	CLI_SUBCOMMAND("drop", "[ID...]", run_drop,
		"remove requests and park their tasks, until 'dev-team backlog release'",
		.options = {decide_options, repo_options}),
	NULL,
};

const struct verb verb_board = {
	.name = "board",
	.group = "Backlog",
	.about = "approve, hold and drop requests before a session works on them",
	.details =
		"'dev-team tick --queue' starts tasks and puts their requests on the board, where "
		"they wait for a person. Sessions take those that are approved with "
		"/dev-team:poll, or with 'dev-team tick --poll --owner NAME'. All requests of one "
		"step of a task are taken together, so each of them must be approved. What a "
		"session has taken goes on when it is held; what its client has left behind is "
		"taken by another one.",
	.examples = "dev-team board list\n"
		    "dev-team board approve SHOP-1 SHOP-2/implementing/1\n"
		    "dev-team board drop SHOP-3",
	.subcommands = subcommands,
	.size = sizeof(struct board_options),
};
