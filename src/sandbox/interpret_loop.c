/*
 * Loops, and what leaves them.
 */
#include "src/sandbox/interpret_internal.h"

/* After a part of a loop: true when the loop is over; false when it goes on, if only after a
 * `continue`. */
static bool is_over(struct shell *sh)
{
	if (!sh->skip)
		return shell_stopped(sh);
	sh->skip--;
	if (sh->skip || !sh->again)
		return true;
	sh->again = false;
	return shell_stopped(sh);
}

static int turns(struct shell *sh, const struct node *n)
{
	int status = 0;

	for (;;) {
		int test = run_unheeded(sh, n->children[0]);

		if (sh->skip && !sh->leaving) {
			if (is_over(sh))
				return 0;
			continue;
		}
		if (shell_stopped(sh))
			return sh->leaving ? sh->status : test;
		if ((test == 0) != (n->kind == NODE_WHILE))
			return status;
		status = run_node(sh, n->children[1]);
		if (is_over(sh))
			return status;
	}
}

int run_loop(struct shell *sh, const struct node *n)
{
	int status;

	sh->loops++;
	status = turns(sh, n);
	sh->loops--;
	return status;
}

static int set_name(struct turn *t, const struct node *n, const struct arg *value)
{
	const struct setting *s = setting_get(&t->sh->settings, n->name);

	if ((s && s->exported ? check_assignment(&t->check, str_of(t->sh->cwd), n->name, value)
			      : check_variable(&t->check, n->name, n->at)) < 0)
		return -1;
	return turn_set(t, n->name, value->text, n->at);
}

static int each_value(struct turn *t, const struct node *n, const struct args_list *values)
{
	int status = 0;

	for (size_t i = 0; i < values->n; i++) {
		if (set_name(t, n, &values->p[i]) < 0)
			return turn_failed(t);
		status = run_node(t->sh, n->children[0]);
		if (is_over(t->sh))
			break;
	}
	return status;
}

int run_for(struct shell *sh, const struct node *n)
{
	CLEANUP(turn_end) struct turn t;
	struct args_list values = {0};
	int status;

	turn_begin(&t, sh);
	for (size_t i = 0; i < n->n_words; i++)
		if (expand_word(&t.expander, &n->words[i], &values) < 0)
			return turn_failed(&t);
	sh->loops++;
	status = each_value(&t, n, &values);
	sh->loops--;
	return status;
}

/* `break` and `continue`, with the number of loops, by default the innermost. */
static int leave_loops(struct turn *t, const struct call *call, bool again)
{
	struct shell *sh = t->sh;
	unsigned n = 1;

	if (call->n > 1) {
		struct str text = call->args[1].text;

		n = 0;
		for (size_t i = 0; i < text.n && text.p[i] >= '0' && text.p[i] <= '9' && n < 1000;
			i++)
			n = n * 10 + (unsigned)(text.p[i] - '0');
	}
	if (!sh->loops || !n) {
		shell_say("'%.*s' outside of a loop", (int)call->args[0].text.n,
			call->args[0].text.p);
		return sh->loops ? 1 : 0;
	}
	sh->skip = n < sh->loops ? n : sh->loops;
	sh->again = again;
	return 0;
}

int builtin_break(struct turn *t, const struct call *call)
{
	return leave_loops(t, call, false);
}

int builtin_continue(struct turn *t, const struct call *call)
{
	return leave_loops(t, call, true);
}
