#include <errno.h>
#include "src/policy/trail.h"

/* One question, so that the steps below need not pass all of it on. */
struct question {
	struct arena *arena;
	const struct root *root;
	const struct policy *policy;
	struct str path;
	enum access access;
	bool whole;
	struct span at;
	struct place *out;
	struct verdict *v;
};

static bool changes(const struct question *q)
{
	return q->access == ACCESS_WRITE || q->access == ACCESS_ENTRY;
}

/* Exact names, so that nothing has to be followed; true of the device itself alone. */
static bool is_device(const struct question *q)
{
	bool null = str_is(q->path, "/dev/null"), reads = q->access == ACCESS_READ;
	struct stat st;
	char name[16];

	if (q->whole || !(null || str_is(q->path, "/dev/zero") || str_is(q->path, "/dev/urandom")))
		return false;
	if (!reads && !(null && q->access == ACCESS_WRITE))
		return false;
	(void)snprintf(name, sizeof(name), "%.*s", (int)q->path.n, q->path.p);
	return lstat(name, &st) == 0 && S_ISCHR(st.st_mode);
}

static int give(const struct question *q, struct place place)
{
	*q->out = place;
	return 0;
}

static int refuse(const struct question *q, enum rule rule, const struct trail *t, const char *why)
{
	struct str real = {t->real, t->n};

	return deny_word(
		q->v, rule, q->at, q->path, t->n ? arena_str(q->arena, real) : STR(""), "%s", why);
}

/* What commands see too, besides the root and the policy's `read`. */
static const char *const system_directories[] = {"/usr", "/opt", "/nix/store"};

static bool below_listed(const struct question *q, const struct trail *t)
{
	struct str rest;

	for (size_t i = 0; i < COUNT(system_directories); i++)
		if (path_below((struct str){t->real, t->n}, str_of(system_directories[i]), &rest))
			return true;
	for (size_t i = 0; i < q->policy->read.n; i++) {
		char real[PATH_MAX];
		size_t n;
		const char *name = q->policy->read.p[i];
		CLEANUP(base_close) int fd = beneath_open(AT_FDCWD, name, O_PATH, 0, 0);

		if (name[0] == '/' && fd >= 0 && fd_real(fd, real, &n) == 0 &&
			path_below((struct str){t->real, t->n}, (struct str){real, n}, &rest))
			return true;
	}
	return false;
}

static int judge_outside(const struct question *q, const struct trail *t)
{
	if (q->access != ACCESS_READ || q->whole || !below_listed(q, t))
		return refuse(q, RULE_PATH_OUTSIDE, t, "path that leads outside the root");
	return give(q, (struct place){.full = arena_str(q->arena, (struct str){t->real, t->n}),
			       .exists = t->exists,
			       .folder = t->exists && S_ISDIR(t->st.st_mode),
			       .outside = true});
}

static int judge(const struct question *q, const struct trail *t)
{
	const char *by = NULL;
	bool folder = t->exists && S_ISDIR(t->st.st_mode);
	struct str full;

	if (!t->below)
		return judge_outside(q, t);
	if (changes(q) && guarded(q->root, q->policy, t->rel, q->whole, &by))
		return deny_word(q->v, RULE_PATH_PROTECTED, q->at, q->path,
			arena_str(q->arena, (struct str){t->real, t->n}),
			"write to what is protected by '%s'", by);
	full = arena_str(q->arena, (struct str){t->real, t->n});
	return give(q, (struct place){.path = str_sub(full, full.n - t->rel.n, full.n),
			       .full = full,
			       .exists = t->exists,
			       .folder = folder});
}

int where(struct arena *a, const struct root *r, const struct policy *p, struct str cwd,
	struct str path, enum access access, bool whole, struct span at, struct place *out,
	struct verdict *v)
{
	struct question q = {a, r, p, path, access, whole, at, out, v};
	CLEANUP(trail_close) struct trail t = TRAIL_INIT;

	*out = (struct place){0};
	if (is_device(&q))
		return give(&q, (struct place){.full = arena_str(a, path),
					.exists = true,
					.device = true,
					.outside = true});
	if (trail_follow(r, cwd, path, access == ACCESS_ENTRY, &t) < 0)
		return refuse(&q, RULE_PATH_OUTSIDE, &t, t.fault);
	return judge(&q, &t);
}
