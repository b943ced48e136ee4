/* sqlite_copy.c: a branch is a copy of a file, in a directory of its own: FILES/KEY/branch.sqlite.
 */
#include <errno.h>
#include <sys/stat.h>
#include "src/base/number.h"
#include "src/branchdb/adapter.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"
#include "src/sys/sqlite.h"

static const char *const prefixes[] = {"file://", "sqlite://", "file:", "sqlite:"};

/* The scheme of the upstream's address; "" for a plain path. */
static const char *scheme_of(const char *address)
{
	for (size_t i = 0; i < COUNT(prefixes); i++)
		if (str_starts(str_of(address), prefixes[i]))
			return prefixes[i];
	return "";
}

/* In a URL `?` ends the path, and %41 is A. */
static char *sqlite_copy_path_of(struct arena *a, const char *address)
{
	const char *scheme = scheme_of(address);
	struct str rest = str_of(address + strlen(scheme));
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (!*scheme)
		return arena_dup(a, rest);
	rest = str_sub(rest, 0, str_find(rest, STR("?")));
	for (size_t i = 0; i < rest.n; i++) {
		uint64_t byte;

		if (rest.p[i] == '%' && i + 2 < rest.n &&
			number_hex(str_sub(rest, i + 1, i + 3), &byte)) {
			buf_addc(&out, (char)byte);
			i += 2;
		} else {
			buf_addc(&out, rest.p[i]);
		}
	}
	return arena_dup(a, buf_str(&out));
}

const char *sqlite_file_of(struct arena *a, const char *address)
{
	const char *path = sqlite_copy_path_of(a, address);

	return path[0] == '/' ? path : NULL;
}

static char *branch_directory(const struct adapter_call *c, const char *key)
{
	return path_join(c->arena, c->site->files, key);
}

static char *branch_file(const struct adapter_call *c, const char *key)
{
	return path_join(c->arena, branch_directory(c, key), "branch.sqlite");
}

static const char *source_of(const struct adapter_call *c)
{
	return c->parent ? branch_file(c, c->parent) : sqlite_copy_path_of(c->arena, c->upstream);
}

static int sqlite_check(struct adapter_call *c, struct error *err)
{
	if (c->pool->branch_from && !c->parent && c->key)
		return error_set(err, ERR_INPUT,
			"'branchFrom' of '%s' names no branch of this pool: a copy of a file has "
			"no other branches",
			c->pool->name);
	if (sqlite_copy_path_of(c->arena, c->upstream)[0] != '/')
		return error_set(err, ERR_INPUT,
			"the variable '%s' must hold the absolute path of a SQLite database, or "
			"'file://' and such a path",
			c->pool->connection_env);
	return 0;
}

static int sqlite_reach(struct adapter_call *c, struct error *err)
{
	bool good;

	if (sqlite_inspect(source_of(c), &good, err) < 0)
		return -1;
	return good ? 0
		    : adapter_refuse(c, ADAPTER_UNAVAILABLE, err,
			      "the variable '%s' names no file that is a SQLite database",
			      c->pool->connection_env);
}

static int sqlite_create(struct adapter_call *c, struct error *err)
{
	if (sqlite_reach(c, err) < 0 || path_mkdirs(branch_directory(c, c->key), err) < 0)
		return -1;
	return sqlite_copy(source_of(c), branch_file(c, c->key), c->read_only, &c->method, err);
}

static int sqlite_drop(struct adapter_call *c, struct error *err)
{
	const char *dir = branch_directory(c, c->key);
	struct directory_names names;
	bool missing = false;

	if (directory_list(c->arena, dir, &names, &missing, err) < 0)
		return missing ? 0 : -1;
	for (size_t i = 0; i < names.n; i++)
		if (unlink(path_join(c->arena, dir, names.items[i])) < 0 && errno != ENOENT)
			return error_errno(err, "cannot remove the files of branch '%s'", c->key);
	if (rmdir(dir) < 0 && errno != ENOENT)
		return error_errno(err, "cannot remove the directory of branch '%s'", c->key);
	return 0;
}

static int sqlite_list(struct adapter_call *c, struct adapter_keys *out, struct error *err)
{
	struct directory_names names;
	bool missing = false;

	if (directory_list(c->arena, c->site->files, &names, &missing, err) < 0)
		return missing ? 0 : -1;
	for (size_t i = 0; i < names.n; i++)
		if (str_starts(str_of(names.items[i]), c->key) &&
			path_exists(branch_file(c, names.items[i])))
			vec_push_in(c->arena, out, names.items[i]);
	return 0;
}

/* In the form that the upstream's address has: programs read one or the other. */
static int sqlite_address(struct adapter_call *c, const char **out, struct error *err)
{
	const char *scheme = scheme_of(c->upstream), *path = branch_file(c, c->key);
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	(void)err;
	if (!*scheme && !c->read_only) {
		*out = path;
		return 0;
	}
	buf_adds(&text, *scheme ? scheme : "file://");
	for (; *path; path++)
		if (strchr("%?#", *path))
			buf_addf(&text, "%%%02X", (unsigned char)*path);
		else
			buf_addc(&text, *path);
	if (c->read_only)
		buf_adds(&text, "?mode=ro");
	*out = arena_dup(c->arena, buf_str(&text));
	return 0;
}

const struct adapter adapter_sqlite_copy = {.name = "sqlite-copy",
	.max = 10000,
	.read_only = true,
	.from_branch = true,
	.check = sqlite_check,
	.reach = sqlite_reach,
	.create = sqlite_create,
	.drop = sqlite_drop,
	.list = sqlite_list,
	.address = sqlite_address};
