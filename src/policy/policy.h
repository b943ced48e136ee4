/*
 * policy.h: what a persona may run, as data. Read from YAML (docs/policy.md has the reference;
 * tools/lists holds it to the table), from one JSON object of the same keys, or by the name of a
 * shipped one (policies/NAME.yaml, built into the program).
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

/* What to do when a layer of the kernel is not there on this host. */
enum need { NEED_BEST_EFFORT, NEED_REQUIRED, NEED_OFF };

enum layer {
	LAYER_LANDLOCK,
	LAYER_SECCOMP,
	LAYER_PROCESSES, /* PID namespace: nothing outlives the run */
	LAYER_NETWORK,   /* network namespace; only asked for where the policy has no network */
	LAYER_MOUNTS,    /* mount namespace: protected files are read-only */
	LAYER_CGROUP,    /* number of processes, killing */
	LAYERS
};
const char *layer_name(enum layer l);

/* A program that the policy itself describes. Notation: notation.h. */
struct program {
	const char *name;
	const char *options, *operands;
	bool runs_code; /* it runs what is in the repository: only the kernel's layers bound it */
	unsigned line, col; /* of its name in the file */
};

struct policy_limits { /* 0: none */
	unsigned timeout_s;
	unsigned cpu_s;
	uint64_t memory, file_size; /* bytes */
	unsigned processes, open_files;
	uint64_t output; /* bytes of stdout and stderr together */
};

struct policy {
	const char *name;
	struct texts allow; /* names of programs and builtins */
	bool write;
	bool network;
	bool git_listed; /* `git` was given: only these commands; else all that are known */
	struct texts git;
	struct texts git_config;  /* more keys that may be given with -c */
	struct texts environment; /* more variables that may be set */
	struct texts read;        /* more directories that may be read: absolute paths */
	struct texts protect;     /* more paths below the root that may not be written */
	struct texts scripts; /* programs below the root that may be run: paths relative to it */
	struct program *programs;
	size_t n_programs;
	struct policy_limits limits;
	enum need layers[LAYERS];
	enum violation violation;
	unsigned uid, gid; /* 0: not dropped */
};

/* policy_fields.c: the keys of a policy. */
extern const struct config_field policy_fields[];
/* A policy, persona or program: letters, digits and `._+-`, the first one a letter, a digit or `_`;
 * at most 64 bytes. */
bool policy_name_valid(struct str text);

/* -1: ERR_INPUT with FILE:LINE:COL. */
int policy_parse(
	struct arena *a, const char *file, struct str text, struct policy *out, struct error *err);
/* The `policy` of a row of a test file: {"name","allow","write","git","network",...}. */
int policy_from_json(struct arena *a, const json *j, struct policy *out, struct error *err);
/* `name`: a shipped policy's name, or a path (has a `/` or ends in .yaml or .yml). */
int policy_load(struct arena *a, const char *name, struct policy *out, struct error *err);
/* Names of the shipped ones, NULL-ended. */
const char *const *policy_shipped(void);
/* The YAML text of a shipped policy; p == NULL: there is none of that name. */
struct str policy_shipped_text(const char *name);

#endif
