/*
 * doctor.h: the checks of the verb doctor. For doctor*.c alone.
 */
#ifndef DT_DOCTOR_H
#define DT_DOCTOR_H

#include "src/cli/cli.h"

enum health { HEALTH_OK, HEALTH_WARN, HEALTH_FAIL };

struct checkup {
	struct arena *arena;
	struct buf *out;
	const char *given_repo; /* --repo; NULL: around the working directory */
	const char *repo;       /* NULL: none found */
	bool failed;
};

/* One line: how it is, with what, and what to do about it. */
void finding(struct checkup *c, enum health health, const char *what, const char *fmt, ...)
	PRINTF(4, 5);

/* Where documents are kept. */
int state_folder(struct arena *a, char **dir, struct error *err);
void check_state(struct checkup *c);

/* git, gh, claude: those that are run. */
void check_programs(struct checkup *c);
/* What this host has to enforce policies with. */
void check_layers(struct checkup *c);
/* The repository and what came with the program. */
void check_repository(struct checkup *c);
void check_installation(struct checkup *c);
/* Who holds which work item of the repository. */
void check_leases(struct checkup *c, const char *slug);

/* First line of what a program prints, in the arena; NULL when it is missing. *ok: it ended well
 * and in time. */
char *ask_program(
	struct arena *a, const char *cwd, const char *const *argv, unsigned timeout_s, bool *ok);

#endif
