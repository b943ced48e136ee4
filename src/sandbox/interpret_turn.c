/*
 * One command's words with the values that are real now: variables from the shell's own, $( ) by
 * running what is in it.
 */
#include <errno.h>
#include <fcntl.h>
#include "src/sandbox/interpret_internal.h"

/* Values that double with each command would soon fill the memory. */
static int count(struct turn *t, size_t n, struct span at)
{
	t->bytes += n;
	return t->bytes <= SHELL_VALUES
		       ? 0
		       : deny(&t->verdict, RULE_LIMIT, at,
				 "more than %d bytes of values in one command", SHELL_VALUES);
}

static int value_of(void *of, struct str name, struct span at, struct arg *out)
{
	struct turn *t = of;
	const struct setting *s = setting_get(&t->sh->settings, name);
	bool status = str_is(name, "?");

	*out = (struct arg){.origin = ARG_KNOWN, .at = at};
	if (s)
		out->text = arena_str(&t->arena, str_of(s->value));
	if (status)
		out->text = str_of(arena_printf(&t->arena, "%d", t->sh->last));
	if (s || status || !t->sh->nounset)
		return count(t, out->text.n, at);
	shell_say("variable is not set: '%.*s'", (int)name.n, name.p);
	(void)shell_leave(t->sh, t->sh->apart ? 1 : NOT_FOUND);
	return -1;
}

/* bash does without errexit in $( ). */
static _Noreturn void put_out(struct shell *sh, const struct node *n, int to)
{
	if (dup2(to, STDOUT_FILENO) < 0)
		_exit(NOT_RUN);
	sh->errexit = false;
	run_part(sh, n, NULL);
}

/* All of it up to a bound; NULs are left out, as bash does. */
static int take_output(struct turn *t, int from, struct span at, struct buf *out)
{
	char bytes[4096];

	for (;;) {
		ssize_t n = read(from, bytes, sizeof(bytes));

		if (n < 0 && errno == EINTR && !shell_stopped(t->sh))
			continue;
		if (n <= 0)
			return 0;
		for (ssize_t i = 0; i < n; i++)
			if (bytes[i])
				buf_addc(out, bytes[i]);
		if (out->len > SHELL_TEXT)
			return deny(&t->verdict, RULE_LIMIT, at, "more than %d bytes from one $( )",
				SHELL_TEXT);
	}
}

static int output_of(void *of, const struct node *node, struct arg *out)
{
	struct turn *t = of;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int ends[2], rc;
	pid_t pid;

	if (shell_pipe(ends) < 0)
		return deny(&t->verdict, RULE_INTERNAL, node->at, "no pipe for $( ): %s",
			strerror(errno));
	pid = shell_fork(t->sh);
	if (pid == 0)
		put_out(t->sh, node, ends[1]);
	close(ends[1]);
	rc = pid < 0 ? -1 : take_output(t, ends[0], node->at, &text);
	close(ends[0]);
	if (rc < 0)
		return -1;
	t->sh->last = t->sh->output_status = shell_wait(t->sh, pid);
	while (text.len && text.s[text.len - 1] == '\n')
		buf_cut(&text, text.len - 1);
	*out = (struct arg){.origin = ARG_KNOWN, .at = node->at};
	out->text = arena_str(&t->arena, buf_str(&text));
	return shared_denied(t->sh->shared) ? -1 : count(t, text.len, node->at);
}

void turn_begin(struct turn *t, struct shell *sh)
{
	*t = (struct turn){.sh = sh};
	t->check = (struct check){.arena = &t->arena,
		.policy = sh->x->policy,
		.root = sh->root,
		.v = &t->verdict,
		.left = SHELL_ASKED,
		.live = true};
	t->expander = (struct expander){.check = &t->check,
		.cwd = arena_str(&t->arena, str_of(sh->cwd)),
		.variable = value_of,
		.output = output_of,
		.of = t};
}

void turn_end(struct turn *t)
{
	arena_release(&t->arena);
}

int turn_set(struct turn *t, struct str name, struct str value, struct span at)
{
	setting_set(&t->sh->settings, name, value);
	return settings_size(&t->sh->settings) <= SHELL_SETTINGS
		       ? 0
		       : deny(&t->verdict, RULE_LIMIT, at, "more than %d bytes in variables",
				 SHELL_SETTINGS);
}

/* Nothing was denied where a variable is not set, or where another process of the run was. */
int turn_failed(struct turn *t)
{
	struct shell *sh = t->sh;

	if (!t->verdict.denied && shell_stopped(sh))
		return sh->leaving ? sh->status : shell_leave(sh, NOT_RUN);
	if (!t->verdict.denied)
		(void)deny(
			&t->verdict, RULE_INTERNAL, (struct span){0, 0}, "the check itself failed");
	return shell_denied(sh, &t->verdict);
}
