#include "src/cli/cli.h"
#include "src/sys/path.h"
#include "src/verify/history.h"

struct fork_options {
	const char *to, *context_file;
};

static const struct option options[] = {
	OPTION_REQUIRED(struct fork_options, to, "to", "ID", "the new work item"),
	OPTION_TEXT(struct fork_options, context_file, "context-file", "FILE",
		"the new work item's document; default: ID.md beside FILE"),
	OPTION_END,
};

static int fork_run(struct invocation *in, struct error *err)
{
	const struct fork_options *o = in->values;
	struct history_place from;
	struct history_forked made;
	const char *file;
	int64_t rev;

	if (path_check_id(o->to, err) < 0 ||
		history_split(in->arena, in->words[0], &file, &rev, err) < 0)
		return -1;
	if (!rev)
		return error_set(err, ERR_USAGE, "fork: no revision given: write '%.200s@N'", file);
	if (cli_find_document(in, file, &file, err) < 0 ||
		history_find(in->arena, file, &from, err) < 0)
		return -1;
	if (history_fork(in->arena, &from, rev, o->to, o->context_file, &made, err) < 0)
		return -1;
	buf_addf(in->out,
		"%s: %s, from revision %lld of %s; in '%s'; %zu answers kept, %zu open actions "
		"dropped\n",
		made.path, o->to, (long long)rev, from.path, made.state, made.carried,
		made.dropped);
	return 0;
}

const struct verb verb_fork = {
	.name = "fork",
	.group = "Workflows",
	.about = "start a new work item from an earlier state of another one",
	.details =
		"The new document is that of FILE at revision N, with the new id. It keeps "
		"counters, sections and answers. Unanswered actions are dropped: the next step of "
		"the new work item requests them under its own ids. FILE is not changed.",
	.examples = "dev-team fork \"$F\"@12 --to ADR-2",
	.words = "ID@N|FILE@N",
	.options = {options},
	.size = sizeof(struct fork_options),
	.run = fork_run,
};
