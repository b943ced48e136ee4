/* file_print.c: the lines of a commit. The form is in file_internal.h. */
#include "src/base/clock.h"
#include "src/store/file/file_internal.h"

static int64_t here(const struct file_store *f, const struct buf *out)
{
	return f->end + f->shift + (int64_t)out->len;
}

/* ---- events ---- */

static void print_event(
	struct buf *out, const json *event, int64_t seq, int64_t rev, const char *ts)
{
	size_t at;

	buf_addf(out, "{\"seq\":%lld,\"rev\":%lld,", (long long)seq, (long long)rev);
	if (!json_get(event, "ts"))
		buf_addf(out, "\"ts\":\"%s\",", ts);
	at = out->len;
	json_print(out, event);
	memmove(out->s + at, out->s + at + 1, out->len - at); /* the object's own brace */
	out->len--;
	if (out->len == at + 1) { /* an object without members */
		out->s[at - 1] = '}';
		out->len--;
	}
	buf_addc(out, '\n');
}

static void print_events(
	struct file_store *f, const struct work *w, const char *ts, struct buf *out)
{
	for (const json *e = json_first(w->events); e; e = json_next(e))
		print_event(out, e, ++f->state.seq, f->state.rev, ts);
}

/* ---- documents ---- */

static void begin_change(struct file_store *f, const struct entry *e, struct buf *out)
{
	buf_addf(out, FILE_CHANGE "%lld,\"key\":", (long long)f->state.rev);
	json_print_text(out, str_of(e->key));
	if (e->sum[0])
		buf_addf(out, ",\"from\":\"%s\"", e->sum);
}

/* What was written since the last whole text is read again when an old text is needed. */
static bool wants_whole(const struct entry *e, const struct change *c)
{
	int64_t most = 4 * (int64_t)c->value.n;

	return !e->sum[0] || !c->delta || !c->delta->n ||
	       e->since > (most > FILE_WHOLE ? most : FILE_WHOLE);
}

static void print_text(struct file_store *f, struct entry *e, struct str text,
	const struct delta *delta, struct buf *out)
{
	static const struct delta nothing;
	int64_t at = here(f, out);

	begin_change(f, e, out);
	memcpy(e->before, e->sum, sizeof(e->before));
	digest_text(text, e->sum);
	buf_addf(out, ",\"to\":\"%s\",\"delta\":", e->sum);
	delta_print(out, delta ? delta : &nothing, text);
	buf_adds(out, "}\n");
	e->since = delta ? e->since + (here(f, out) - at) : 0;
	e->whole = delta ? e->whole : at;
}

/* What the caller says is looked at where that can be done: a log that does not lead to its texts
 * is found too late. */
static const struct delta *delta_of(const struct change *c, struct delta *own)
{
	if (!c->before)
		return c->delta;
	if (c->delta && delta_holds(c->delta, buf_str(c->before), c->value))
		return c->delta;
	delta_between(own, buf_str(c->before), c->value);
	return own;
}

static void print_document(
	struct file_store *f, const struct change *c, bool by_hand, struct buf *out)
{
	CLEANUP(delta_release) struct delta own = {0};
	struct entry *e = state_find(&f->state, c->key);
	struct change told = *c;

	if (c->del) {
		if (!e)
			return;
		begin_change(f, e, out);
		buf_adds(out, "}\n");
		return;
	}
	e = e ? e : state_put(&f->state, c->key, (struct str){0});
	e->document = true;
	if (!by_hand)
		e->slot = c->slot;
	told.delta = delta_of(c, &own);
	print_text(f, e, c->value, wants_whole(e, &told) ? NULL : told.delta, out);
}

/* Every document anew, so that nothing before is needed; they do not change by that. */
static int print_all_documents(struct file_store *f, struct buf *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (size_t i = 0; i < f->state.n; i++) {
		struct entry *e = &f->state.keys[i];
		char before[DIGEST_TEXT];

		if (!e->document)
			continue;
		if (file_rebuild(f, e, &text, err) < 0)
			return -1;
		memcpy(before, e->before, sizeof(before));
		print_text(f, e, buf_str(&text), NULL, out);
		memcpy(e->before, before, sizeof(before));
	}
	return 0;
}

/* ---- members of the commit's line ---- */

/* Opens a member before its first item, puts a comma before the others. */
static void item(struct buf *out, bool *open, const char *begin)
{
	buf_adds(out, *open ? "," : begin);
	*open = true;
}

static void close_member(struct buf *out, bool open, char bracket)
{
	if (open)
		buf_addc(out, bracket);
}

static void print_gone(const struct file_store *f, const struct work *w, struct buf *out)
{
	bool open = false;

	for (size_t i = 0; i < w->n && !w->by_hand; i++) {
		const struct change *c = &w->changes[i];
		const struct entry *e =
			c->del && is_document(c->key) ? state_find(&f->state, c->key) : NULL;

		if (!e)
			continue;
		item(out, &open, ",\"gone\":{");
		json_print_text(out, str_of(c->key));
		buf_addf(out, ":\"%s\"", e->sum);
	}
	close_member(out, open, '}');
}

static void print_deleted(struct file_store *f, const struct work *w, struct buf *out)
{
	bool open = false;

	for (size_t i = 0; i < w->n; i++) {
		const struct change *c = &w->changes[i];

		if (!c->del || !state_find(&f->state, c->key))
			continue;
		item(out, &open, ",\"del\":[");
		json_print_text(out, str_of(c->key));
		state_delete(&f->state, c->key);
	}
	close_member(out, open, ']');
}

static void stamp(struct file_store *f, struct entry *e)
{
	e->mod = f->state.rev;
	e->create = e->create ? e->create : e->mod;
}

static void print_put(struct file_store *f, const struct work *w, struct buf *out)
{
	bool open = false;

	for (size_t i = 0; i < w->n; i++) {
		const struct change *c = &w->changes[i];
		struct entry *e;

		if (c->del || is_document(c->key))
			continue;
		e = state_put(&f->state, c->key, c->value.p ? c->value : STR(""));
		e->lease = c->lease;
		stamp(f, e);
		item(out, &open, ",\"put\":{");
		state_print_entry(out, e);
	}
	close_member(out, open, '}');
}

static void print_documents(struct file_store *f, const struct work *w, struct buf *out)
{
	bool open = false;

	for (size_t i = 0; i < w->n; i++) {
		const struct change *c = &w->changes[i];
		struct entry *e =
			c->del || !is_document(c->key) ? NULL : state_find(&f->state, c->key);

		if (!e)
			continue;
		stamp(f, e);
		item(out, &open, ",\"doc\":{");
		state_print_entry(out, e);
	}
	close_member(out, open, '}');
}

static void print_leases(struct file_store *f, const struct work *w, struct buf *out)
{
	bool open = false;

	for (size_t i = 0; i < w->n_leases; i++) {
		const struct lease *l = &w->leases[i];

		state_set_lease(&f->state, *l);
		if (!l->ttl)
			continue;
		item(out, &open, ",\"lease\":{");
		buf_addf(out, "\"%llu\":[%lld,%d]", (unsigned long long)l->id, (long long)l->until,
			l->ttl);
	}
	close_member(out, open, '}');
	open = false;
	for (size_t i = 0; i < w->n_leases; i++) {
		if (w->leases[i].ttl)
			continue;
		item(out, &open, ",\"over\":[");
		buf_addf(out, "\"%llu\"", (unsigned long long)w->leases[i].id);
	}
	close_member(out, open, ']');
}

/* ---- the commit's line ---- */

static void print_head(struct file_store *f, const struct work *w, const char *ts, struct buf *out)
{
	struct state *s = &f->state;
	int64_t at = here(f, out);

	buf_addf(out, FILE_COMMIT "%lld,\"format\":%d,\"ts\":\"%s\"", (long long)s->rev,
		FILE_FORMAT, ts);
	if (w->actor) {
		buf_adds(out, ",\"actor\":");
		json_print_text(out, str_of(w->actor));
	}
	buf_addf(out, ",\"seq\":%lld,\"from\":%lld,\"at\":%lld", (long long)s->seq,
		(long long)(f->end + f->shift), (long long)at);
}

/* An open reads from the last line that says everything. */
static void print_base(struct file_store *f, bool all, int64_t at, struct buf *out)
{
	struct state *s = &f->state;
	/* Behind a long one as much again: else every commit would bring its own. */
	int64_t most = 2 * s->dump > FILE_DUMP ? 2 * s->dump : FILE_DUMP;

	if (all || here(f, out) - s->base > most) {
		s->base = at;
		s->base_rev = s->rev;
		buf_addc(out, ',');
		state_print(out, s);
	}
	buf_addf(out, ",\"base\":%lld", (long long)s->base);
}

static void print_line(struct file_store *f, const struct work *w, const char *ts, struct buf *out)
{
	int64_t at = here(f, out);
	size_t begin = out->len;

	print_head(f, w, ts, out);
	print_gone(f, w, out);
	print_deleted(f, w, out);
	print_put(f, w, out);
	print_documents(f, w, out);
	print_leases(f, w, out);
	print_base(f, w->whole || !f->committed, at, out);
	if (f->state.base == at)
		f->state.dump = (int64_t)(out->len - begin);
	if (w->note) { /* behind all that an open needs: see parse_commit() */
		buf_adds(out, ",\"note\":");
		json_print(out, w->note);
	}
}

int file_print(struct file_store *f, const struct work *w, struct buf *out, char sum[DIGEST_TEXT],
	struct error *err)
{
	char now[CLOCK_TEXT];

	clock_text(clock_now(), now);
	if (!f->committed)
		buf_adds(out, FILE_HEADER "}\n");
	f->state.rev++;
	print_events(f, w, w->ts ? w->ts : now, out);
	if (w->whole && print_all_documents(f, out, err) < 0)
		return -1;
	for (size_t i = 0; i < w->n; i++)
		if (is_document(w->changes[i].key))
			print_document(f, &w->changes[i], w->by_hand, out);
	print_line(f, w, w->ts ? w->ts : now, out);
	digest_text(buf_str(out), sum);
	buf_addf(out, ",\"sum\":\"%s\"}\n", sum);
	return 0;
}
