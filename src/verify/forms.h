/*
 * forms.h: all that may become of one action: what its agent answers, in which form, or that it
 * does not. What is refused whatever the state of things is, is in another list.
 */
#ifndef DT_EXPLORE_FORMS_H
#define DT_EXPLORE_FORMS_H

#include "src/base/json.h"
#include "src/workflow/workflow.h"

struct form {
	const char *name; /* for people: `approved`, `no answer`, `json: approved` */
	bool silent;      /* nothing is recorded */
	bool plain;       /* a word of the action by itself, or no answer */
	bool running;     /* the script is still at work when the step comes */
	bool again;       /* says the same as another form, so `record` must make the same of it */
	bool change;      /* the troubleshooter changes something */
	const char *word; /* NULL: none is given */
	const char *text;
};

struct forms {
	struct form *list;
	size_t n, cap;
};

/* The good answer is the first one. `changes`: the troubleshooter may change the state of things;
 * `sections` (NULL-ended) are those that it may empty or write. */
void forms_of(struct arena *a, const struct workflow *w, const json *action, bool changes,
	const char *const *sections, struct forms *out);
/* Answers that `record` must refuse. */
void forms_refused(struct arena *a, const json *action, struct forms *out);

#endif
