#include "src/base/clock.h"
#include "src/cli/gate.h"

json *gate_paths_json(const char *const *paths)
{
	json *list = json_array();

	for (; paths && *paths; paths++)
		json_push_str(list, str_of(*paths));
	return list;
}

static void put_time(json *j, const char *key, int64_t t)
{
	char text[CLOCK_TEXT];

	clock_text(t, text);
	json_put_str(j, key, str_of(text));
}

static json *holder_json(const struct gate_holder *h)
{
	json *j = json_object();

	if (h->elsewhere) {
		json_put_bool(j, "otherStateFolder", true);
		json_put_str(j, "text", str_of(h->elsewhere));
		return j;
	}
	json_put_str(j, "who", str_of(h->who));
	json_put_int(j, "pid", h->pid);
	json_put_str(j, "host", str_of(h->host));
	json_put_int(j, "fence", h->fence);
	put_time(j, "since", h->since);
	put_time(j, "until", h->until);
	json_put_bool(j, "here", h->here);
	json_put_bool(j, "live", h->live);
	json_put_bool(j, "leaseOver", h->over);
	json_put_bool(j, "ending", h->evicting);
	return j;
}

static const char *state_of(const struct gate_holder *h)
{
	if (h->evicting)
		return "being ended";
	if (!h->here)
		return h->over ? "elsewhere, its lease is over" : "elsewhere";
	if (!h->live)
		return "dead: whoever comes next takes the gate";
	return h->over ? "live, its lease is over" : "live";
}

static void put_holder(struct buf *out, const struct gate_holder *h)
{
	char since[CLOCK_TEXT], until[CLOCK_TEXT];

	if (h->elsewhere) {
		buf_addf(out, "held by a user of another state folder\n  process  %s\n",
			h->elsewhere);
		return;
	}
	clock_text(h->since, since);
	clock_text(h->until, until);
	buf_addf(out, "held by '%s'\n  process  %ld on %s, %s\n  fence    %lld\n", h->who,
		(long)h->pid, h->host, state_of(h), (long long)h->fence);
	buf_addf(out, "  since    %s\n  lease    until %s\n", since, until);
}

/* Of this pool's directory alone. */
static bool mine(const struct pool *p, const struct rebase_record *r)
{
	size_t n = strlen(p->dir);

	return strncmp(r->path, p->dir, n) == 0 && r->path[n] == '/';
}

static json *rebase_json(const struct rebase_record *r)
{
	json *j = json_object();

	json_put_str(j, "branch", str_of(r->branch ? r->branch : ""));
	json_put_str(j, "path", str_of(r->path));
	json_put_str(j, "target", str_of(r->target ? r->target : ""));
	json_put_str(j, "state", str_of(r->state));
	json_put_int(j, "attempts", r->attempts);
	if (r->paths)
		json_put(j, "paths", gate_paths_json(r->paths));
	json_put_int(j, "fence", r->fence);
	put_time(j, "at", r->at);
	return j;
}

static void put_rebase(struct buf *out, const struct rebase_record *r)
{
	buf_addf(out, "%-10s '%s' onto '%s'", r->state, r->branch ? r->branch : "",
		r->target ? r->target : "");
	if (r->attempts)
		buf_addf(out, ", %u conflict%s", r->attempts, r->attempts > 1 ? "s" : "");
	for (size_t i = 0; r->paths && r->paths[i]; i++)
		buf_addf(out, "%s%s", i ? ", " : ": ", r->paths[i]);
	buf_addc(out, '\n');
}

static void put_json(struct invocation *in, const struct pool *p, const struct gate_holder *h,
	int64_t fence, const struct rebase_record *list, size_t n)
{
	json *j = json_object(), *rebases = json_array();

	json_put_str(j, "dir", str_of(p->dir));
	json_put_bool(j, "held", h != NULL);
	json_put_int(j, "fence", fence);
	if (h)
		json_put(j, "holder", holder_json(h));
	for (size_t i = 0; i < n; i++)
		if (mine(p, &list[i]))
			json_push(rebases, rebase_json(&list[i]));
	json_put(j, "rebases", rebases);
	put_line(in->out, j);
}

int gate_run_status(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	struct rebase_record *list;
	struct gate_holder h;
	int64_t fence;
	size_t n;
	bool held;

	if (pool_of(in, &p, err) < 0 || gate_status(in->arena, &p, &h, &held, &fence, err) < 0 ||
		rebase_list(in->arena, &p, &list, &n, err) < 0)
		return -1;
	if (in->args->value[GATE_JSON]) {
		put_json(in, &p, held ? &h : NULL, fence, list, n);
		return 0;
	}
	if (held)
		put_holder(in->out, &h);
	else
		buf_addf(in->out, "free (last fence %lld)\n", (long long)fence);
	for (size_t i = 0; i < n; i++)
		if (mine(&p, &list[i]))
			put_rebase(in->out, &list[i]);
	return 0;
}

int gate_run_release(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	struct gate_holder was;
	int64_t fence;
	bool held;

	if (!in->args->value[GATE_FORCE])
		return error_set(err, ERR_USAGE,
			"a gate is given back by its holder; to end what the holder runs and take "
			"it away give --force");
	if (gate_number(in, GATE_FENCE, 1, JSON_MAX_INT, 0, &fence, err) < 0 ||
		pool_of(in, &p, err) < 0 || gate_force(in->arena, &p, fence, &was, &held, err) < 0)
		return -1;
	if (in->args->value[GATE_JSON]) {
		json *j = json_object();

		json_put_bool(j, "released", held);
		if (held)
			json_put(j, "was", holder_json(&was));
		put_line(in->out, j);
	} else if (!held) {
		buf_adds(in->out, "the gate was free\n");
	} else {
		buf_addf(in->out, "released: fence %lld, '%s', process %ld on %s\n",
			(long long)was.fence, was.who, (long)was.pid, was.host);
	}
	return 0;
}
