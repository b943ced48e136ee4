#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/worktree/pool_internal.h"

enum { FILE_MAX = 8192, INITIALIZING_S = 3600 };

/* A small file of git, trimmed; NULL if it does not exist. */
static char *word_of(struct arena *a, const char *dir, const char *name)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;

	if (sys_read_file(&text, path_join(a, dir, name), FILE_MAX, NULL, &ignored) < 0)
		return NULL;
	buf_utf8_repair(&text);
	return arena_dup(a, str_trim(buf_str(&text)));
}

static const char *busy_of(struct arena *a, const char *admin)
{
	static const struct {
		const char *file, *word;
	} signs[] = {
		{"rebase-merge", "rebase"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"BISECT_LOG", "bisect"},
		{"sequencer", "cherry-pick"},
	};

	for (size_t i = 0; i < COUNT(signs); i++)
		if (path_exists(path_join(a, admin, signs[i].file)))
			return signs[i].word;
	return NULL;
}

static void read_head(struct arena *a, const char *admin, struct place *out)
{
	static const char prefix[] = "ref: refs/heads/";
	char *head = word_of(a, admin, "HEAD");

	if (head && str_starts(str_of(head), prefix))
		out->branch = head + sizeof(prefix) - 1;
	else
		out->commit = head ? head : "";
}

void place_look(struct arena *a, const char *admin, struct place *out)
{
	char *to = word_of(a, admin, "gitdir"), *back;
	struct error ignored;
	const char *text;

	*out = (struct place){.admin = admin, .locked = word_of(a, admin, "locked")};
	read_head(a, admin, out);
	if (!to || !*to)
		return;
	if (port_path(a, path_join(a, admin, to), &to, &ignored) < 0)
		return;
	if (str_ends(str_of(to), "/.git"))
		to[strlen(to) - strlen("/.git")] = '\0';
	out->path = to;
	if (!worktree_pointer(a, to, &back, &text) || !back)
		return;
	out->there = strcmp(back, admin) == 0;
}

const char *place_busy(struct arena *a, const char *admin)
{
	return busy_of(a, admin);
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int places_read(
	struct arena *a, const char *common, struct place **out, size_t *n, struct error *err)
{
	const char *dir = path_join(a, common, "worktrees");
	struct dirent **names;
	int found = scandir(dir, &names, visible, alphasort);

	*n = 0;
	*out = NULL;
	if (found < 0 && errno == ENOENT)
		return 0;
	if (found < 0)
		return error_errno(err, "cannot read '%s'", dir);
	*out = arena_alloc(a, ((size_t)found + 1) * sizeof(**out));
	for (int i = 0; i < found; i++) {
		place_look(a, path_join(a, dir, names[i]->d_name), &(*out)[(*n)++]);
		free(names[i]);
	}
	free(names);
	return 0;
}

/* The number of a `pid 123`, `pid: 123` or `pid=123` that begins here; 0: none. */
static pid_t pid_at(const char *text, const char *at)
{
	const char *digits = at + strlen("pid");
	char *end;
	long pid;

	if (at > text && (isalnum((unsigned char)at[-1]) || strchr("-_.", at[-1])))
		return 0;
	digits += strspn(digits, " :=#");
	if (digits == at + strlen("pid") || !isdigit((unsigned char)*digits))
		return 0;
	pid = strtol(digits, &end, 10);
	if (isalnum((unsigned char)*end) || (strchr("-_", *end) && *end))
		return 0;
	return pid > 0 && pid < INT_MAX ? (pid_t)pid : 0;
}

/* It names processes, as the agents' own tools do, and none of them is running. */
static bool names_the_dead(const char *text)
{
	struct process_info info;
	bool any = false;

	for (const char *at = text; (at = strstr(at, "pid")); at++) {
		pid_t pid = pid_at(text, at);

		if (pid && process_info(pid, &info))
			return false;
		any = any || pid;
	}
	return any;
}

bool lock_is_dead(struct arena *a, const struct place *at)
{
	struct stat st;

	if (!at->locked)
		return false;
	if (strcmp(at->locked, "initializing") == 0)
		return stat(path_join(a, at->admin, "locked"), &st) == 0 &&
		       clock_now() - st.st_mtime > INITIALIZING_S;
	return names_the_dead(at->locked);
}

int place_of(struct arena *a, struct pool *p, const char *path, struct place *out, bool *found,
	struct error *err)
{
	struct place *list;
	size_t n;

	*found = false;
	if (places_read(a, p->common, &list, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n && !*found; i++)
		if (list[i].path && strcmp(list[i].path, path) == 0) {
			*out = list[i];
			*found = true;
		}
	return 0;
}

/* A directory in `dir` whose pointer names this admin directory. */
static const char *directory_of(struct arena *a, const char *dir, const char *admin)
{
	struct dirent **names;
	const char *found = NULL;
	int n = scandir(dir, &names, visible, alphasort);

	for (int i = 0; i < n; i++) {
		const char *path = path_join(a, dir, names[i]->d_name), *text;
		char *to;

		if (!found && worktree_pointer(a, path, &to, &text) && to && strcmp(to, admin) == 0)
			found = path;
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return found;
}

int place_moved(struct arena *a, struct pool *p, const char *path, const char *branch,
	const char **to, struct error *err)
{
	struct place *list;
	size_t n;

	*to = NULL;
	if (places_read(a, p->common, &list, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n && !*to; i++) {
		const struct place *at = &list[i];

		if (at->there && at->branch && strcmp(at->branch, branch) == 0 &&
			strcmp(at->path, path) != 0)
			*to = at->path;
		if (at->there || !at->path || strcmp(at->path, path) != 0)
			continue;
		*to = directory_of(a, arena_dup(a, path_dir(path)), at->admin);
		if (!*to)
			*to = directory_of(a, p->dir, at->admin);
	}
	return 0;
}
