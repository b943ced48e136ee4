#include "src/policy/expand.h"

/* Powers of two. What falls on a used slot takes it: the older answer is looked up again. */
enum { PROGRAMS = 64, PLACES = 256, GLOBS = 16 };

struct memory {
	struct {
		struct str name, path;
	} programs[PROGRAMS];
	struct {
		struct question asked;
		struct place place;
		bool used;
	} places[PLACES];
	struct {
		struct str cwd, glob;
		struct texts found;
		bool used;
	} globs[GLOBS];
};

struct memory *memory_new(struct arena *a)
{
	return arena_alloc(a, sizeof(struct memory));
}

static size_t mix(size_t h, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		h = h * 31 + (unsigned char)s.p[i];
	return h;
}

static size_t place_slot(const struct question *q)
{
	size_t h = mix(mix(17, q->cwd), q->path) + (size_t)q->access * 7 + q->whole;

	return (h ^ h >> 8) % PLACES;
}

struct str memory_program(const struct memory *m, struct str name)
{
	size_t k = mix(17, name) % PROGRAMS;

	return str_eq(m->programs[k].name, name) ? m->programs[k].path : (struct str){0};
}

void memory_put_program(struct memory *m, struct str name, struct str path)
{
	size_t k = mix(17, name) % PROGRAMS;

	m->programs[k].name = name;
	m->programs[k].path = path.p ? path : STR("");
}

static bool same(const struct question *a, const struct question *b)
{
	return a->access == b->access && a->whole == b->whole && str_eq(a->cwd, b->cwd) &&
	       str_eq(a->path, b->path);
}

const struct place *memory_place(const struct memory *m, const struct question *q)
{
	size_t k = place_slot(q);

	return m->places[k].used && same(&m->places[k].asked, q) ? &m->places[k].place : NULL;
}

void memory_put_place(struct memory *m, const struct question *q, const struct place *place)
{
	size_t k = place_slot(q);

	m->places[k].asked = *q;
	m->places[k].place = *place;
	m->places[k].used = true;
}

const struct texts *memory_matches(const struct memory *m, struct str cwd, struct str glob)
{
	size_t k = mix(mix(17, cwd), glob) % GLOBS;
	bool same_one =
		m->globs[k].used && str_eq(m->globs[k].cwd, cwd) && str_eq(m->globs[k].glob, glob);

	return same_one ? &m->globs[k].found : NULL;
}

void memory_put_matches(
	struct memory *m, struct str cwd, struct str glob, const struct texts *matches)
{
	size_t k = mix(mix(17, cwd), glob) % GLOBS;

	m->globs[k].cwd = cwd;
	m->globs[k].glob = glob;
	m->globs[k].found = *matches;
	m->globs[k].used = true;
}
