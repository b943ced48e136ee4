#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/harness/environment.h"

static const char *const common[] = {"PATH", "HOME", "TERM", "LANG", "LANGUAGE", "LC_*", "TMPDIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy",
	"no_proxy", "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", NULL};

struct list {
	struct arena *arena;
	const char **entries; /* NULL-ended */
	size_t n, cap;
};

static struct str name_of(const char *entry)
{
	return (struct str){entry, strcspn(entry, "=")};
}

static bool has(const struct list *l, struct str name)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(name_of(l->entries[i]), name))
			return true;
	return false;
}

/* The first one of a name stands. */
static void add(struct list *l, const char *entry)
{
	if (!strchr(entry, '=') || has(l, name_of(entry)))
		return;
	if (l->n + 1 >= l->cap) {
		const char **more = arena_alloc(l->arena, (2 * l->cap + 16) * sizeof(*more));

		for (size_t i = 0; i < l->n; i++)
			more[i] = l->entries[i];
		l->entries = more;
		l->cap = 2 * l->cap + 16;
	}
	l->entries[l->n++] = entry;
	l->entries[l->n] = NULL;
}

static void add_all(struct list *l, const char *const *entries)
{
	for (; entries && *entries; entries++)
		add(l, *entries);
}

static bool fits(struct str name, const char *pattern)
{
	size_t n = strlen(pattern);

	if (pattern[n - 1] != '*')
		return str_is(name, pattern);
	return name.n >= n - 1 && memcmp(name.p, pattern, n - 1) == 0;
}

static bool among(struct str name, const char *const *patterns)
{
	for (; patterns && *patterns; patterns++)
		if (fits(name, *patterns))
			return true;
	return false;
}

static void add_port(struct list *l, const struct harness_input *input)
{
	if (input->port)
		add(l, arena_printf(l->arena, "PORT=%u", input->port));
	if (input->artifacts)
		add(l, arena_printf(l->arena, "ARTIFACTS_DIR=%s", input->artifacts));
}

static void add_stand_ins(struct list *l, const char *const *stand_ins)
{
	for (; stand_ins && *stand_ins; stand_ins++) {
		struct str name = name_of(*stand_ins);
		const char *value = environment_get(l->entries, *stand_ins + name.n + 1);

		if (value && *value && !has(l, name))
			add(l, arena_printf(l->arena, "%.*s=%s", (int)name.n, name.p, value));
	}
}

const char *const *harness_environment(
	struct arena *a, const struct harness *h, const struct harness_input *input)
{
	struct list l = {.arena = a};

	if (input) {
		add_all(&l, input->env);
		add_port(&l, input);
	}
	for (char **e = environ; e && *e; e++) {
		struct str name = name_of(*e);

		if (among(name, common) || among(name, h->variables) ||
			(input && among(name, h->credentials)))
			add(&l, *e);
	}
	add_stand_ins(&l, h->stand_ins);
	add_all(&l, h->settings);
	return l.entries ? l.entries : arena_alloc(a, sizeof(char *));
}

const char *environment_get(const char *const *env, const char *name)
{
	for (; env && *env; env++)
		if (str_is(name_of(*env), name))
			return *env + strlen(name) + 1;
	return NULL;
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

const char *harness_binary(struct arena *a, const char *binary, bool *blocked)
{
	const char *path = getenv("PATH");
	struct str rest = str_of(path ? path : "/usr/local/bin:/usr/bin:/bin");

	*blocked = false;
	while (rest.n) {
		size_t n = str_find(rest, STR(":"));
		struct str dir = str_sub(rest, 0, n);
		const char *file;

		rest = str_sub(rest, n < rest.n ? n + 1 : n, rest.n);
		if (!dir.n || dir.p[0] != '/')
			continue;
		file = path_join(a, arena_dup(a, dir), binary);
		if (!is_file(file))
			continue;
		if (access(file, X_OK) == 0)
			return file;
		*blocked = true;
	}
	return NULL;
}
