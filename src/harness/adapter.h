/*
 * adapter.h: the inside of a harness, for the adapters alone. To add one: (1) a file
 * src/harness/NAME.c with its descriptor; (2) a row in list.h; (3) a column in docs/harness.md. A
 * test holds the table there to the descriptors.
 *
 * A descriptor says what is fixed: program, versions, capabilities, models, names of variables. Its
 * functions turn an input into a command line and what the program says into a session. All else is
 * done once for all of them, in invoke.c: the environment, the start, the time limit, the lines,
 * the masking of secrets, the end.
 */
#ifndef DT_ADAPTER_H
#define DT_ADAPTER_H

#include "src/harness/harness.h"
#include "src/sys/secrets.h"

/* A command line in the making; argv[0] is the program already. Never put a prompt or a key here.
 */
struct command {
	struct arena *arena;
	const char *const *env; /* what the program will get */
	const char **argv;      /* NULL-ended */
	size_t n, cap;
};

void command_add(struct command *c, const char *word); /* copied */
/* Both, unless `value` is NULL. */
void command_option(struct command *c, const char *option, const char *value);
/* The names joined by commas; nothing when there are none. */
void command_list(struct command *c, const char *option, const char *const *names);
/* `NAME=value` for the program, in place of what it would get; not if the caller of the run sets
 * NAME.
 */
void command_set(struct command *c, const struct harness_input *input, const char *entry);
/* Whether the input allows a tool that changes files or runs programs (Bash, Edit, Write). */
bool input_may_write(const struct harness_input *input);
/* Whether it allows this one. */
bool input_allows(const struct harness_input *input, const char *tool);

/* How it ended, for `judge`. */
struct ending {
	int exit_code; /* 128 + N: by signal N */
	bool timed_out, cancelled;
	struct str errors; /* the last of its stderr, at most ERRORS_KEPT, valid UTF-8, secrets
			      masked */
};

/*
 * One run. An adapter fills it through the functions below while it listens; what it did not say
 * stays unknown.
 */
struct session {
	struct arena *arena;
	const struct harness *harness;
	const struct harness_input *input;
	const char *const *env; /* all that the program gets; where the keys are to be read from */
	struct secrets secrets;
	harness_listener *listener;
	void *listener_data;
	unsigned heartbeat_ms;
	int64_t from; /* clock_ticks() */

	struct buf text, model, fault; /* all secrets are masked at the end */
	enum harness_status verdict;   /* of session_verdict() */
	bool judged, rate_limited, worked;
	bool finished; /* it told its result: without that, success is not believed */
	bool stop;     /* the run is to end now: nothing good can come of it any more */
	bool retrying, retry_limited;
	struct buf retry_why;
	struct buf note; /* the adapter's own */
	int exit_code;   /* -1: it was not started */
	struct usage usage;
	int64_t progress; /* tokens told by PROGRESS events */
};

/* The last message; each replaces the one before it. At most TEXT_KEPT bytes. */
void session_text(struct session *s, struct str text);
void session_model(struct session *s, struct str model);
/* What became of it, and why (may be empty). The first one stands, but UNAVAILABLE is never
 * replaced and replaces all. A limit is UNAVAILABLE with rate_limited. */
void session_verdict(struct session *s, enum harness_status verdict, struct str why);
/* A PROGRESS event: `tokens` more than before, or what it does (may be NULL): a model has answered
 * when there is one of them. */
void session_progress(struct session *s, int64_t tokens, const char *message);
/* The value of NAME in the session's environment, or NULL. */
const char *session_env(const struct session *s, const char *name);
/* It tries again by itself, because of `why`; if it does so until the time limit, that was the
 * reason. session_going() takes it back: it got further. */
void session_retrying(struct session *s, bool limited, struct str why);
void session_going(struct session *s);
/* UNAVAILABLE, and the run is to end now. */
void session_give_up(struct session *s, bool limited, struct str why);

enum output_form {
	OUTPUT_LINES, /* a JSON value a line: `object`, others: `line` */
	OUTPUT_WHOLE, /* all of stdout, at most WHOLE_KEPT, at the end: `whole` */
};

enum {
	LINE_KEPT = 8 << 20,   /* bytes of a line; a longer one is left out */
	WHOLE_KEPT = 16 << 20, /* bytes of stdout with OUTPUT_WHOLE; the rest is left out */
	ERRORS_KEPT = 16384,   /* the last bytes of stderr */
	TEXT_KEPT = 1 << 20,   /* bytes of the agent's last message */
	DETAIL_KEPT = 500,     /* characters of stderr in a detail text */
	PROBE_S = 5,           /* seconds for a version */
	HARNESS_TIMEOUT_S = 300,
	HARNESS_HEARTBEAT_MS = 30000,
};

struct harness {
	const char *name;
	const char *binary;  /* NULL: it is no program, and has health() and invoke() of its own */
	const char *range;   /* of versions, as in version.h; "" is all */
	const char *install; /* how to get it, a few words for people */
	enum capability_level can[CAPABILITIES];
	int64_t context_tokens; /* 0: varies */

	/* NULL-ended; may be NULL. */
	const char *const *models;      /* ids */
	const char *const *families;    /* what other ids may begin with */
	const char *const *credentials; /* names of variables, the one that counts first */
	const char *const *variables;   /* others of its own that the program gets; `X_*`: all that
					   begin with `X_` */
	const char *const
		*stand_ins; /* `NAME=OTHER`: NAME is given OTHER's value when it has none */
	const char *const *settings; /* `NAME=value` that it gets unless the caller sets NAME */
	bool models_open;            /* it takes any id */
	bool needs_finish;           /* an end without `finished` is a failure */

	enum output_form form;
	int (*command)(struct command *c, const struct harness_input *input, struct error *err);
	void (*object)(struct session *s, const json *value);   /* OUTPUT_LINES */
	void (*line)(struct session *s, struct str line);       /* may be NULL: passed over */
	void (*whole)(struct session *s, struct str output);    /* OUTPUT_WHOLE */
	void (*error_line)(struct session *s, struct str line); /* of stderr; may be NULL */
	/* What the end says: limits, logins. May be NULL. Not asked after a cancel. */
	void (*judge)(struct session *s, const struct ending *e);

	/* All may be NULL. */
	/* After the version is known to be good: sets available to false with HEALTH_CHECK_FAILED
	 * and a detail when it cannot be used. `env` as in session. */
	void (*health)(struct arena *a, const struct harness *h, const char *const *env,
		struct availability *v);
	/* The run itself, in place of a program. -1: faults of our own side. */
	int (*invoke)(struct session *s, struct error *err);
	/* The ids it can drive now, NULL-ended, in place of `models`. */
	int (*list_models)(struct arena *a, const char *const **out, struct error *err);
	/* What stands for the account, in place of the first credential that is set; NULL: none. */
	const char *(*account)(struct arena *a, const struct harness *h);
};

#define HARNESS(id) extern const struct harness harness_##id;
#include "src/harness/list.h"
#undef HARNESS

/* harness_invoke() with another time between heartbeats, for tests. */
int harness_invoke_with(struct arena *a, const struct harness *h, const struct harness_input *input,
	harness_listener *listener, void *data, unsigned heartbeat_ms,
	struct harness_result *result, struct error *err);
/* harness_available() without memory of earlier answers, with `seconds` for the probe. */
void harness_probe(
	struct arena *a, const struct harness *h, unsigned seconds, struct availability *out);

#endif
