#include <fnmatch.h>
#include "src/base/json.h"
#include "src/machine/place.h"
#include "src/sys/path.h"
#include "src/sys/secrets.h"

#define PLACE_KEY "place"

static json *text_list(const char *const *texts, size_t n)
{
	json *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_push_str(list, str_of(texts[i]));
	return list;
}

json *place_to_json(const struct item_place *p)
{
	const struct git_identity *is = &p->identity;
	json *remotes = json_array();

	for (size_t i = 0; i < is->remotes.list.n; i++)
		json_push_str(remotes, str_of(is->remotes.list.items[i].url));
	return JSON_OBJECT(JSON_TEXT("directory", p->directory),
		JSON_IF(p->branch, JSON_TEXT("branch", p->branch)),
		JSON_IF(p->base, JSON_TEXT("base", p->base)), JSON_BOOL("in_place", p->in_place),
		JSON_VALUE("dirty", text_list(p->dirty.items, p->dirty.n)),
		JSON_IF(p->hidden.n, JSON_VALUE("hidden", text_list(p->hidden.items, p->hidden.n))),
		JSON_IF(is->directory, JSON_TEXT("git_directory", is->directory)),
		JSON_VALUE("remotes", remotes),
		JSON_VALUE("settings", text_list(is->settings.items, is->settings.n)));
}

void place_from_json(struct arena *a, const json *j, struct item_place *out)
{
	*out = (struct item_place){.directory = json_dup(a, j, "directory"),
		.branch = json_dup(a, j, "branch"),
		.base = json_dup(a, j, "base"),
		.in_place = json_is_true(json_get(j, "in_place"))};
	for (const json *i = json_first(json_get(j, "dirty")); i; i = json_next(i))
		if (json_text(i))
			vec_push_in(a, &out->dirty, arena_dup(a, str_of(json_text(i))));
	for (const json *i = json_first(json_get(j, "hidden")); i; i = json_next(i))
		if (json_text(i))
			vec_push_in(a, &out->hidden, arena_dup(a, str_of(json_text(i))));
	out->identity.directory = json_dup(a, j, "git_directory");
	for (const json *i = json_first(json_get(j, "remotes")); i; i = json_next(i))
		if (json_text(i))
			vec_push_in(a, &out->identity.remotes.list,
				((struct git_remote){.url = arena_dup(a, str_of(json_text(i)))}));
	for (const json *i = json_first(json_get(j, "settings")); i; i = json_next(i))
		if (json_text(i))
			vec_push_in(a, &out->identity.settings, arena_dup(a, str_of(json_text(i))));
}

int place_load(struct arena *a, struct context_file *f, struct item_place *out, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	struct str value;

	*out = (struct item_place){0};
	if (context_open_keys(f, err) < 0 || context_get_key(f, PLACE_KEY, &value, err) < 0)
		return -1;
	if (!value.n)
		return 0;
	if (json_parse(&j, value, err) < 0)
		return error_prefix(err, "key '" PLACE_KEY "' of '%s'", f->path);
	place_from_json(a, j, out);
	return 0;
}

void place_store(struct context_file *f, const struct item_place *p)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	CLEANUP(json_free) json *j = place_to_json(p);

	json_print(&out, j);
	context_put_key(f, PLACE_KEY, buf_str(&out));
}

/* ---- what was changed before ---- */

static bool is_in(const char *const *paths, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(paths[i], path) == 0)
			return true;
	return false;
}

bool place_was_dirty(const struct item_place *p, const char *path)
{
	return is_in(p->dirty.items, p->dirty.n, path);
}

bool place_was_hidden(const struct item_place *p, const char *path)
{
	return is_in(p->hidden.items, p->hidden.n, path);
}

bool place_is_sparse(const struct item_place *p)
{
	for (size_t i = 0; i < p->identity.settings.n; i++)
		if (strcasecmp(p->identity.settings.items[i], "[core] sparseCheckout = true") == 0)
			return true;
	return !p->identity.directory;
}

int place_note_hidden(struct arena *a, struct item_place *p, struct error *err)
{
	struct git_hidden h;

	if (git_find_hidden(a, p->directory, place_is_sparse(p), &h, err) < 0)
		return -1;
	for (size_t i = 0; i < h.paths.n; i++)
		vec_push_in(a, &p->hidden, h.paths.items[i]);
	for (size_t i = 0; i < h.attributes.n; i++)
		vec_push_in(a, &p->hidden, h.attributes.items[i]);
	return 0;
}

static bool is_allowed(const struct item_place *p, const char *path)
{
	for (size_t i = 0; i < p->n_allow_secrets; i++)
		if (fnmatch(p->allow_secrets[i], path, 0) == 0)
			return true;
	return false;
}

int place_may_hold_secret(
	struct arena *a, const struct item_place *p, const char *path, bool *may, struct error *err)
{
	const char *tracked = NULL;

	*may = secrets_is_file(str_of(path)) && !is_allowed(p, path);
	if (!*may || !p->base)
		return 0;
	if (git_read_file_id(a, p->directory, p->base, path, &tracked, err) < 0)
		return -1;
	*may = !tracked;
	return 0;
}

/* *fault: the commits contain a repository that is inside of the work tree, and nothing says where
 * others get it. git makes such a link without a question. */
static int find_link(struct arena *a, const struct item_place *p, const char *path,
	const char **fault, struct error *err)
{
	const char *const tree[] = {"git", "ls-tree", "HEAD", "--", path, NULL};
	const char *const modules[] = {"git", "config", "-z", "--blob", "HEAD:.gitmodules",
		"--get-regexp", "\\.path$", NULL};
	struct git_command c = {.dir = p->directory, .name = "git ls-tree", .argv = tree};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *entry = arena_printf(a, "\n%s", path);
	int status;

	if (!path_exists(path_join(a, p->directory, path_join(a, path, ".git"))))
		return 0;
	if (git_command(&c, &out, NULL, err) < 0)
		return -1;
	if (!str_starts(buf_str(&out), "160000 "))
		return 0;
	buf_clear(&out);
	c.argv = modules;
	if (git_command(&c, &out, &status, err) < 0)
		return -1;
	for (size_t at = 0; at < out.len && !status; at += strlen(out.s + at) + 1)
		if (str_ends(str_of(out.s + at), entry))
			return 0;
	*fault = arena_printf(a,
		"'%s' is a repository of its own, and the commits link to it without an entry in "
		"'.gitmodules', so that a clone cannot fetch it: take it out ('git rm -q --cached "
		"%s'), commit that, and have git "
		"ignore it",
		path, path);
	return 0;
}

/* They would be in what is pushed also if a later commit has removed them. */
static int find_unwanted(
	struct arena *a, const struct item_place *p, const char **fault, struct error *err)
{
	struct git_paths paths;
	bool may = false;

	if (!p->base)
		return 0;
	if (git_list_committed(a, p->directory, p->base, &paths, err) < 0)
		return -1;
	for (size_t i = 0; i < paths.list.n; i++) {
		const char *path = paths.list.items[i];

		if (place_may_hold_secret(a, p, path, &may, err) < 0)
			return -1;
		if (!may && find_link(a, p, path, fault, err) < 0)
			return -1;
		if (*fault)
			return 0;
		if (!may)
			continue;
		*fault = arena_printf(a,
			"'%s' may hold a secret, and the commits contain it: remove it from them "
			"('git reset --soft %.12s', 'git reset -q -- PATH', and commit the rest) "
			"and have git ignore it",
			path, p->base);
		return 0;
	}
	return 0;
}

int place_check_commits(
	struct arena *a, const struct item_place *p, const char **fault, struct error *err)
{
	const char *path = NULL;

	*fault = NULL;
	if (p->in_place && git_find_touched(a, p->directory, p->base, p->dirty.items, p->dirty.n,
				   &path, err) < 0)
		return -1;
	if (path)
		*fault = arena_printf(a,
			"'%s' was changed in the checkout before the item began, and the commits "
			"contain it: remove it from them and keep the file ('git reset "
			"--soft %.12s', 'git reset -q -- PATH', and commit the rest)",
			path, p->base ? p->base : "");
	return path ? 0 : find_unwanted(a, p, fault, err);
}
