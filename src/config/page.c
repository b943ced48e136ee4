#include "src/config/describe.h"

static void put_words(struct buf *b, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		buf_addf(b, "%s`%s`", i ? ", " : "", words[i]);
}

static void put_range(struct buf *b, const struct row *row)
{
	buf_adds(b, row->kind == ROW_NUMBER ? "number" : "whole number");
	if (row->max && row->max < (double)JSON_MAX_INT)
		buf_addf(b, " %s%.15g to %.15g", row->above ? "above " : "", row->min, row->max);
	else
		buf_addf(b, " %s %.15g", row->above ? "above" : "from", row->min);
}

static void put_form(struct buf *b, const struct row *row)
{
	switch (row->kind) {
	case ROW_COUNT:
	case ROW_WHOLE:
	case ROW_NUMBER:
		put_range(b, row);
		break;
	case ROW_BOOL:
		buf_adds(b, "`true` or `false`");
		break;
	case ROW_GROUP:
		buf_adds(b, "map");
		break;
	case ROW_LIST:
		buf_addf(b, "list of %s%.15g maps", row->min > 0 ? "1 to " : "at most ", row->max);
		break;
	case ROW_OPEN:
		buf_adds(b, row->list ? "any list" : "any map");
		break;
	case ROW_LABELS:
		buf_adds(b, "map of texts");
		break;
	case ROW_TEXTS:
		buf_adds(b, row->once ? "list, none twice: " : "list: ");
		/* fallthrough */
	default:
		if (row->words)
			put_words(b, row->words);
		else
			buf_adds(b, form_facts(row->form)->says);
	}
}

static void put_default(struct buf *b, const struct row *row)
{
	if (row->needed)
		buf_adds(b, "**needed**");
	else if (row->needed_when) {
		buf_addf(b, "**needed** when `%s` is ", row->needed_when);
		put_words(b, row->needed_is);
	} else if (row->otherwise)
		buf_addf(b, "`%s`", row->otherwise);
	else if (row->inherits)
		buf_addf(b, "`%s`", row->inherits);
	else if (row->derived)
		buf_adds(b, row->derived);
}

static void put_rows(struct buf *b, const char *prefix, const struct row *rows)
{
	for (; rows->key; rows++) {
		CLEANUP(buf_release) struct buf inner = BUF_INIT;

		buf_addf(b, "| `%s%s` | ", prefix, rows->key);
		if (rows->kind == ROW_REFUSED) {
			buf_addf(b, "**refused** | | %s |\n", rows->hint);
			continue;
		}
		put_form(b, rows);
		buf_adds(b, " | ");
		put_default(b, rows);
		buf_addf(b, " | %s%s |\n", rows->about, rows->inert ? " Not acted on." : "");
		buf_addf(&inner, "%s%s%s.", prefix, rows->key, rows->kind == ROW_LIST ? "[]" : "");
		if (rows->rows)
			put_rows(b, inner.s, rows->rows);
	}
}

void kind_page(const struct resource_kind *kind, struct buf *out)
{
	buf_addf(out, "%s\n\n| Field | Is | Default | Means |\n|---|---|---|---|\n", kind->about);
	put_rows(out, "", kind->rows);
}
