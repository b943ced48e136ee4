/*
 * adapter.h: the inside of a harness, for the files of src/harness. To add a harness: (1) a file
 * src/harness/NAME.c with its descriptor; (2) a row in harness_all[]; (3) a column in
 * docs/harness.md. A test compares the table there with the descriptors.
 *
 * A descriptor holds what is fixed: program, versions, capabilities, models, variables. Its
 * functions turn an input into a command line, and output into a session. Everything else is shared
 * and lives in invoke.c and output_parser.c: environment, process, time limit, lines, masking of
 * secrets, exit status.
 */
#ifndef DT_HARNESS_ADAPTER_H
#define DT_HARNESS_ADAPTER_H

#include "src/harness/harness.h"
#include "src/sys/secrets.h"

enum {
	LINE_KEPT = 8 << 20,   /* bytes of a line; longer lines are dropped and counted */
	WHOLE_KEPT = 16 << 20, /* bytes of stdout for whole(); the rest is dropped */
	ERRORS_KEPT = 16384,   /* last bytes of stderr */
	TEXT_KEPT = 1 << 20,   /* bytes of the agent's last message */
	DETAIL_KEPT = 500,     /* characters of stderr in a detail text */
	PROBE_S = 5,           /* seconds for `--version`, or for the health check */
	HARNESS_TIMEOUT_S = 300,
	HARNESS_HEARTBEAT_MS = 30000,
	HARNESS_STAY_MS = 60000,
};

/* HTTP statuses with a meaning of their own here. */
enum { API_UNAUTHORIZED = 401, API_FORBIDDEN = 403, API_LIMIT = 429 };

/* A NULL-terminated list of a descriptor. */
#define HARNESS_NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- the command line ---- */

/* argv[0] is set already. Never put a prompt or a key on it: every user can see it. */
struct command {
	struct arena *arena;
	const char *const *env; /* environment of the program */
	const char **items;     /* NULL-terminated argv */
	size_t n, cap;
	const char *fault; /* why it cannot be run (ERR_USAGE); NULL: it can */
};

void command_add(struct command *c, const char *word); /* copied */
/* Adds both, unless `value` is NULL. */
void command_option(struct command *c, const char *option, const char *value);
/* Adds the names joined by commas; nothing if there are none. */
void command_list(struct command *c, const char *option, const char *const *names);
/* Sets `NAME=value` in the program's environment, unless input->env sets NAME. */
void command_set_env(struct command *c, const struct harness_input *input, const char *entry);
/* True if the input allows this tool; `Bash(git log:*)` allows Bash. */
bool harness_input_allows(const struct harness_input *input, const char *tool);
/* True if it allows a tool that changes files or runs programs. */
bool harness_input_allows_writes(const struct harness_input *input);

/* ---- the session ---- */

/* One run. The adapter fills it while it parses output; what is not filled stays unknown. */
struct session {
	struct arena *arena;
	const struct harness *harness;
	const struct harness_input *input;
	const char *const *env; /* environment of the program; adapters read keys from it */
	struct secrets secrets;
	harness_listener *listener;
	void *listener_data;
	int64_t started_ms; /* clock_ticks() */

	struct buf text, model, fault; /* masked by session_result() */
	enum harness_status verdict;   /* of session_verdict() */
	bool judged, rate_limited, worked;
	bool finished;  /* the program reported its end; success is not believed without */
	int64_t until;  /* clock_ticks(): how long it may stay after that; 0: not finished */
	bool faulted;   /* it reported an error */
	bool recovered; /* and then its end: its exit status repeats the error */
	bool stop;      /* end the program now: it cannot succeed any more */
	bool retrying, retry_limited;
	struct buf retry_reason;
	struct buf note; /* private to the adapter */
	int exit_code;   /* -1: not started */
	struct usage usage;
	int64_t progress; /* tokens reported by PROGRESS events */
};

void session_begin(struct session *s);
/* Reports an event to the listener; fills in the time. */
void session_emit(struct session *s, struct harness_event *e);
void session_heartbeat(struct session *s);
/* The result, masked; texts live in the arena. */
void session_result(struct session *s, struct harness_result *out);
void session_release(struct session *s);

/* A line that the program has printed: passes it on, masked. */
void session_output(struct session *s, struct str line);
/* The agent's last message; replaces the previous one. */
void session_text(struct session *s, struct str text);
void session_model(struct session *s, struct str model);
/* The outcome and its reason (may be empty). The first verdict stands, except that UNAVAILABLE
 * replaces any other. A rate limit is UNAVAILABLE with s->rate_limited. */
void session_verdict(struct session *s, enum harness_status verdict, struct str reason);
/* What it reported was retried, and ended well: drops the verdict. False: there is nothing to drop.
 */
bool session_recover(struct session *s);
/* The verdict for an HTTP status of the API; see harness_api_status_unavailable(). */
void session_api_verdict(struct session *s, long status, struct str reason);
/* A PROGRESS event: `tokens` more than before, or an activity (may be NULL). Either one proves that
 * a model has answered. */
void session_progress(struct session *s, int64_t tokens, const char *activity);
/* The program retries by itself because of `reason`. If it still does so at the time limit, that
 * was the cause. session_resumed() clears it. */
void session_retrying(struct session *s, bool limited, struct str reason);
void session_resumed(struct session *s);
/* UNAVAILABLE, and end the program now. */
void session_abort(struct session *s, bool limited, struct str reason);

/* Where a program reports its tokens. A dot in a name descends into an object. */
struct usage_form {
	const char *input, *output, *reasoning; /* NULL: not reported */
	const char *cache_read, *cache_write;
	bool input_has_cached; /* `input` includes the cached tokens */
};
/* Adds the tokens of `object` to the session. Returns input plus output, cached ones included. */
int64_t session_usage(struct session *s, const json *object, const struct usage_form *form);
/* `models` has a member per model; the one with the highest `output` count is the session's. */
void session_model_most_used(struct session *s, const json *models, const char *output);

/* A member's text; empty if there is none. */
static inline struct str harness_member(const json *object, const char *key)
{
	return str_of(json_get_str(object, key));
}

/* ---- faults of the API ---- */

/* No login, no money, a limit, a fault or a timeout of the service: another harness may succeed. A
 * refused request (400) or an unknown model (404) is the caller's fault. 0: not reached. */
bool harness_api_status_unavailable(long status);
/* True if `code`, the code or type of an API error, names a limit (in any case). */
bool harness_api_code_limited(struct str code);
/*
 * Programs that report faults only as text: match complete phrases at the start of a text only. An
 * agent that works on such a program writes the same words.
 */
#define harness_api_text_starts(text, ...) harness_api_starts_any(text, HARNESS_NAMES(__VA_ARGS__))
/* `phrases` NULL-terminated; in any case. */
bool harness_api_starts_any(struct str text, const char *const *phrases);
/* The three-digit status at the start of `text`; -1: none. */
long harness_api_status_parse(struct str text);

/* ---- environment (environment.c) ---- */

/*
 * What the program gets of our environment: PATH, HOME, TERM, the locale, TMPDIR, proxies and
 * certificates, and the variables of its own adapter; never the keys of another vendor.
 * NULL-terminated, in the arena. Precedence: input->env, PORT and ARTIFACTS_DIR of the input, our
 * environment, the adapter's settings. `input` NULL: without credentials, for a probe.
 */
const char *const *harness_environment(
	struct arena *a, const struct harness *h, const struct harness_input *input);
/* The value of NAME in `env`, or NULL. */
const char *harness_env_get(const char *const *env, const char *name);

/* ---- versions (probe.c) ---- */

/* The first X.Y.Z in `text`; NULL: none. A suffix (`-beta.1`, `+build`) is not part of it. */
const char *harness_version_find(struct arena *a, struct str text);
/* True if `version` starts with X.Y.Z and is in `range`: `>=X.Y.Z`. */
bool harness_version_in_range(struct str version, struct str range);

/* ---- the descriptor ---- */

struct harness_handler {
	const char *type; /* value of the member `type`; NULL: any other */
	void (*handle)(struct session *s, const json *value);
};

extern const struct harness harness_claude_code, harness_codex, harness_gemini_cli,
	harness_opencode, harness_aider, harness_generic_api;

/* harness_available() without a cache and with a time limit for the probe. */
void harness_probe(struct arena *a, const struct harness *h, unsigned seconds,
	struct harness_availability *out);

#endif
