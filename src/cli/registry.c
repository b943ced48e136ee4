#include "src/cli/common.h"
#include "src/cli/registry.h"

int registry_open(struct arena *a, struct model_registry *out, struct error *err)
{
	const char *file = NULL;
	struct error ignored;
	char *repo;

	if (repo_root(a, NULL, &repo, &ignored) == 0 && model_registry_file(a, repo, &file, err) < 0)
		return -1;
	return model_registry_load(a, file, out, err);
}
