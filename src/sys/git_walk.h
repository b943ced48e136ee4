/*
 * git_walk.h: the files of a work tree, found by walking it. For git.c alone.
 */
#ifndef DT_GIT_WALK_H
#define DT_GIT_WALK_H

#include "src/base/buf.h"

struct walk {
	struct arena *arena; /* of the paths found */
	const char *root;
	bool (*want)(struct str name);
	bool (*ignored)(void *arg, const char *path); /* a folder's path ends with `/` */
	void *ignored_arg;

	char **found;
	size_t n_found, cap_found;
	char **todo; /* folders, relative, each with `/` at its end */
	size_t n_todo, cap_todo;
	size_t seen;
};

/* Adds one file, relative to root, if it is wanted and is a regular file. */
void walk_offer(struct walk *w, const char *path);
/* Adds all wanted files that are not ignored. -1: ERR_INPUT when there are too many to look at. */
int walk_tree(struct walk *w, struct error *err);
/* Sorted, each once. */
void walk_finish(struct walk *w, char ***paths, size_t *n);
void walk_release(struct walk *w);

#endif
