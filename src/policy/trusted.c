/*
 * Programs are looked up in two directories that only the system's packages write to, never by
 * $PATH. The real file is what is started, so that a link cannot be turned between check and start.
 */
#include <errno.h>
#include "src/policy/trail.h"

static const char *const folders[] = {"/usr/bin", "/bin"};
static const char *const homes[] = {"/usr", "/bin", "/lib", "/lib64"};

static bool plain_bytes(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] > '~')
			return false;
	return name.n > 0;
}

static bool in_homes(struct str real)
{
	struct str rest;

	for (size_t i = 0; i < COUNT(homes); i++)
		if (path_below(real, str_of(homes[i]), &rest))
			return true;
	return false;
}

struct program_file {
	int fd;
	struct stat st;
	size_t n;
	char real[PATH_MAX];
};

static void program_close(struct program_file *f)
{
	base_close(&f->fd);
}

/* 0; -1 with errno when there is none, or `*why` when it is not to be trusted. */
static int program_open(const char *path, struct program_file *f, const char **why)
{
	*why = NULL;
	f->fd = beneath_open(AT_FDCWD, path, O_PATH, 0, 0);
	if (f->fd < 0 || fd_real(f->fd, f->real, &f->n) < 0 || fstat(f->fd, &f->st) < 0)
		return -1;
	if (!in_homes((struct str){f->real, f->n}))
		*why = "program that lies outside the system's directories";
	else if (!S_ISREG(f->st.st_mode) || !(f->st.st_mode & 0111))
		*why = "file that is not a program";
	else if (f->st.st_mode & 022)
		*why = "program that others than its owner may write";
	return *why ? -1 : 0;
}

/* 1 found, 0 not installed, -1 with `*why`. */
static int look_up(struct str name, struct program_file *f, const char **why)
{
	for (size_t i = 0; i < COUNT(folders); i++) {
		char path[PATH_MAX];

		(void)snprintf(path, sizeof(path), "%s/%.*s", folders[i], (int)name.n, name.p);
		if (program_open(path, f, why) == 0)
			return 1;
		if (!*why && errno != ENOENT && errno != ENOTDIR)
			*why = "program that cannot be looked at";
		if (*why)
			return -1;
		program_close(f);
	}
	return 0;
}

static struct str last_part(struct str name)
{
	size_t n = name.n;

	while (n && name.p[n - 1] != '/')
		n--;
	return str_sub(name, n, name.n);
}

/* Does the absolute `path` lead to the same file? */
static bool leads_there(struct str path, const struct program_file *f)
{
	CLEANUP(program_close) struct program_file other = {.fd = -1};
	char text[PATH_MAX];
	const char *why;

	(void)snprintf(text, sizeof(text), "%.*s", (int)path.n, path.p);
	return program_open(text, &other, &why) == 0 && same_file(&other.st, &f->st);
}

static int distrust(
	struct verdict *v, struct span at, struct str name, struct str real, const char *why)
{
	return deny_word(v, RULE_NAME_TRUSTED, at, name, real, "%s", why);
}

int trusted_program(
	struct arena *a, struct str name, struct span at, struct str *out, struct verdict *v)
{
	CLEANUP(program_close) struct program_file f = {.fd = -1};
	bool absolute = name.n && name.p[0] == '/';
	struct str base = absolute ? last_part(name) : name;
	const char *why = NULL;
	int found;

	*out = STR("");
	if (!plain_bytes(name))
		return deny_word(v, RULE_NAME_BYTES, at, name, STR(""),
			"name of a program with other than plain characters");
	if (!base.n || memchr(base.p, '/', base.n) || str_is(base, ".") || str_is(base, ".."))
		return distrust(v, at, name, STR(""), "program named by a path");
	if (name.n > NAME_MAX)
		return distrust(v, at, name, STR(""), "name that is too long");
	found = look_up(base, &f, &why);
	if (found < 0)
		return distrust(v, at, name, arena_str(a, (struct str){f.real, f.n}), why);
	if (absolute && (!found || !leads_there(name, &f)))
		return distrust(
			v, at, name, STR(""), "path of a program that is not the system's own");
	if (found)
		*out = arena_str(a, (struct str){f.real, f.n});
	return 0;
}

static bool is_script(const struct policy *p, struct str rel)
{
	for (size_t i = 0; i < p->scripts.n; i++) {
		struct str listed = str_of(p->scripts.p[i]);

		while (str_starts(listed, "./"))
			listed = str_sub(listed, 2, listed.n);
		if (str_eq(listed, rel))
			return true;
	}
	return false;
}

int script_allowed(struct arena *a, const struct root *r, const struct policy *p, struct str cwd,
	struct str name, struct span at, struct str *out, struct verdict *v)
{
	CLEANUP(trail_close) struct trail t = TRAIL_INIT;

	*out = STR("");
	if (name.n && memchr(name.p, '/', name.n) && trail_follow(r, cwd, name, false, &t) == 0 &&
		t.below && is_script(p, t.rel)) {
		if (t.exists && (!S_ISREG(t.st.st_mode) || !(t.st.st_mode & 0111)))
			return distrust(v, at, name, arena_str(a, (struct str){t.real, t.n}),
				"file that is not a program");
		if (t.exists)
			*out = arena_str(a, (struct str){t.real, t.n});
		return 0;
	}
	return distrust(v, at, name, arena_str(a, (struct str){t.real, t.n}),
		"program that is neither the system's nor one of the policy's scripts");
}
