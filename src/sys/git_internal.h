/* git_internal.h: the search for files of a work tree, by libgit2's rules (git.c) or without it
 * (git_files.c), and where the repository of a work tree is. */
#ifndef DT_GIT_INTERNAL_H
#define DT_GIT_INTERNAL_H

#include "src/base/vec.h"
#include "src/sys/directory.h"
#include "src/sys/git.h"

struct git_search {
	struct arena *arena; /* of the paths found */
	const char *root;
	bool (*want)(struct str name);
	/* `path` is relative, that of a directory ends in `/`; `name` is its last part. */
	bool (*is_ignored)(void *data, const char *path, const char *name);
	int (*entered)(void *data, const char *path, struct error *err); /* may be NULL */
	void *data;
	VEC(char *) found;
	struct buf path; /* scratch */
	size_t seen;
};
void git_search_release(struct git_search *s); /* for CLEANUP */
/* Adds the wanted files below the root that are not ignored. */
int git_search_walk(struct git_search *s, struct error *err);
/* Adds a file of the index if it is wanted and there. */
void git_search_add_tracked(struct git_search *s, const char *path);
/* What was found: sorted, each once. */
void git_search_list(struct git_search *s, char ***paths, size_t *n);

/*
 * git_find_files() without libgit2, whose loading takes several times as long as a step. 1: done.
 * 0: a file that is wanted may be ignored, or the repository or its configuration is not plain:
 * git's own rules are needed. -1: as git_find_files().
 */
int git_find_files_plain(struct arena *a, const char *root, bool (*want)(struct str name),
	char ***paths, size_t *n, struct error *err);

enum { GIT_INDEX_MAX = 1 << 30 };

/* The first line of a small file, in the arena; NULL: it cannot be read, or is empty. */
char *git_first_line(struct arena *a, const char *path);

/* The branch and the commit of HEAD as git_read_tip() gives them, from plain files. False: git must
 * be asked. */
bool git_plain_tip(struct arena *a, const char *root, struct git_tip *out);

/* As git_directories(). False also unless the repository is ours, and of the plain form that the
 * files here are read in: ids of SHA-1, references in files, no configuration that includes another
 * or names another work tree. */
bool git_plain_directories(struct arena *a, const char *root, char **own, char **common);

/* Whether the library can open the repository of this work tree; *err says why not. */
int git_check_open(const char *root, struct error *err);

#endif
