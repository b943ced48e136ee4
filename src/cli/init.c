#include "src/cli/cli.h"
#include "src/setup/setup.h"
#include "src/run/locate.h"

struct init_options {
	const char *repo;
};

static const struct option options[] = {
	CLI_REPO(struct init_options),
	OPTION_END,
};

static int init_run(struct invocation *in, struct error *err)
{
	const struct init_options *o = in->values;
	const char *repo;

	return locate_repository(in->arena, o->repo, &repo, err) < 0
		       ? -1
		       : setup_init(in->arena, repo, in->out, err);
}

const struct verb verb_init = {
	.name = "init",
	.group = "Everyday",
	.about = "set up a repository: how it is validated, the settings, a first spec",
	.details =
		"Finds out what builds and tests the repository (C, Python, Node, Go, Rust, Java; "
		"all that are there), and writes scripts/validate.sh, .dev-team/config.yaml and a "
		"first spec. Prints what it found, what it wrote and what comes next. A file that "
		"exists is left alone.",
	.examples = "dev-team init",
	.options = {options},
	.size = sizeof(struct init_options),
	.run = init_run,
};
