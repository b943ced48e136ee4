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
/* The same of an object that ends the text, wherever in its line it begins; marks of formatting and
 * a full stop may follow. It decides nothing, but must not contradict the answer's word. */
bool verdict_last_word(struct str text, const char *member, char *out, size_t size);
/* The last JSON array of criteria in the text, objects of which at least one has a `status`, has
 * one that is not `pass`: its status, or `missing`, is copied to out. */
bool verdict_open_criterion(struct str text, char *out, size_t size);
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
 * The result word that an object says: `status`, or that of a reviewer's verdict (`approved`, which
 * findings of the severity critical or major contradict), or of a developer's envelope
 * (`commitSha`, `verifications`). *word NULL: it says none. `format`: the words of the action, the
 * good one first. -1: ERR_INPUT, a member is of the wrong kind.
 */
int verdict_object_word(struct arena *a, const json *parsed, const char *format, const char **word,
	struct error *err);

#endif
