#include "src/cli/cli.h"
#include "src/setup/setup.h"
#include "src/run/locate.h"

struct new_options {
	const char *id, *repo;
	bool json;
};

static const struct option options[] = {
	OPTION_TEXT(struct new_options, id, "id", "ID", "its id; default: the next free one"),
	CLI_REPO(struct new_options),
	CLI_JSON(struct new_options),
	OPTION_END,
};

static int new_run(struct invocation *in, struct error *err)
{
	const struct new_options *o = in->values;
	struct new_item item = {.id = o->id};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *repo, *agents, *next;

	for (size_t i = 0; i < in->n; i++)
		buf_addf(&text, "%s%s", i ? " " : "", in->words[i]);
	item.text = arena_dup(in->arena, buf_str(&text));
	if (locate_repository(in->arena, o->repo, &repo, err) < 0 ||
		new_item_write(in->arena, repo, &item, err) < 0 ||
		setup_agents(in->arena, repo, &agents, err) < 0)
		return -1;
	next = arena_printf(in->arena, "dev-team run %s%s", item.id, agents);
	buf_addf(in->out, "%s  %s\n%s with: %s\n", item.id, item.path,
		item.existed ? "exists; continue" : "continue", next);
	cli_put_json(in, o->json,
		JSON_OBJECT(JSON_TEXT("id", item.id), JSON_TEXT("spec", item.path),
			JSON_TEXT("continue", next)));
	return 0;
}

const struct verb verb_new = {
	.name = "new",
	.group = "Everyday",
	.about = "write the spec of a new work item",
	.details = "Writes _spec_NAME.md with the words as its goal, and an id that no other item, "
		   "spec or branch has. Prints the id, the file, and the command that continues. "
		   "The same words as those of an item that has not ended write nothing and print "
		   "that one.",
	.examples = "dev-team new \"greet people by their name\"",
	.words = "TITLE...",
	.options = {options},
	.size = sizeof(struct new_options),
	.run = new_run,
};
