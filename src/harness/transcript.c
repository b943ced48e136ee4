#include "src/base/vec.h"
#include "src/harness/harness.h"
#include "src/sys/path.h"

/*
 * What the agents of a session of Claude Code used, as its transcripts say: a file of its own for
 * each conversation, one JSON object a line. A message is written in several rows with the same id
 * and the usage so far; the last one counts.
 */

enum { TRANSCRIPT_MAX = 64 << 20 };

#define TOKENS_MOST ((int64_t)1000000000000)

struct message {
	const char *id;
	int64_t input, output, read, written;
};

struct transcript {
	struct arena *arena;
	const char *path, *agent, *last;
	VEC(struct message) messages;
	size_t n_rows, line;
	bool ended; /* the last message is there */
};

static int harness_transcript_fault(const struct transcript *t, struct error *err, const char *what)
{
	return error_set(err, ERR_INPUT, "%s:%zu: %s", t->path, t->line, what);
}

static struct message *find_message(struct transcript *t, const char *id)
{
	for (size_t i = t->messages.n; i-- > 0;)
		if (strcmp(t->messages.items[i].id, id) == 0)
			return &t->messages.items[i];
	vec_push_in(
		t->arena, &t->messages, (struct message){.id = arena_dup(t->arena, str_of(id))});
	return &t->messages.items[t->messages.n - 1];
}

static bool read_tokens(const json *usage, const char *key, int64_t *out)
{
	const json *value = json_get(usage, key);

	*out = json_int(value, value ? -1 : 0);
	return *out >= 0 && *out <= TOKENS_MOST;
}

/* `last`: the text, or the id of the tool call, of a block. */
static bool has_block(const json *content, const char *last)
{
	struct str wanted = str_trim(str_of(last));

	for (const json *b = json_first(content); b; b = json_next(b)) {
		const char *text = json_get_str(b, "text");

		if (json_str_is(b, "id", last) || (text && str_eq(str_trim(str_of(text)), wanted)))
			return true;
	}
	return false;
}

static int harness_transcript_take_message(
	struct transcript *t, const json *message, struct error *err)
{
	const json *usage = json_get(message, "usage");
	const char *id = json_get_str(message, "id");
	struct message *m;

	if (!id || !usage)
		return harness_transcript_fault(t, err, "a message without its id or usage");
	m = find_message(t, id);
	if (!read_tokens(usage, "input_tokens", &m->input) ||
		!read_tokens(usage, "output_tokens", &m->output) ||
		!read_tokens(usage, "cache_read_input_tokens", &m->read) ||
		!read_tokens(usage, "cache_creation_input_tokens", &m->written))
		return harness_transcript_fault(t, err, "a usage that no message can have");
	t->ended |= t->last && has_block(json_get(message, "content"), t->last);
	return 0;
}

static int take_row(struct transcript *t, struct str line, struct error *err)
{
	CLEANUP(json_free) json *row = NULL;
	const char *agent;
	struct error ignored;

	t->line++;
	if (json_parse_foreign(&row, line, &ignored) < 0 || !json_is_object(row))
		return harness_transcript_fault(
			t, err, "the transcript is truncated or damaged here");
	agent = json_get_str(row, "agentId");
	if (agent && t->agent && strcmp(agent, t->agent) != 0)
		return harness_transcript_fault(t, err, "the transcript is of another agent");
	t->n_rows += json_str_is(row, "type", "user") || json_str_is(row, "type", "assistant");
	return json_str_is(row, "type", "assistant")
		       ? harness_transcript_take_message(t, json_get(row, "message"), err)
		       : 0;
}

int harness_transcript_usage(struct arena *a, const char *path, const char *agent, const char *last,
	bool *ended, struct usage *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct transcript t = {.arena = a, .path = path, .agent = agent, .last = last};
	struct str rest, line;
	bool missing = false;

	*out = (struct usage)USAGE_NONE;
	if (sys_read_file(&text, path, TRANSCRIPT_MAX, &missing, err) < 0)
		return missing ? error_set(err, ERR_INPUT, "there is no transcript '%s'", path)
			       : -1;
	rest = buf_str(&text);
	if (rest.n && rest.p[rest.n - 1] != '\n')
		return error_set(
			err, ERR_INPUT, "%s: the transcript is truncated at its end", path);
	while (str_line(&rest, &line))
		if (line.n && take_row(&t, line, err) < 0)
			return -1;
	if (!t.n_rows)
		return error_set(err, ERR_INPUT, "'%s' is no transcript of Claude Code", path);
	out->input_tokens = out->output_tokens = out->cache_tokens = 0;
	for (size_t i = 0; i < t.messages.n; i++) {
		const struct message *m = &t.messages.items[i];

		usage_add_tokens(out, m->input, m->output, m->read + m->written);
		out->cache_written += m->written;
	}
	if (ended)
		*ended = t.ended;
	return 0;
}
