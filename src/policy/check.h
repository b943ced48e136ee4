/*
 * check.h: the rules engine. Walks the tree with every working directory and every value of a
 * variable that can be, and asks the rules about each command. The executor asks the same functions
 * again, with the values that are then real, before it starts anything.
 */
#ifndef DT_POLICY_CHECK_H
#define DT_POLICY_CHECK_H

#include "src/shell/ast.h"
#include "src/policy/policy.h"
#include "src/policy/where.h"

/* What explain shows: each rule that was asked, about what, and what came out. */
struct asked {
	enum rule rule;
	struct span at;
	struct str word, path;
	bool denied;
};

struct trace {
	struct asked *list;
	size_t n, cap; /* in the check's arena */
};

/* A directory that the line has been in. */
struct entered {
	struct str path; /* relative to the root */
	struct entered *next;
};

struct check {
	struct arena *arena;
	const struct policy *policy;
	const struct root *root;
	struct verdict *v;
	struct trace *trace; /* may be NULL */
	unsigned left;       /* calls that may still be asked about */
	bool live;           /* the executor asks: all values are real */
	bool linked;         /* the shell's name for the first directory has a link in it */
	bool unforeseen;     /* the line has made files that nobody knows: what they are is open */
	bool wrote;          /* the line writes: what a file says now, it may not say then */
	unsigned patterns;   /* that may still be expanded */
	struct memory *memory;     /* NULL: nothing is remembered, the disk may change */
	size_t bytes;              /* of expanded values, so far */
	struct compiled *compiled; /* options.c: notations that were read before */
	size_t looked; /* names in directories that were looked at, over the whole line */
	const struct call *finder; /* what finds the files of ARG_FOUND */
	struct state *jumps; /* where `break` and `continue` are reached in this loop; NULL: none */
	struct entered **entered; /* shared by all copies of the check; NULL when live */
	bool links, moves;        /* a link with `..` is made; files are moved or copied */
};

/* Notes it for explain; returns `rc`, so that a check can `return asked(..)`. */
int asked(struct check *c, enum rule r, struct span at, struct str word, struct str path, int rc);

enum arg_origin {
	ARG_KNOWN,   /* `text` is the whole word */
	ARG_DYNAMIC, /* output of $( ) or an unknown variable follows `text`, which is its known
			beginning */
	ARG_FOUND,   /* names of files below the root, given by find or by `git ls-files` through
			xargs */
};

struct arg {
	struct str text;
	enum arg_origin origin;
	bool split; /* ARG_DYNAMIC without quotes: may become several words, or none */
	/* ARG_FOUND with `commits`: text follows the name, which is that of another file then. */
	bool commits; /* ARG_DYNAMIC: names of commits or branches, as git merge-base puts them out
		       */
	struct span at;
};

/* One program with its arguments; args[0] is the name. */
struct call {
	struct arg *args;
	size_t n;
	struct str cwd; /* relative to the root, real */
	struct span at;
	const struct call *feeds; /* what writes into its standard input through a pipe, if one call
				     does; else NULL */
	unsigned depth;           /* wrappers around it */
};

/*
 * All rules about one call, the calls inside it (wrappers) included. *program: real path of what is
 * started, "" for builtins and what is not installed. 0 or -1 with c->v.
 */
int check_call(struct check *c, const struct call *call, struct str *program);

/* Assignments before a command, and those of env, make, export: `command`: they are passed to one.
 */
int check_assignment(struct check *c, struct str cwd, struct str name, const struct arg *value);

/* A variable of the shell alone: NAME=VALUE without a command, read, for. */
int check_variable(struct check *c, struct str name, struct span at);

/* A path argument of `call`. ARG_DYNAMIC is denied (PATH_DYNAMIC), ARG_FOUND is taken as below the
 * root. */
int check_path(struct check *c, const struct call *call, const struct arg *path, enum access access,
	bool whole);

/* A redirection whose target has become `target` (unused for those without): *out is the file, when
 * there is one. */
int check_redirect(struct check *c, const struct redirect *r, const struct arg *target,
	struct str cwd, struct place *out);
/* From here on `path` counts as a working directory of the line. */
void check_enters(struct check *c, struct str path);
/* Whether `path` (relative to the root) is, or holds, a directory that the line may be in. */
bool check_entered(const struct check *c, struct str path);

/* What `cd` leads to from `cwd`: a real path relative to the root. */
int check_cd(struct check *c, const struct call *call, struct str *to);

/* The whole tree, from working directory `cwd` (relative to the root). */
int check_tree(struct check *c, const struct node *tree, struct str cwd);

/* The working directory as a real path relative to the root; -1: it is not below it (CWD). */
int policy_cwd(
	struct arena *a, const struct root *r, const char *cwd, struct str *out, struct verdict *v);

/* Parses and checks. cwd: absolute or relative to the caller's. 0, or -1 with *v. */
int policy_check(struct arena *a, const struct policy *p, const struct root *r, const char *cwd,
	struct str command, struct node **tree, struct verdict *v, struct trace *trace);

/* A command, and what it is judged by. */
struct policy_question {
	struct policy policy;
	struct root root;
	const char *cwd;
	struct str command;
	struct verdict verdict; /* denied already: the persona may not run commands at all */
};
/*
 * Opens the root (NULL: that of the worktree around q->cwd) and loads the policy of that name
 * (NULL: readonly) or of the persona. Call policy_question_release() also after -1: ERR_USAGE when
 * both are given, else as policy_load() and clearance_policy().
 */
int policy_question_open(struct arena *a, struct policy_question *q, const char *root,
	const char *policy, const char *persona, struct error *err);
/* Fills in the verdict; *tree is NULL where the text was not understood. `trace` may be NULL. */
void policy_question_check(
	struct arena *a, struct policy_question *q, struct node **tree, struct trace *trace);
void policy_question_release(struct policy_question *q); /* for CLEANUP */

/*
 * Puts the path of the system's program in the place of each name, for text that a shell will run:
 * neither an alias nor a function nor PATH decides then what the name means.
 */
void tree_name_programs(struct arena *a, const struct policy *p, struct node *tree);

#endif
