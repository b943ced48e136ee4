#include "src/sys/path.h"
#include "src/machine/actions.h"
#include "src/verify/restore.h"

/* 1: the document can be worked with; 0: it is broken or gone; -1. */
static int open_any(struct context_file *f, const char *path, struct error *err)
{
	CLEANUP(json_free) json *actions = NULL;

	if (context_open(f, path, CONTEXT_MAY_CREATE, err) < 0)
		return f->store && err->code == ERR_INPUT ? 0 : -1;
	return !f->created && actions_load(&f->doc, &actions, err) == 0;
}

static int find(const struct history_place *place, int64_t rev, struct buf *text, int64_t *made,
	struct error *err)
{
	if (rev)
		return history_document(place, rev, text, made, err);
	return history_last_good(place, text, made, err);
}

/* 1: nothing is to be done; 0; -1. */
static int is_there(const struct history_place *place, struct str text, struct error *err)
{
	CLEANUP(buf_release) struct buf now = BUF_INIT;
	bool there;

	if (history_now(place, &now, &there, err) < 0)
		return err->code == ERR_SYSTEM ? -1 : 0;
	return there && str_eq(buf_str(&now), text);
}

int restore_into(struct context_file *f, int64_t to, struct str text, struct error *err)
{
	json_put_int(context_op(f, "restore"), "to", to);
	json_put_int(context_event(f, "restored"), "to", to);
	return context_replace(f, text, err);
}

/* Else a document that never was would get a folder, a lock and a journal. */
static int check_there(const struct history_place *place, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	bool there;

	if (path_check_exists(place->path, &there, err) < 0)
		return -1;
	if (!there && path_check_exists(arena_printf(&a, "%s/%s.events.jsonl", place->dir, place->name),
			      &there, err) < 0)
		return -1;
	return there ? 0 : error_set(err, ERR_INPUT, "no context file '%s'", place->path);
}

int restore_document(
	const struct history_place *place, int64_t rev, struct restored *result, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int good = check_there(place, err);

	*result = (struct restored){0};
	if (good < 0 || (good = open_any(&f, place->path, err)) < 0)
		return -1;
	if (good && !rev)
		return 0;
	if (find(place, rev, &text, &result->to, err) < 0)
		return -1;
	if ((good = is_there(place, buf_str(&text), err)) != 0)
		return good < 0 ? -1 : 0;
	result->stood = store_revision(f.store);
	return restore_into(&f, result->to, buf_str(&text), err);
}
