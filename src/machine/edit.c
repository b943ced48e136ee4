#include "src/machine/edit.h"

enum { NOTED_MAX = 4096, SHOWN_MAX = 200 };

/* A long value is in the document after it. */
static void note_operation(struct context_file *f, const char *key, struct str value)
{
	json *op = context_op(f, "set");

	json_put_str(op, "key", str_of(key));
	if (value.n <= NOTED_MAX)
		json_put_str(op, "value", value);
}

int edit_key(struct context_file *f, const char *key, struct str value, struct error *err)
{
	json *event;

	context_set(&f->doc, key, value);
	note_operation(f, key, value);
	if (!f->doc.changed)
		return 0;
	event = context_event(f, "set");
	json_put_str(event, "key", str_of(key));
	json_put_str(event, "value", value.n > SHOWN_MAX ? STR("(long)") : value);
	return context_save(f, err);
}
