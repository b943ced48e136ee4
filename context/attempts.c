/*
 * attempts.c: numbers of actions are never used twice. They are counted in the document; when that
 * is an older copy, or lost its counts, the journal still knows which were given out.
 */
#include "context/internal.h"
#include "src/base/json.h"
#include "src/base/number.h"

/* `ADR-7/researching/3`: the part between the slashes, and the number. */
static bool split_id(struct str id, struct str *part, unsigned long *n)
{
	const char *first = memchr(id.p, '/', id.n), *last = memrchr(id.p, '/', id.n);
	uint64_t number;

	if (!first || first + 1 >= last)
		return false;
	*part = (struct str){first + 1, (size_t)(last - first) - 1};
	if (!number_parse(str_sub(id, (size_t)(last - id.p) + 1, id.n), 0, 999999999, &number))
		return false;
	*n = number;
	return true;
}

static void take_line(struct context *c, struct str line)
{
	CLEANUP(json_free) json *event = NULL;
	struct error ignored;
	const char *type, *id;
	struct str part;
	unsigned long n;

	if (str_find(line, STR("\"dispatch\"")) == line.n || json_parse(&event, line, &ignored) < 0)
		return;
	type = json_get_str(event, "type");
	id = json_get_str(event, "action");
	if (type && id && strcmp(type, "dispatch") == 0 && split_id(str_of(id), &part, &n))
		context_raise_attempt(c, arena_dup(&c->arena, part), n);
}

void context_recall_attempts(struct context *c, struct str journal)
{
	struct str line;

	while (str_line(&journal, &line))
		take_line(c, line);
}
