/*
 * policy.h: what an agent's commands may do, as data. Read from YAML (docs/policy.md has the
 * reference), or by the name of a shipped one (policies/NAME.yaml, built into the program).
 *
 * Ownership: everything lives in the arena that was passed in.
 */
#ifndef DT_POLICY_POLICY_H
#define DT_POLICY_POLICY_H

#include "src/config/decode.h"
#include "src/config/violation.h"

/* Texts, sorted; p may be NULL when n is 0. */
struct texts {
	const char **p;
	size_t n;
};
bool texts_have(const struct texts *t, struct str text);

enum policy_network {
	NETWORK_NONE, /* a loopback interface of its own */
	NETWORK_HOST, /* that of the host, with everything that it reaches */
};

enum policy_answer { ANSWER_DENY, ANSWER_ASK };

/*
 * A prefix rule: commands that `command` describes get the answer. It is advice: a program that
 * builds its arguments itself is not seen. The sandbox and the broker are the barriers.
 *
 *     PROGRAM[|PROGRAM...] [SUBCOMMAND[|SUBCOMMAND...]...] [OPTION[|OPTION...]...]
 *
 * SUBCOMMAND tokens match the command's next words that are not options. OPTION tokens, which begin
 * with `-` or contain `*`, match if one of their alternatives matches any word: `-f` also in `-uf`,
 * `--force` also as `--force=VALUE`, and patterns as of fnmatch(3).
 */
struct policy_rule {
	const char *command;
	enum policy_answer answer;
	const char *instead; /* what to do; NULL: not said */
};

struct policy_limits { /* 0: none */
	unsigned timeout_s, cpu_s;
	uint64_t memory, file_size; /* bytes, of each process */
	unsigned processes, open_files;
};

struct policy {
	const char *name;
	bool allow_listed; /* `allow` was given: only these programs; else every one on PATH */
	struct texts allow;
	bool write;
	enum policy_network network;
	struct texts hosts;       /* HOST[:PORT] reached without a network; `*.` in front */
	struct texts environment; /* variables that are passed on from the caller */
	struct texts read;        /* more directories that may be read: absolute paths */
	struct texts protect;     /* more paths below the root that are kept */
	struct texts remotes;     /* that the broker fetches from and pushes to */
	struct texts push;        /* patterns of the branches that the broker pushes */
	struct texts forge;       /* commands of gh and glab that the broker runs: "pr view" */
	struct policy_rule *rules;
	size_t n_rules;
	struct policy_limits limits;
	enum violation violation;
};

/* A policy, persona or program: letters, digits and `._+-`, the first one a letter, a digit or `_`;
 * at most 64 bytes. */
bool policy_name_valid(struct str text);

/* Whether the text is a rule in this notation. */
bool rules_notation(struct str text);

/* -1: ERR_INPUT with FILE:LINE:COL. */
int policy_parse(
	struct arena *a, const char *file, struct str text, struct policy *out, struct error *err);
/* It has a `/` or ends in .yaml or .yml. */
bool policy_is_path(const char *name);
/* `name`: a shipped policy's name, or a path. */
int policy_load(struct arena *a, const char *name, struct policy *out, struct error *err);
/* Names of the shipped ones, NULL-ended. */
const char *const *policy_shipped(void);
/* The YAML text of a shipped policy; p == NULL: there is none of that name. */
struct str policy_shipped_text(const char *name);

#endif
