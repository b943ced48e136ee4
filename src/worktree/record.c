#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/worktree/pool_internal.h"

enum { PAGE = 256, BOOT_MAX = 128, NEXT_DOOR_S = 3600 };

void record_digest(const char *path, char out[DIGEST_TEXT])
{
	digest_text(str_of(path), out);
}

static char *key_of(struct arena *a, const char *prefix, const char *path)
{
	char digest[DIGEST_TEXT];

	record_digest(path, digest);
	return arena_printf(a, "%s%s", prefix, digest);
}

char *key_at(struct arena *a, const char *path)
{
	return key_of(a, "at/", path);
}

char *key_doing(struct arena *a, const char *path)
{
	return key_of(a, "doing/", path);
}

char *key_port(struct arena *a, unsigned port)
{
	return arena_printf(a, "port/%u", port);
}

/* ---- as JSON ---- */

static const char *const states[] = {
	[ALLOCATION_MAKING] = "making",
	[ALLOCATION_LIVE] = "live",
	[ALLOCATION_REMOVING] = "removing",
};

#define TEXT(key, member)                                                                          \
	{                                                                                          \
		key, offsetof(struct allocation, member)                                           \
	}
static const struct {
	const char *key;
	size_t offset;
} texts[] = {
	TEXT("branch", branch),
	TEXT("slug", slug),
	TEXT("path", path),
	TEXT("repo", repo),
	TEXT("common", common),
	TEXT("pool", pool),
	TEXT("base", base),
	TEXT("tip", tip),
	TEXT("sparse", sparse),
	TEXT("parent", parent),
	TEXT("run", run),
	TEXT("boot", boot),
	TEXT("fault", fault),
};
enum { NEEDED = 6 }; /* the first of the texts are always present */

static const char **text_of(const struct allocation *of, size_t i)
{
	return (const char **)((char *)of + texts[i].offset);
}

struct str record_text(struct arena *a, const struct allocation *of)
{
	json *j = JSON_OBJECT(JSON_TEXT("state", states[of->state]));

	for (size_t i = 0; i < COUNT(texts); i++)
		if (*text_of(of, i))
			json_put_str(j, texts[i].key, str_of(*text_of(of, i)));
	JSON_ADD(j, JSON_INT("port", of->port), JSON_INT("ports", of->ports),
		JSON_INT("slots", of->slots), JSON_INT("slotPorts", of->slot_ports),
		JSON_INT("pid", of->pid), JSON_INT("start", of->start),
		JSON_INT("created", of->created), JSON_INT("since", of->since),
		JSON_BOOL("madeBranch", of->made_branch), JSON_BOOL("confirmed", of->confirmed));
	return json_print_in(a, j);
}

static bool read_state(const json *j, enum allocation_state *out)
{
	const char *word = json_get_str(j, "state");

	for (size_t i = 0; word && i < COUNT(states); i++)
		if (strcmp(word, states[i]) == 0) {
			*out = (enum allocation_state)i;
			return true;
		}
	return false;
}

static bool read_texts(struct arena *a, const json *j, struct allocation *out)
{
	for (size_t i = 0; i < COUNT(texts); i++) {
		*text_of(out, i) = json_dup(a, j, texts[i].key);
		if (!*text_of(out, i) && i < NEEDED)
			return false;
	}
	return true;
}

int record_parse(
	struct arena *a, const struct store_kv *kv, struct allocation *out, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;

	*out = (struct allocation){.mod = kv->mod};
	if (json_parse(&j, kv->value, err) < 0)
		return error_prefix(err, "record '%.*s'", (int)kv->key.n, kv->key.p);
	if (!read_state(j, &out->state) || !read_texts(a, j, out))
		return error_set(err, ERR_INPUT, "'%.*s' is not a record of a worktree",
			(int)kv->key.n, kv->key.p);
	out->port = (unsigned)json_get_int(j, "port", 0);
	out->ports = (unsigned)json_get_int(j, "ports", 0);
	out->slots = (unsigned)json_get_int(j, "slots", 0);
	out->slot_ports = (unsigned)json_get_int(j, "slotPorts", 0);
	out->pid = (pid_t)json_get_int(j, "pid", 0);
	out->start = (uint64_t)json_get_int(j, "start", 0);
	out->created = json_get_int(j, "created", 0);
	out->since = json_get_int(j, "since", 0);
	out->made_branch = json_is_true(json_get(j, "madeBranch"));
	out->confirmed = json_is_true(json_get(j, "confirmed"));
	return 0;
}

/* ---- reading the store ---- */

int record_read(struct arena *a, struct pool *p, const char *path, struct allocation *out,
	bool *there, struct error *err)
{
	struct store_kv kv;

	*there = false;
	*out = (struct allocation){0};
	if (store_get(p->store, a, key_at(a, path), &kv, err) != STORE_OK)
		return -1;
	*there = kv.mod != 0;
	return *there ? record_parse(a, &kv, out, err) : 0;
}

int record_all(
	struct arena *a, struct pool *p, struct allocation **out, size_t *n, struct error *err)
{
	const char *after = NULL;
	struct allocation *list = NULL;
	size_t cap = 0, got = PAGE;
	int64_t at;

	for (*n = 0; got == PAGE;) {
		struct store_kv *kv;

		if (store_list(p->store, a, "at/", after, PAGE, &kv, &got, &at, err) != STORE_OK)
			return -1;
		if (*n + got > cap) {
			struct allocation *more =
				arena_alloc(a, (cap = 2 * (*n + got)) * sizeof(*more));

			if (*n)
				memcpy(more, list, *n * sizeof(*more));
			list = more;
		}
		for (size_t i = 0; i < got; i++)
			if (record_parse(a, &kv[i], &list[(*n)++], err) < 0)
				return -1;
		after = got ? arena_dup(a, kv[got - 1].key) : NULL;
	}
	*out = list;
	return 0;
}

bool record_ours(const struct pool *p, const struct allocation *of)
{
	return strcmp(of->common, p->common) == 0;
}

/* ---- owner ---- */

static char own_boot[BOOT_MAX];

int boot_read(struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct process_identity self;

	if (!own_boot[0] && process_identify(&a, getpid(), &self, err) < 0)
		return -1;
	if (!own_boot[0])
		(void)snprintf(own_boot, sizeof(own_boot), "%s/%s", self.boot, self.space);
	return 0;
}

const char *boot_id(void)
{
	return own_boot;
}

void record_claim(struct arena *a, struct allocation *of)
{
	struct process_info info = {0};

	of->pid = getpid();
	of->start = process_info(of->pid, &info) ? info.start : 0;
	of->boot = arena_dup(a, str_of(boot_id()));
	of->since = clock_now();
	of->fault = NULL;
}

static bool is_own(const struct allocation *of)
{
	return of->pid == getpid() && of->boot && strcmp(of->boot, boot_id()) == 0;
}

bool record_busy(const struct allocation *of)
{
	return of->state != ALLOCATION_LIVE && !is_own(of) && record_alive(of);
}

void record_give_up(struct arena *a, struct pool *p, const char *path, const char *why)
{
	struct allocation of;
	struct error ignored;
	bool there;

	if (record_read(a, p, path, &of, &there, &ignored) < 0 || !there ||
		of.state == ALLOCATION_LIVE || !is_own(&of))
		return;
	of.pid = 0;
	of.fault = why;
	(void)record_put(a, p, &of, &ignored);
}

/* A process of another container on this machine: its number means nothing here. */
static bool is_next_door(const struct allocation *of)
{
	const char *own = boot_id(), *slash = strchr(own, '/');
	size_t n = slash ? (size_t)(slash - own) : 0;

	return n && strncmp(of->boot, own, n + 1) == 0 && strcmp(of->boot, own) != 0;
}

bool record_alive(const struct allocation *of)
{
	if (!of->pid || !of->boot)
		return false;
	if (is_next_door(of))
		return of->state == ALLOCATION_LIVE || clock_now() - of->since < NEXT_DOOR_S;
	if (strcmp(of->boot, boot_id()) != 0)
		return false;
	return process_lives(of->pid, of->start);
}
