/*
 * notes.h: a parsed command line in a notation of its own, made from our tree and from what shfmt
 * prints, so that the two can be compared: each word with its bytes and with its quotes resolved,
 * each redirection, each compound command.
 *
 *   (FROM-TO"text"...)  a word: "text" stood in quotes, 'text' did not, $name, $(...)
 *   [word word >word]   a command;   {a && b || c}  {a | b}  {! a}  {(a; b)} and so on
 */
#ifndef DT_TESTS_NOTES_H
#define DT_TESTS_NOTES_H

#include "src/shell/parse.h"

/*
 * shfmt has rules of its own for what follows `export`, `let` and the like, which bash does not
 * have: their first letter is made a capital in `text`, which shfmt gets, and in the notes.
 */
void notes_tree(struct buf *out, const struct node *tree, struct buf *text);

/*
 * `file` is shfmt's tree of a text; adds the notes of the statements that begin in its bytes
 * [from, to), offsets counted from `from`. *at: the statement to begin with (json_first() of
 * shfmt_statements()), and then the first one behind.
 */
const json *shfmt_statements(const json *file);
void notes_shfmt(struct buf *out, struct str source, const json **at, size_t from, size_t to);

/* Both writers: a piece of a word; adjacent ones of the same kind become one. */
struct pieces {
	struct buf *out;
	char kind; /* of the open piece: " or ', or 0 */
};
void piece(struct pieces *p, bool quoted, char c);
void pieces_end(struct pieces *p);

#endif
