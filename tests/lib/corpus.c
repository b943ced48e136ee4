#include "tests/lib/corpus.h"
#include "tests/lib/scratch.h"

void corpus_each(const char *name, void (*row)(const json *row, void *data), void *data)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;
	struct error error;

	assert_true(tree_read(path_join(&arena, "tests/corpus", name), &text));
	rest = buf_str(&text);
	while (str_line(&rest, &line)) {
		CLEANUP(json_free) json *object = NULL;

		assert_int_equal(json_parse(&object, line, &error), 0);
		row(object, data);
	}
}
