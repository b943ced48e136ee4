/*
 * harness.h: the programs that run an agent: Claude Code, Codex, Gemini CLI, OpenCode, Aider, and
 * any API that speaks as OpenAI's does. An adapter is one file and a row in list.h.
 * docs/harness.md.
 *
 * Ownership: texts that come out live in the caller's arena.
 */
#ifndef DT_HARNESS_H
#define DT_HARNESS_H

#include "src/event/usage.h"

enum capability_level { CAPABLE_NO, CAPABLE_PARTIAL, CAPABLE_YES, CAPABLE_DEPENDS };

/* In the order of the table in docs/harness.md. */
enum capability {
	FRESH_CONTEXT,
	CUSTOM_TOOLS,
	STREAMING,
	WORKTREE_CWD,
	SKILLS,
	ARTIFACT_WRITES,
	CAPABILITIES
};
const char *capability_name(enum capability c); /* "freshContext" ... */
bool capability_find(const char *name, enum capability *out);
const char *capability_word(enum capability_level level); /* "no", "partial", "yes", "depends" */

enum unavailable_reason {
	REASON_NONE,
	BINARY_MISSING,
	VERSION_OUT_OF_RANGE,
	PROBE_FAILED,
	HEALTH_CHECK_FAILED
};
const char *unavailable_word(enum unavailable_reason r); /* "binary-missing" ...; NULL for none */

struct availability {
	bool available; /* also when only the version could not be read: PROBE_FAILED */
	enum unavailable_reason reason;
	const char *detail;  /* for people; may be NULL; never has a secret in it */
	const char *version; /* installed; NULL: not known */
};

enum harness_status {
	HARNESS_SUCCESS,
	HARNESS_FAILURE,
	HARNESS_TIMEOUT,
	HARNESS_BUDGET,
	HARNESS_UNAVAILABLE, /* it could not be used (not there, not logged in, at its limit, its
				service is down): the only one that leads to a fallback */
};
const char *harness_status_word(enum harness_status s); /* "success" ... "unavailable" */

struct harness_input {
	struct str prompt; /* goes to standard input, never onto a command line */
	const char *cwd;
	const char *model;      /* physical id; NULL: the harness's own default */
	unsigned port;          /* 0: none; PORT of the child, unless env has one */
	const char *artifacts;  /* ARTIFACTS_DIR of the child; may be NULL */
	const char *const *env; /* NULL-ended `NAME=value`; added last; may be NULL */
	const char *const *tools, *const *skills; /* names; may be NULL */
	unsigned timeout_s;                       /* 0: 300 */
	double max_budget_usd;                    /* 0: none */
	int cancel;                               /* descriptor; 0: none */
};

enum harness_event_kind { HARNESS_STARTED, HARNESS_HEARTBEAT, HARNESS_PROGRESS, HARNESS_COMPLETED };

struct harness_event {
	enum harness_event_kind kind;
	int64_t at;                 /* seconds since 1970 */
	const char *message;        /* may be NULL */
	int64_t tokens;             /* PROGRESS: so far */
	enum harness_status status; /* COMPLETED */
};

struct harness_result {
	enum harness_status status;
	int exit_code; /* -1: it was not started */
	struct usage usage;
	const char *text;   /* the agent's last message; "" when there is none */
	const char *detail; /* why it is no success; NULL for success; secrets masked */
	const char *model;  /* that really answered; NULL: not told */
	bool rate_limited;  /* unavailable because of a limit */
	bool worked; /* a model has answered: something may be changed, whatever came of it */
};

typedef void harness_listener(void *data, const struct harness_event *e);

struct harness; /* an adapter; its inside is adapter.h */

extern const struct harness *const harnesses[]; /* all, NULL-ended, in the order of the table */
/* -1: ERR_INPUT `unknown harness 'x'`, with the names there are. */
int harness_find(const char *name, const struct harness **out, struct error *err);
const char *harness_name(const struct harness *h);
enum capability_level harness_can(const struct harness *h, enum capability c);
int64_t harness_context_tokens(const struct harness *h); /* 0: varies */

/* What is fixed of it. Lists are NULL-ended, never NULL. */
struct harness_facts {
	const char *binary;             /* NULL: it is no program */
	const char *range;              /* of versions; "" is all */
	const char *install;            /* how to get it, for people */
	const char *const *credentials; /* names of variables, the one that counts first */
	const char *const *models;      /* that it has of itself */
	bool models_open;               /* it takes any other id */
};
struct harness_facts harness_facts(const struct harness *h);

/* Whether it can be used: binary, version (5 s), health. Asked once a process; the answer lives as
 * long. */
const struct availability *harness_available(const struct harness *h);
/* Model ids it can drive, NULL-ended; *open: others are taken as they are too. */
int harness_models(struct arena *a, const struct harness *h, const char *const **out, bool *open,
	struct error *err);
/* Whether it can be asked for this id: it is in the list, of a family that it drives, or all are.
 */
bool harness_drives(const struct harness *h, const char *id);
/* Of its list or a family of its own; what it takes only because it takes any id is not. */
bool harness_lists(const struct harness *h, const char *id);
/* A one-way name of the account in the environment, 16 hexadecimal digits; *id NULL: none can be
 * told. */
int harness_account(struct arena *a, const struct harness *h, const char **id, struct error *err);
/* 0 whatever became of it (result->status); -1 for faults of our own side. */
int harness_invoke(struct arena *a, const struct harness *h, const struct harness_input *input,
	harness_listener *listener, void *data, struct harness_result *result, struct error *err);

/* As JSON, the caller's to free. */
json *harness_facts_json(const struct harness *h);
json *harness_result_json(const struct harness *h, const struct harness_result *r);
/* The result of a call that is not made because harness_available() says no. */
void harness_set_unavailable(struct arena *a, const struct harness *h, struct harness_result *r);

#endif
