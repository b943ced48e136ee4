#include "src/machine/past.h"

#define JOURNAL_MOST ((size_t)1 << 30)

/* Told of each event of action `id`; false: enough. */
typedef bool look_at(void *data, const json *event);

struct search {
	const char *type, *key, *id;
	const char *mark; /* stands in the journal when there is such an event */
	look_at *look;
	void *data;
};

static bool look_at_line(const struct search *s, struct str line)
{
	CLEANUP(json_free) json *event = NULL;
	const char *type, *id;
	struct error ignored;

	if (json_parse(&event, line, &ignored) < 0)
		return true;
	type = json_get_str(event, "type");
	id = json_get_str(event, s->key);
	return !type || !id || strcmp(type, s->type) != 0 || strcmp(id, s->id) != 0 ||
	       s->look(s->data, event);
}

/*
 * Only lines with the mark are taken apart: most answers that are refused have no past at all. What
 * was torn off was cut when the document was opened, so each line that is there has happened. A
 * journal that cannot be read knows nothing: its own faults are told by who needs it.
 */
static void search(const struct context_file *f, const struct search *s)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(arena_release) struct arena a = {0};
	struct error ignored;
	struct str all, line;
	bool missing;

	if (!f->disk ||
		f->disk->ops->read(f->disk, arena_printf(&a, "%s/%s.events.jsonl", f->dir, f->name),
			JOURNAL_MOST, &text, &missing, &ignored) < 0)
		return;
	all = buf_str(&text);
	for (size_t at = 0; (at += str_find(str_sub(all, at, all.n), str_of(s->mark))) < all.n;) {
		const char *nl = memrchr(all.p, '\n', at);
		struct str rest = str_sub(all, nl ? (size_t)(nl - all.p) + 1 : 0, all.n);

		if (!str_line(&rest, &line) || !look_at_line(s, line))
			return;
		at = (size_t)(rest.p - all.p);
	}
}

void answer_sum(struct str text, char out[DIGEST_TEXT])
{
	digest_text(str_trim(text), out);
}

struct receipt {
	char sum[DIGEST_TEXT];
	const char *word;
	bool found;
};

static bool compare(void *data, const json *event)
{
	struct receipt *r = data;
	const char *sum = json_get_str(event, "sum"), *word = json_get_str(event, "result");

	r->found = sum && strcmp(sum, r->sum) == 0 &&
		   (!r->word || !*r->word || (word && strcmp(word, r->word) == 0));
	return !r->found;
}

bool past_answered(const struct context_file *f, const char *id, const char *word, struct str text)
{
	struct receipt r = {.word = word};

	answer_sum(text, r.sum);
	search(f, &(struct search){"answer", "action", id, r.sum, compare, &r});
	return r.found;
}

struct successor {
	struct arena *a;
	const char *id, *owner, *at;
};

static bool take_successor(void *data, const json *event)
{
	struct successor *s = data;
	const char *owner = json_get_str(event, "owner"), *at = json_get_str(event, "ts");

	if (owner && at)
		*s = (struct successor){.a = s->a,
			.id = arena_dup(s->a, str_of(json_get_str(event, "action"))),
			.owner = arena_dup(s->a, str_of(owner)),
			.at = arena_dup(s->a, str_of(at))};
	return false;
}

int past_refuse(const struct context_file *f, const char *id, struct error *err)
{
	struct successor s = {.a = (struct arena *)&f->doc.arena};

	search(f, &(struct search){
			  "dispatch", "instead_of", id, "\"instead_of\":", take_successor, &s});
	if (!s.id)
		return error_set(err, ERR_STATE,
			"action '%.200s' is stale or unknown: it is not outstanding", id);
	return error_set(err, ERR_STATE,
		"action '%.200s' is stale: '%s' took the work item over at %s, and '%.200s' is "
		"asked for instead",
		id, s.owner, s.at, s.id);
}
