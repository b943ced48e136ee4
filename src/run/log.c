/* log.c: what agents print, kept beside the logs of scripts. */
#include <errno.h>
#include <fcntl.h>
#include "src/run/run_internal.h"
#include "src/sys/path.h"

enum { LOG_MAX = 64 << 20, LINE_MAX_BYTES = 1 << 20 };

char *run_log_path(struct arena *a, const char *document, const char *id)
{
	struct str base = path_base(document), part = run_action_state(id);
	const char *number = strrchr(id, '/');

	base.n -= str_ends(base, ".md") ? strlen(".md") : 0;
	return arena_printf(a, "%s/logs/%.*s-%.*s-%s.agent.log", arena_dup(a, path_dir(document)),
		(int)base.n, base.p, (int)part.n, part.p, number ? number + 1 : "0");
}

void run_log_open(struct run_log *l, const char *document, const char *id)
{
	const char *path;
	struct error ignored;

	*l = (struct run_log){.fd = -1};
	path = run_log_path(&l->arena, document, id);
	secrets_add(&l->arena, &l->secrets, (const char *const *)environ, NULL);
	if (path_mkdirs(arena_dup(&l->arena, path_dir(path)), &ignored) == 0)
		l->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static void log_write(struct run_log *l, const struct buf *text)
{
	struct error ignored;

	if (l->fd >= 0 && text->len)
		(void)sys_write_all(l->fd, buf_str(text), "log", &ignored);
}

/* Adds the line to `text`, unless the log is full. */
static void log_put(struct run_log *l, struct str line, struct buf *text)
{
	CLEANUP(buf_release) struct buf masked = BUF_INIT;

	secrets_mask(&l->secrets, line, &masked);
	if (l->written + masked.len >= LOG_MAX)
		return;
	buf_add(text, buf_str(&masked));
	buf_addc(text, '\n');
	l->written += masked.len + 1;
}

/* The lines of a piece are written at once: agents may print millions of short ones. */
void run_log_add(struct run_log *l, struct str piece)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;

	buf_add(&l->partial, piece);
	rest = buf_str(&l->partial);
	while (rest.n && (memchr(rest.p, '\n', rest.n) || rest.n >= LINE_MAX_BYTES) &&
		str_line(&rest, &line))
		log_put(l, line, &text);
	log_write(l, &text);
	memmove(l->partial.s, rest.p, rest.n);
	buf_cut(&l->partial, rest.n);
}

void run_log_close(struct run_log *l)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (l->partial.len)
		log_put(l, buf_str(&l->partial), &text);
	log_write(l, &text);
	base_close(&l->fd);
	buf_release(&l->partial);
	arena_release(&l->arena);
}
