#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include "src/sys/path.h"

enum {
	READ_STEP = 16384,
	PART_MAX = 240, /* bytes of a directory's name in a slug */
};

enum { ID_SHOWN = 120 };

bool path_is_id(struct str id)
{
	if (!id.n || id.n > ID_MAX || !isalnum((unsigned char)id.p[0]))
		return false;
	for (size_t i = 0; i < id.n; i++) {
		char c = id.p[i];

		if (!c || (!isalnum((unsigned char)c) && !strchr("._-", c)))
			return false;
		if (c == '.' && i && id.p[i - 1] == '.')
			return false;
	}
	return true;
}

int path_check_id(const char *id, struct error *err)
{
	CLEANUP(buf_release) struct buf shown = BUF_INIT;

	if (path_is_id(str_of(id)))
		return 0;
	buf_add_printable(&shown, str_of(id), ID_SHOWN);
	return error_set(err, ERR_USAGE,
		"bad work item id '%s': must be letters, digits, '.', '_', '-', at most 100, "
		"begin with a letter or digit, no '..'",
		shown.len ? shown.s : "");
}

/* An id that may also have `%XX`, and may begin with it. */
static bool is_slug_part(struct str part)
{
	CLEANUP(buf_release) struct buf plain = BUF_INIT;

	if (part.n > PART_MAX)
		return false;
	for (size_t i = 0; i < part.n; i++) {
		bool escape = part.p[i] == '%' && part.n - i > 2 &&
			      isxdigit((unsigned char)part.p[i + 1]) &&
			      isxdigit((unsigned char)part.p[i + 2]);

		if (part.p[i] == '%' && !escape)
			return false;
		buf_addc(&plain, escape ? 'x' : part.p[i]);
		i += escape ? 2 : 0;
	}
	return path_is_id(buf_str(&plain));
}

bool path_is_slug(struct str slug)
{
	if (!slug.n || slug.n > 4 * ID_MAX)
		return false;
	while (slug.n) {
		size_t end = str_find(slug, STR("/"));

		if (!is_slug_part(str_sub(slug, 0, end)) || end + 1 == slug.n)
			return false;
		slug = end < slug.n ? str_sub(slug, end + 1, slug.n) : (struct str){0};
	}
	return true;
}

char *path_join(struct arena *a, const char *dir, const char *name)
{
	if (name[0] == '/' || !dir[0])
		return arena_dup(a, str_of(name));
	return arena_printf(a, "%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", name);
}

char *path_absolute(struct arena *a, const char *path)
{
	CLEANUP(base_free) char *cwd = path[0] == '/' ? NULL : getcwd(NULL, 0);

	return cwd ? path_join(a, cwd, path) : arena_dup(a, str_of(path));
}

char *path_normalize(struct arena *a, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (path = path_absolute(a, path); *path;) {
		struct str part = {path, strcspn(path, "/")};
		const char *slash = text.len ? strrchr(text.s, '/') : NULL;

		path += part.n + (path[part.n] == '/');
		if (str_is(part, ".."))
			buf_cut(&text, slash ? (size_t)(slash - text.s) : 0);
		else if (part.n && !str_is(part, "."))
			buf_addf(&text, "/%.*s", (int)part.n, part.p);
	}
	return arena_dup(a, text.len ? buf_str(&text) : STR("/"));
}

char *path_real(struct arena *a, const char *path)
{
	char real[PATH_MAX], *plain = path_normalize(a, path), *rest = arena_dup(a, str_of(""));

	if (realpath(path, real))
		return arena_dup(a, str_of(real));
	while (!realpath(plain, real)) {
		rest = arena_printf(a, "/%s%s", path_base(plain).p, rest);
		plain = arena_dup(a, path_dir(plain));
	}
	return strcmp(real, "/") == 0 && *rest ? rest : arena_printf(a, "%s%s", real, rest);
}

bool path_is_below(const char *dir, const char *path)
{
	size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

	return strncmp(dir, path, n) == 0 && path[n] == '/' && path[n + 1];
}

char *path_relative(struct arena *a, const char *from, const char *path)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	size_t same = 0;

	for (size_t i = 0; from[i] == path[i] || !from[i] || !path[i]; i++) {
		if ((!from[i] || from[i] == '/') && (!path[i] || path[i] == '/'))
			same = i;
		if (!from[i] || !path[i])
			break;
	}
	for (const char *p = from + same; *p; p++)
		if (*p == '/' && p[1])
			buf_adds(&out, "../");
	buf_adds(&out, path + same + strspn(path + same, "/"));
	if (str_ends(buf_str(&out), "/"))
		buf_cut(&out, out.len - 1);
	return arena_dup(a, out.len ? buf_str(&out) : STR("."));
}

char *path_resolve(struct arena *a, const char *from, const char *path)
{
	struct str dir = str_of(from);

	for (size_t n; (n = strcspn(path, "/")) && strspn(path, ".") == n && n <= 2;) {
		if (n == 2)
			dir = path_dir(arena_dup(a, dir));
		path += n + (path[n] == '/');
	}
	return *path ? path_join(a, arena_dup(a, dir), path) : arena_dup(a, dir);
}

struct str path_dir(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return STR(".");
	return (struct str){path, slash == path ? 1 : (size_t)(slash - path)};
}

struct str path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return str_of(slash ? slash + 1 : path);
}

/* ---- looks ---- */

/* The first look that a fault of the disk kept from an answer, and that was taken for a "no". */
static struct {
	int error; /* 0: there is none */
	char path[PATH_MAX];
} unseen;

bool path_is_fault(int error)
{
	return error == EIO || error == EINTR || error == ENOMEM;
}

void path_note_look(const char *path)
{
	if (!path_is_fault(errno) || unseen.error)
		return;
	unseen.error = errno;
	(void)snprintf(unseen.path, sizeof(unseen.path), "%s", path);
	errno = unseen.error;
}

/* errno is that of the look. */
static bool path_saw(const char *path, bool yes)
{
	if (!yes)
		path_note_look(path);
	return yes;
}

int path_check_looks(struct error *err)
{
	errno = unseen.error;
	unseen.error = 0;
	return errno ? error_errno(err, "cannot access '%s'", unseen.path) : 0;
}

bool path_exists(const char *path)
{
	return path_saw(path, TEMP_FAILURE_RETRY(access(path, F_OK)) == 0);
}

int path_check_exists(const char *path, bool *exists, struct error *err)
{
	*exists = TEMP_FAILURE_RETRY(access(path, F_OK)) == 0;
	if (*exists || !path_is_fault(errno))
		return 0;
	return error_errno(err, "cannot access '%s'", path);
}

bool path_is_directory(const char *path)
{
	struct stat st;

	return path_saw(path, stat(path, &st) == 0) && S_ISDIR(st.st_mode);
}

/* ---- directories ---- */

int path_make_each(
	const char *dir, int (*make)(const char *dir, struct error *err), struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};

	if (path_is_directory(dir))
		return 0;
	for (size_t i = 1; dir[0] && dir[i]; i++) {
		const char *upper = dir[i] == '/' ? arena_dup(&a, (struct str){dir, i}) : NULL;

		if (upper && !path_is_directory(upper) && make(upper, err) < 0)
			return -1;
	}
	return path_is_directory(dir) ? 0 : make(dir, err);
}

static bool sharing;

void path_share(void)
{
	mode_t mask = umask(0);

	(void)umask(mask & ~(mode_t)S_IRWXG);
	sharing = true;
}

bool path_is_shared(const char *dir)
{
	struct stat st;

	return stat(dir, &st) == 0 && (st.st_mode & S_ISGID) && (st.st_mode & S_IWGRP);
}

mode_t path_new_mode(const char *path, mode_t own)
{
	CLEANUP(arena_release) struct arena a = {0};

	if (!sharing || !path_is_shared(arena_dup(&a, path_dir(path))))
		return own;
	return own | (own >> 3);
}

static int path_make_directory(const char *dir, struct error *err)
{
	if (mkdir(dir, path_new_mode(dir, 0700)) == 0 ||
		(errno == EEXIST && path_is_directory(dir)))
		return 0;
	return error_errno(err, "cannot make directory '%s'", dir);
}

int path_mkdirs(const char *dir, struct error *err)
{
	return path_make_each(dir, path_make_directory, err);
}

int sys_read_all(struct buf *out, int fd, size_t max, const char *name, struct error *err)
{
	for (;;) {
		ssize_t n;

		buf_reserve(out, READ_STEP);
		n = read(fd, out->s + out->len, out->cap - out->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, "cannot read '%s'", name);
		out->len += (size_t)n;
		out->s[out->len] = '\0';
		if (out->len > max)
			return error_set(
				err, ERR_INPUT, "'%s' is larger than %zu bytes", name, max);
		if (n == 0)
			return 0;
	}
}

int sys_read_file(struct buf *out, const char *path, size_t max, bool *missing, struct error *err)
{
	CLEANUP(base_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (missing)
		*missing = fd < 0 && errno == ENOENT;
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno(err, "cannot open '%s'", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERR_INPUT, "'%s' is not a regular file", path);
	if ((uint64_t)st.st_size > max)
		return error_set(err, ERR_INPUT, "'%s' is larger than %zu bytes", path, max);
	/* So that reading it needs no second allocation. */
	buf_reserve(out, (size_t)st.st_size + READ_STEP);
	return sys_read_all(out, fd, max, path, err);
}

char *sys_read_small(struct arena *a, const char *path, size_t max)
{
	CLEANUP(base_close)
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	char *text;
	ssize_t n;

	if (!path_saw(path, fd >= 0 && fstat(fd, &st) == 0) || !S_ISREG(st.st_mode) ||
		(uint64_t)st.st_size > max)
		return NULL;
	text = arena_alloc(a, (size_t)st.st_size + 1);
	n = TEMP_FAILURE_RETRY(pread(fd, text, (size_t)st.st_size, 0));
	text[n > 0 ? n : 0] = '\0';
	return path_saw(path, n >= 0) ? text : NULL;
}

int sys_write_all(int fd, struct str text, const char *name, struct error *err)
{
	while (text.n) {
		ssize_t n = write(fd, text.p, text.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_errno(err, "cannot write '%s'", name);
		text.p += n;
		text.n -= (size_t)n;
	}
	return 0;
}

const char *path_find_program(struct arena *a, const char *name, bool *blocked)
{
	const char *path = getenv("PATH");
	struct str rest = str_of(path ? path : "/usr/local/bin:/usr/bin:/bin");

	*blocked = false;
	while (rest.n) {
		size_t n = str_find(rest, STR(":"));
		struct str dir = str_sub(rest, 0, n);
		struct stat st;
		const char *file;

		rest = str_sub(rest, n < rest.n ? n + 1 : n, rest.n);
		if (!str_starts(dir, "/"))
			continue;
		file = path_join(a, arena_dup(a, dir), name);
		if (stat(file, &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		if (access(file, X_OK) == 0)
			return file;
		*blocked = true;
	}
	return NULL;
}

const char *path_own_program(struct arena *a)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe));

	return n > 0 && n < PATH_MAX ? arena_dup(a, (struct str){exe, (size_t)n}) : NULL;
}
