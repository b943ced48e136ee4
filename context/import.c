/*
 * import.c: format 1 had the same document and the same events, without commits: the revision of
 * the document said how far the events held. Its files are taken in as they are, in one commit.
 */
#include "context/file_internal.h"
#include "src/store/legacy.h"

/* What the document says it is at; a broken one says nothing. */
static uint64_t revision_of(const struct context_file *f, struct str text)
{
	struct context c = {0};
	struct error ignored;
	uint64_t rev = STORE_REV_UNKNOWN;

	if (context_parse(&c, f->path, text, &ignored) == 0 && context_get(&c, "revision").n)
		rev = context_count(&c, "revision");
	context_release(&c);
	return rev;
}

static int take_in(struct context_file *f, struct str text, struct error *err)
{
	struct store_op document = {.what = STORE_PUT, .key = f->key, .value = text};
	json *op = context_op(f, "import");
	int rc;

	json_put_str(op, "file", str_of(f->path));
	rc = context_commit(f, &document, err);
	json_free(&f->op);
	return rc;
}

int context_import(struct context_file *f, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool missing;
	int rc = f->disk->ops->read(f->disk, f->path, CONTEXT_MAX, &text, &missing, err);

	if (rc < 0 && !missing)
		return -1;
	if (store_adopt(f->store, missing ? 0 : revision_of(f, buf_str(&text)), err) < 0)
		return -1;
	return missing ? 0 : take_in(f, buf_str(&text), err);
}
