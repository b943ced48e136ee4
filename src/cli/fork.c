#include "src/sys/path.h"
#include "src/cli/common.h"
#include "src/verify/fork.h"

enum { TO, CONTEXT_FILE };

static const struct option_spec options[] = {
	[TO] = {"to", "ID", "the new work item", false},
	[CONTEXT_FILE] = {"context-file", "FILE",
		"the new work item's document; default: ID.md beside FILE", false},
	{0},
};

static int run(struct invocation *in, struct error *err)
{
	const struct args *args = in->args;
	struct history_place from;
	struct forked made;
	const char *file, *id = args->value[TO];
	char *to;
	int64_t rev;

	if (need_option(&verb_fork, args, TO, err) < 0 || id_check(id, err) < 0 ||
		history_split(in->arena, args->words[0], &file, &rev, err) < 0)
		return -1;
	if (!rev)
		return error_set(err, ERR_USAGE, "fork: say which revision: '%.200s@N'", file);
	if (history_find(in->arena, file, &from, err) < 0)
		return -1;
	to = args->value[CONTEXT_FILE] ? path_absolute(in->arena, args->value[CONTEXT_FILE])
				       : arena_printf(in->arena, "%s/%s.md", from.dir, id);
	if (fork_item(in->arena, &from, rev, id, to, &made, err) < 0)
		return -1;
	buf_addf(in->out,
		"%s: %s, from revision %lld of %s; in '%s'; %zu answers kept, %zu open actions "
		"dropped\n",
		made.path, id, (long long)rev, from.path, made.state, made.carried, made.dropped);
	return 0;
}

const struct verb verb_fork = {
	.name = "fork",
	.synopsis = "FILE@N --to ID [--context-file FILE]",
	.about = "begin a new work item from what another one was",
	.details = "The new document is that of FILE as it was at revision N, with the new id. "
		   "Counters and sections\n"
		   "are kept. What was asked for then and has no answer is dropped: the next step "
		   "asks for it anew,\n"
		   "under ids of the new work item. FILE is only read.",
	.options = options,
	.min_words = 1,
	.max_words = 1,
	.run = run,
};
