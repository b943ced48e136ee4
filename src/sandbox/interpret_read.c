/*
 * read: a line from standard input into variables.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include "src/base/clock.h"
#include "src/sandbox/interpret_internal.h"

struct reading {
	bool raw;                /* -r */
	bool whole;              /* -N: delimiters and blanks count for nothing */
	char end;                /* -d */
	size_t most;             /* -n, -N; 0: the whole line */
	int64_t until;           /* -t; -1: for ever */
	size_t first;            /* index of the first name */
	struct buf text, plain;  /* plain: 'p' for each byte that stood behind a backslash */
	size_t characters, rest; /* that were read; bytes that the last one lacks */
	int status;
};

static void reading_release(struct reading *r)
{
	buf_release(&r->text);
	buf_release(&r->plain);
}

static int64_t number(struct str text)
{
	int64_t n = 0;

	for (size_t i = 0; i < text.n && text.p[i] >= '0' && text.p[i] <= '9' && n < INT_MAX; i++)
		n = n * 10 + (text.p[i] - '0');
	return n;
}

static void take_option(struct reading *r, char letter, struct str value)
{
	if (letter == 'd') {
		r->end = '\0';
		if (value.n)
			r->end = value.p[0];
	} else if (letter == 'n' || letter == 'N') {
		r->most = (size_t)number(value);
		r->whole = letter == 'N';
	} else if (letter == 't') {
		r->until = clock_ticks() + 1000 * number(value);
	}
}

/* The rules have passed the options: letters, those with a value last in their word. */
static int take_options(struct turn *t, const struct call *call, struct reading *r)
{
	size_t i = 1;

	for (; i < call->n; i++) {
		struct str text = call->args[i].text;

		if (text.n < 2 || text.p[0] != '-')
			break;
		if (str_is(text, "--")) {
			i++;
			break;
		}
		for (size_t k = 1; k < text.n; k++) {
			struct str value = str_sub(text, k + 1, text.n);

			if (!strchr("rsdnNpt", text.p[k]))
				return deny_word(&t->verdict, RULE_OPTION, call->args[i].at, text,
					STR(""), "an option of read that is not known");
			r->raw |= text.p[k] == 'r';
			if (strchr("rs", text.p[k]))
				continue;
			if (!value.n && i + 1 < call->n)
				value = call->args[++i].text;
			take_option(r, text.p[k], value);
			break;
		}
	}
	r->first = i;
	return 0;
}

static bool in_time(const struct reading *r)
{
	struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
	int64_t left = r->until - clock_ticks();

	return r->until < 0 || poll(&fd, 1,
				       left < 0         ? 0
				       : left > INT_MAX ? INT_MAX
							: (int)left) > 0;
}

/* One byte at a time: what follows is for the next command. */
static bool next_byte(struct turn *t, struct reading *r, char *c)
{
	for (;;) {
		ssize_t n;

		if (!in_time(r)) {
			r->status = 142; /* as if an alarm had ended it */
			return false;
		}
		n = read(STDIN_FILENO, c, 1);
		if (n == 1)
			return true;
		if (n == 0 || errno != EINTR || shell_stopped(t->sh)) {
			r->status = 1;
			return false;
		}
	}
}

/* -n counts characters. */
static void keep(struct reading *r, char c, bool plain)
{
	unsigned char byte = (unsigned char)c;

	buf_addc(&r->text, c);
	buf_addc(&r->plain, plain ? 'p' : ' ');
	if (r->rest) {
		r->rest--;
		return;
	}
	r->characters++;
	r->rest = byte < 0xc0 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
}

static bool is_full(const struct reading *r)
{
	return r->most && r->characters >= r->most && !r->rest;
}

static int take_line(struct turn *t, struct reading *r)
{
	bool escaped = false;
	char c;

	while (r->text.len <= SHELL_TEXT && !is_full(r) && next_byte(t, r, &c)) {
		if (!r->raw && !escaped && c == '\\') {
			escaped = true;
			continue;
		}
		if (c == r->end && !escaped && !r->whole)
			return 0;
		if (c && !(c == '\n' && escaped))
			keep(r, c, escaped || r->whole);
		escaped = false;
	}
	return r->text.len <= SHELL_TEXT ? 0
					 : deny(&t->verdict, RULE_LIMIT, (struct span){0, 0},
						   "more than %d bytes for one read", SHELL_TEXT);
}

static bool parts(const struct reading *r, size_t i)
{
	return r->plain.s[i] == ' ' && strchr(" \t\n", r->text.s[i]);
}

/* The next word of the line from *at; with `rest` all that is left of it. */
static struct str next_field(const struct reading *r, size_t *at, bool rest)
{
	size_t n = r->text.len, from, to;

	while (*at < n && parts(r, *at))
		(*at)++;
	from = to = *at;
	if (rest) {
		for (to = n; to > from && parts(r, to - 1);)
			to--;
		*at = n;
	} else {
		while (to < n && !parts(r, to))
			to++;
		*at = to;
	}
	return str_sub(buf_str(&r->text), from, to);
}

static int give(struct turn *t, const struct arg *name, struct str text)
{
	struct settings *all = &t->sh->settings;
	const struct setting *old = setting_get(all, name->text);
	struct arg value = {.text = text, .origin = ARG_KNOWN, .at = name->at};

	if (!shell_is_name(name->text)) {
		t->sh->status = shell_no_name("read", name->text);
		return 1;
	}
	if ((old && old->exported ? check_assignment(&t->check, t->expander.cwd, name->text, &value)
				  : check_variable(&t->check, name->text, name->at)) < 0)
		return -1;
	return turn_set(t, name->text, text, name->at);
}

int builtin_read(struct turn *t, const struct call *call)
{
	CLEANUP(reading_release) struct reading r = {.end = '\n', .until = -1};
	size_t at = 0;

	if (take_options(t, call, &r) < 0 || take_line(t, &r) < 0)
		return turn_failed(t);
	if (r.first == call->n)
		setting_set(&t->sh->settings, STR("REPLY"), buf_str(&r.text));
	for (size_t i = r.first; i < call->n; i++) {
		bool last = i + 1 == call->n;
		struct str field = r.text.len ? next_field(&r, &at, last) : STR("");
		int rc = give(t, &call->args[i], field);

		if (rc)
			return rc < 0 ? turn_failed(t) : 1;
	}
	return r.status;
}
