#include "context/lease.h"
#include "src/cli/common.h"
#include "src/machine/answer.h"

enum { CONTEXT_FILE, ACTION, RESULT, OWNER };

static const struct option_spec options[] = {
	[CONTEXT_FILE] = {"context-file", "FILE", "the work item's document", false},
	[ACTION] = {"action", "ID", "which action is answered", false},
	[RESULT] = {"result", "WORD", "its result, one of the words of result_format", false},
	[OWNER] = {"owner", "NAME", "who records; not needed: the id says what is answered", false},
	{0},
};

/* The word as it stands now: given on the command line, or read from the text. */
static const char *word_of(struct arena *a, const struct context_file *f, const char *id)
{
	CLEANUP(json_free) json *array = NULL;
	struct error ignored;
	const json *action =
		actions_load(&f->doc, &array, &ignored) == 0 ? action_find(array, id) : NULL;
	const char *word = action ? json_get_str(action, "answered") : NULL;

	return word ? arena_dup(a, str_of(word)) : "";
}

/* The lock was busy for too long: an agent's work is not lost for that. */
static int keep_unrecorded(struct context_file *f, struct str text, struct error *err)
{
	char *stem = arena_printf(&f->doc.arena, "%s-unrecorded", f->name), *path;
	struct error second;
	size_t n = strlen(err->text);

	if (context_keep(f, stem, text, &path, &second) < 0)
		(void)snprintf(err->text + n, sizeof(err->text) - n,
			"; what was offered is not kept: %.300s", second.text);
	else
		(void)snprintf(err->text + n, sizeof(err->text) - n,
			"; nothing is recorded, what was offered is kept in %.400s", path);
	return -1;
}

static int run(struct invocation *in, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct args *args = in->args;
	enum answer_fate fate;
	const char *word;

	if (need_option(&verb_record, args, CONTEXT_FILE, err) < 0 ||
		need_option(&verb_record, args, ACTION, err) < 0 ||
		(args->value[OWNER] && owner_check(args->value[OWNER], err) < 0))
		return -1;
	if (read_input(&text, CONTEXT_MAX, err) < 0)
		return -1;
	if (context_open(&f, args->value[CONTEXT_FILE], CONTEXT_MUST_EXIST, err) < 0)
		return err->code == ERR_STATE && text.len ? keep_unrecorded(&f, buf_str(&text), err)
							  : -1;
	if (answer_record_by(&f, args->value[OWNER], args->value[ACTION], args->value[RESULT],
		    buf_str(&text), &fate, err) < 0)
		return -1;
	word = word_of(in->arena, &f, args->value[ACTION]);
	buf_addf(in->out, "recorded %s%s%s%s\n", args->value[ACTION], *word ? ": " : "", word,
		fate == ANSWER_AGAIN ? " (it was there already)" : "");
	return 0;
}

const struct verb verb_record = {
	.name = "record",
	.synopsis = "--context-file FILE --action ID [--result WORD] [--owner NAME] < TEXT",
	.about = "put an agent's answer into the document",
	.details = "The text on standard input goes into the action's section, with its result "
		   "word. An answer to an\n"
		   "action that is not outstanding, or a second, other answer, is refused with "
		   "exit status 4; what\n"
		   "was offered is kept under logs/. A result that is not one of the action's "
		   "words, or contradicts\n"
		   "the text's own JSON status, is refused with exit status 3. The same answer "
		   "again is no error,\n"
		   "also after it was used.",
	.options = options,
	.max_words = 0,
	.run = run,
};
