/*
 * The tree, run: lists and conditions; interpret_loop.c has the loops.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include "src/sandbox/interpret_internal.h"

int run_heed(struct shell *sh, int status)
{
	if (status && sh->errexit && !sh->unheeded && !sh->leaving)
		(void)shell_leave(sh, status);
	return status;
}

int run_unheeded(struct shell *sh, const struct node *n)
{
	int status;

	sh->unheeded++;
	status = run_node(sh, n);
	sh->unheeded--;
	return status;
}

static int run_one(struct shell *sh, const struct node *n)
{
	return run_command(sh, n, NULL, false);
}

static int run_list(struct shell *sh, const struct node *n)
{
	int status = 0;

	for (size_t i = 0; i < n->n && !shell_stopped(sh); i++)
		status = run_node(sh, n->children[i]);
	return status;
}

static int run_and_or(struct shell *sh, const struct node *n)
{
	int status = run_unheeded(sh, n->children[0]);

	if (shell_stopped(sh) || (status == 0) != (n->kind == NODE_AND))
		return status;
	return run_node(sh, n->children[1]);
}

static int run_not(struct shell *sh, const struct node *n)
{
	const struct node *child = n->children[0];
	int status = run_unheeded(sh, child);
	/* bash turns the status of a compound command round only when it was run. */
	bool unopened = child->kind != NODE_COMMAND && child->n_redirects && sh->unopened;

	return sh->leaving || unopened ? status : !status;
}

static int run_group(struct shell *sh, const struct node *n)
{
	return run_node(sh, n->children[0]);
}

static int run_if(struct shell *sh, const struct node *n)
{
	size_t i = 0;

	for (; i + 1 < n->n; i += 2) {
		int status = run_unheeded(sh, n->children[i]);

		if (shell_stopped(sh))
			return status;
		if (!status)
			return run_node(sh, n->children[i + 1]);
	}
	return i < n->n ? run_node(sh, n->children[i]) : 0;
}

typedef int run_fn(struct shell *sh, const struct node *n);

static const struct {
	run_fn *run;
	bool heeded; /* errexit looks at how it ends; for the others at what is inside */
} kinds[] = {
	[NODE_COMMAND] = {run_one, true},
	[NODE_PIPE] = {run_pipeline, true},
	[NODE_AND] = {run_and_or, false},
	[NODE_OR] = {run_and_or, false},
	[NODE_NOT] = {run_not, false},
	[NODE_TIME] = {run_timed, false},
	[NODE_LIST] = {run_list, false},
	[NODE_BACKGROUND] = {run_background, false},
	[NODE_SUBSHELL] = {run_subshell, true},
	[NODE_GROUP] = {run_group, false},
	[NODE_IF] = {run_if, false},
	[NODE_WHILE] = {run_loop, false},
	[NODE_UNTIL] = {run_loop, false},
	[NODE_FOR] = {run_for, false},
	[NODE_CASE] = {run_case, false},
};

/* A compound command with redirections: they hold for all that is in it. */
static int run_redirected(struct shell *sh, const struct node *n)
{
	CLEANUP(turn_end) struct turn t;
	CLEANUP(saved_restore) struct saved saved;
	struct targets targets;
	int status;

	saved_begin(&saved);
	turn_begin(&t, sh);
	if (targets_check(&t, n, &targets) < 0)
		return turn_failed(&t);
	sh->unopened = targets_apply(sh, &targets, &saved) < 0;
	if (sh->unopened)
		return run_heed(sh, 1);
	status = kinds[n->kind].run(sh, n);
	sh->unopened = false;
	return status;
}

int run_node(struct shell *sh, const struct node *n)
{
	int status;

	if (shell_stopped(sh))
		return sh->leaving ? sh->status : sh->skip ? 0 : NOT_RUN;
	status = n->kind != NODE_COMMAND && n->n_redirects ? run_redirected(sh, n)
							   : kinds[n->kind].run(sh, n);
	if (kinds[n->kind].heeded)
		status = run_heed(sh, status);
	sh->last = sh->leaving ? sh->status : status;
	return sh->last;
}

static void take_environment(struct shell *sh, char **environment)
{
	for (char **e = environment; *e; e++) {
		struct str entry = str_of(*e);
		size_t equals = str_find(entry, STR("="));
		struct str name = str_sub(entry, 0, equals);

		setting_set(&sh->settings, name, str_sub(entry, equals + 1, entry.n));
		setting_get(&sh->settings, name)->exported = true;
	}
}

static int enter(struct shell *sh)
{
	CLEANUP(base_close)
	int fd = open_beneath(sh->root, str_of(sh->cwd), O_RDONLY | O_DIRECTORY);

	if (fd >= 0 && fchdir(fd) == 0)
		return 0;
	shell_say("cannot enter '%s': %s", sh->cwd, strerror(errno));
	return -1;
}

static void shell_release(struct shell *sh)
{
	for (size_t i = 0; i < sh->settings.n; i++) {
		free(sh->settings.p[i].name);
		free(sh->settings.p[i].value);
	}
	free(sh->settings.p);
	free(sh->cwd);
	free(sh->children);
	free(sh->jobs);
}

int interpret_shared(const struct execution *x, const struct root *root, char **environment,
	struct shared *shared, int alarm)
{
	CLEANUP(shell_release)
	struct shell sh = {.x = x, .root = root, .shared = shared, .alarm = alarm};
	int status;

	shell_signals();
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* what a subshell leaves comes to us */
	take_environment(&sh, environment);
	shell_set_cwd(&sh, str_of(x->cwd));
	if (enter(&sh) < 0)
		return NOT_RUN;
	status = run_node(&sh, x->tree);
	if (!shared_denied(shared))
		shell_wait_jobs(&sh);
	if (!shared_denied(shared))
		shell_wait_left(&sh);
	return status;
}

int interpret(
	struct arena *a, const struct execution *x, char **environment, struct verdict *denied)
{
	CLEANUP(shared_drop) struct shared *shared = shared_make();
	int status;

	*denied = (struct verdict){0};
	if (!shared) {
		(void)deny(denied, RULE_INTERNAL, (struct span){0, 0}, "no memory to run it");
		return NOT_RUN;
	}
	status = interpret_shared(x, x->root, environment, shared, -1);
	shared_verdict(a, shared, denied);
	return status;
}
