/*
 * git_repository.c: the repository around a directory, its main work tree, and what it excludes.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include "src/sys/git.h"
#include "src/sys/path.h"

enum { EXCLUDE_MAX = 1 << 20 };

const char *git_main_tree(struct arena *a, const char *common)
{
	struct git_core core;

	git_config_core(a, common, &core);
	if (core.bare)
		return common;
	if (core.worktree)
		return path_real(a, path_join(a, common, core.worktree));
	return strcmp(path_base(common).p, ".git") == 0 ? arena_dup(a, path_dir(common)) : common;
}

int git_find_repository(struct arena *a, const char *from, const char **tree, const char **common,
	struct error *err)
{
	const char *const argv[] = {"git", "-C", from, "rev-parse", "--path-format=absolute",
		"--git-common-dir", "--absolute-git-dir", "--show-toplevel", NULL};
	const struct git_command c = {.name = "git rev-parse", .argv = argv};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, line[3] = {{0}};
	int status;

	if (git_command(&c, &out, &status, err) < 0)
		return -1;
	rest = buf_str(&out);
	for (size_t i = 0; i < COUNT(line) && str_line(&rest, &line[i]); i++)
		;
	if (!str_starts(line[0], "/")) {
		if (git_check_status(c.name, status, &out, false, err) == 0)
			(void)error_set(
				err, ERR_STATE, "git printed '%.*s'", (int)line[0].n, line[0].p);
		err->code = ERR_STATE;
		return error_prefix(err, "cannot use the repository of '%s'", from);
	}
	*common = path_real(a, arena_dup(a, line[0]));
	if (!str_eq(line[0], line[1])) /* of a linked work tree */
		*tree = git_main_tree(a, *common);
	else /* a bare one has no work tree: git says so, and fails */
		*tree = status == 0 ? path_real(a, arena_dup(a, line[2])) : *common;
	return 0;
}

int git_add_exclude(struct arena *a, const char *common, const char *dir, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, line = BUF_INIT;
	const char *file = path_join(a, common, "info/exclude");
	CLEANUP(base_close) int fd = -1;
	bool missing = false;

	buf_addc(&text, '\n');
	if (sys_read_file(&text, file, EXCLUDE_MAX, &missing, err) < 0 && !missing)
		return -1;
	buf_addc(&line, '\n');
	for (const char *c = dir; *c; c++) /* as gitignore(5) has it */
		buf_addf(&line, "%s%c", strchr("\\*?[ ", *c) ? "\\" : "", *c);
	buf_adds(&line, "/\n");
	if (str_find(buf_str(&text), buf_str(&line)) < text.len)
		return 0;
	(void)mkdir(path_join(a, common, "info"), 0777);
	/* It may be a link to a file that several repositories share. */
	fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	return fd < 0 ? error_errno(err, "cannot write '%s'", file)
		      : sys_write_all(fd,
				str_sub(buf_str(&line), str_ends(buf_str(&text), "\n"), line.len),
				file, err);
}
