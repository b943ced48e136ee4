/*
 * supabase.c: branches of a Supabase project, by its management API (api.supabase.com/api/v1). The
 * list has no pages, and a branch is always made from the project's main branch.
 */
#include "src/branchdb/vendor.h"

enum { CREATE_TRIES = 3 };

static const struct vendor supabase = {
	"Supabase", "DEV_TEAM_SUPABASE_URL", "https://api.supabase.com"};

static char *branches_path(struct adapter_call *c)
{
	return arena_printf(
		c->arena, "/v1/projects/%s/branches", database_credential(c->pool, "projectId"));
}

static int read_branches(struct adapter_call *c, json **out, struct error *err)
{
	int got = vendor_send(c, &supabase, "GET", branches_path(c), NULL, out, err);

	if (got == VENDOR_GONE)
		return adapter_refuse(c, ADAPTER_OTHER, err,
			"Supabase has no project of the id in 'credentials.projectId'");
	if (got < 0)
		return -1;
	return json_is_array(*out) ? 0 : vendor_malformed(c, &supabase, err);
}

/* *id NULL: there is none of that name. */
static int supabase_find(
	struct adapter_call *c, const char *name, const char **id, struct error *err)
{
	CLEANUP(json_free) json *list = NULL;

	*id = NULL;
	if (read_branches(c, &list, err) < 0)
		return -1;
	for (const json *b = json_first(list); b && !*id; b = json_next(b))
		if (json_str_is(b, "name", name))
			*id = json_dup(c->arena, b, "id");
	return 0;
}

static int supabase_check(struct adapter_call *c, struct error *err)
{
	return vendor_check_project(c, &supabase, err);
}

static int supabase_reach(struct adapter_call *c, struct error *err)
{
	CLEANUP(json_free) json *list = NULL;
	const char *from = c->pool->branch_from;

	if (read_branches(c, &list, err) < 0)
		return -1;
	for (const json *b = json_first(list); from && b; b = json_next(b))
		if (json_is_true(json_get(b, "is_default")) && json_str_is(b, "name", from))
			return 0;
	return !from ? 0
		     : adapter_refuse(c, ADAPTER_OTHER, err,
			       "Supabase makes branches from the project's main branch alone, "
			       "which "
			       "is not '%s': remove 'branchFrom'",
			       from);
}

static int post_named(struct adapter_call *c, const char **id, struct error *err)
{
	for (unsigned tries = 0; tries < CREATE_TRIES; tries++) {
		CLEANUP(json_free) json *answer = NULL;
		int got = vendor_send(c, &supabase, "POST", branches_path(c),
			JSON_OBJECT(JSON_TEXT("branch_name", c->key)), &answer, err);

		if (got < 0)
			return -1;
		*id = json_dup(c->arena, answer, "id");
		if (got == VENDOR_OK && !*id)
			return vendor_malformed(c, &supabase, err);
		if (!*id && supabase_find(c, c->key, id, err) < 0)
			return -1;
		if (*id)
			return 0;
	}
	return adapter_refuse(c, ADAPTER_UNAVAILABLE, err, "Supabase does not answer");
}

static int read_branch(struct adapter_call *c, const char *id, json **out, struct error *err)
{
	int got = vendor_send(c, &supabase, "GET",
		arena_printf(c->arena, "/v1/branches/%s", vendor_encode(c->arena, id)), NULL, out,
		err);

	if (got < 0)
		return -1;
	return got == VENDOR_OK && json_get_str(*out, "status")
		       ? 0
		       : vendor_malformed(c, &supabase, err);
}

static int await_healthy(struct adapter_call *c, const char *id, struct error *err)
{
	static const char *const failed[] = {"INIT_FAILED", "REMOVED", "RESTORE_FAILED",
		"PAUSE_FAILED", "GOING_DOWN", "INACTIVE", NULL};

	for (unsigned tries = 0;; tries++) {
		CLEANUP(json_free) json *answer = NULL;
		const char *status;

		if (read_branch(c, id, &answer, err) < 0)
			return -1;
		status = json_get_str(answer, "status");
		if (strcmp(status, "ACTIVE_HEALTHY") == 0)
			return 0;
		if (str_in(str_of(status), failed))
			return adapter_refuse(
				c, ADAPTER_OTHER, err, "Supabase's new branch is '%s'", status);
		if (vendor_wait(c, &supabase, tries, err) < 0)
			return -1;
	}
}

static int supabase_drop(struct adapter_call *c, struct error *err)
{
	const char *id;

	if (supabase_find(c, c->key, &id, err) < 0)
		return -1;
	return id && vendor_send(c, &supabase, "DELETE",
			     arena_printf(c->arena, "/v1/branches/%s", vendor_encode(c->arena, id)),
			     NULL, NULL, err) < 0
		       ? -1
		       : 0;
}

static int supabase_create(struct adapter_call *c, struct error *err)
{
	const char *id;

	if (supabase_reach(c, err) < 0 || supabase_drop(c, err) < 0 || post_named(c, &id, err) < 0)
		return -1;
	return await_healthy(c, id, err);
}

static int supabase_list(struct adapter_call *c, struct adapter_keys *out, struct error *err)
{
	CLEANUP(json_free) json *list = NULL;

	if (read_branches(c, &list, err) < 0)
		return -1;
	for (const json *b = json_first(list); b; b = json_next(b)) {
		char *name = json_dup(c->arena, b, "name");

		if (name && str_starts(str_of(name), c->key))
			vec_push_in(c->arena, out, name);
	}
	return 0;
}

static int supabase_address(struct adapter_call *c, const char **out, struct error *err)
{
	CLEANUP(json_free) json *answer = NULL;
	const char *id, *host, *user, *password;

	if (supabase_find(c, c->key, &id, err) < 0)
		return -1;
	if (!id)
		return adapter_refuse(c, ADAPTER_OTHER, err, "Supabase no longer has it");
	if (read_branch(c, id, &answer, err) < 0)
		return -1;
	host = json_get_str(answer, "db_host");
	user = json_get_str(answer, "db_user");
	password = json_get_str(answer, "db_pass");
	if (!host || !password)
		return vendor_malformed(c, &supabase, err);
	*out = arena_printf(c->arena, "postgresql://%s:%s@%s:%lld/postgres",
		vendor_encode(c->arena, user ? user : "postgres"),
		vendor_encode(c->arena, password), host,
		(long long)json_get_int(answer, "db_port", 5432));
	return 0;
}

const struct adapter adapter_supabase = {.name = "supabase",
	.required = (const char *const[]){"apiTokenEnv", "projectId", NULL},
	.check = supabase_check,
	.reach = supabase_reach,
	.create = supabase_create,
	.drop = supabase_drop,
	.list = supabase_list,
	.address = supabase_address};
