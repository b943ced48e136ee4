/*
 * `git apply` and `git am` write what a patch names: its names are asked about like operands. What
 * is read from standard input cannot be looked at, nor what the same line may have written before.
 */
#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/policy/bin_git.h"
#include "src/policy/trail.h"

enum { PATCH_MAX = 16 << 20, PARTS_MAX = 256 };

/*
 * How many parts are cut off in front depends on -p and on who made the patch, so each end of the
 * name is asked about, from the directory and from the top.
 */
static int check_name(struct git_use *u, const struct arg *patch, struct str name)
{
	struct call top = u->call;
	struct arg arg = *patch;
	unsigned parts = 0;

	top.cwd = STR("");
	while (name.n) {
		size_t slash = str_find(name, STR("/"));

		arg.text = arena_str(u->c->arena, name);
		if (++parts > PARTS_MAX || name.p[0] == '/')
			return git_no(
				u, RULE_OPERAND, patch, "a name in the patch is not a file name");
		if (check_path(u->c, &u->call, &arg, ACCESS_ENTRY, false) < 0 ||
			check_path(u->c, &top, &arg, ACCESS_ENTRY, false) < 0)
			return -1;
		name = str_sub(name, slash < name.n ? slash + 1 : name.n, name.n);
	}
	return 0;
}

/* `a/x` of `+++ a/x<TAB>date`; in quotes only what has no letters by number. */
static int check_header(struct git_use *u, const struct arg *patch, struct str rest)
{
	rest = str_sub(rest, 0, str_find(rest, STR("\t")));
	rest = str_trim(rest);
	if (str_is(rest, "/dev/null") || !rest.n)
		return 0;
	if (rest.p[0] != '"')
		return check_name(u, patch, rest);
	if (str_find(rest, STR("\\0")) < rest.n || str_find(rest, STR("\\1")) < rest.n)
		return git_no(u, RULE_OPERAND, patch, "a name in the patch is written by numbers");
	return check_name(u, patch, str_sub(rest, 1, rest.n - (rest.n > 1)));
}

/* A mail may hide what it says: base64, quoted-printable. */
static bool is_encoded(struct str line)
{
	static const char head[] = "content-transfer-encoding:";
	struct str how;

	if (line.n < sizeof(head) - 1 || strncasecmp(line.p, head, sizeof(head) - 1) != 0)
		return false;
	how = str_trim(str_sub(line, sizeof(head) - 1, line.n));
	return !str_is(how, "8bit") && !str_is(how, "7bit");
}

static int check_line(struct git_use *u, const struct arg *patch, struct str line)
{
	static const char *const heads[] = {
		"+++ ", "--- ", "rename to ", "rename from ", "copy to ", "copy from "};
	static const char git[] = "diff --git ";

	if (is_encoded(line))
		return git_no(u, RULE_OPERAND, patch, "the mail is encoded");
	for (size_t i = 0; i < COUNT(heads); i++)
		if (str_starts(line, heads[i]))
			return check_header(u, patch, str_sub(line, strlen(heads[i]), line.n));
	if (!str_starts(line, git))
		return 0;
	/* Two names with a blank between them; where a name has a blank each piece is asked. */
	line = str_sub(line, sizeof(git) - 1, line.n);
	while (line.n) {
		size_t blank = str_find(line, STR(" "));

		if (check_header(u, patch, str_sub(line, 0, blank)) < 0)
			return -1;
		line = str_sub(line, blank < line.n ? blank + 1 : blank, line.n);
	}
	return 0;
}

/* git itself will find none. */
enum { NONE = -2 };

static int open_patch(struct git_use *u, const struct arg *patch)
{
	struct place place;
	struct stat st;
	int fd;

	if (u->c->wrote && !u->c->live)
		return git_no(u, RULE_OPERAND, patch,
			"the line writes before: apply the patch by a command of its own");
	if (bin_is(patch, "-"))
		return git_no(
			u, RULE_OPERAND, patch, "standard input cannot be checked: give a file");
	if (check_path(u->c, &u->call, patch, ACCESS_READ, false) < 0)
		return -1;
	if (bin_place(u->c, &u->call, patch, &place) < 0 || place.device || place.folder)
		return git_no(u, RULE_OPERAND, patch, "the patch must be a file");
	if (!place.exists)
		return NONE;
	fd = open(
		arena_dup(u->c->arena, place.full), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > PATCH_MAX) {
		base_close(&fd);
		return git_no(u, RULE_OPERAND, patch,
			"the patch is not a file, or is larger than 16 MiB");
	}
	return fd;
}

static int check_patch(struct git_use *u, const struct arg *patch)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error err = {0};
	struct str rest, line;
	CLEANUP(base_close) int fd = open_patch(u, patch);

	if (fd < 0)
		return fd == NONE ? 0 : -1;
	if (sys_read_all(&text, fd, PATCH_MAX, "patch", &err) < 0)
		return git_no(u, RULE_OPERAND, patch, "the patch cannot be read");
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		if (check_line(u, patch, line) < 0)
			return -1;
	return 0;
}

static int check_patches(struct git_use *u, bool needs_one)
{
	bool wrote = u->c->wrote;

	u->operands = "file*";
	for (size_t i = 0; i < u->p.n; i++)
		if (str_is(u->p.options[i].name, "--directory") &&
			check_path(u->c, &u->call, &u->p.options[i].value, ACCESS_WRITE, true) < 0)
			return -1;
	if (needs_one && !u->p.n_operands)
		return git_no(u, RULE_OPERAND, &u->call.args[u->at],
			"a patch from standard input cannot be checked: give a file");
	for (size_t i = 0; i < u->p.n_operands; i++) {
		u->c->wrote = wrote; /* by what was before, not by asking */
		if (check_patch(u, &u->p.operands[i]) < 0)
			return -1;
	}
	u->c->wrote = true;
	return 0;
}

/* Looking at what a patch would do is no change. */
int git_check_apply(struct git_use *u)
{
	static const char *const looks[] = {"--stat", "--numstat", "--summary", "--check", NULL};

	if (git_any(u, looks) && !given_any(&u->p, "--apply"))
		return 0;
	return git_writes(u) < 0 ? -1 : check_patches(u, true);
}

int git_check_am(struct git_use *u)
{
	static const char *const goes_on[] = {
		"--continue", "--skip", "--abort", "--quit", "-r", "--show-current-patch", NULL};

	return check_patches(u, !git_any(u, goes_on));
}
