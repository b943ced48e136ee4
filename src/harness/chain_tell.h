/*
 * chain_tell.h: what chain.h tells people: events, and the notes of runtime.json. For the
 * chain*.c alone.
 */
#ifndef DT_CHAIN_TELL_H
#define DT_CHAIN_TELL_H

#include "src/event/event.h"
#include "src/harness/chain.h"

/* Each: 0, also without a folder of artifacts. */
int tell_probe_failed(
	const struct chain_call *c, const char *harness, const char *detail, struct error *err);
int tell_fallback(const struct chain_call *c, const char *from, const char *to, const char *reason,
	const char *detail, struct error *err);
int tell_unavailable(const struct chain_call *c, const char *harness, const char *reason,
	const char *detail, struct error *err);
/* BudgetExceeded and AgentTimeout, when the result is one of them. */
int tell_result(const struct chain_call *c, const char *harness, const struct harness_input *input,
	const struct harness_result *r, struct error *err);
/* Notes that this harness may have changed something, though another one's result will stand. */
int note_worked(const struct chain_call *c, const char *harness, struct error *err);

/* A text, unless it is NULL; a list of texts. */
void chain_put(json *object, const char *key, const char *text);
json *chain_words(struct words w);

#endif
