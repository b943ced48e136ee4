/* log.c: what agents print, kept beside the logs of scripts. */
#include <fcntl.h>
#include "src/run/run_internal.h"
#include "src/sys/path.h"

enum { LOG_MAX = 64 << 20 };

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
	struct masked_output *m = &l->out;
	const char *path;
	struct error ignored;

	*l = (struct run_log){.out = {.fd = -1, .max = LOG_MAX, .credentials = true}};
	path = run_log_path(&l->arena, document, id);
	secrets_add(&l->arena, &m->secrets, (const char *const *)environ, NULL);
	if (path_mkdirs(arena_dup(&l->arena, path_dir(path)), &ignored) == 0)
		m->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

void run_log_close(struct run_log *l)
{
	if (l->out.partial.len)
		masked_output_add(&l->out, STR("\n"));
	masked_output_end(&l->out);
	base_close(&l->out.fd);
	arena_release(&l->arena);
}
