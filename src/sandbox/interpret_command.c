/*
 * Simple commands: expanded, asked about, started.
 */
#include <errno.h>
#include <sys/stat.h>
#include "src/policy/beneath.h"
#include "src/sandbox/interpret_internal.h"

/* A command that is ready to be started. */
struct ready {
	struct call call, feeds;
	struct args_list words;
	struct targets targets;
	struct arg *values; /* of the node's assignments */
	struct str program; /* "": not installed, or a builtin */
	builtin_fn *builtin;
};

/* `export NAME=VALUE`: the value is one word, as in an assignment. */
static bool is_setting(const struct node *n, size_t i)
{
	const struct word *first = &n->words[0], *w = &n->words[i];
	struct str text;

	if (!i || first->n != 1 || first->parts[0].kind != PART_TEXT || !w->n)
		return false;
	text = w->parts[0].text;
	return str_is(first->parts[0].text, "export") && w->parts[0].kind == PART_TEXT &&
	       !w->parts[0].quoted && str_find(text, STR("=")) < text.n;
}

static int expand_words(struct turn *t, const struct node *n, struct args_list *out)
{
	for (size_t i = 0; i < n->n_words; i++) {
		struct arg arg;

		if (!is_setting(n, i)) {
			if (expand_word(&t->expander, &n->words[i], out) < 0)
				return -1;
			continue;
		}
		if (expand_single(&t->expander, &n->words[i], &arg) < 0)
			return -1;
		args_push(&t->arena, out, arg);
	}
	return 0;
}

/* What programs would see is asked about as such, whichever way it is set. */
static int check_set(struct turn *t, struct str name, const struct arg *value)
{
	const struct setting *s = setting_get(&t->sh->settings, name);

	if (s && s->exported)
		return check_assignment(&t->check, t->expander.cwd, name, value);
	return check_variable(&t->check, name, value->at);
}

static int expand_assignments(struct turn *t, const struct node *n, struct arg **out)
{
	struct arg *values = arena_alloc(&t->arena, (n->n_assignments + 1) * sizeof(*values));

	for (size_t i = 0; i < n->n_assignments; i++) {
		const struct assignment *a = &n->assignments[i];

		if (expand_single(&t->expander, &a->value, &values[i]) < 0)
			return -1;
		values[i].at = a->at;
		if ((n->n_words ? check_assignment(&t->check, t->expander.cwd, a->name, &values[i])
				: check_set(t, a->name, &values[i])) < 0)
			return -1;
		/* The next one may make use of it. */
		if (!n->n_words && turn_set(t, a->name, values[i].text, a->at) < 0)
			return -1;
	}
	*out = values;
	return 0;
}

static int make_ready(
	struct turn *t, const struct node *n, const struct node *feeder, struct ready *r)
{
	*r = (struct ready){.program = STR("")};
	t->sh->output_status = 0;
	if (expand_words(t, n, &r->words) < 0 || targets_check(t, n, &r->targets) < 0 ||
		expand_assignments(t, n, &r->values) < 0)
		return -1;
	if (!r->words.n)
		return n->n_words
			       ? deny(&t->verdict, RULE_NAME_DYNAMIC, n->at, "no command is left")
			       : 0;
	r->call = (struct call){
		.args = r->words.p, .n = r->words.n, .cwd = t->expander.cwd, .at = n->at};
	if (feeder && reads_pipe(n) && expand_feeder(&t->expander, feeder, &r->feeds))
		r->call.feeds = &r->feeds;
	r->builtin = builtin_named(r->words.p[0].text);
	return check_call(&t->check, &r->call, &r->program);
}

/* The command's own environment, in this process alone. */
static void take_assignments(struct shell *sh, const struct node *n, const struct arg *values)
{
	for (size_t i = 0; i < n->n_assignments; i++) {
		setting_set(&sh->settings, n->assignments[i].name, values[i].text);
		setting_get(&sh->settings, n->assignments[i].name)->exported = true;
	}
}

static char **argv_of(struct arena *a, const struct ready *r)
{
	char **argv = arena_alloc(a, (r->words.n + 1) * sizeof(*argv));

	for (size_t i = 0; i < r->words.n; i++)
		argv[i] = arena_dup(a, r->words.p[i].text);
	return argv;
}

/* A script is started by its name: whoever reads it opens it again. */
static bool is_script(int fd)
{
	char magic[2] = "";

	return pread(fd, magic, 2, 0) == 2 && magic[0] == '#' && magic[1] == '!';
}

/*
 * A program of the repository: the file that was asked about and no other is started, even if its
 * name leads elsewhere by now. False: a script, for which there is no such way.
 */
static bool start_beneath(struct shell *sh, struct str rest, char **argv, char **env)
{
	CLEANUP(base_close) int fd = shell_lift(open_beneath(sh->root, rest, O_RDONLY));
	int why = errno;

	if (fd >= 0 && is_script(fd))
		return false;
	if (fd >= 0) {
		(void)fexecve(fd, argv, env);
		why = errno;
	}
	errno = why;
	return true;
}

static _Noreturn void start(struct turn *t, const struct node *n, const struct ready *r)
{
	struct shell *sh = t->sh;
	char **argv = argv_of(&t->arena, r), **env;
	char *path = arena_dup(&t->arena, r->program);
	struct str rest;
	int status;

	if (targets_apply(sh, &r->targets, NULL) < 0)
		_exit(1);
	if (!r->program.n) {
		shell_say("command not found: '%s'", argv[0]);
		_exit(NOT_FOUND);
	}
	take_assignments(sh, n, r->values);
	env = settings_environment(&t->arena, &sh->settings);
	if (!path_below(r->program, str_of(sh->root->path), &rest) ||
		!start_beneath(sh, rest, argv, env))
		(void)execve(path, argv, env);
	status = errno == ENOENT ? NOT_FOUND : NOT_RUN;
	shell_say("cannot run '%s': %s", argv[0], strerror(errno));
	_exit(status);
}

static int run_program(struct turn *t, const struct node *n, const struct ready *r, bool last)
{
	struct shell *sh = t->sh;
	pid_t pid;

	if (last && shell_stopped(sh))
		return shell_leave(sh, NOT_RUN);
	pid = last ? 0 : shell_fork(sh);
	if (pid == 0)
		start(t, n, r);
	return pid < 0 ? sh->status : shell_wait(sh, pid);
}

struct kept {
	struct str name, value;
	bool was, exported;
};

/* Assignments before a builtin are its own: afterwards all is as it was. */
static int run_builtin(struct turn *t, const struct node *n, const struct ready *r)
{
	struct settings *s = &t->sh->settings;
	struct kept *kept = arena_alloc(&t->arena, (n->n_assignments + 1) * sizeof(*kept));
	int status;

	for (size_t i = 0; i < n->n_assignments; i++) {
		const struct setting *old = setting_get(s, n->assignments[i].name);

		kept[i].name = n->assignments[i].name;
		kept[i].was = old;
		if (old) {
			kept[i].value = arena_str(&t->arena, str_of(old->value));
			kept[i].exported = old->exported;
		}
		setting_set(s, n->assignments[i].name, r->values[i].text);
	}
	status = r->builtin(t, &r->call);
	for (size_t i = n->n_assignments; i-- > 0;) {
		setting_drop(s, kept[i].name);
		if (kept[i].was) {
			setting_set(s, kept[i].name, kept[i].value);
			setting_get(s, kept[i].name)->exported = kept[i].exported;
		}
	}
	return status;
}

static int run_here(struct turn *t, const struct node *n, const struct ready *r)
{
	struct shell *sh = t->sh;
	CLEANUP(saved_restore) struct saved saved;

	saved_begin(&saved);
	if (targets_apply(sh, &r->targets, &saved) < 0)
		return 1;
	if (r->builtin)
		return run_builtin(t, n, r);
	return sh->output_status;
}

int run_command(struct shell *sh, const struct node *n, const struct node *feeder, bool last)
{
	CLEANUP(turn_end) struct turn t;
	struct ready r;

	turn_begin(&t, sh);
	if (make_ready(&t, n, feeder, &r) < 0)
		return turn_failed(&t);
	if (r.builtin || !r.words.n)
		return run_here(&t, n, &r);
	return run_program(&t, n, &r, last);
}
