#include "src/sys/path.h"
#include "src/machine/agents_uses.h"

#define EVENT    "scripted"
#define READ_MAX ((size_t)1 << 30)

static bool is(const json *event, const char *key, const char *value)
{
	const char *text = json_get_str(event, key);

	return text && strcmp(text, value) == 0;
}

/* False: this very action had its turn before, and *uses is its number. */
static bool count(const json *event, const char *key, const char *action, size_t *uses)
{
	if (is(event, "type", "started"))
		*uses = 0;
	if (!is(event, "type", EVENT) || !is(event, "entry", key))
		return true;
	if (is(event, "action", action))
		return false;
	++*uses;
	return true;
}

int agents_uses(
	const char *document, const char *key, const char *action, size_t *uses, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, path = BUF_INIT;
	struct str stem = str_of(document), rest, line;
	bool missing, on = true;

	*uses = 0;
	if (str_ends(stem, ".md"))
		stem.n -= 3;
	buf_add(&path, stem);
	buf_adds(&path, ".events.jsonl");
	if (file_read(&text, path.s, READ_MAX, &missing, err) < 0)
		return missing ? 0 : -1;
	rest = buf_str(&text);
	while (on && str_line(&rest, &line)) {
		CLEANUP(json_free) json *event = NULL;
		struct error torn;

		if (json_parse(&event, line, &torn) == 0)
			on = count(event, key, action, uses);
	}
	return 0;
}

void agents_note(struct context_file *f, const char *key, const char *action)
{
	json *event = context_event(f, EVENT);

	json_put_str(event, "action", str_of(action));
	json_put_str(event, "entry", str_of(key));
}
