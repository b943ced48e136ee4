/* The tables of docs/harness.md agree with the descriptors. */
#include "tests/lib/tree.h"
#include "src/harness/adapter.h"
#include "tests/lib/scratch.h"

static struct buf page;

static int read_page(void **state)
{
	(void)state;
	return tree_read("docs/harness.md", &page) ? 0 : -1;
}

static int end_page(void **state)
{
	buf_release(&page);
	return arena_end(state);
}

static void page_has(const struct buf *row)
{
	if (!strstr(page.s, row->s))
		fail_msg("docs/harness.md must have the row:\n%s", row->s);
}

static void put_names(struct buf *row, const char *const *names)
{
	for (size_t i = 0; names && names[i]; i++)
		buf_addf(row, "%s`%s`", i ? ", " : "", names[i]);
}

TEST(every_harness_has_its_row)
{
	for (size_t i = 0; harness_all[i]; i++) {
		CLEANUP(buf_release) struct buf row = BUF_INIT;
		const struct harness *h = harness_all[i];

		buf_addf(&row, "\n| `%s` | ", h->name);
		buf_addf(&row, h->binary ? "`%s` | " : "%s | ", h->binary ? h->binary : "none");
		buf_addf(&row, *h->range ? "`%s` | " : "%s | ", *h->range ? h->range : "any");
		put_names(&row, h->models);
		if (h->models_open)
			buf_adds(&row, h->models ? ", any" : "any");
		buf_adds(&row, " | ");
		put_names(&row, h->credentials);
		buf_adds(&row, " |\n");
		page_has(&row);
	}
}

TEST(every_capability_has_its_row)
{
	CLEANUP(buf_release) struct buf head = BUF_INIT;
	CLEANUP(buf_release) struct buf context = BUF_INIT;

	buf_adds(&head, "\n| capability |");
	buf_adds(&context, "\n| `maxContextTokens` |");
	for (size_t i = 0; harness_all[i]; i++) {
		int64_t n = harness_all[i]->context_tokens;

		buf_addf(&head, " %s |", harness_all[i]->name);
		if (n)
			buf_addf(&context, " %lld |", (long long)n);
		else
			buf_adds(&context, " varies |");
	}
	page_has(&head);
	page_has(&context);
	for (int c = 0; c < HARNESS_CAPABILITIES; c++) {
		CLEANUP(buf_release) struct buf row = BUF_INIT;

		buf_addf(&row, "\n| `%s` |", harness_capability_names[c]);
		for (size_t i = 0; harness_all[i]; i++)
			buf_addf(&row, " %s |", harness_level_names[harness_all[i]->can[c]]);
		buf_addc(&row, '\n');
		page_has(&row);
	}
}

/* The table of capabilities agrees with the installed harnesses. */
TEST(the_capabilities_are_those_that_were_agreed)
{
	static const struct {
		const char *name, *can;
		int64_t context;
	} rows[] = {
		{"claude-code", "yes yes yes yes yes yes", 1000000},
		{"codex", "yes partial yes yes no yes", 200000},
		{"gemini-cli", "yes no yes yes no yes", 2000000},
		{"opencode", "yes yes yes yes partial yes", 0},
		{"aider", "partial no yes yes no yes", 0},
		{"generic-api", "yes no depends yes no partial", 0},
	};
	const struct harness *h;
	struct error err;

	for (size_t i = 0; i < COUNT(rows); i++) {
		CLEANUP(buf_release) struct buf can = BUF_INIT;

		assert_int_equal(harness_find(rows[i].name, &h, &err), 0);
		for (int c = 0; c < HARNESS_CAPABILITIES; c++)
			buf_addf(&can, "%s%s", c ? " " : "", harness_level_names[h->can[c]]);
		assert_string_equal(can.s, rows[i].can);
		assert_int_equal(h->context_tokens, rows[i].context);
	}
}

UNIT_GROUP(read_page, end_page)
