/*
 * vendor.h: requests to the HTTP API of a database vendor: the token, waiting when the vendor says
 * so, and what its answers mean. Private to neon.c and supabase.c.
 */
#ifndef DT_BRANCHDB_VENDOR_H
#define DT_BRANCHDB_VENDOR_H

#include "src/branchdb/adapter.h"
#include "src/base/json.h"

struct vendor {
	const char *name;     /* for messages */
	const char *variable; /* of the environment: the base URL, in place of the usual one */
	const char *base;
};

enum vendor_result {
	VENDOR_OK,
	VENDOR_GONE,     /* 404 */
	VENDOR_EXISTS,   /* 409 */
	VENDOR_NO_REPLY, /* the request may have had its effect or not */
};

/* Sends it; `path` begins with '/', `body` NULL: none (else taken). *out, unless NULL: the answer's
 * JSON, the caller's. Waits and repeats after 423, 429 and 503, and what changes nothing also after
 * a server error or a lost connection. -1: the vendor refuses it, or does not answer; c->fault is
 * set. VENDOR_NO_REPLY only of POST. */
int vendor_send(struct adapter_call *c, const struct vendor *v, const char *method,
	const char *path, json *body, json **out, struct error *err);
/* The vendor says that the branch is not ready. -1: it was asked too often. */
int vendor_wait(struct adapter_call *c, const struct vendor *v, unsigned tries, struct error *err);
/* Letters, digits and '-': safe in a path. -1: ERR_INPUT. */
int vendor_check_project(struct adapter_call *c, const struct vendor *v, struct error *err);
/* Percent-encoded. */
char *vendor_encode(struct arena *a, const char *text);
/* The answer is not what the vendor's description says. */
int vendor_malformed(struct adapter_call *c, const struct vendor *v, struct error *err);

#endif
