#include "context/lease.h"
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/sys/process.h"

#define HOLDER_KEY "holder"

int lease_check_owner(const char *name, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct str s = str_of(name);

	/* The last two are the separators of lines and paragraphs. */
	if (s.n >= 1 && s.n <= OWNER_MAX && str_trim(s).n == s.n && !strpbrk(name, "'\"`") &&
		str_eq(str_of(arena_printable(&a, s, OWNER_MAX)), s) &&
		!strstr(name, "\xe2\x80\xa8") && !strstr(name, "\xe2\x80\xa9"))
		return 0;
	return error_set(err, ERR_USAGE,
		"bad value of --owner: must be 1 to %d bytes of printable text without quotes",
		OWNER_MAX);
}

static char *lease_member(struct context_file *f, const json *j, const char *key)
{
	const char *text = json_get_str(j, key);

	return text ? arena_dup(&f->doc.arena, str_of(text)) : NULL;
}

static int lease_read_holder(struct context_file *f, struct lease_holder *h, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	const char *since;
	struct store_kv lease;
	struct str text;

	if (context_get_key(f, HOLDER_KEY, &text, err) < 0)
		return -1;
	if (!text.n)
		return 0;
	if (json_parse(&j, text, err) < 0)
		return error_prefix(err, "key '" HOLDER_KEY "' of '%s'", f->path);
	*h = (struct lease_holder){.owner = lease_member(f, j, "owner"),
		.from = lease_member(f, j, "from"),
		.client = lease_member(f, j, "client"),
		.fence = json_get_int(j, "fence", 0),
		.ttl_s = (int)json_get_int(j, "ttl_s", 0)};
	since = json_get_str(j, "since");
	if (since)
		(void)clock_parse(since, &h->since);
	if (h->since > f->now) /* the clock was set back */
		h->since = f->now;
	if (!h->owner || !h->fence)
		return 0;
	if (store_get(f->store, &f->doc.arena, CONTEXT_LEASE_KEY, &lease, err) != STORE_OK)
		return -1;
	h->live = lease.mod && number_or(lease.value, INT64_MAX, 0) == (uint64_t)h->fence;
	h->until = lease.until;
	return 0;
}

int lease_read(struct context_file *f, struct lease_holder *h, struct error *err)
{
	*h = (struct lease_holder){0};
	return context_open_keys(f, err) < 0 ? -1 : lease_read_holder(f, h, err);
}

bool lease_held_by(const struct lease_holder *h, const char *owner)
{
	return h->owner && owner && strcmp(h->owner, owner) == 0;
}

static void lease_put_holder(struct context_file *f, const struct lease_holder *h)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free)
	json *j = JSON_OBJECT(JSON_IF(h->owner, JSON_TEXT("owner", h->owner)),
		JSON_INT("fence", h->fence), JSON_TIME("since", h->since),
		JSON_INT("ttl_s", h->ttl_s), JSON_IF(h->from, JSON_TEXT("from", h->from)),
		JSON_IF(h->client, JSON_TEXT("client", h->client)));

	json_print(&text, j);
	context_put_key(f, HOLDER_KEY, buf_str(&text));
}

void lease_take(struct context_file *f, struct lease_holder *h, const char *owner,
	const char *client, int ttl_s)
{
	*h = (struct lease_holder){.owner = owner,
		.from = lease_held_by(h, owner) ? h->from : h->owner,
		.client = client,
		.fence = h->fence + 1,
		.since = f->now,
		.until = f->now + ttl_s,
		.ttl_s = ttl_s,
		.live = true};
	lease_put_holder(f, h);
	lease_renew(f, h);
}

void lease_set_client(struct context_file *f, struct lease_holder *h, const char *client)
{
	h->client = client;
	lease_put_holder(f, h);
}

void lease_renew(struct context_file *f, const struct lease_holder *h)
{
	f->lease = h->fence;
	f->lease_ttl_s = h->ttl_s;
}

void lease_stop_renewing(struct context_file *f)
{
	f->lease = 0;
}

void lease_release(struct context_file *f, struct lease_holder *h)
{
	*h = (struct lease_holder){.fence = h->fence, .since = f->now, .ttl_s = h->ttl_s};
	lease_put_holder(f, h);
	lease_stop_renewing(f);
}

bool lease_is_run(const struct lease_holder *h)
{
	return h->client && str_ends(str_of(h->client), LEASE_RUN);
}

bool lease_is_dead(struct arena *a, const struct lease_holder *h)
{
	return h->live && h->client && process_name_ended(a, h->client);
}

void lease_describe(struct buf *out, const struct lease_holder *h)
{
	char since[CLOCK_TEXT], until[CLOCK_TEXT];

	clock_text(h->since, since);
	clock_text(h->until, until);
	buf_addf(out, "held by '%s' since %s, until %s", h->owner, since, until);
}

int lease_refuse(const struct lease_holder *h, const char *id, const char *owner, bool to_step,
	struct error *err)
{
	CLEANUP(buf_release) struct buf how = BUF_INIT;
	CLEANUP(arena_release) struct arena a = {0};
	bool lost = owner && h->from && strcmp(h->from, owner) == 0;
	const char *client = h->client ? process_name_describe(&a, h->client) : NULL;
	char since[CLOCK_TEXT];

	lease_describe(&how, h);
	if (to_step && client && lease_is_run(h) && (!owner || lease_held_by(h, owner)))
		return error_set(err, ERR_STATE,
			"a 'dev-team run' works on '%s' (%s): 'dev-team stop %s' ends it", id,
			client, id);
	if (client)
		buf_addf(&how, " (%s, is running)", client);
	clock_text(h->since, since);
	if (to_step)
		return error_set(err, ERR_STATE,
			owner ? "'%s' is %s%s; to take it over%s: --owner NAME --take-over"
			      : "'%s' is %s%s; to take it over%s: 'dev-team step %s --owner NAME "
				"--take-over'",
			id, how.s, lost ? ", who took it over from you" : "", lost ? " again" : "",
			id);
	return error_set(err, ERR_STATE,
		lost ? "'%s' no longer holds '%s': '%s' took it over at %s"
		     : "'%s' does not hold '%s': '%s' does since %s",
		owner, id, h->owner, since);
}

int lease_admit(struct context_file *f, const char *id, const char *owner, struct error *err)
{
	struct lease_holder h;

	if (lease_read(f, &h, err) < 0)
		return -1;
	if (h.owner && owner && !lease_held_by(&h, owner))
		return lease_refuse(&h, id, owner, false, err);
	if (lease_held_by(&h, owner) && !h.live)
		lease_take(f, &h, owner, h.client, h.ttl_s);
	else if (h.live)
		lease_renew(f, &h);
	return 0;
}
