/*
 * policy_protocol.h: the commands by which agents speak with this program (brief, record, exec,
 * context, events), and which no policy has to name: without them an agent could not work at all.
 */
#ifndef DT_CLI_POLICY_PROTOCOL_H
#define DT_CLI_POLICY_PROTOCOL_H

#include "src/policy/check.h"

struct protocol_call {
	struct arena *arena;
	const struct root *root;
	const char *cwd;  /* absolute */
	const char *self; /* this program, absolute */
};

/* Whether `command` begins as one of them. */
bool protocol_begins(struct str command, const char *self);
/*
 * 0 with the text to run in *out (this program by its path), or -1 with *v. Allowed is one command
 * with options as the agents are told to write them, its answer in a here document, about a
 * document in the state folder that the agent could not have written itself: `exec` runs what the
 * document says.
 */
int policy_protocol_check(
	const struct protocol_call *p, struct str command, struct buf *out, struct verdict *v);

#endif
