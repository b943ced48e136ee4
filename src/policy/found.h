/*
 * found.h: commands that are given names of files which another program finds: by find -exec, and
 * by xargs behind find, grep -l or git ls-files.
 */
#ifndef DT_POLICY_FOUND_H
#define DT_POLICY_FOUND_H

#include "src/policy/bin.h"
#include "src/sys/git.h"

/* `arg` with a found name where it has `mark`: what is in front of it, and ARG_FOUND. */
struct arg found_in(const struct arg *arg, const char *mark, bool several);
/* The call `inner`, with ARG_FOUND among its words; `finder` is the find, grep or git. */
int check_found(struct check *c, const struct call *inner, const struct call *finder);
/* What c->finder finds is written: nothing that is protected may be among it. `arg`: who says so.
 */
int check_found_write(struct check *c, const struct arg *arg);
/* What it finds is opened: no link that leads out of the root may be among it. */
int check_found_open(struct check *c, const struct arg *arg);

/* What a program that finds files was told. */
struct finding {
	const struct arg *starts; /* none: the working directory */
	size_t n;
	struct str names; /* a pattern that all names match; n == 0: not known */
	bool zero;        /* a NUL behind each name, not a newline */
	bool bare;        /* names may begin with those of files in the working directory */
	bool tracked;     /* files, and none below .git */
	bool plain;       /* no links among them */
	bool of_git;      /* names are in git's index, whether they are in the tree or not */
	bool indexed;     /* of git, and nothing that it does not know */
	bool followed;    /* links to directories are followed too */
	bool beside;      /* but `.git` itself, where it is a file, may be one of them */
};
/* False: it is no such program, or puts out other things. */
bool finding_of(struct check *c, const struct call *call, struct finding *out);
bool find_finding(const struct call *call, struct finding *out);
/* The pattern and where it starts, whatever it puts out. */
void find_places(const struct call *call, struct finding *out);

/*
 * Looks at the names below the places where it starts: 0, or -1 with the denial when one has a byte
 * of `bad`, or (bare) begins with a dash, or there are too many.
 */
int check_names(struct check *c, const struct call *finder, const struct finding *f,
	const char *bad, const struct arg *arg);

/* Asks `good` about each name in git's index, from the top of the worktree. 0: all are, 1: one is
 * not, -1: the index cannot be read. */
int check_index_each(
	struct check *c, bool (*good)(void *of, const struct git_tracked *e), void *of);
/* The same for links that lead out of the root. */
int check_links(
	struct check *c, const struct call *finder, const struct finding *f, const struct arg *arg);

/* Is a protected file, or a name in a protected directory, among it? `any`: whatever it is called.
 */
bool finds_guarded(struct check *c, const struct finding *f, const struct arg *start, bool any);
/* A directory that is moved or copied: no link in it may lead elsewhere from its new place. */
int check_moved(struct check *c, const struct call *call, const struct arg *folder);

/* ---- the expressions of find ---- */

/* bin_find.c says what of them is allowed, find_names.c which files are found. */
enum takes { NOTHING, A_TEXT, A_NUMBER, A_FILE };

struct find_predicate {
	const char *name;
	enum takes takes;
};

/* NULL: not known, or not allowed. */
const struct find_predicate *find_predicate(struct str name);
/* As find itself tells an expression from a place to start. */
bool find_begins(const struct arg *arg);
/* -newerXY: X is a time of each file, Y one of FILE ("read") or a date ("text"). NULL: neither. */
const char *find_newer(struct str name);

#endif
