/*
 * Redirections. What a target is was asked before anything is opened; it is opened from the root's
 * descriptor by its real path, and no link is followed on the way: what was checked is what is
 * opened, or nothing is.
 */
#include <errno.h>
#include <sys/mman.h>
#include "src/policy/beneath.h"
#include "src/sandbox/interpret_internal.h"

enum { UNCHANGED = -1, CLOSED = -2, FILE_MODE = 0666 };

int open_beneath(const struct root *r, struct str path, int flags)
{
	char name[PATH_MAX];

	if (path.n >= sizeof(name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	(void)snprintf(name, sizeof(name), "%.*s", (int)path.n, path.n ? path.p : "");
	return beneath_open(r->fd, path.n ? name : ".", flags, flags & O_CREAT ? FILE_MODE : 0,
		BENEATH | NO_LINKS);
}

/* Devices, and what may be read outside the root: by its real path, which was asked about. */
static int open_outside(struct str full, int flags)
{
	char name[PATH_MAX];

	if (!full.n || full.n >= sizeof(name)) {
		errno = ENOENT;
		return -1;
	}
	(void)snprintf(name, sizeof(name), "%.*s", (int)full.n, full.p);
	return beneath_open(AT_FDCWD, name, flags & ~(O_CREAT | O_TRUNC), 0, NO_LINKS);
}

static int open_place(struct shell *sh, const struct place *p, int flags)
{
	return p->outside ? open_outside(p->full, flags) : open_beneath(sh->root, p->path, flags);
}

/* A file in memory, sealed: a pipe could fill up before there is anybody to read it. */
static int open_text(struct str text)
{
	int fd = memfd_create("text", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	size_t at = 0;

	while (fd >= 0 && at < text.n) {
		ssize_t n = write(fd, text.p + at, text.n - at);

		if (n < 0 && errno != EINTR) {
			close(fd);
			return -1;
		}
		at += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0) {
		(void)fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK);
		(void)lseek(fd, 0, SEEK_SET);
	}
	return fd;
}

static int flags_of(enum redirect_kind kind)
{
	switch (kind) {
	case REDIRECT_READ:
		return O_RDONLY | O_NOCTTY;
	case REDIRECT_APPEND:
	case REDIRECT_BOTH_APPEND:
		return O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY;
	default:
		return O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY;
	}
}

static bool has_target(const struct redirect *r)
{
	return r->kind != REDIRECT_DUP && r->kind != REDIRECT_CLOSE && !r->document;
}

static int target_check(struct turn *t, const struct redirect *r, struct target *out)
{
	struct arg arg = {.at = r->at};

	out->redirect = r;
	if (has_target(r) && expand_single(&t->expander, &r->word, &arg) < 0)
		return -1;
	out->name = arg.text;
	if (r->kind == REDIRECT_TEXT) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		buf_add(&text, r->document ? r->text : arg.text);
		if (!r->document)
			buf_addc(&text, '\n');
		out->text = arena_str(&t->arena, buf_str(&text));
	}
	return check_redirect(&t->check, r, &arg, t->expander.cwd, &out->place);
}

int targets_check(struct turn *t, const struct node *n, struct targets *out)
{
	*out = (struct targets){.n = n->n_redirects};
	if (!out->n)
		return 0;
	out->p = arena_alloc(&t->arena, out->n * sizeof(*out->p));
	for (size_t i = 0; i < out->n; i++)
		if (target_check(t, &n->redirects[i], &out->p[i]) < 0)
			return -1;
	return 0;
}

static void save(struct saved *saved, int fd)
{
	if (!saved || saved->fd[fd] != UNCHANGED)
		return;
	saved->fd[fd] = fcntl(fd, F_DUPFD_CLOEXEC, SHELL_OWN_FD);
	if (saved->fd[fd] < 0)
		saved->fd[fd] = CLOSED;
}

void saved_begin(struct saved *s)
{
	for (int fd = 0; fd < SHELL_FDS; fd++)
		s->fd[fd] = UNCHANGED;
}

void saved_restore(struct saved *s)
{
	for (int fd = 0; fd < SHELL_FDS; fd++) {
		if (s->fd[fd] >= 0) {
			(void)dup2(s->fd[fd], fd);
			close(s->fd[fd]);
		} else if (s->fd[fd] == CLOSED) {
			close(fd);
		}
		s->fd[fd] = UNCHANGED;
	}
}

static int name_fault(const struct target *t)
{
	shell_say("cannot open '%.*s': %s", (int)t->name.n, t->name.n ? t->name.p : "",
		strerror(errno));
	return -1;
}

static int put(int fd, int onto, struct saved *saved)
{
	save(saved, onto);
	return dup2(fd, onto) < 0 ? -1 : 0;
}

/* &>: both of them onto one description, so that neither overwrites the other. */
static int put_file(int fd, const struct redirect *r, struct saved *saved)
{
	if (r->kind != REDIRECT_BOTH && r->kind != REDIRECT_BOTH_APPEND)
		return put(fd, r->fd, saved);
	return put(fd, STDOUT_FILENO, saved) < 0 || put(fd, STDERR_FILENO, saved) < 0 ? -1 : 0;
}

static int apply(struct shell *sh, const struct target *t, struct saved *saved)
{
	const struct redirect *r = t->redirect;
	CLEANUP(base_close) int fd = -1;

	if (r->kind == REDIRECT_DUP) {
		if (fcntl(r->other, F_GETFD) >= 0 && put(r->other, r->fd, saved) == 0)
			return 0;
		shell_say("cannot use descriptor %d: %s", r->other, strerror(errno));
		return -1;
	}
	if (r->kind == REDIRECT_CLOSE) {
		save(saved, r->fd);
		close(r->fd);
		return 0;
	}
	fd = r->kind == REDIRECT_TEXT ? open_text(t->text)
				      : open_place(sh, &t->place, flags_of(r->kind));
	fd = shell_lift(fd);
	return fd < 0 || put_file(fd, r, saved) < 0 ? name_fault(t) : 0;
}

int targets_apply(struct shell *sh, const struct targets *list, struct saved *saved)
{
	for (size_t i = 0; i < list->n; i++)
		if (apply(sh, &list->p[i], saved) < 0)
			return -1;
	return 0;
}
