#include "context/file.h"
#include "src/base/digest.h"
#include "src/base/git.h"
#include "src/base/path.h"
#include "src/cli/places.h"

enum { SHORT_DIGEST = 8 };

/* A repository that has no remote is known by its place. */
static char *local_slug(struct arena *a, const char *root)
{
	struct str base = path_base(root);
	char sum[DIGEST_TEXT];

	digest_text(str_of(root), sum);
	return arena_printf(a, "local/%s-%.*s", id_valid(base) ? arena_dup(a, base) : "repository",
		SHORT_DIGEST, sum);
}

int artifacts_folder(
	struct arena *a, const char *given, const char *repo, char **dir, struct error *err)
{
	const char *variable = getenv("ARTIFACTS_DIR");
	char *root, *base, *slug;
	struct error none;

	if (!given && variable && *variable)
		given = variable;
	if (given && *given) {
		*dir = path_absolute(a, given);
		return 0;
	}
	if (given)
		return error_set(err, ERR_USAGE, "--artifacts must be a folder, not ''");
	if (repo_root(a, repo, &root, err) < 0 || context_folder(a, &base, err) < 0)
		return -1;
	if (git_slug(a, root, &slug, &none) < 0)
		slug = local_slug(a, root);
	*dir = arena_printf(a, "%s/%s/artifacts", base, slug);
	return 0;
}

int resources_folder(
	struct arena *a, const char *given, const char *repo, char **dir, struct error *err)
{
	static const char *const usual[] = {".dev-team/resources", ".ai-sdlc"};
	struct error none;
	char *root;

	*dir = NULL;
	if (given) {
		*dir = path_absolute(a, given);
		return path_exists(*dir) ? 0
					 : error_set(err, ERR_USAGE, "no resources at '%s'", given);
	}
	if (repo_root(a, repo, &root, &none) < 0)
		return 0;
	for (size_t i = 0; i < COUNT(usual) && !*dir; i++)
		if (path_exists(path_join(a, root, usual[i])))
			*dir = path_join(a, root, usual[i]);
	return 0;
}
