#include "src/sandbox/interpret_internal.h"

static char *copy(struct str s)
{
	char *p = xmalloc(s.n + 1);

	if (s.n)
		memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	return p;
}

struct setting *setting_get(const struct settings *s, struct str name)
{
	for (size_t i = 0; i < s->n; i++)
		if (str_is(name, s->p[i].name))
			return &s->p[i];
	return NULL;
}

void setting_set(struct settings *s, struct str name, struct str value)
{
	struct setting *old = setting_get(s, name);
	char *text = copy(value);

	if (old) {
		free(old->value);
		old->value = text;
		return;
	}
	s->p = xrealloc(s->p, (s->n + 1) * sizeof(*s->p));
	s->p[s->n++] = (struct setting){.name = copy(name), .value = text};
}

size_t settings_size(const struct settings *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += strlen(s->p[i].value);
	return n;
}

void setting_drop(struct settings *s, struct str name)
{
	struct setting *old = setting_get(s, name);

	if (!old)
		return;
	free(old->name);
	free(old->value);
	*old = s->p[--s->n];
}

char **settings_environment(struct arena *a, const struct settings *s)
{
	char **env = arena_alloc(a, (s->n + 1) * sizeof(*env));
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->p[i].exported)
			env[n++] = arena_printf(a, "%s=%s", s->p[i].name, s->p[i].value);
	return env;
}
