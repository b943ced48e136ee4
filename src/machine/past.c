#include "src/machine/past.h"
#include "src/store/log.h"

/* Told of each event of action `id`; false: enough. */
typedef bool look_at(void *data, const json *event);

struct search {
	const char *type, *key, *id;
	look_at *look;
	void *data;
};

static bool look_in(const struct search *s, const json *events)
{
	for (const json *e = json_first(events); e; e = json_next(e)) {
		const char *type = json_get_str(e, "type"), *id = json_get_str(e, s->key);

		if (type && id && strcmp(type, s->type) == 0 && strcmp(id, s->id) == 0 &&
			!s->look(s->data, e))
			return false;
	}
	return true;
}

/* A journal that cannot be read knows nothing: its own faults are told by who needs it. */
static void search(const struct context_file *f, const struct search *s)
{
	CLEANUP(store_log_close) struct store_log *log = NULL;
	struct store_commit c;
	struct error ignored;

	if (!f->disk)
		return;
	if (store_log_open(&log, f->disk, f->dir, f->name, &ignored) < 0)
		return;
	while (store_log_next(log, &c, &ignored) == 1 && look_in(s, c.events))
		;
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
	search(f, &(struct search){"answer", "action", id, compare, &r});
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

	search(f, &(struct search){"dispatch", "instead_of", id, take_successor, &s});
	if (!s.id)
		return error_set(err, ERR_STATE,
			"action '%.200s' is stale or unknown: it is not outstanding", id);
	return error_set(err, ERR_STATE,
		"action '%.200s' is stale: '%s' took the work item over at %s, and '%.200s' is "
		"asked for instead",
		id, s.owner, s.at, s.id);
}
