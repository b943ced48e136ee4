/*
 * verdict.h: what an agent's prose says. Rules: docs/action-protocol.md, "Verdicts".
 */
#ifndef DT_VERDICT_H
#define DT_VERDICT_H

#include "src/base/buf.h"
#include "src/base/json.h"

/* The last line that is a JSON object, else the last fenced JSON block that is one; NULL when there
 * is none. */
json *verdict_json(struct str text);
/*
 * Its `status`, copied to out; false when there is none, or when it is a yes and the text behind it
 * speaks against it.
 */
bool verdict_status(struct str text, char *out, size_t size);
/* Approved? JSON status first, then the words: whole ones, with negation. In doubt: no. */
bool verdict_approved(struct str text);
/* `validated` is the only yes. */
bool verdict_validated(struct str text);
/* Begins with the whole word `passed`. */
bool verdict_passed(struct str text);
/* The first pull-request URL (GitHub, GitHub Enterprise, GitLab forms); empty when there is none.
 */
struct str verdict_pr_url(struct str text);

#endif
