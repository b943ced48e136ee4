#include <stdarg.h>
#include "src/branchdb/adapter.h"
#include "src/sys/postgres.h"
#include "src/sys/secrets.h"

static const struct adapter *const adapters[] = {&adapter_sqlite_copy, &adapter_pg_snapshot_restore,
	&adapter_neon, &adapter_supabase, &adapter_external};

const struct adapter *adapter_find(const char *name)
{
	for (size_t i = 0; i < COUNT(adapters); i++)
		if (strcmp(adapters[i]->name, name) == 0)
			return adapters[i];
	return NULL;
}

int adapter_refuse(
	struct adapter_call *c, enum adapter_fault fault, struct error *err, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	c->fault = fault;
	return error_set(err, ERR_SYSTEM, "%s", text);
}

int adapter_variable(const char *what, const char *name, const char **out, struct error *err)
{
	*out = getenv(name);
	if (*out && **out)
		return 0;
	return error_set(
		err, ERR_INPUT, "'%s' names the variable '%s', which is not set", what, name);
}

void adapter_keep_secret(const char *address)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct postgres_address parts;
	struct error ignored;
	const char *at;

	secrets_know(str_of(address));
	if (!postgres_is_url(address) && !strstr(address, "password"))
		return;
	if (postgres_parse(&a, address, &parts, &ignored) == 0 && parts.password)
		secrets_know(str_of(parts.password));
	at = strstr(address, "://");
	at = at ? at + 3 : address;
	at += strcspn(at, ":@/?");
	if (*at == ':')
		secrets_know((struct str){at + 1, strcspn(at + 1, "@/?")});
}

int adapter_check(const struct adapter *d, struct adapter_call *c, struct error *err)
{
	for (const char *const *key = d->required; key && *key; key++) {
		const char *value = database_credential(c->pool, *key), *ignored;

		if (!value)
			return error_set(err, ERR_INPUT, "the adapter '%s' needs 'credentials.%s'",
				d->name, *key);
		if (!str_ends(str_of(*key), "Env"))
			continue;
		if (adapter_variable(*key, value, &ignored, err) < 0)
			return -1;
		secrets_know(str_of(ignored));
	}
	if (adapter_variable(
		    "upstream.connectionStringEnv", c->pool->connection_env, &c->upstream, err) < 0)
		return -1;
	adapter_keep_secret(c->upstream);
	return d->check ? d->check(c, err) : 0;
}
