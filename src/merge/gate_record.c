#include "src/base/clock.h"
#include "src/sys/digest.h"
#include "src/merge/gate_internal.h"

char *gate_key(struct arena *a, const struct pool *p)
{
	char sum[DIGEST_TEXT];

	digest_text(str_of(p->dir), sum);
	return arena_printf(a, "gate/%s", sum);
}

static const char *text_of(struct arena *a, const json *j, const char *key)
{
	const char *s = json_get_str(j, key);

	return arena_dup(a, str_of(s ? s : ""));
}

static void read_holder(struct arena *a, const json *j, struct gate_record *r)
{
	r->hold = text_of(a, j, "hold");
	r->held = r->hold[0] != '\0';
	r->evicting = json_is_true(json_get(j, "evicting"));
	r->who = text_of(a, j, "who");
	r->at.host = text_of(a, j, "host");
	r->at.boot = text_of(a, j, "boot");
	r->at.space = text_of(a, j, "space");
	r->at.pid = (pid_t)json_get_int(j, "pid", 0);
	r->at.start = (uint64_t)json_get_int(j, "start", 0);
	r->ttl_s = (int)json_get_int(j, "ttl", GATE_TTL_S);
	r->since = json_get_int(j, "since", 0);
	r->until = json_get_int(j, "until", 0);
	r->until_ticks = json_get_int(j, "ticks", 0);
}

/* An unreadable record must not be overwritten: its fence would be lost. */
int gate_read(struct arena *a, struct pool *p, struct gate_record *out, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	struct store_kv kv;

	*out = (struct gate_record){
		.hold = "", .who = "", .at = {.host = "", .boot = "", .space = ""}};
	if (store_get(p->store, a, gate_key(a, p), &kv, err) != STORE_OK)
		return error_prefix(err, "merge gate");
	out->mod = kv.mod;
	if (!kv.mod)
		return 0;
	if (json_parse(&j, kv.value, err) < 0)
		return error_prefix(err, "record of the merge gate of '%s'", p->dir);
	out->fence = json_get_int(j, "fence", 0);
	read_holder(a, j, out);
	return 0;
}

static void write_holder(json *j, const struct gate_record *r)
{
	JSON_ADD(j, JSON_TEXT("hold", r->hold), JSON_IF(r->evicting, JSON_BOOL("evicting", true)),
		JSON_TEXT("who", r->who), JSON_TEXT("host", r->at.host),
		JSON_TEXT("boot", r->at.boot), JSON_TEXT("space", r->at.space),
		JSON_INT("pid", r->at.pid), JSON_INT("start", r->at.start),
		JSON_INT("ttl", r->ttl_s), JSON_INT("since", r->since), JSON_INT("until", r->until),
		JSON_INT("ticks", r->until_ticks));
}

int gate_put(struct arena *a, struct pool *p, const struct gate_record *r, int64_t mod, bool *lost,
	struct error *err)
{
	json *j = JSON_OBJECT(JSON_TEXT("dir", p->dir), JSON_INT("fence", r->fence));
	const char *key = gate_key(a, p);
	struct store_guard guard = {.key = key, .what = STORE_MOD_IS, .rev = mod};
	struct store_op op = {.what = STORE_PUT, .key = key};
	struct store_txn t = {.guards = &guard, .n_guards = 1, .ops = &op, .n_ops = 1};
	struct store_result result = {0};
	enum store_status got;

	if (r->held)
		write_holder(j, r);
	op.value = json_print_in(a, j);
	got = store_txn(p->store, a, &t, &result, err);
	*lost = got == STORE_REFUSED;
	return got == STORE_OK || got == STORE_REFUSED ? 0 : error_prefix(err, "merge gate");
}

json *gate_holder_json(const struct gate_holder *h)
{
	if (h->elsewhere)
		return JSON_OBJECT(
			JSON_BOOL("otherStateFolder", true), JSON_TEXT("text", h->elsewhere));
	return JSON_OBJECT(JSON_TEXT("who", h->who), JSON_INT("pid", h->pid),
		JSON_TEXT("host", h->host), JSON_INT("fence", h->fence),
		JSON_TIME("since", h->since), JSON_TIME("until", h->until),
		JSON_BOOL("here", h->here), JSON_BOOL("live", h->live),
		JSON_BOOL("leaseOver", h->over), JSON_BOOL("ending", h->evicting));
}

/* Uses the clock of this boot if it is also the holder's. */
static bool lease_over(const struct gate_record *r, const struct process_identity *self)
{
	if (strcmp(r->at.boot, self->boot) == 0)
		return clock_ticks() >= r->until_ticks;
	return clock_now() >= r->until;
}

enum gate_view gate_look(const struct gate_record *r, const struct process_identity *self)
{
	if (!r->held)
		return GATE_FREE;
	switch (process_life(&r->at, self)) {
	case PROCESS_DEAD:
		return GATE_DEAD;
	case PROCESS_AWAY:
		return lease_over(r, self) ? GATE_AWAY : GATE_HELD;
	case PROCESS_ALIVE:
		break;
	}
	return r->evicting || lease_over(r, self) ? GATE_OVER : GATE_HELD;
}
