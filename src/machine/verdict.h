/*
 * verdict.h: the decision in an agent's answer. Rules: docs/action-protocol.md, "Verdicts".
 *
 * JSON decides before prose: the last line that is a JSON object, else the last fenced block that
 * is one. A line that looks like a verdict but cannot be parsed hides earlier ones. In prose, a
 * whole word approves only in a sentence that does not negate it, and one negated "approved"
 * anywhere is a rejection: approving by mistake costs more than a second review.
 */
#ifndef DT_VERDICT_H
#define DT_VERDICT_H

#include "src/base/buf.h"
#include "src/base/json.h"

/* The JSON object that decides; NULL if there is none. *after (may be NULL): where it ends. */
json *verdict_json(struct str text, size_t *after);
/*
 * Its `status`, copied to out. False if there is none, or if it is `approved` or `validated` and
 * the prose after it rejects.
 */
bool verdict_status(struct str text, char *out, size_t size);
/* True if the status is `approved`, or is another than `changes_requested` and the prose approves.
 */
bool verdict_approved(struct str text);
/* True only for the status `validated`, or a last line that is this word. */
bool verdict_validated(struct str text);
/* Whether the byte at `i` is part of a word: letters, digits, `_`, `-`, and what is beyond ASCII
 * but for its punctuation, spaces and symbols (U+0080-00BF, U+2000-2FFF, U+3000-303F). */
bool verdict_word_byte(struct str s, size_t i);
/* True if the text begins with the whole word `passed`. */
bool verdict_passed(struct str text);
/* The first URL of a pull request (GitHub, GitHub Enterprise, GitLab), a part of `text`; empty if
 * there is none. */
struct str verdict_pr_url(struct str text);

#endif
