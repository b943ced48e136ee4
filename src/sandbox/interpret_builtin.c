/*
 * What a shell must do itself: cd, export, set, `command -v`, `:`; read is in interpret_read.c.
 */
#include <errno.h>
#include <fcntl.h>
#include "src/sandbox/interpret_internal.h"

static int builtin_cd(struct turn *t, const struct call *call)
{
	struct shell *sh = t->sh;
	CLEANUP(base_close) int fd = -1;
	const struct arg *operand = &call->args[call->n - 1];
	struct str to;

	if (check_cd(&t->check, call, &to) < 0)
		return turn_failed(t);
	fd = open_beneath(sh->root, to, O_RDONLY | O_DIRECTORY);
	if (fd < 0 || fchdir(fd) < 0) {
		shell_say("cannot enter '%.*s': %s", (int)operand->text.n, operand->text.p,
			strerror(errno));
		return 1;
	}
	shell_set_cwd(sh, to);
	return 0;
}

bool shell_is_name(struct str s)
{
	bool ok = s.n > 0 && !(s.p[0] >= '0' && s.p[0] <= '9');

	for (size_t i = 0; i < s.n; i++)
		ok &= s.p[i] == '_' || (s.p[i] >= '0' && s.p[i] <= '9') ||
		      (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z');
	return ok;
}

int shell_no_name(const char *what, struct str name)
{
	shell_say("%s: not a name: '%.*s'", what, (int)name.n, name.n ? name.p : "");
	return 1;
}

/* A variable that was the shell's alone becomes one that programs see: its value is asked about. */
static int export_one(struct turn *t, const struct arg *arg)
{
	struct settings *all = &t->sh->settings;
	size_t equals = str_find(arg->text, STR("="));
	struct str name = str_sub(arg->text, 0, equals);
	struct arg value = {.origin = ARG_KNOWN, .at = arg->at};
	const struct setting *old = setting_get(all, name);

	if (!shell_is_name(name))
		return shell_no_name("export", name);
	if (equals < arg->text.n)
		value.text = str_sub(arg->text, equals + 1, arg->text.n);
	else if (old)
		value.text = arena_str(&t->arena, str_of(old->value));
	else
		return 0;
	if (check_assignment(&t->check, t->expander.cwd, name, &value) < 0)
		return turn_failed(t);
	setting_set(all, name, value.text);
	setting_get(all, name)->exported = true;
	return 0;
}

static int builtin_export(struct turn *t, const struct call *call)
{
	int status = 0;

	for (size_t i = 1; i < call->n && !t->sh->leaving; i++) {
		if (str_is(call->args[i].text, "--"))
			continue;
		if (export_one(t, &call->args[i]) != 0)
			status = 1;
	}
	return status;
}

static bool *option_of(struct shell *sh, char letter, struct str name)
{
	const struct {
		char letter;
		const char *name;
		bool *option;
	} all[] = {{'e', "errexit", &sh->errexit}, {'u', "nounset", &sh->nounset},
		{'\0', "pipefail", &sh->pipefail}};

	for (size_t i = 0; i < COUNT(all); i++)
		if (letter ? letter == all[i].letter : str_is(name, all[i].name))
			return all[i].option;
	return NULL;
}

static int set_unknown(struct turn *t, const struct arg *arg)
{
	(void)deny_word(&t->verdict, RULE_OPTION, arg->at, arg->text, STR(""),
		"an option of set that is not known");
	return turn_failed(t);
}

/* -e -u -o pipefail, joined in any way, and the same with `+`. */
static int builtin_set(struct turn *t, const struct call *call)
{
	for (size_t i = 1; i < call->n; i++) {
		const struct arg *arg = &call->args[i];
		struct str text = arg->text;
		bool on = text.n && text.p[0] == '-';

		if (text.n < 2 || !(on || text.p[0] == '+'))
			return set_unknown(t, arg);
		for (size_t k = 1; k < text.n; k++) {
			bool named = text.p[k] == 'o';
			bool *option;

			if (named && ++i >= call->n)
				return set_unknown(t, arg);
			option = named ? option_of(t->sh, '\0', call->args[i].text)
				       : option_of(t->sh, text.p[k], STR(""));
			if (!option)
				return set_unknown(t, arg);
			*option = on;
		}
	}
	return 0;
}

int builtin_exit(struct turn *t, const struct call *call)
{
	int status = t->sh->last;

	if (call->n > 1) {
		struct str text = call->args[1].text;

		status = 0;
		for (size_t i = 0; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++)
			status = (status * 10 + text.p[i] - '0') & 0xff;
	}
	return shell_leave(t->sh, status);
}

int builtin_wait(struct turn *t, const struct call *call)
{
	(void)call;
	shell_wait_jobs(t->sh);
	return 0;
}

static int builtin_nothing(struct turn *t, const struct call *call)
{
	(void)t;
	(void)call;
	return 0;
}

/* Where a program is; the two directories are those of PATH. */
static bool tell_program(struct arena *a, struct str name)
{
	static const char *const directories[] = {"/usr/bin", "/bin"};

	for (size_t i = 0; i < COUNT(directories); i++) {
		const char *path = arena_printf(
			a, "%s/%.*s", directories[i], (int)name.n, name.n ? name.p : "");

		if (name.n && access(path, X_OK) == 0) {
			(void)dprintf(STDOUT_FILENO, "%s\n", path);
			return true;
		}
	}
	return false;
}

/* The rules have seen to it that this is `command -v NAME..`. */
static int builtin_command(struct turn *t, const struct call *call)
{
	bool found = false;

	for (size_t i = 1; i < call->n; i++) {
		struct str name = call->args[i].text;

		if (str_is(name, "-v") || str_is(name, "--"))
			continue;
		if (builtin_named(name)) {
			(void)dprintf(STDOUT_FILENO, "%.*s\n", (int)name.n, name.p);
			found = true;
		} else {
			found |= tell_program(&t->arena, name);
		}
	}
	return !found;
}

builtin_fn *builtin_named(struct str name)
{
	static const struct {
		const char *name;
		builtin_fn *run;
	} all[] = {{"cd", builtin_cd}, {"export", builtin_export}, {"read", builtin_read},
		{"set", builtin_set}, {"command", builtin_command}, {"exit", builtin_exit},
		{"break", builtin_break}, {"continue", builtin_continue}, {"wait", builtin_wait},
		{":", builtin_nothing}};

	for (size_t i = 0; i < COUNT(all); i++)
		if (str_is(name, all[i].name))
			return all[i].run;
	return NULL;
}
