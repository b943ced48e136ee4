#include <stdarg.h>
#include "src/worktree/audit.h"

enum { LOOKS = 20 };

void audit_add(struct audit *t, const char *kind, const char *path, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (t->n_leaks == t->cap_leaks) {
		struct leak *more;

		t->cap_leaks = 2 * t->cap_leaks + 16;
		more = arena_alloc(t->arena, t->cap_leaks * sizeof(*more));
		if (t->n_leaks)
			memcpy(more, t->leaks, t->n_leaks * sizeof(*more));
		t->leaks = more;
	}
	t->leaks[t->n_leaks++] = (struct leak){.kind = kind,
		.path = arena_dup(t->arena, str_of(path)),
		.text = arena_dup(t->arena, str_of(text))};
}

static void audit_part(void *data, const char *kind, const char *name, const char *text)
{
	audit_add(data, kind, name, "%s", text);
}

static int audit_parts(struct audit *t, struct error *err)
{
	for (const struct pool_part *const *part = pool_parts(); *part; part++)
		if ((*part)->inspect(t->arena, t->pool, audit_part, t, err) < 0)
			return -1;
	return 0;
}

static int once(struct arena *a, struct pool *p, struct audit *t, bool *same, struct error *err)
{
	*t = (struct audit){.arena = a, .pool = p};
	if (audit_look(t, err) < 0)
		return -1;
	audit_marks(t);
	audit_ports(t);
	if (audit_parts(t, err) < 0)
		return -1;
	return audit_files(t, err) < 0 ? -1 : audit_unchanged(t, same, err);
}

static bool has(const struct audit *t, const struct leak *leak)
{
	for (size_t i = 0; i < t->n_leaks; i++)
		if (strcmp(t->leaks[i].kind, leak->kind) == 0 &&
			strcmp(t->leaks[i].path, leak->path) == 0)
			return true;
	return false;
}

/* Keeps what both looks found: what only one of them found was a change in progress. */
static void keep_common(struct audit *t, const struct audit *other)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n_leaks; i++)
		if (has(other, &t->leaks[i]))
			t->leaks[kept++] = t->leaks[i];
	t->n_leaks = kept;
}

static int by_path(const void *x, const void *y)
{
	const struct leak *a = x, *b = y;
	int way = strcmp(a->path, b->path);

	return way ? way : strcmp(a->kind, b->kind);
}

/*
 * A process records what it creates or removes before it begins and when it is done. If the store
 * is the same before and after a look, only what it names was incomplete in between.
 */
int pool_audit(struct arena *a, struct pool *p, struct leak **out, size_t *n, struct error *err)
{
	struct audit now = {0}, before;
	bool same = false;

	for (int i = 0; i < LOOKS && !same; i++) {
		before = now;
		if (once(a, p, &now, &same, err) < 0)
			return -1;
		same = same || now.n_leaks == 0;
	}
	if (!same)
		keep_common(&now, &before);
	if (now.n_leaks)
		qsort(now.leaks, now.n_leaks, sizeof(*now.leaks), by_path);
	*out = now.leaks;
	*n = now.n_leaks;
	return 0;
}
