#include "src/base/json.h"
#include "src/machine/place.h"
#include "src/sys/path.h"

/* A path; NULL: there is none. */
static struct json_member path_member(
	struct arena *a, const char *key, const char *from, const char *path)
{
	return JSON_IF(path, JSON_TEXT(key, path_relative(a, from, path)));
}

json *place_to_json(const struct item_place *p, const char *from)
{
	CLEANUP(arena_release) struct arena a = {0};
	const struct git_identity *is = &p->identity;
	json *remotes = json_array();

	for (size_t i = 0; i < is->remotes.list.n; i++)
		json_push_str(remotes, str_of(is->remotes.list.items[i].url));
	return JSON_OBJECT(path_member(&a, "directory", from, p->directory),
		path_member(&a, "repo", from, p->repo),
		JSON_IF(p->branch, JSON_TEXT("branch", p->branch)),
		JSON_IF(p->target, JSON_TEXT("target", p->target)),
		JSON_IF(p->base, JSON_TEXT("base", p->base)),
		JSON_IF(p->tree, JSON_TEXT("tree", p->tree)), JSON_BOOL("in_place", p->in_place),
		JSON_VALUE("dirty", json_texts(p->dirty.items, p->dirty.n)),
		JSON_IF(p->hidden.n,
			JSON_VALUE("hidden", json_texts(p->hidden.items, p->hidden.n))),
		path_member(&a, "git_directory", from, is->directory),
		JSON_VALUE("remotes", remotes),
		JSON_VALUE("settings", json_texts(is->settings.items, is->settings.n)));
}

static char *machine_place_path_of(
	struct arena *a, const json *j, const char *key, const char *from)
{
	const char *path = json_get_str(j, key);

	return path ? path_resolve(a, from, path) : NULL;
}

void place_from_json(struct arena *a, const json *j, const char *from, struct item_place *out)
{
	*out = (struct item_place){.directory = machine_place_path_of(a, j, "directory", from),
		.repo = machine_place_path_of(a, j, "repo", from),
		.branch = json_dup(a, j, "branch"),
		.target = json_dup(a, j, "target"),
		.base = json_dup(a, j, "base"),
		.tree = json_dup(a, j, "tree"),
		.in_place = json_is_true(json_get(j, "in_place"))};
	out->dirty.items = json_dup_texts(a, json_get(j, "dirty"), &out->dirty.n);
	out->hidden.items = json_dup_texts(a, json_get(j, "hidden"), &out->hidden.n);
	out->identity.settings.items =
		json_dup_texts(a, json_get(j, "settings"), &out->identity.settings.n);
	out->identity.directory = machine_place_path_of(a, j, "git_directory", from);
	for (const json *i = json_first(json_get(j, "remotes")); i; i = json_next(i))
		if (json_text(i))
			vec_push_in(a, &out->identity.remotes.list,
				((struct git_remote){.url = arena_dup(a, str_of(json_text(i)))}));
}

int place_load(struct arena *a, struct context_file *f, struct item_place *out, struct error *err)
{
	CLEANUP(json_free) json *place = NULL, *script = NULL;

	*out = (struct item_place){0};
	if (context_open_keys(f, err) < 0 || context_get_json(f, PLACE_KEY, &place, err) < 0)
		return -1;
	if (!place)
		return 0;
	place_from_json(a, place, f->dir, out);
	if (context_get_json(f, SCRIPT_KEY, &script, err) < 0)
		return -1;
	out->script = json_dup(a, script, "path");
	return 0;
}

int place_read(struct arena *a, const char *document, struct item_place *out, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	return context_open(&f, document, CONTEXT_READ_ONLY, err) < 0 ? -1
								      : place_load(a, &f, out, err);
}

void place_store(struct context_file *f, const struct item_place *p)
{
	CLEANUP(json_free) json *j = place_to_json(p, f->dir);

	context_put_json(f, PLACE_KEY, j);
}

/* ---- what was changed before ---- */

static bool machine_place_is_in(const char *const *paths, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(paths[i], path) == 0)
			return true;
	return false;
}

bool place_was_dirty(const struct item_place *p, const char *path)
{
	return machine_place_is_in(p->dirty.items, p->dirty.n, path);
}

bool place_was_hidden(const struct item_place *p, const char *path)
{
	return machine_place_is_in(p->hidden.items, p->hidden.n, path);
}

bool place_is_sparse(const struct item_place *p)
{
	for (size_t i = 0; i < p->identity.settings.n; i++)
		if (strcasecmp(p->identity.settings.items[i], "[core] sparseCheckout = true") == 0)
			return true;
	return !p->identity.directory;
}
