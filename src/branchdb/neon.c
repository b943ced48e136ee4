/*
 * neon.c: branches of a Neon project, by its API (public-v2.yaml of api-docs.neon.tech). A branch
 * is found by its name each time: a request without an answer leaves its id unknown.
 */
#include "src/branchdb/vendor.h"
#include "src/sys/postgres.h"

enum { PAGE = 100, PAGES_MAX = 1000, CREATE_TRIES = 3 };

static const struct vendor neon = {"Neon", "DEV_TEAM_NEON_URL", "https://console.neon.tech/api/v2"};

static char *neon_path(struct adapter_call *c, const char *rest)
{
	return arena_printf(
		c->arena, "/projects/%s%s", database_credential(c->pool, "projectId"), rest);
}

/* Calls take() for each branch whose name or id contains `search`, page by page. */
static int each_branch(struct adapter_call *c, const char *search,
	void (*take)(struct adapter_call *c, const json *branch, void *data), void *data,
	struct error *err)
{
	char *cursor = NULL;

	for (unsigned page = 0; page < PAGES_MAX; page++) {
		CLEANUP(json_free) json *answer = NULL;
		const json *list;
		char *next;
		int got = vendor_send(c, &neon, "GET",
			neon_path(c, arena_printf(c->arena, "/branches?search=%s&limit=%d%s%s",
					     vendor_encode(c->arena, search), PAGE,
					     cursor ? "&cursor=" : "", cursor ? cursor : "")),
			NULL, &answer, err);

		if (got == VENDOR_GONE)
			return adapter_refuse(c, ADAPTER_OTHER, err,
				"Neon has no project of the id in 'credentials.projectId'");
		list = json_get(answer, "branches");
		if (got < 0 || !json_is_array(list))
			return got < 0 ? -1 : vendor_malformed(c, &neon, err);
		for (const json *b = json_first(list); b; b = json_next(b))
			take(c, b, data);
		next = json_dup(c->arena, json_get(answer, "pagination"), "next");
		if (!next || !*next || !json_len(list))
			return 0;
		cursor = vendor_encode(c->arena, next);
	}
	return vendor_malformed(c, &neon, err);
}

struct neon_search {
	const char *name, *id;
};

static void take_named(struct adapter_call *c, const json *branch, void *data)
{
	struct neon_search *s = data;

	if (json_str_is(branch, "name", s->name) && !s->id)
		s->id = json_dup(c->arena, branch, "id");
}

/* *id NULL: there is none. */
static int neon_find(struct adapter_call *c, const char *name, const char **id, struct error *err)
{
	struct neon_search s = {.name = name};

	if (each_branch(c, name, take_named, &s, err) < 0)
		return -1;
	*id = s.id;
	return 0;
}

static int neon_check(struct adapter_call *c, struct error *err)
{
	struct postgres_address parts;

	if (vendor_check_project(c, &neon, err) < 0)
		return -1;
	if (!c->pool->branch_from)
		return error_set(err, ERR_INPUT, "the adapter 'neon' needs 'upstream.branchFrom'");
	if (postgres_parse(c->arena, c->upstream, &parts, err) < 0)
		return error_prefix(err, "the variable '%s'", c->pool->connection_env);
	return parts.database && parts.user
		       ? 0
		       : error_set(err, ERR_INPUT,
				 "the variable '%s' must name a database and a user",
				 c->pool->connection_env);
}

/* The id of the branch that a new one is made from. */
static int find_source(struct adapter_call *c, const char **id, struct error *err)
{
	const char *name = c->parent && *c->parent ? c->parent : c->pool->branch_from;

	if (neon_find(c, name, id, err) < 0)
		return -1;
	return *id ? 0
		   : adapter_refuse(c, ADAPTER_OTHER, err,
			     "the Neon project has no branch '%s' ('upstream.branchFrom')", name);
}

static int neon_reach(struct adapter_call *c, struct error *err)
{
	const char *ignored;

	return find_source(c, &ignored, err);
}

/* The branch's id. A request without an answer may have made it: it is looked up, not sent blindly
 * again. */
static int post_branch(
	struct adapter_call *c, const char *source, const char **id, struct error *err)
{
	for (unsigned tries = 0; tries < CREATE_TRIES; tries++) {
		CLEANUP(json_free) json *answer = NULL;
		json *endpoints = json_array(), *body;
		int got;

		json_push(endpoints, JSON_OBJECT(JSON_TEXT("type", "read_write")));
		body = JSON_OBJECT(JSON_VALUE("branch", JSON_OBJECT(JSON_TEXT("name", c->key),
								JSON_TEXT("parent_id", source))),
			JSON_VALUE("endpoints", endpoints));
		got = vendor_send(c, &neon, "POST", neon_path(c, "/branches"), body, &answer, err);
		if (got < 0)
			return -1;
		*id = json_dup(c->arena, json_get(answer, "branch"), "id");
		if (got == VENDOR_OK && !*id)
			return vendor_malformed(c, &neon, err);
		if (!*id && neon_find(c, c->key, id, err) < 0)
			return -1;
		if (*id)
			return 0;
	}
	return adapter_refuse(c, ADAPTER_UNAVAILABLE, err, "Neon does not answer");
}

static int await_branch(struct adapter_call *c, const char *id, struct error *err)
{
	for (unsigned tries = 0;; tries++) {
		CLEANUP(json_free) json *answer = NULL;
		const char *state;
		int got = vendor_send(c, &neon, "GET",
			neon_path(c, arena_printf(c->arena, "/branches/%s", id)), NULL, &answer,
			err);

		if (got < 0)
			return -1;
		state = json_get_str(json_get(answer, "branch"), "current_state");
		if (!state)
			return vendor_malformed(c, &neon, err);
		if (strcmp(state, "ready") == 0)
			return 0;
		if (vendor_wait(c, &neon, tries, err) < 0)
			return -1;
	}
}

static int delete_branch(struct adapter_call *c, const char *id, struct error *err)
{
	int got = vendor_send(c, &neon, "DELETE",
		neon_path(c, arena_printf(c->arena, "/branches/%s", id)), NULL, NULL, err);

	return got < 0 ? -1 : 0;
}

static int neon_drop(struct adapter_call *c, struct error *err)
{
	const char *id;

	if (neon_find(c, c->key, &id, err) < 0)
		return -1;
	return id ? delete_branch(c, id, err) : 0;
}

static int neon_create(struct adapter_call *c, struct error *err)
{
	const char *source, *id;

	if (find_source(c, &source, err) < 0 || neon_drop(c, err) < 0 ||
		post_branch(c, source, &id, err) < 0)
		return -1;
	return await_branch(c, id, err);
}

static void take_key(struct adapter_call *c, const json *branch, void *data)
{
	struct adapter_keys *out = data;
	char *name = json_dup(c->arena, branch, "name");

	if (name && str_starts(str_of(name), c->key))
		vec_push_in(c->arena, out, name);
}

static int neon_list(struct adapter_call *c, struct adapter_keys *out, struct error *err)
{
	return each_branch(c, c->key, take_key, out, err);
}

/* Of the database and role that the upstream's string names. */
static int neon_address(struct adapter_call *c, const char **out, struct error *err)
{
	CLEANUP(json_free) json *answer = NULL;
	struct postgres_address parts;
	const char *id;
	int got;

	if (postgres_parse(c->arena, c->upstream, &parts, err) < 0 ||
		neon_find(c, c->key, &id, err) < 0)
		return -1;
	if (!id)
		return adapter_refuse(c, ADAPTER_OTHER, err, "Neon no longer has it");
	got = vendor_send(c, &neon, "GET",
		neon_path(c, arena_printf(c->arena,
				     "/connection_uri?branch_id=%s&database_name=%s&role_name=%s",
				     id, vendor_encode(c->arena, parts.database),
				     vendor_encode(c->arena, parts.user))),
		NULL, &answer, err);
	if (got < 0)
		return -1;
	*out = json_dup(c->arena, answer, "uri");
	return *out ? 0 : vendor_malformed(c, &neon, err);
}

const struct adapter adapter_neon = {.name = "neon",
	.max = 5000,
	.from_branch = true,
	.required = (const char *const[]){"apiTokenEnv", "projectId", NULL},
	.check = neon_check,
	.reach = neon_reach,
	.create = neon_create,
	.drop = neon_drop,
	.list = neon_list,
	.address = neon_address};
