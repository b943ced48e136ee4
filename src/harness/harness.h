/*
 * harness.h: harnesses, the programs that run a coding agent: Claude Code, Codex, Gemini CLI,
 * OpenCode, Aider, and any OpenAI-compatible API. An adapter is one file and a row in
 * harness_all[]. docs/harness.md.
 *
 * Ownership: returned texts live in the caller's arena.
 */
#ifndef DT_HARNESS_H
#define DT_HARNESS_H

#include "src/event/usage.h"

enum harness_level { HARNESS_NO, HARNESS_PARTIAL, HARNESS_YES, HARNESS_DEPENDS };

/* In the order of the table in docs/harness.md. */
enum harness_capability {
	HARNESS_FRESH_CONTEXT,
	HARNESS_CUSTOM_TOOLS,
	HARNESS_STREAMING,
	HARNESS_WORKTREE_CWD,
	HARNESS_SKILLS,
	HARNESS_ARTIFACT_WRITES,
	HARNESS_CAPABILITIES
};
extern const char *const harness_capability_names[]; /* "freshContext" ... */
bool harness_capability_find(const char *name, enum harness_capability *out);
extern const char *const harness_level_names[]; /* "no", "partial" ... */

enum harness_reason {
	HARNESS_REASON_NONE,
	HARNESS_BINARY_MISSING,
	HARNESS_VERSION_OUT_OF_RANGE,
	HARNESS_PROBE_FAILED,
	HARNESS_HEALTH_CHECK_FAILED,
	HARNESS_NOT_LOGGED_IN, /* as far as its variables and files tell */
};
extern const char *const harness_reason_names[]; /* NULL, "binary-missing" ... */

struct harness_availability {
	bool available; /* also if only the version is unknown (HARNESS_PROBE_FAILED), or if no
			  login was found */
	enum harness_reason reason;
	const char *detail;  /* for people, secrets masked; NULL: there is no reason */
	const char *version; /* installed; NULL: unknown */
};

enum harness_status {
	HARNESS_SUCCESS,
	HARNESS_FAILURE,
	HARNESS_TIMEOUT,
	HARNESS_BUDGET,
	/* Not installed, not logged in, at a limit, or its service is down: the only status that
	 * leads to a fallback. */
	HARNESS_UNAVAILABLE,
};
extern const char *const harness_status_names[]; /* "success" ... "unavailable" */

/* What judges the calls of an agent's tools, in the environment of its client and so of the hook
 * there: a policy, as policy_load() takes it, the agent's role, and the directory of its skill. */
#define HARNESS_POLICY "DEV_TEAM_POLICY"
#define HARNESS_ROLE   "DEV_TEAM_ROLE"
#define HARNESS_SKILL  "DEV_TEAM_SKILL"

struct harness_input {
	struct str prompt; /* passed on standard input, never on a command line */
	const char *cwd;
	const char *model;        /* physical id; NULL: the harness's own default */
	unsigned port;            /* 0: none; PORT of the child, unless env has one */
	const char *artifacts;    /* ARTIFACTS_DIR of the child; may be NULL */
	const char *const *env;   /* NULL-terminated `NAME=value`; overrides; may be NULL */
	const char *const *tools; /* NULL-terminated names; NULL: all */
	/* The client, if it has hooks, asks `dev-team hook PreToolUse` about each call of a tool;
	 * `env` has the variables above. */
	bool judged;
	/* A client without hooks runs contained as a whole, by `dev-team policy exec` under this
	 * policy, which names what it reaches. NULL: it does not. */
	const char *contained;
	unsigned timeout_s;    /* 0: 300 */
	unsigned heartbeat_ms; /* 0: 30000 */
	unsigned stay_ms;      /* how long it may stay after its final result; 0: 60000 */
	double max_budget_usd; /* 0: none */
	int cancel;            /* readable: end the program; 0: none */
	int inherit;           /* descriptor that the program gets too; 0: none */
	unsigned uid, gid;     /* it runs as this user and group; 0: as the caller */
	/* Gets each line that the agent's program prints, as it comes, secrets masked. May be NULL.
	 */
	void (*output)(void *data, struct str line);
	void *output_data;
};

enum harness_event_kind { HARNESS_STARTED, HARNESS_HEARTBEAT, HARNESS_PROGRESS, HARNESS_COMPLETED };

struct harness_event {
	enum harness_event_kind kind;
	int64_t at;                 /* seconds since 1970 */
	const char *message;        /* may be NULL */
	int64_t tokens;             /* so far */
	enum harness_status status; /* COMPLETED */
};

struct harness_result {
	enum harness_status status;
	int exit_code; /* -1: not started */
	struct usage usage;
	const char *text;   /* the agent's last message; "" if there is none */
	const char *detail; /* the reason, secrets masked; NULL for success */
	const char *model;  /* that answered; NULL: unknown */
	bool rate_limited;  /* unavailable because of a limit */
	int64_t resets_at;  /* of the limit, seconds since 1970; 0: it is not reported */
	bool worked;        /* a model answered, so files may have changed */
};

typedef void harness_listener(void *data, const struct harness_event *e);

/* ---- the descriptor ---- */

struct command;
struct harness_handler;
struct session;

/* The functions are for src/harness; see adapter.h. */
struct harness {
	const char *name;
	const char *binary;  /* NULL: not a program; it has health() and invoke() */
	const char *range;   /* of versions: `>=X.Y.Z`; a harness without a program: "" */
	const char *install; /* how to install it */
	enum harness_level can[HARNESS_CAPABILITIES]; /* in the order of the enum */
	int64_t context_tokens;                       /* 0: varies */

	/* NULL-terminated; may be NULL. */
	const char *const *models;      /* ids */
	const char *const *families;    /* prefixes of other ids */
	const char *const *credentials; /* names of variables, most significant first */
	/* Files that hold a login: relative to HOME, or to the directory in a variable,
	 * `$NAME/FILE`; `$NAME`: a variable that names another login. NULL: it is not known. */
	const char *const *logins;
	const char *login;            /* how a person logs in */
	const char *const *variables; /* other variables to pass on; `X_*` is a prefix */
	const char *const *aliases;   /* `NAME=OTHER`: NAME, if unset, gets OTHER's value */
	const char *const *settings;  /* `NAME=value`: default values */
	bool models_open;             /* takes any model id */
	bool has_hooks;               /* judges its tools itself: input->judged */
	bool needs_finish;            /* an end without s->finished is a failure */

	void (*command)(struct command *c, const struct harness_input *input);
	/* Output: JSON lines, each given to the first handler of its type (ends with a row of
	 * zeros), or all of stdout at the end. One of the two is set. */
	const struct harness_handler *handlers;
	void (*whole)(struct session *s, struct str output);
	/* The rest may be NULL. A line of stderr. */
	void (*error_line)(struct session *s, struct str line);
	/* Faults that show only at the exit: s->exit_code (128 + N: killed by signal N), and the
	 * last ERRORS_KEPT bytes of stderr, valid UTF-8, masked. Not called after a cancel. */
	void (*judge)(struct session *s, struct str errors);

	/* Returns why it cannot be used although the version is right, or NULL. It may take
	 * `seconds`. */
	const char *(*health)(struct arena *a, const char *const *env, unsigned seconds);
	/* The id of the account that the program is logged in to, by its own files; no secret.
	 * NULL: it is logged out, or that cannot be read. */
	const char *(*login_id)(struct arena *a);
	/* Runs without a program. -1: an internal error. */
	int (*invoke)(struct session *s, struct error *err);
};

extern const struct harness
	*const harness_all[]; /* all, NULL-terminated, in the order of docs/harness.md */
/* -1: ERR_INPUT, with the known names. */
int harness_find(const char *name, const struct harness **out, struct error *err);

/* Probes program, version and health once per process; the answer lives as long. */
const struct harness_availability *harness_available(const struct harness *h);
/* -1: ERR_STATE, it cannot be used. */
int harness_require(const struct harness *h, struct error *err);
/* True if the id is in its list or of one of its model families. */
bool harness_lists_model(const struct harness *h, const char *id);
/* True also if it takes any id. */
bool harness_takes_model(const struct harness *h, const char *id);
/* A digest that identifies the account of the credentials in the environment, else of the program's
 * login: 16 hexadecimal digits. *id NULL: neither is known. */
int harness_account(struct arena *a, const struct harness *h, const char **id, struct error *err);
/*
 * The variables of our environment that the option `option` names (NULL-ended; NULL: none), as
 * `NAME=value`, NULL-ended. By name alone: every user can see a value on a command line. One that
 * is not set is left out, or, with `required`, refused.
 */
int harness_read_env(struct arena *a, const char *option, const char *const *names, bool required,
	const char *const **out, struct error *err);
/*
 * When the usage limit that `text` reports is reset, in seconds since 1970; 0: it does not say so.
 * Reads the words of all harnesses (docs/harness.md). The time may have passed.
 */
int64_t harness_limit_reset(struct str text, int64_t now);

/*
 * What a conversation of Claude Code used, as its transcript says (transcript.c): each message
 * once. `agent`: the client's id of the agent it must be of; NULL: any. *ended (NULL: not asked):
 * whether a message with the text `last`, or the tool call of that id, is in it. -1: ERR_INPUT with
 * the line: truncated, damaged, of another agent, or no transcript.
 */
int harness_transcript_usage(struct arena *a, const char *path, const char *agent, const char *last,
	bool *ended, struct usage *out, struct error *err);
/* Runs the agent to its end. 0 whatever the outcome (result->status); -1: an internal error. */
int harness_invoke(struct arena *a, const struct harness *h, const struct harness_input *input,
	harness_listener *listener, void *data, struct harness_result *result, struct error *err);

/* The first variable with an API key of the harness that is set; NULL: none is. */
const char *harness_key(const struct harness *h);
/* A program prefers a key to its login: removes those of all harnesses from the environment of this
 * process, and adds their names, separated by commas. */
void harness_remove_keys(struct buf *removed);

/* The usage of a result as JSON. */
extern const struct usage_member harness_usage_members[];
/* The result of a call that is not made, because of `detail`. */
void harness_set_unavailable(struct harness_result *r, const char *detail);

#endif
