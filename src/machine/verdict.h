/*
 * verdict.h: what the machine reads in an agent's answer: one JSON object and a URL, never prose.
 * Rules: docs/action-protocol.md, "Result words".
 */
#ifndef DT_VERDICT_H
#define DT_VERDICT_H

#include "src/base/buf.h"
#include "src/base/json.h"

/*
 * The last JSON object of the text that begins a line and ends one; NULL if there is none. Later
 * text that looks like a verdict but cannot be parsed hides it.
 */
json *verdict_json(struct str text);
/* The text in that object's `member`, copied to out ("?" if it is too long); false: there is none.
 */
bool verdict_word(struct str text, const char *member, char *out, size_t size);
/* Whether the byte at `i` is part of a word: letters, digits, `_`, `-`, and what is beyond ASCII
 * but for its punctuation, spaces and symbols (U+0080-00BF, U+2000-2FFF, U+3000-303F). */
bool verdict_word_byte(struct str s, size_t i);
/* The first URL of a pull request in a form of forge.h, a part of `text`; empty if there is none.
 */
struct str verdict_pr_url(struct str text);
/* The first word of a result format, `approved | changes_requested`, that is one of `wanted` (NULL:
 * of all); NULL: there is none. In the arena. */
const char *verdict_format_word(struct arena *a, const char *format, const char *const *wanted);
/*
 * The result word of an object. *word: the word given beside it, or NULL: then what it says, as
 * `status`, as a reviewer's verdict (`approved`, which findings of the severity critical or major
 * contradict), or as a developer's envelope (`commitSha`, `verifications`); NULL: nothing.
 * `format`: the words of the action, the good one first. -1: ERR_INPUT, a member is of the wrong
 * kind, or contradicts the word.
 */
int verdict_object_word(struct arena *a, const json *object, const char *format, const char **word,
	struct error *err);
/*
 * The result word of a text. *word: the word given beside it, or NULL: then `member` (`status`;
 * `action` of the troubleshooter) of verdict_json(). -1: ERR_INPUT, there is none, it is none of
 * the format, or contradicts that object, an object that ends the text within a line, one that only
 * a last line with the word follows, or criteria that are not met. All else in the text is a part
 * of the work: an example, a log.
 */
int verdict_text_word(struct arena *a, struct str text, const char *member, const char *format,
	const char **word, struct error *err);
/* The text in `commitSha` of the first of these objects that has one, in the arena; NULL: none has.
 */
const char *verdict_commit(struct arena *a, struct str text);
/* A part of the text: what it says before an object at its end that has a word, and its reason. */
struct str verdict_prose(struct str text);

#endif
