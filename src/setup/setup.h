/*
 * setup.h: what comes before the first agent: `init` sets up a repository, a new work item gets an
 * id and a spec, and the first step checks what the run needs.
 *
 * Ownership: texts live in the arena.
 */
#ifndef DT_SETUP_H
#define DT_SETUP_H

#include <sys/types.h>
#include "context/file.h"
#include "src/config/resource.h"
#include "src/sys/git.h"
#include "src/workflow/workflow.h"

/* ---- what builds and tests a repository (project.c) ---- */

struct project {
	const char *language;       /* "C (make)" */
	const char *dir;            /* relative to the repository; "" is its root */
	const char *tool;           /* program that must be installed */
	bool tested;                /* one of the commands runs tests */
	VEC(const char *) commands; /* of the shell, run in `dir` */
	const char *fault;          /* of a build file that cannot be read; NULL */
};

#define PROJECT_PYTEST "python3 -m pytest -q" /* of a Python project without a tool around it */

struct projects {
	struct project *items;
	size_t n, cap;
	const char *fault; /* of the first build file that cannot be read, with its path; NULL */
};

/* From the files that git tracks or does not ignore. A directory below a project of the same
 * language is left to that one. */
int project_find(struct arena *a, const char *repo, struct projects *out, struct error *err);
/* The text of a scripts/validate.sh that runs the commands. */
const char *project_script(struct arena *a, const struct projects *all);

/* ---- the settings of a repository (settings.c) ---- */

/* Of REPO/.dev-team/config.yaml; docs/verbs.md describes its keys. Each is NULL where it is not
 * set. */
struct settings {
	const char *workflow; /* of items that name none: a name, or a path */
	const char *key;      /* of the ids of new items: SHOP of SHOP-7 */
	const char *specs;    /* directory of new specs, relative to the repository */
	const char *harness;  /* of a `run` without agents: `NAME[,NAME...]` */
	const char *policy;   /* of headless agents: a name, a path, or `none` */
	const char *pipeline; /* whose budgets and plans apply to a session's steps */
};

/* No file: nothing is set. A `workflow` or `policy` with a `/` in it is completed to an absolute
 * path. -1: also ERR_INPUT with the place. */
int settings_load(struct arena *a, const char *repo, struct settings *out, struct error *err);

/* Of one subscription plan, by the user alone: STATE/config.yaml, docs/quota.md. */
struct user_plan {
	const char *name;
	struct text_list command; /* quotaCommand; n 0: none */
	bool count_cache_reads;
};
struct user_settings {
	const char *file;
	struct user_plan *plans;
	size_t n_plans;
};
/* No file: there are none. */
int user_settings_load(
	struct arena *a, const char *state, struct user_settings *out, struct error *err);
/* NULL: the user says nothing of it. */
const struct user_plan *user_plan_find(const struct user_settings *s, const char *name);

/* A letter, then letters, digits and `_`; at most 20 bytes. */
bool settings_key_valid(struct str text);

/* ---- the remote (remote.c) ---- */

enum { REMOTE_S = 60 }; /* at most, for a connection */

/* *url is that of `origin`; NULL: there is none. */
int remote_find_url(struct arena *a, const char *repo, char **url, struct error *err);
/* *line: the first line that git prints, in the arena; NULL if git fails or takes too long. -1: git
 * could not be run. */
int remote_git_line(
	struct arena *a, const char *repo, const char *const *argv, char **line, struct error *err);
/* Without the name of the command that failed, and without git's hint. */
const char *remote_short_fault(struct arena *a, const char *text);
/* The user has not said how git starts ssh: struct git_command.batch_ssh. */
bool remote_plain_ssh(void);

/* What `origin` says of itself. */
struct remote_state {
	const char *fault;  /* why it cannot be asked, as git says it; NULL */
	const char *branch; /* its default branch; NULL: none, or without a commit */
	const char *commit; /* of HEAD; NULL */
	const char *beside,
		*taken; /* its branches that the asked one cannot be next to, or is; NULL */
};
/* One connection. `branch` NULL: nothing is asked of one. If HEAD there names no branch with a
 * commit, `main` or `master` is the default one, and `commit` is NULL. */
void remote_read(struct arena *a, const char *repo, const char *branch, struct remote_state *out);
/* The default branch as `origin` names it, else as this clone knows it; NULL: unknown. */
const char *remote_default(struct arena *a, const char *repo);

/* ---- what a first step needs (preflight.c) ---- */

enum health { HEALTH_OK, HEALTH_WARN, HEALTH_FAIL };

struct finding {
	enum health health;
	enum err code;       /* of HEALTH_FAIL: the exit code of a step */
	const char *subject; /* "author" */
	const char *text;    /* what is so and, unless it is good, the remedy */
};

struct preflight {
	const char *repo;
	const char *id, *branch;         /* NULL: no item, what the repository has is checked */
	const struct workflow *workflow; /* NULL: of no item */
	bool in_place, allow_dirty;
	bool validated;        /* the validation needs no script of the repository */
	bool has_spec;         /* the item's document names it */
	const char *directory; /* the item's worktree; NULL: there is none yet */
	/* Found: */
	VEC(struct finding) list;
	size_t n_failed;
	bool spec_unclear; /* one of them: not exactly one spec names the id */
	struct remote_state remote;
	char **specs; /* that name the id; NULL: not searched */
	size_t n_specs;
};

/* Starts a handful of `git` processes and opens two connections to the remote: what may be read,
 * and what may be written. */
void preflight_check(struct arena *a, struct preflight *p);

/* False: path_is_id() allows it, and git has no such branch. */
bool preflight_is_branch_name(struct str branch);
/* git has no branch `a/b` next to a branch `a`. -1: ERR_STATE. */
int preflight_check_branch(
	struct arena *a, const char *repo, const char *branch, struct error *err);
/* Whether an item could work on the branch of the checkout, and with the changes there. -1:
 * ERR_STATE. */
int preflight_check_head(
	const struct git_head *h, const char *repo, const char *id, struct error *err);
int preflight_check_clean(
	const char *repo, bool allow_dirty, const struct git_status *s, struct error *err);

/* ---- init (init.c) ---- */

/* Writes scripts/validate.sh, the settings and a first spec, each where there is none; adds what it
 * did and what comes next. `repo`: its root. */
int setup_init(struct arena *a, const char *repo, struct buf *out, struct error *err);
/* *option: what `dev-team run ID` lacks, ` --harness NAME`; "" if the settings name a harness. */
int setup_agents(struct arena *a, const char *repo, const char **option, struct error *err);

/* ---- new work items (new_item.c) ---- */

struct new_item {
	const char *id;   /* given, or NULL: the next free one */
	const char *text; /* what is wanted; its first line is the title */
	/* Set: */
	const char *title, *path; /* path of the spec, relative to the repository */
	bool existed;             /* an item of this title has not ended */
};

/* Whether a word of a command line is an id: KEY-NUMBER, or the name of an item or of a spec of the
 * repository; all else is words. `alone`: no other word follows; a number is
 * then an id, and so is a word with a digit that a spec names anywhere. -1: the files cannot be
 * read. */
int new_item_is_id(struct arena *a, const char *repo, const char *word, bool alone, bool *is_id,
	struct error *err);
/* Writes the spec `_spec_NAME.md` with an id that no item, spec or branch has. -1: also ERR_INPUT:
 * the text names an id that has a spec. */
int new_item_write(struct arena *a, const char *repo, struct new_item *item, struct error *err);
/* The key of new ids: that of the settings, else made of the repository's name. */
int new_item_key(struct arena *a, const char *repo, const char **key, struct error *err);

/* The greatest N for which an item, spec, task or branch of the repository is called KEY-N. */
int new_item_last(
	struct arena *a, const char *repo, const char *key, unsigned long *last, struct error *err);

struct item_ids {
	const char **items;
	size_t n, cap;
	bool are_words; /* the one is that of a new item */
};
/* What the words of a command line name: one or several items, or, as text, a new one, whose spec
 * is written and named in a line on stderr. An id and further words: the id of the new one. -1:
 * ERR_USAGE: the item exists already. */
int new_item_ids(struct arena *a, const char *repo, const char *const *words, size_t n,
	struct item_ids *ids, struct error *err);

enum { NEW_ITEM_SLUG_MAX = 50 };
/* `teach-the-parser` of a title: a-z, 0-9 and single `-` inside, at most NEW_ITEM_SLUG_MAX bytes;
 * "" if nothing is left. */
char *new_item_slug(struct arena *a, const char *title);
/* Whether the item of the document is done or has failed. */
bool new_item_ended(const struct context *doc);

/* Writes REPO/PATH and the directories above it. 1: there is such a file, which is left alone. */
int setup_create_file(struct arena *a, const char *repo, const char *path, struct str text,
	mode_t mode, struct error *err);

#endif
