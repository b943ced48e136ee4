/*
 * forge.h: pull requests on forges, the hosts of repositories: their URLs, and their state as the
 * forge's program reports it. `gh` and `glab` get the caller's environment, with GH_TOKEN, and
 * never prompt.
 */
#ifndef DT_FORGE_H
#define DT_FORGE_H

#include "src/base/buf.h"

enum forge_kind { FORGE_GITHUB, FORGE_GITLAB, FORGE_GITEA, FORGE_BITBUCKET, FORGE_AZURE };

/*
 * A pull request by its URL. Parts of the text that was read. Known forms, each after
 * https://HOST or http://HOST:
 *
 *     GitHub        /OWNER/REPO/pull/N
 *     GitLab        /GROUP.../REPO/-/merge_requests/N, before GitLab 12 without /-
 *     Gitea, Forgejo /OWNER/REPO/pulls/N
 *     Bitbucket     /WORKSPACE/REPO/pull-requests/N, /projects/KEY/repos/REPO/pull-requests/N
 *     Azure DevOps  /ORG/PROJECT/_git/REPO/pullrequest/N, and ORG.visualstudio.com
 */
struct forge_pull {
	enum forge_kind kind;
	struct str url;  /* up to the number */
	struct str host; /* without user and port */
	struct str path; /* of the repository: `OWNER/REPO` ... */
	struct str number;
};

/* The first pull request in the text; false when there is none. */
bool forge_find_pull(struct str text, struct forge_pull *out);
/* Whether the pull request is in the repository of a remote's URL. Of a local path, only the last
 * two parts are compared. */
bool forge_pull_is_of(const struct forge_pull *p, struct str remote_url);

/* The program for the forge of a remote's URL: "gh" or "glab"; "": that forge has none; NULL: the
 * URL does not tell the forge. */
const char *forge_program(struct str remote_url);

/* What a forge says about a pull request. Texts are in the arena. */
struct forge_view {
	const char *tool;  /* the program that answered; NULL: none knows this host */
	bool missing;      /* the forge has no such pull request; the rest is NULL */
	const char *state; /* "open", "closed", "merged" */
	const char *branch, *head, *target; /* head: id of the commit */
	const char *merged;                 /* when; NULL: it does not say */
};
/*
 * Asks `command` (NULL: none), else gh or glab, in `dir`; at most 60 s. The command is run by sh
 * with the URL as $1, and prints one JSON object with the members state, branch and head, and
 * optionally target; or {"state": "missing"}. -1: ERR_SYSTEM: the program failed, or its output is
 * not understood.
 */
int forge_view(struct arena *a, const char *dir, const struct forge_pull *p, const char *command,
	struct forge_view *out, struct error *err);
/* An open pull request, in the arena. */
struct forge_open_pull {
	int64_t number;
	bool draft;
	bool conflicts;     /* with its target */
	bool checks_failed; /* a check of its head has, and none is pending */
	const char *branch, *url;
	const char *changes_requested; /* time of the last review that did; NULL: none does */
};
struct forge_open_pulls {
	struct forge_open_pull *items;
	size_t n, cap;
};
/* All open pull requests of the repository `dir`, with one call of `gh`. -1: ERR_SYSTEM: there is
 * no `gh`, it failed, took more than 60 s, or its output is not understood. */
int forge_list_open(
	struct arena *a, const char *dir, struct forge_open_pulls *out, struct error *err);

/*
 * Opens a pull request for `branch`, which is pushed, as a draft if the forge has drafts; the open
 * one of the branch is adopted as it is. `program`: "gh" or "glab". Title and body are passed on as
 * they are. *url: in the arena. *made: it was not there before. -1: ERR_SYSTEM: there is no such
 * program, it failed, took more than 60 s, or printed no URL of a pull request.
 */
int forge_open(struct arena *a, const char *dir, const char *program, const char *branch,
	const char *title, const char *body, const char **url, bool *made, struct error *err);

enum forge_checks_state {
	FORGE_CHECKS_NONE, /* there are none yet, or nothing can tell */
	FORGE_CHECKS_PENDING,
	FORGE_CHECKS_FAILED, /* and none is pending */
	FORGE_CHECKS_PASSED,
};
/* The checks of a pull request. Texts are in the arena. */
struct forge_checks {
	const char *tool; /* the program that answered; NULL: there is none for this forge */
	enum forge_checks_state state;
	char *failed; /* a line for each failed one; "" */
};
/*
 * Asks `gh pr checks`, or `glab mr view` for the pipeline of the head, in `dir`. pr_url NULL: the
 * pull request on GitHub of the branch that is checked out. -1: ERR_SYSTEM: the program failed,
 * took more than 60 s, or its output is not understood.
 */
int forge_checks(struct arena *a, const char *dir, const char *pr_url, struct forge_checks *out,
	struct error *err);
/*
 * Merges an open pull request whose head is still `head`, with `gh pr merge` or `glab mr merge`, in
 * `dir`. `method`: "rebase", "squash", "merge". *refused: why the forge does not, in the arena;
 * NULL: it did, or queued it. -1: ERR_SYSTEM: there is no program for this forge, or it took more
 * than 60 s.
 */
int forge_merge(struct arena *a, const char *dir, const struct forge_pull *p, const char *head,
	const char *method, const char **refused, struct error *err);
enum forge_mark { FORGE_READY, FORGE_LABEL, FORGE_UNLABEL };
/* Marks a draft as ready for review, or gives the pull request a label, which is made if there is
 * none, or takes it away. -1: ERR_SYSTEM: as of forge_merge(), or the forge refused it. */
int forge_mark(struct arena *a, const char *dir, const struct forge_pull *p, enum forge_mark mark,
	const char *label, struct error *err);
/*
 * What people wrote on a GitHub pull request and no agent has answered, in the arena: of each
 * comment its address, author, the author's relation to the repository and place, then the quoted
 * text. About 8 KB at most; secrets masked, control characters replaced. An agent's comment has a
 * line that begins with `<!-- dev-team`. A comment is answered if that line of an agent's comment
 * on the whole pull request has its id, one on a line also if a later one of its thread is an
 * agent's; resolved threads, hidden comments and those of bots are left out. *text "": there are
 * none; NULL: no `gh`, or another forge. -1: ERR_SYSTEM: `gh` failed or took more than 60 s.
 */
int forge_open_comments(
	struct arena *a, const char *dir, const char *pr_url, char **text, struct error *err);

#endif
