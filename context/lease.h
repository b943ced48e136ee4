/*
 * lease.h: the lease of the session that owns a work item.
 *
 * The key `holder` says which session took the work item last. The key `lease`, whose value is its
 * fence, lives as long as the session has it. Each session that takes it gets a higher fence than
 * all before. When the lease is over, the item still belongs to its owner until another session
 * takes it: answers of the owner's agents count until then. The store's clock decides.
 */
#ifndef DT_CONTEXT_LEASE_H
#define DT_CONTEXT_LEASE_H

#include "context/file.h"

enum { OWNER_MAX = 80 };

/* Texts live in the document's arena. */
struct lease_holder {
	const char *owner;  /* who took it last; NULL: no session did, or it was released */
	const char *from;   /* the owner before, if it was another one; may be NULL */
	const char *client; /* the process of the session, as its caller names it; NULL: unknown */
	int64_t fence;      /* of the last session that took it; 0: none ever did */
	int64_t since, until; /* seconds; `until` counts while `live` */
	int ttl_s;
	bool live;
	bool other_run;   /* a `dev-team run` that lives and has the name of the one that asks */
	const char *over; /* why a lease that has not ended does not count; NULL: it does, or has
			     ended */
};

/* -1: ERR_USAGE unless it is 1 to 80 bytes of printable UTF-8 without quotes, and trimmed. */
int lease_check_owner(const char *name, struct error *err);
/* Who holds it now; for readers too. -1: ERR_SYSTEM, ERR_INPUT. */
int lease_read(struct context_file *f, struct lease_holder *h, struct error *err);
bool lease_held_by(const struct lease_holder *h, const char *owner);
/* A client whose text ends so is a `dev-team run`: 'dev-team stop' ends it. */
#define LEASE_RUN " run"
bool lease_is_run(const struct lease_holder *h);
/* True if it is live, but its session has ended for certain. */
bool lease_is_dead(struct arena *a, const struct lease_holder *h);
/* Adds `held by 'A' since TIME, until TIME`. */
void lease_describe(struct buf *out, const struct lease_holder *h);

/* These take effect with the next save. */
void lease_take(struct context_file *f, struct lease_holder *h, const char *owner,
	const char *client, int ttl_s);
/* The session goes on in another process. */
void lease_set_client(struct context_file *f, struct lease_holder *h, const char *client);
void lease_release(struct context_file *f, struct lease_holder *h);
/* Whether saves renew the lease from now on. */
void lease_renew(struct context_file *f, const struct lease_holder *h);
void lease_stop_renewing(struct context_file *f);

/* Sets the reason why `owner` (NULL: a session without a name) may not step on the work item `id`,
 * or may not answer its actions: another session or run holds it, or took it from `owner`. Always
 * -1, ERR_STATE. */
int lease_refuse(const struct lease_holder *h, const char *id, const char *owner, bool to_step,
	struct error *err);
/* Before a call by `owner` other than a step: saves renew the lease, unless it has ended; `owner`
 * takes its own again under a new fence if no other session has taken it. NULL: any session. -1:
 * ERR_STATE when another session was the last to hold it. */
int lease_admit(struct context_file *f, const char *id, const char *owner, struct error *err);

#endif
