/*
 * notes.h: the commands of a text in a notation of its own, made from what our parser finds and
 * from what shfmt prints, so that the two can be compared. A line for each word and redirection, in
 * the order of the text: where it begins, what it is, its text with quotes resolved, or `?` where
 * only the running shell knows it.
 *
 *   OFFSET name "git"     OFFSET word ?     OFFSET 2>"file"     OFFSET 0<<<"text"     OFFSET 2>&"1"
 */
#ifndef DT_TESTS_NOTES_H
#define DT_TESTS_NOTES_H

#include "src/shell/parse.h"

/*
 * shfmt has rules of its own for what follows `export`, `let` and the like, which bash does not
 * have: their first letter is made a capital in `text`, which shfmt gets, and in the notes. It also
 * looks for the lines of a here document only behind the arms of a `case` that begins on its line,
 * bash behind the line: such a redirection becomes `<DELIMITER` and its lines blanks. False: they
 * are followed by those of another one, which would begin with the blanks.
 */
bool notes_ours(struct buf *out, const struct command *commands, struct buf *text);

/*
 * `file` is shfmt's tree of `source`; adds the notes of the statements that begin in its bytes
 * [from, to), offsets counted from `from`. *at: the statement to begin with (json_first() of
 * shfmt_statements()), and then the first one behind.
 */
const json *shfmt_statements(const json *file);
void notes_shfmt(struct buf *out, struct str source, const json **at, size_t from, size_t to);

#endif
