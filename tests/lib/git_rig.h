/*
 * git_rig.h: a repository for each test, a home with an author for its commits, and no settings of
 * the user.
 */
#ifndef DT_TESTS_GIT_RIG_H
#define DT_TESTS_GIT_RIG_H

#include "tests/lib/shell.h"

extern struct error err;

/* Sets HOME and git's variables for the scratch directory, and PATH as it was at first. */
void rig_environment(void);
/* This directory of the scratch directory comes first in PATH, until the next test. */
void path_begins_with(const char *name);

/* Repositories of a fixture: created once in each program, then copied. */
struct git_template {
	void (*make)(void);
	const char *directories[4]; /* to copy; ended by NULL */
	const char *files[4];       /* that contain the absolute path of `base` once */
	char *copy, *base;          /* the rest is private to git_rig.c */
	pid_t owner;
	struct git_template *next;
};
/* Makes the scratch directory with the repositories of the template. */
void git_template_use(struct git_template *t);

/* Makes the repositories of rig_setup(). */
void rig_repositories(void);
/* Fixture: one commit on main in `r`, cloned from the bare `org/o.git` whose HEAD is main. */
int rig_setup(void **state);

bool contains(const char *text, const char *part);
/* It failed with err: this code, and `part` in its text. */
bool refused(int rc, enum err code, const char *part);

#define GIT_TEST(name) UNIT_TEST(name, rig_setup, scratch_remove)

#endif
