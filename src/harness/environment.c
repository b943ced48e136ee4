#include "src/harness/adapter.h"

static const char *const common[] = {"PATH", "HOME", "TERM", "LANG", "LANGUAGE", "LC_*", "TMPDIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy",
	"no_proxy", "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", NULL};

struct env_list {
	struct arena *arena;
	const char **items;
	size_t n, cap;
};

static struct str entry_name(const char *entry)
{
	return (struct str){entry, strcspn(entry, "=")};
}

static bool harness_environment_has_name(const struct env_list *l, struct str name)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(entry_name(l->items[i]), name))
			return true;
	return false;
}

/* The first entry of a name wins. */
static void harness_environment_add_entry(struct env_list *l, const char *entry)
{
	if (strchr(entry, '=') && !harness_environment_has_name(l, entry_name(entry)))
		vec_push_in(l->arena, l, entry);
}

static void add_entries(struct env_list *l, const char *const *entries)
{
	for (; entries && *entries; entries++)
		harness_environment_add_entry(l, *entries);
}

/* `X_*` matches every name that starts with `X_`. */
static bool matches_any(struct str name, const char *const *patterns)
{
	for (; patterns && *patterns; patterns++) {
		struct str p = str_of(*patterns);

		if (str_ends(p, "*") ? name.n >= p.n - 1 && memcmp(name.p, p.p, p.n - 1) == 0
				     : str_eq(name, p))
			return true;
	}
	return false;
}

static void add_aliases(struct env_list *l, const char *const *aliases)
{
	for (; aliases && *aliases; aliases++) {
		struct str name = entry_name(*aliases), other = str_of(*aliases + name.n + 1);

		for (size_t i = 0; i < l->n; i++)
			if (str_eq(entry_name(l->items[i]), other) && l->items[i][other.n + 1]) {
				harness_environment_add_entry(
					l, arena_printf(l->arena, "%.*s=%s", (int)name.n, name.p,
						   l->items[i] + other.n + 1));
				break;
			}
	}
}

const char *const *harness_environment(
	struct arena *a, const struct harness *h, const struct harness_input *input)
{
	struct env_list l = {.arena = a};

	if (input)
		add_entries(&l, input->env);
	if (input && input->port)
		harness_environment_add_entry(&l, arena_printf(a, "PORT=%u", input->port));
	if (input && input->artifacts)
		harness_environment_add_entry(
			&l, arena_printf(a, "ARTIFACTS_DIR=%s", input->artifacts));
	for (char **e = environ; *e; e++) {
		struct str name = entry_name(*e);

		if (matches_any(name, common) || matches_any(name, h->variables) ||
			(input && matches_any(name, h->credentials)))
			harness_environment_add_entry(&l, *e);
	}
	add_aliases(&l, h->aliases);
	add_entries(&l, h->settings);
	vec_push_in(a, &l, NULL);
	return l.items;
}

int harness_read_env(struct arena *a, const char *option, const char *const *names, bool required,
	const char *const **out, struct error *err)
{
	struct env_list l = {.arena = a};

	for (; names && *names; names++) {
		const char *name = *names, *value = getenv(name);

		if (!*name || strchr(name, '='))
			return error_set(
				err, ERR_USAGE, "%s takes the name of a variable alone", option);
		if (!value && required)
			return error_set(err, ERR_USAGE, "there is no variable '%.100s'", name);
		if (value)
			harness_environment_add_entry(&l, arena_printf(a, "%s=%s", name, value));
	}
	vec_push_in(a, &l, NULL);
	*out = l.items;
	return 0;
}

const char *harness_env_get(const char *const *env, const char *name)
{
	for (; env && *env; env++)
		if (str_is(entry_name(*env), name))
			return *env + strlen(name) + 1;
	return NULL;
}
