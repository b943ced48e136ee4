/*
 * lease.h: who holds a work item. The key `holder` of its store says who took it last, and lease
 * number `fence` how long that holds; each one that takes it gets a fence above all before.
 *
 * Time is the store's. A lease that is over stays its owner's until somebody else takes it: what
 * the owner's agents bring until then counts.
 */
#ifndef DT_LEASE_H
#define DT_LEASE_H

#include "context/file.h"

enum { OWNER_MAX = 80 };

/* Texts live in the document's arena. */
struct holder {
	const char *owner;    /* who took it last; NULL: nobody did, or it was given back */
	const char *from;     /* from whom, when that was another; may be NULL */
	int64_t fence;        /* of the last one that took it; 0: nobody ever did */
	int64_t since, until; /* seconds; `until` counts while `live` */
	int ttl_s;
	bool live;
};

/* -1: ERR_USAGE unless it is 1 to 80 bytes of printable UTF-8, no quotes, no blank at its ends. */
int owner_check(const char *name, struct error *err);

/* Who holds it now; of a reader too. -1: ERR_SYSTEM, ERR_INPUT. */
int lease_read(struct context_file *f, struct holder *h, struct error *err);
bool holder_is(const struct holder *h, const char *owner);
/* `held by 'A' since TIME, until TIME` */
void holder_say(struct buf *out, const struct holder *h);

/* `h` becomes `owner`'s; goes with the next save, and is renewed by each one after it. */
void lease_take(struct context_file *f, struct holder *h, const char *owner, int ttl_s);
/* Each save from now on renews it. */
void lease_renew(struct context_file *f, const struct holder *h);
/* No save renews it any more. */
void lease_leave(struct context_file *f);
/* Nobody holds it from the next save on. */
void lease_give_back(struct context_file *f, struct holder *h);

/* Why `owner` (NULL: somebody without a name) may not step on `id`. Always -1, ERR_STATE. */
int lease_held(const struct holder *h, const char *id, const char *owner, struct error *err);
/*
 * A call by `owner` that is no step. When it is the owner's, each save from now on renews it. -1:
 * ERR_STATE when another has taken it.
 */
int lease_admit(struct context_file *f, const char *id, const char *owner, struct error *err);

#endif
