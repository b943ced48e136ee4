#include <errno.h>
#include <fcntl.h>
#include "context/file.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"
#include "src/policy/check.h"
#include "src/policy/clearance.h"

/* An answer that cannot be had counts as yes. */
static bool is_there(const char *file)
{
	return access(file, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* The clearance file of a directory, or its mark among `marks`. */
static char *clearance_name_in(struct arena *a, const char *folder, const char *marks)
{
	char name[DIGEST_TEXT];

	if (!marks)
		return path_join(a, folder, ".dev-team/clearance.yaml");
	digest_text(str_of(folder), name);
	return path_join(a, marks, name);
}

/* The first that is there, for the directory or one above it; NULL: none. */
static char *clearance_upwards(struct arena *a, const char *folder, const char *marks)
{
	for (char *path = path_real(a, folder);; path = arena_dup(a, path_dir(path))) {
		char *name = clearance_name_in(a, path, marks);

		if (is_there(name))
			return name;
		if (!path[1])
			return NULL;
	}
}

/* A worktree somewhere else has the file of the repository that it belongs to. */
char *clearance_find(struct arena *a, const char *folder)
{
	char *file = clearance_upwards(a, folder, NULL), *own;
	struct root root;
	struct error ignored = {0};

	if (file || root_find(a, folder, &own, &ignored) < 0 ||
		root_open(a, own, &root, &ignored) < 0 || !root.common_dir)
		return file;
	return clearance_upwards(a, arena_dup(a, path_dir(root.common_dir)), NULL);
}

static char *marks_folder(struct arena *a)
{
	struct error ignored = {0};
	char *state;

	return context_state_directory(a, &state, &ignored) < 0 ? NULL
								: path_join(a, state, "clearances");
}

void clearance_mark(struct arena *a, const char *folder)
{
	char *marks = marks_folder(a), *mark;
	CLEANUP(base_close) int fd = -1;
	struct error ignored = {0};

	if (!marks)
		return;
	mark = clearance_name_in(a, folder, marks);
	if (path_exists(mark) || path_mkdirs(marks, &ignored) < 0)
		return;
	fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		(void)sys_write_all(fd, str_of(arena_printf(a, "%s\n", folder)), mark, &ignored);
}

char *clearance_marked(struct arena *a, const char *folder)
{
	char *marks = marks_folder(a);

	return marks && path_exists(marks) ? clearance_upwards(a, folder, marks) : NULL;
}

int clearance_policy(struct arena *a, const char *repo, const char *name, struct policy *out,
	struct verdict *v, struct error *err)
{
	char *file = path_join(a, repo, ".dev-team/clearance.yaml");
	const struct persona *persona;
	struct clearance c;
	bool there;

	if (clearance_load(a, file, &c, &there, err) < 0)
		return -1;
	if (!there)
		return error_set(err, ERR_INPUT, "'%s' does not exist", file);
	if (clearance_persona(&c, str_of(name), &persona, v) < 0 ||
		clearance_tool(persona, STR("Bash"), v) < 0)
		return 0;
	return policy_load(a, persona->policy, out, err);
}

int policy_question_open(struct arena *a, struct policy_question *q, const char *root,
	const char *policy, const char *persona, struct error *err)
{
	char *around = (char *)root;

	if ((!around && root_find(a, q->cwd, &around, err) < 0) ||
		root_open(a, around, &q->root, err) < 0)
		return -1;
	if (policy && persona)
		return error_set(err, ERR_USAGE, "give --policy or --persona, not both");
	if (persona)
		return clearance_policy(a, q->root.path, persona, &q->policy, &q->verdict, err);
	return policy_load(a, policy ? policy : "readonly", &q->policy, err);
}

void policy_question_check(struct arena *a, struct policy_question *q)
{
	if (!q->verdict.denied)
		(void)policy_check(a, &q->policy, &q->root, q->cwd, q->command, &q->verdict);
}
