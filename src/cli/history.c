#include "src/base/log.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/cli/common.h"
#include "src/verify/list.h"
#include "src/verify/verify.h"

enum { JSON };

static const struct option_spec options[] = {
	[JSON] = {"json", NULL, "a JSON line for each state; of 'verify', one for all", false},
	{0},
};

/* What the words said. */
struct request {
	struct invocation *in;
	struct history_place place;
	int64_t rev[2];
	size_t n; /* of rev */
	bool json;
};

/* What stands before the damage is shown all the same. */
static int run_list(struct request *q, struct error *err)
{
	char line[2048];

	if (list_all(&q->place, q->json, q->in->out, err) == 0)
		return 0;
	if (err->code != ERR_INPUT || !q->in->out->len)
		return -1;
	error_format(err, line, sizeof(line));
	log_line("%s", line);
	return ERR_INPUT;
}

static int run_show(struct request *q, struct error *err)
{
	return history_document(&q->place, q->rev[0], q->in->out, NULL, err);
}

/* As it was, or was not yet, or not any more: then there is nothing to compare with. */
static int text_at(
	struct request *q, size_t i, struct buf *text, const char **name, struct error *err)
{
	struct arena *a = q->in->arena;
	struct str base = path_base(q->place.path);
	bool there;

	if (i < q->n) {
		*name = arena_printf(a, "%.*s@%lld", (int)base.n, base.p, (long long)q->rev[i]);
		return history_document(&q->place, q->rev[i], text, NULL, err);
	}
	*name = arena_dup(a, base);
	if (history_now(&q->place, text, &there, err) < 0)
		return -1;
	return there ? 0 : error_set(err, ERR_INPUT, "no context file '%s'", q->place.path);
}

static int run_diff(struct request *q, struct error *err)
{
	CLEANUP(buf_release) struct buf a = BUF_INIT, b = BUF_INIT;
	const char *name_a, *name_b;

	if (text_at(q, 0, &a, &name_a, err) < 0 || text_at(q, 1, &b, &name_b, err) < 0)
		return -1;
	return git_compare(q->in->out, name_a, buf_str(&a), name_b, buf_str(&b), err);
}

static int run_verify(struct request *q, struct error *err)
{
	struct verified v;

	if (verify_history(q->in->arena, &q->place, &v, err) < 0)
		return -1;
	verify_tell(&v, q->json, q->in->out);
	return v.differ ? ERR_CHECK : 0;
}

static const struct sub {
	const char *name;
	size_t min, max; /* revisions */
	bool json;
	int (*run)(struct request *q, struct error *err);
} subs[] = {
	{"list", 0, 0, true, run_list},
	{"show", 1, 1, false, run_show},
	{"diff", 1, 2, false, run_diff},
	{"verify", 0, 0, true, run_verify},
};

static const struct sub *sub_named(const char *name)
{
	for (size_t i = 0; i < COUNT(subs); i++)
		if (strcmp(subs[i].name, name) == 0)
			return &subs[i];
	return NULL;
}

static int usage(struct error *err)
{
	return error_set(err, ERR_USAGE, "usage: dev-team history %s", verb_history.synopsis);
}

/* `show FILE N` and `FILE show N` are the same; `FILE@N` gives the first revision. */
static int parse(struct request *q, const struct sub **sub, struct error *err)
{
	const struct args *args = q->in->args;
	size_t file = sub_named(args->words[0]) && args->n > 1 ? 1 : 0;
	const char *path;

	*sub = &subs[0];
	if (file)
		*sub = sub_named(args->words[0]);
	else if (args->n > 1)
		*sub = sub_named(args->words[1]);
	if (!*sub)
		return error_set(err, ERR_USAGE,
			"history: unknown '%.60s' (see 'dev-team history --help')", args->words[1]);
	if (history_split(q->in->arena, args->words[file], &path, &q->rev[0], err) < 0 ||
		history_find(q->in->arena, path, &q->place, err) < 0)
		return -1;
	q->n = q->rev[0] > 0;
	for (size_t i = args->n > 1 ? 2 : 1; i < args->n; i++) {
		if (q->n == COUNT(q->rev))
			return usage(err);
		if (history_rev(args->words[i], &q->rev[q->n++], err) < 0)
			return -1;
	}
	return q->n < (*sub)->min || q->n > (*sub)->max || (q->json && !(*sub)->json) ? usage(err)
										      : 0;
}

static int run(struct invocation *in, struct error *err)
{
	struct request q = {.in = in, .json = in->args->value[JSON] != NULL};
	const struct sub *sub;

	return parse(&q, &sub, err) < 0 ? -1 : sub->run(&q, err);
}

const struct verb verb_history = {
	.name = "history",
	.synopsis = "FILE [--json] | show FILE N | diff FILE N [M] | verify FILE [--json]",
	.about = "what a work item's document was, and whether it can be made again",
	.details = "Without a word before FILE: a line for each revision; '!' marks what was done "
		   "by hand.\n\n"
		   "show    the document as it was at revision N, byte for byte\n"
		   "diff    what changed from revision N to M, or to now\n"
		   "verify  does all that was done again, from what the history says of it, and "
		   "compares every\n"
		   "        document; exit status 1 when one is not the same\n\n"
		   "FILE is the document or its events file. FILE@N is as good as FILE N.",
	.options = options,
	.min_words = 1,
	.max_words = 4,
	.run = run,
};
