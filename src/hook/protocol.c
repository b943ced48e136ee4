#include <limits.h>
#include "context/file.h"
#include "src/hook/hook_internal.h"
#include "src/sys/path.h"
#include "src/shell/parse.h"

/* What may follow the name. `%` is a document, `*` any word, `?` an optional word, `=` the key of
 * the user's answer. Options may be in any order, `!` has no value; the first one is required. */
static const struct form {
	const char *verb, *words, *options;
	bool session; /* of the session; else of an agent */
} forms[] = {
	{"brief", "", "context-file action", false},
	{"record", "", "context-file action result owner", false},
	{"exec", "", "context-file action wait owner", false},
	{"context show", "%?", "", false},
	{"context get", "%*", "", false},
	{"events", "%", "", false},
	{"step", "*", "owner workflow returned", true},
	{"tick", "", "owner max-concurrent task poll! returned!", true},
	{"context set", "%=", "", true},
};

static bool ends_name(struct str command, size_t n)
{
	return command.n > n && strchr(" \t\n", command.p[n]);
}

bool hook_protocol_begins(struct str command, const char *self)
{
	command = str_trim(command);
	return (str_starts(command, "dev-team") && ends_name(command, 8)) ||
	       (str_starts(command, self) && ends_name(command, strlen(self)));
}

static int deny_own_command(struct verdict *v, struct span at, struct str word, const char *what)
{
	return deny_word(v, RULE_NAME_LISTED, at, word, STR(""),
		"%s; an agent's own dev-team commands are those that its brief names, each alone",
		what);
}

/* Allowed are here documents and duplicated descriptors. */
static int protocol_check_redirects(const struct command *n, struct verdict *v)
{
	for (const struct redirect *r = n->redirects; r; r = r->next)
		if (r->kind != REDIRECT_TEXT && r->kind != REDIRECT_DUP)
			return deny_own_command(v, r->at, STR(""),
				"a redirection to or from a file is not accepted");
	return 0;
}

/* The document must be in the state directory, where the agent's commands cannot write. */
static int check_document(
	const struct hook_protocol *p, const char *file, struct span at, struct verdict *v)
{
	static const struct policy writer = {.name = "writer", .write = true};
	char real[PATH_MAX], folder[PATH_MAX], *state;
	struct verdict ignored = {0};
	struct error err = {0};
	struct place place;
	size_t n;

	if (*file != '/')
		file = path_join(p->arena, p->cwd, file);
	if (context_state_directory(p->arena, &state, &err) < 0)
		return deny_own_command(v, at, str_of(file), err.text);
	if (!realpath(state, folder) || !realpath(file, real))
		return deny_own_command(v, at, str_of(file), "the document does not exist");
	n = strlen(folder);
	if (strncmp(real, folder, n) != 0 || real[n] != '/')
		return deny_own_command(v, at, arena_str(p->arena, str_of(real)),
			"documents are those in the state directory");
	if (where(p->arena, p->root, &writer, STR(""), str_of(real), ACCESS_WRITE, at, &place,
		    &ignored) == 0)
		return deny_own_command(v, at, arena_str(p->arena, str_of(real)),
			"commands may write this document, so it is not trusted");
	return 0;
}

struct words {
	const char *p[16];
	struct span at[16];
	size_t n;
};

static int read_words(const struct command *n, struct words *out, struct verdict *v)
{
	if (n->n_words > COUNT(out->p))
		return deny_own_command(v, n->at, STR(""), "it has too many words");
	for (out->n = 0; out->n < n->n_words; out->n++) {
		out->at[out->n] = n->words[out->n].at;
		out->p[out->n] = n->words[out->n].text;
		if (!out->p[out->n])
			return deny_own_command(
				v, out->at[out->n], STR(""), "the words of the call must be plain");
	}
	return 0;
}

/* The bit of `name` among the blank-separated words of `list`; 0: it is none of them. *flag: it has
 * no value. */
static unsigned option_bit(const char *list, const char *name, size_t n, bool *flag)
{
	unsigned bit = 1;

	for (; *list; bit <<= 1) {
		size_t len = strcspn(list, " !");

		*flag = list[len] == '!';
		if (len == n && strncmp(list, name, n) == 0)
			return bit;
		len += *flag;
		list += len + (list[len] == ' ');
	}
	return 0;
}

/* The user has begun work on the backlog in this session. */
static bool is_ticking(const struct hook_protocol *p)
{
	struct hook_items items;
	struct error ignored;

	if (hook_session_items(p->arena, p->session, &items, &ignored) < 0)
		return false;
	for (size_t i = 0; i < items.n; i++)
		if (items.items[i].tick)
			return true;
	return false;
}

/* A workflow file can name commands, so the user must allow it; the slash command has recorded what
 * the user named. */
static bool is_allowed_workflow(const struct hook_protocol *p, const char *value)
{
	static const char *const shipped[] = {"implement-task", "fix-issue", NULL};
	const char *file = *value == '/' ? value : path_join(p->arena, p->cwd, value);
	struct hook_items items;
	struct error ignored;

	if (str_in(str_of(value), shipped))
		return true;
	if (hook_session_items(p->arena, p->session, &items, &ignored) < 0)
		return false;
	for (size_t i = 0; i < items.n; i++)
		if (strcmp(items.items[i].workflow, value) == 0 ||
			strcmp(items.items[i].workflow, file) == 0)
			return true;
	return false;
}

/* The first option of an agent's command is the document. A session may step only as itself. */
static int protocol_check_value(const struct hook_protocol *p, const struct form *form,
	unsigned bit, const char *value, struct span at, struct verdict *v)
{
	bool tick = strcmp(form->verb, "tick") == 0;

	if (!p->session)
		return bit == 1 ? check_document(p, value, at, v) : 0;
	if (bit == 1 && strcmp(value, p->session) != 0)
		return deny_own_command(v, at, str_of(value), "this is another session");
	if (tick && !is_ticking(p))
		return deny_own_command(
			v, at, STR("tick"), "this session does not work on the backlog");
	if (!tick && bit == 2 && !is_allowed_workflow(p, value))
		return deny_own_command(v, at, str_of(value),
			"this workflow is neither a shipped one nor one of the session");
	return 0;
}

/* `--name VALUE` or `--name=VALUE`, each at most once. Moves *at past it. */
static int check_option(const struct hook_protocol *p, const struct form *form,
	const struct words *w, size_t *at, unsigned *seen, struct verdict *v)
{
	const char *name = w->p[*at] + 2, *equals = strchr(name, '='), *value;
	size_t n = equals ? (size_t)(equals - name) : strlen(name);
	bool flag;
	unsigned bit = option_bit(form->options, name, n, &flag);
	size_t first = *at;

	if (!bit || *seen & bit)
		return deny_own_command(
			v, w->at[first], str_of(w->p[first]), "this option is not accepted");
	*seen |= bit;
	if (flag && !equals) {
		++*at;
		return 0;
	}
	value = equals ? equals + 1 : ++*at < w->n ? w->p[*at] : NULL;
	++*at;
	if (!value)
		return deny_own_command(
			v, w->at[first], str_of(w->p[first]), "the option lacks its value");
	return protocol_check_value(p, form, bit, value, w->at[first], v);
}

static int check_form(const struct hook_protocol *p, const struct form *form, const struct words *w,
	size_t at, struct verdict *v)
{
	const char *words = form->words;
	unsigned seen = 0;

	while (at < w->n) {
		if (strncmp(w->p[at], "--", 2) == 0 && *form->options) {
			if (check_option(p, form, w, &at, &seen, v) < 0)
				return -1;
			continue;
		}
		if (!*words || w->p[at][0] == '-' ||
			(*words == '=' && strcmp(w->p[at], "troubleshooter_input") != 0))
			return deny_own_command(
				v, w->at[at], str_of(w->p[at]), "this word is not accepted");
		if (*words++ == '%' && check_document(p, w->p[at], w->at[at], v) < 0)
			return -1;
		at++;
	}
	if ((*words && *words != '?') || (*form->options && !(seen & 1)))
		return deny_own_command(v, w->at[0], str_of(w->p[0]),
			p->session ? "the option --owner is missing" : "its document is missing");
	return 0;
}

static int protocol_check_words(
	const struct hook_protocol *p, const struct words *w, struct verdict *v)
{
	for (size_t i = 0; i < COUNT(forms); i++) {
		const char *verb = forms[i].verb, *blank = strchr(verb, ' ');
		size_t n = blank ? (size_t)(blank - verb) : strlen(verb);

		if (forms[i].session != (p->session != NULL) || w->n < 2 || strlen(w->p[1]) != n ||
			strncmp(w->p[1], verb, n) != 0)
			continue;
		if (!blank)
			return check_form(p, &forms[i], w, 2, v);
		if (w->n > 2 && strcmp(w->p[2], blank + 1) == 0)
			return check_form(p, &forms[i], w, 3, v);
	}
	return deny_own_command(
		v, w->at[0], str_of(w->n > 1 ? w->p[1] : ""), "it is none of these");
}

/* What was read, each word in quotes, and this program by its path: neither the shell's reading nor
 * PATH or an alias decides what runs. */
static int protocol_add_command(const struct hook_protocol *p, const struct command *n,
	const struct words *w, struct buf *out, struct verdict *v)
{
	buf_add_shell(out, str_of(p->self));
	for (size_t i = 1; i < w->n; i++) {
		buf_addc(out, ' ');
		buf_add_shell(out, str_of(w->p[i]));
	}
	for (const struct redirect *r = n->redirects; r; r = r->next) {
		struct str text = str_of(r->word.text);

		if (r->kind == REDIRECT_DUP) {
			buf_addf(out, " %d>&%d", r->fd, r->other);
			continue;
		}
		if (!r->word.text)
			return deny_own_command(v, r->at, STR(""), "its input must be plain");
		if (str_ends(text, "\n")) /* `<<<` adds it again */
			text.n--;
		buf_addf(out, " %d<<<", r->fd);
		buf_add_shell(out, text);
	}
	return 0;
}

int hook_protocol_check(
	const struct hook_protocol *p, struct str command, struct buf *out, struct verdict *v)
{
	struct words words;
	struct command *n;

	if (shell_parse(p->arena, command, &n, v) < 0)
		return -1;
	if (!n->alone || n->n_assignments || !n->n_words)
		return deny_own_command(v, n->at, STR(""), "it is only a part of the command");
	if (read_words(n, &words, v) < 0)
		return -1;
	if (strcmp(words.p[0], "dev-team") != 0 && strcmp(words.p[0], p->self) != 0)
		return deny_own_command(
			v, words.at[0], str_of(words.p[0]), "this is another program");
	if (protocol_check_redirects(n, v) < 0 || protocol_check_words(p, &words, v) < 0)
		return -1;
	return protocol_add_command(p, n, &words, out, v);
}
