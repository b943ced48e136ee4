#include <ctype.h>
#include "src/base/number.h"
#include "src/branchdb/branchdb_internal.h"
#include "src/base/clock.h"
#include "src/sys/digest.h"
#include "src/sys/process.h"

enum { PAGE = 256, SCOPE = 16, MARK = 6, SLUG_MAX = 36, TAIL = 8, LOCK_MS = 30000 };

static const char *const state_words[] = {
	[BRANCHDB_CREATING] = "creating",
	[BRANCHDB_LIVE] = "live",
	[BRANCHDB_REMOVING] = "removing",
};

const char *branchdb_state_word(enum branchdb_state s)
{
	return state_words[s];
}

int branchdb_open(
	struct arena *a, const struct branchdb_site *site, struct branchdb *out, struct error *err)
{
	*out = (struct branchdb){.arena = a, .site = site};
	return store_open(&out->store, store_backend(), site->state, "databases",
		STORE_WRITE | STORE_MARKED,
		(unsigned)number_env("DEV_TEAM_LOCK_WAIT_MS", 3600000, LOCK_MS), err);
}

void branchdb_close(struct branchdb *db)
{
	store_close(&db->store);
}

/* ---- names ---- */

static char *scope_of(struct arena *a, const struct branchdb_site *site, const char *pool)
{
	char digest[DIGEST_TEXT];

	digest_text(str_of(arena_printf(a, "%s\n%s", site->common, pool)), digest);
	return arena_printf(a, "%.*s", SCOPE, digest);
}

char *branch_mark(struct arena *a, const struct branchdb_site *site, const char *pool)
{
	return arena_printf(a, "dt-%.*s-", MARK, scope_of(a, site, pool));
}

char *branch_key(
	struct arena *a, const struct branchdb_site *site, const char *pool, const char *of)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	char digest[DIGEST_TEXT];
	size_t from;

	buf_adds(&out, branch_mark(a, site, pool));
	from = out.len;
	for (const char *p = *of ? of : "shared"; *p && out.len < from + SLUG_MAX; p++)
		if (isalnum((unsigned char)*p) && (unsigned char)*p < 128)
			buf_addc(&out, (char)tolower((unsigned char)*p));
		else if (out.len > from && out.s[out.len - 1] != '-')
			buf_addc(&out, '-');
	if (out.len > from && out.s[out.len - 1] != '-')
		buf_addc(&out, '-');
	digest_text(str_of(of), digest);
	buf_addf(&out, "%.*s", TAIL, digest);
	return arena_dup(a, buf_str(&out));
}

static char *record_key(struct branchdb *db, const char *pool, const char *key)
{
	return arena_printf(db->arena, "at/%s/%s", scope_of(db->arena, db->site, pool), key);
}

static char *counter_key(struct branchdb *db, const char *pool)
{
	return arena_printf(db->arena, "count/%s", scope_of(db->arena, db->site, pool));
}

/* ---- as JSON ---- */

static char *repo_digest(struct branchdb *db)
{
	char digest[DIGEST_TEXT];

	digest_text(str_of(db->site->common), digest);
	return arena_dup(db->arena, str_of(digest));
}

static struct str record_json(struct branchdb *db, const struct branchdb_branch *b)
{
	return json_print_in(db->arena,
		JSON_OBJECT(JSON_TEXT("state", state_words[b->state]), JSON_TEXT("pool", b->pool),
			JSON_TEXT("adapter", b->adapter), JSON_TEXT("key", b->key),
			JSON_TEXT("branch", b->of), JSON_TEXT("repo", repo_digest(db)),
			JSON_IF(b->warm, JSON_TEXT("warm", b->warm)),
			JSON_IF(b->method, JSON_TEXT("method", b->method)),
			JSON_IF(b->owner, JSON_TEXT("owner", b->owner)),
			JSON_IF(b->fault, JSON_TEXT("fault", b->fault)),
			JSON_INT("created", b->created), JSON_INT("active", b->active)));
}

/* Where the last part of `at/SCOPE/SLOT` begins. */
static size_t slot_at(struct str key)
{
	size_t at = key.n;

	while (at && key.p[at - 1] != '/')
		at--;
	return at;
}

/* *ours: it belongs to this repository. */
static int parse_record(struct branchdb *db, const struct store_kv *kv, struct branchdb_branch *b,
	bool *ours, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	unsigned state = COUNT(state_words);
	const char *word;

	*ours = false;
	if (json_parse(&j, kv->value, err) < 0)
		return error_prefix(err, "record '%.*s'", (int)kv->key.n, kv->key.p);
	word = json_get_str(j, "state");
	for (unsigned i = 0; word && i < COUNT(state_words); i++)
		if (strcmp(word, state_words[i]) == 0)
			state = i;
	*b = (struct branchdb_branch){.key = json_dup(db->arena, j, "key"),
		.slot = arena_dup(db->arena, str_sub(kv->key, slot_at(kv->key), kv->key.n)),
		.warm = json_dup(db->arena, j, "warm"),
		.pool = json_dup(db->arena, j, "pool"),
		.adapter = json_dup(db->arena, j, "adapter"),
		.of = json_dup(db->arena, j, "branch"),
		.method = json_dup(db->arena, j, "method"),
		.owner = json_dup(db->arena, j, "owner"),
		.fault = json_dup(db->arena, j, "fault"),
		.state = (enum branchdb_state)state,
		.created = json_get_int(j, "created", 0),
		.active = json_get_int(j, "active", 0),
		.mod = kv->mod};
	if (state == COUNT(state_words) || !b->key || !b->pool || !b->adapter || !b->of)
		return error_set(err, ERR_INPUT, "'%.*s' is not a record of a database branch",
			(int)kv->key.n, kv->key.p);
	*ours = json_str_is(j, "repo", repo_digest(db));
	return 0;
}

/* ---- the store ---- */

int branch_read(struct branchdb *db, const char *pool, const char *key, struct branchdb_branch *b,
	struct error *err)
{
	struct store_kv kv;
	bool ours;

	*b = (struct branchdb_branch){0};
	if (store_get(db->store, db->arena, record_key(db, pool, key), &kv, err) != STORE_OK)
		return -1;
	return kv.mod ? parse_record(db, &kv, b, &ours, err) : 0;
}

int branch_write(struct branchdb *db, struct branchdb_branch *b, bool drop, const int64_t *counted,
	bool *refused, struct error *err)
{
	const char *key = record_key(db, b->pool, b->slot), *counter = counter_key(db, b->pool);
	const struct store_guard guards[] = {
		{key, STORE_MOD_IS, b->mod}, {counter, STORE_MOD_IS, counted ? *counted : 0}};
	const struct store_op ops[] = {
		{.what = drop ? STORE_DEL : STORE_PUT,
			.key = key,
			.value = drop ? (struct str){0} : record_json(db, b)},
		{.what = STORE_PUT, .key = counter, .value = STR("")}};
	const struct store_txn t = {.guards = guards,
		.n_guards = counted ? 2 : 1,
		.ops = ops,
		.n_ops = counted ? 2 : 1};
	struct store_result result;
	enum store_status got = store_txn(db->store, db->arena, &t, &result, err);

	*refused = got == STORE_REFUSED;
	if (got == STORE_OK)
		b->mod = result.rev;
	return got == STORE_OK || got == STORE_REFUSED ? 0 : -1;
}

/* Of all that begin with `prefix`. */
static int list_records(
	struct branchdb *db, const char *prefix, struct branchdb_list *out, struct error *err)
{
	const char *after = NULL;
	size_t got = PAGE;
	int64_t at;

	while (got == PAGE) {
		struct store_kv *kv;

		if (store_list(db->store, db->arena, prefix, after, PAGE, &kv, &got, &at, err) !=
			STORE_OK)
			return -1;
		for (size_t i = 0; i < got; i++) {
			struct branchdb_branch b;
			bool ours;

			if (parse_record(db, &kv[i], &b, &ours, err) < 0)
				return -1;
			if (ours)
				vec_push_in(db->arena, out, b);
		}
		after = got ? arena_dup(db->arena, kv[got - 1].key) : NULL;
	}
	return 0;
}

static int by_pool(const void *x, const void *y)
{
	const struct branchdb_branch *a = x, *b = y;
	int way = strcmp(a->pool, b->pool);

	return way ? way : strcmp(a->key, b->key);
}

int branchdb_list(struct branchdb *db, struct branchdb_list *out, struct error *err)
{
	*out = (struct branchdb_list){0};
	if (list_records(db, "at/", out, err) < 0)
		return -1;
	if (out->n)
		qsort(out->items, out->n, sizeof(*out->items), by_pool);
	return 0;
}

int branchdb_find(struct branchdb *db, const struct database_pool_spec *pool, const char *branch,
	struct branchdb_branch **out, struct error *err)
{
	struct branchdb_branch *b = arena_alloc(db->arena, sizeof(*b));

	*out = NULL;
	if (branch_read(db, pool->name, branch_key(db->arena, db->site, pool->name, branch), b,
		    err) < 0)
		return -1;
	if (b->mod)
		*out = b;
	return 0;
}

int branch_count(
	struct branchdb *db, const char *pool, struct branch_counts *out, struct error *err)
{
	struct branchdb_list list = {0};
	struct store_kv kv;

	*out = (struct branch_counts){0};
	if (store_get(db->store, db->arena, counter_key(db, pool), &kv, err) != STORE_OK ||
		list_records(db, record_key(db, pool, ""), &list, err) < 0)
		return -1;
	out->counter = kv.mod;
	out->all = list.n;
	for (size_t i = 0; i < list.n; i++)
		out->warm += list.items[i].warm != NULL;
	return 0;
}

int branch_rename(struct branchdb *db, struct branchdb_branch *b, const char *slot, const char *of,
	struct branchdb_branch *former, bool *refused, struct error *err)
{
	const char *from = record_key(db, b->pool, b->slot), *to = record_key(db, b->pool, slot);
	const struct store_guard guards[] = {
		{from, STORE_MOD_IS, b->mod}, {to, STORE_MOD_IS, former ? former->mod : 0}};
	struct branchdb_branch renamed = *b;
	struct store_op ops[] = {{.what = STORE_DEL, .key = from}, {.what = STORE_PUT, .key = to}};
	const struct store_txn t = {.guards = guards, .n_guards = 2, .ops = ops, .n_ops = 2};
	struct store_result result;
	enum store_status got;

	renamed.slot = slot;
	renamed.of = of;
	renamed.warm = NULL;
	branch_claim(db, &renamed, BRANCHDB_LIVE);
	ops[1].value = record_json(db, &renamed);
	if (former) {
		former->slot = b->slot;
		branch_claim(db, former, BRANCHDB_REMOVING);
		ops[0] = (struct store_op){
			.what = STORE_PUT, .key = from, .value = record_json(db, former)};
	}
	got = store_txn(db->store, db->arena, &t, &result, err);
	*refused = got == STORE_REFUSED;
	if (got != STORE_OK)
		return *refused ? 0 : -1;
	renamed.mod = result.rev;
	if (former)
		former->mod = result.rev;
	*b = renamed;
	return 0;
}

/* ---- owners ---- */

void branch_claim(struct branchdb *db, struct branchdb_branch *b, enum branchdb_state state)
{
	b->state = state;
	b->owner = state == BRANCHDB_LIVE ? NULL : process_own_name(db->arena);
	b->fault = NULL;
}

bool branch_busy(struct branchdb *db, const struct branchdb_branch *b)
{
	return b->state != BRANCHDB_LIVE && b->owner &&
	       strcmp(b->owner, process_own_name(db->arena)) != 0 &&
	       !process_name_ended(db->arena, b->owner);
}
