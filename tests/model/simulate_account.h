/*
 * simulate_account.h: between the two files of the audit: simulate_audit.c keeps the account,
 * simulate_journal.c reads.
 */
#ifndef DT_SIMULATE_ACCOUNT_H
#define DT_SIMULATE_ACCOUNT_H

#include "tests/model/simulate_audit.h"

struct audit_action *account_add(struct audit *a, struct str id);
/* The document is another since the last commit. `by_hand`: a person made it so. */
void account_document(struct audit *a, bool by_hand);

/*
 * Looks into a line of JSON that the program printed, without taking it apart: what stands behind
 * `opening` up to the next quote, or as a number. Ids, words and sums need no escapes.
 */
struct str account_member(struct str line, const char *opening);
int64_t account_number(struct str line, const char *opening); /* -1: none */

#endif
