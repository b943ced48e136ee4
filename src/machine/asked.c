#include "src/machine/actions.h"
#include "src/machine/asked.h"

/* A JSON array of ids. */
#define ASKED_KEY "asked"

int asked_note(struct context_file *f, const json *outstanding, struct error *err)
{
	CLEANUP(json_free) json *ids = json_array();
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str last;

	for (const json *a = json_first(outstanding); a; a = json_next(a))
		if (!action_answered(&f->doc, a))
			json_push_str(ids, str_of(json_get_str(a, "id")));
	json_print(&text, ids);
	if (context_get_key(f, ASKED_KEY, &last, err) < 0)
		return -1;
	if (!str_eq(last, buf_str(&text)))
		context_put_key(f, ASKED_KEY, buf_str(&text));
	return 0;
}

int asked_still(struct context_file *f, const char *id, bool *still, struct error *err)
{
	CLEANUP(json_free) json *ids = NULL;
	struct error ignored;
	struct str text;

	*still = true;
	if (context_get_key(f, ASKED_KEY, &text, err) < 0)
		return -1;
	if (!text.n || json_parse(&ids, text, &ignored) < 0)
		return 0;
	*still = false;
	for (const json *one = json_first(ids); one && !*still; one = json_next(one))
		*still = json_text(one) && strcmp(json_text(one), id) == 0;
	return 0;
}
