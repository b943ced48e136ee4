#include <dirent.h>
#include "context/lease.h"
#include "src/sys/path.h"
#include "src/cli/doctor.h"

static void look_at(struct checkup *c, const char *path, const char *name)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;
	struct holder h;

	if (context_open(&f, path, CONTEXT_READ_ONLY, &ignored) < 0 ||
		lease_read(&f, &h, &ignored) < 0 || !h.live)
		return;
	holder_say(&text, &h);
	finding(c, HEALTH_OK, "at work", "%s: %s", name, text.s);
}

void check_leases(struct checkup *c, const char *slug)
{
	struct error ignored;
	char *any, *dir;
	struct dirent **names;
	int n;

	if (context_path(c->arena, slug, "id", &any, &ignored) < 0)
		return;
	dir = arena_dup(c->arena, path_dir(any));
	n = scandir(dir, &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		struct str name = str_of(names[i]->d_name);

		if (name.p[0] != '.' && str_ends(name, ".md"))
			look_at(c, path_join(c->arena, dir, name.p),
				arena_dup(c->arena, str_sub(name, 0, name.n - 3)));
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}
