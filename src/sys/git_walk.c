#include <dirent.h>
#include <sys/stat.h>
#include "src/sys/git_walk.h"
#include "src/sys/path.h"

enum { ENTRIES_MAX = 1 << 21 };
/* To ask whether a path is ignored takes longer the deeper it is: a thousand levels take minutes.
 */
enum { DEPTH_MAX = 128 };

static void push(char ***list, size_t *n, size_t *cap, char *item)
{
	if (*n == *cap) {
		*cap = *cap ? *cap * 2 : 32;
		*list = xrealloc(*list, *cap * sizeof(**list));
	}
	(*list)[(*n)++] = item;
}

/* DT_REG, DT_DIR or something else; links are not followed. */
static int kind_of(const struct walk *w, const char *path)
{
	struct arena a = {0};
	struct stat st;
	int rc = lstat(path_join(&a, w->root, path), &st);

	arena_release(&a);
	if (rc < 0)
		return DT_UNKNOWN;
	return S_ISREG(st.st_mode) ? DT_REG : S_ISDIR(st.st_mode) ? DT_DIR : DT_UNKNOWN;
}

void walk_offer(struct walk *w, const char *path)
{
	if (!w->want(path_base(path)) || utf8_fault(str_of(path)) || kind_of(w, path) != DT_REG)
		return;
	push(&w->found, &w->n_found, &w->cap_found, arena_dup(w->arena, str_of(path)));
}

static size_t depth_of(const char *path)
{
	size_t n = 1;

	for (; *path; path++)
		n += *path == '/';
	return n;
}

static void consider_folder(struct walk *w, struct arena *scratch, const char *path)
{
	char *rel = arena_printf(scratch, "%s/", path);

	if (depth_of(path) > DEPTH_MAX ||
		path_exists(arena_printf(scratch, "%s/%s.git", w->root, rel)) ||
		w->ignored(w->ignored_arg, rel))
		return;
	rel = arena_dup(w->arena, str_of(rel));
	push(&w->todo, &w->n_todo, &w->cap_todo, rel);
}

static void consider(struct walk *w, const char *folder, const struct dirent *entry)
{
	struct arena scratch = {0};
	const char *name = entry->d_name;
	const char *path = arena_printf(&scratch, "%s%s", folder, name);
	int kind = entry->d_type == DT_UNKNOWN ? kind_of(w, path) : entry->d_type;

	if (kind == DT_DIR && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
		strcmp(name, ".git") != 0)
		consider_folder(w, &scratch, path);
	else if (kind == DT_REG && w->want(str_of(name)) && !w->ignored(w->ignored_arg, path))
		walk_offer(w, path);
	arena_release(&scratch);
}

static int walk_folder(struct walk *w, const char *folder, struct error *err)
{
	struct arena scratch = {0};
	DIR *dir = opendir(path_join(&scratch, w->root, folder[0] ? folder : "."));
	struct dirent *entry;

	arena_release(&scratch);
	/* One that may not be read, or has just gone, has nothing for us. */
	while (dir && w->seen <= ENTRIES_MAX && (entry = readdir(dir))) {
		w->seen++;
		consider(w, folder, entry);
	}
	if (dir)
		closedir(dir);
	if (w->seen > ENTRIES_MAX)
		return error_set(
			err, ERR_INPUT, "more than %d files under '%s'", ENTRIES_MAX, w->root);
	return 0;
}

int walk_tree(struct walk *w, struct error *err)
{
	int rc = walk_folder(w, "", err);

	while (rc == 0 && w->n_todo)
		rc = walk_folder(w, w->todo[--w->n_todo], err);
	return rc;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void walk_finish(struct walk *w, char ***paths, size_t *n)
{
	size_t k = 0;

	if (w->n_found)
		qsort(w->found, w->n_found, sizeof(*w->found), by_bytes);
	for (size_t i = 0; i < w->n_found; i++)
		if (!k || strcmp(w->found[k - 1], w->found[i]) != 0)
			w->found[k++] = w->found[i];
	*paths = arena_alloc(w->arena, (k + 1) * sizeof(**paths));
	if (k)
		memcpy(*paths, w->found, k * sizeof(**paths));
	*n = k;
}

void walk_release(struct walk *w)
{
	free(w->found);
	free(w->todo);
}
