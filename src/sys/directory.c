#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include "src/sys/directory.h"
#include "src/sys/path.h"

/* The deeper a path is, the longer it takes git to tell whether it is ignored: a thousand levels
 * take minutes. */
enum { DEPTH_MAX = 128 };

/* -1 with errno. */
static int stream_open(struct directory *d, int at, const char *path, int flags)
{
	*d = (struct directory){.fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags)};
	if (d->fd < 0)
		return -1;
	d->stream = fdopendir(d->fd);
	if (d->stream)
		return 0;
	close(d->fd);
	return -1;
}

int directory_open(struct directory *d, int at, const char *path, bool *missing, struct error *err)
{
	int rc = stream_open(d, at, path, 0);

	if (missing)
		*missing = rc < 0 && errno == ENOENT;
	return rc < 0 ? error_errno(err, "cannot read directory '%s'", path) : 0;
}

static enum file_type directory_type_of(int dir, const struct dirent *e)
{
	struct stat st;
	mode_t mode =
		e->d_type == DT_UNKNOWN && fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0
			? st.st_mode
			: DTTOIF(e->d_type);

	return S_ISREG(mode)   ? FILE_REGULAR
	       : S_ISDIR(mode) ? FILE_DIRECTORY
	       : S_ISLNK(mode) ? FILE_LINK
			       : FILE_OTHER;
}

static bool directory_is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* The names that are missing then must not count as "there are none". */
static void directory_note_fault(int fd)
{
	char link[64], path[PATH_MAX];
	int fault = errno;
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = fault ? readlink(link, path, sizeof(path) - 1) : 0;
	path[n > 0 ? n : 0] = '\0';
	errno = fault;
	path_note_look(path);
}

const char *directory_next(struct directory *d, enum file_type *type)
{
	const struct dirent *e;

	errno = 0;
	do
		e = readdir(d->stream);
	while (e && directory_is_dots(e->d_name));
	if (!e)
		directory_note_fault(d->fd);
	if (e && type)
		*type = directory_type_of(d->fd, e);
	return e ? e->d_name : NULL;
}

void directory_close(struct directory *d)
{
	if (d->stream)
		closedir(d->stream);
	*d = (struct directory){.fd = -1};
}

int directory_list(struct arena *a, const char *path, struct directory_names *out, bool *missing,
	struct error *err)
{
	CLEANUP(directory_close) struct directory d = {0};
	const char *name;

	*out = (struct directory_names){0};
	if (directory_open(&d, AT_FDCWD, path, missing, err) < 0)
		return -1;
	while ((name = directory_next(&d, NULL)))
		vec_push_in(a, out, arena_dup(a, str_of(name)));
	vec_sort(out, vec_by_text);
	return 0;
}

struct walk_state {
	enum directory_visit (*visit)(void *, const struct directory_entry *, struct error *);
	void *data;
	struct buf path; /* of the current entry, relative to the root */
	unsigned depth;
	struct error *err;
};

static int visit_directory(struct walk_state *s, int at, const char *name);

static int visit_entry(struct walk_state *s, int parent, const char *name, enum file_type type)
{
	size_t length = s->path.len;
	enum directory_visit answer;
	int rc;

	buf_adds(&s->path, length ? "/" : "");
	buf_adds(&s->path, name);
	answer =
		s->visit(s->data, &(struct directory_entry){s->path.s, name, parent, type}, s->err);
	rc = answer == DIRECTORY_STOP ? -1 : 0;
	if (answer == DIRECTORY_CONTINUE && type == FILE_DIRECTORY && s->depth <= DEPTH_MAX)
		rc = visit_directory(s, parent, name);
	buf_cut(&s->path, length);
	return rc;
}

static int visit_directory(struct walk_state *s, int at, const char *name)
{
	CLEANUP(directory_close) struct directory d = {0};
	enum file_type type;
	int rc = 0;

	if (stream_open(&d, at, name, s->depth ? O_NOFOLLOW : 0) < 0)
		return path_note_look(name), 0;
	s->depth++;
	while (rc == 0 && (name = directory_next(&d, &type)))
		rc = visit_entry(s, d.fd, name, type);
	s->depth--;
	return rc;
}

int directory_walk(const char *root,
	enum directory_visit (*visit)(
		void *data, const struct directory_entry *e, struct error *err),
	void *data, struct error *err)
{
	struct walk_state s = {.visit = visit, .data = data, .err = err};
	int rc = visit_directory(&s, AT_FDCWD, root);

	buf_release(&s.path);
	return rc;
}
