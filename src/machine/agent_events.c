#include "src/sys/path.h"
#include "src/machine/agent_events.h"

#define SCRIPTED    "scripted"
#define JOURNAL_MAX ((size_t)1 << 30)

void agent_run_note(struct context_file *f, const json *members)
{
	static const char *const journal[] = {"seq", "rev", "ts", "type"};
	json *event = context_event(f, AGENT_RUN);

	for (const json *m = json_first(members); m; m = json_next(m)) {
		bool own = false;

		for (size_t i = 0; i < COUNT(journal); i++)
			own |= strcmp(json_key(m), journal[i]) == 0;
		if (!own)
			json_put(event, json_key(m), json_copy(m));
	}
}

void agent_turn_note(struct context_file *f, const char *key, const char *action)
{
	json *event = context_event(f, SCRIPTED);

	json_put_str(event, "action", str_of(action));
	json_put_str(event, "entry", str_of(key));
}

/* False: this action had its turn before, and *turns is its number. */
static bool count_turn(const json *event, const char *key, const char *action, size_t *turns)
{
	if (json_str_is(event, "type", "started"))
		*turns = 0;
	if (!json_str_is(event, "type", SCRIPTED) || !json_str_is(event, "entry", key))
		return true;
	if (json_str_is(event, "action", action))
		return false;
	++*turns;
	return true;
}

int agent_turns_played(
	const char *document, const char *key, const char *action, size_t *turns, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, path = BUF_INIT;
	struct str stem = str_of(document), rest, line;
	bool missing, more = true;

	*turns = 0;
	if (str_ends(stem, ".md"))
		stem.n -= strlen(".md");
	buf_add(&path, stem);
	buf_adds(&path, ".events.jsonl");
	if (sys_read_file(&text, path.s, JOURNAL_MAX, &missing, err) < 0)
		return missing ? 0 : -1;
	rest = buf_str(&text);
	while (more && str_line(&rest, &line)) {
		CLEANUP(json_free) json *event = NULL;
		struct error torn;

		if (json_parse(&event, line, &torn) == 0)
			more = count_turn(event, key, action, turns);
	}
	return 0;
}
