#include "tests/policy/live/notes.h"

struct scribe {
	struct buf *out;
	struct str source;
	size_t base; /* offsets are counted from here */
};

static void statements(const struct scribe *s, const json *list);
static void word(const struct scribe *s, const json *w, bool offsets);

static bool is(const json *j, const char *type)
{
	const char *t = json_get_str(j, "Type");

	return t && strcmp(t, type) == 0;
}

static size_t offset(const json *j, const char *name)
{
	return (size_t)json_get_int(json_get(j, name), "Offset", 0);
}

/* shfmt counts a continued line right behind a word to the word. */
static size_t end(const struct scribe *s, const json *j)
{
	size_t at = offset(j, "End");

	/* Half of it, behind $?. */
	if (at >= 3 && at < s->source.n && memcmp(s->source.p + at - 3, "$?\\\n", 4) == 0)
		at--;
	while (at >= 2 && at <= s->source.n && memcmp(s->source.p + at - 2, "\\\n", 2) == 0)
		at -= 2;
	return at;
}

/* What the notation has no word for. */
static void strange(const struct scribe *s, const json *j)
{
	const char *t = json_get_str(j, "Type");

	buf_addf(s->out, "<%s>", t ? t : "?");
}

static struct str operator_at(const struct scribe *s, size_t at)
{
	static const char *const operators[] = {"&>>", "<<<", "<<-", "&>", ">>", ">|", ">&", "<&",
		"<<", "<>", "&&", "||", "|&", ">", "<", "|"};
	struct str rest = str_sub(s->source, at, s->source.n);

	for (size_t i = 0; i < COUNT(operators); i++)
		if (str_starts(rest, operators[i]))
			return str_sub(rest, 0, strlen(operators[i]));
	return STR("?");
}

static void unquoted_literal(struct pieces *p, const char *text)
{
	bool escaped = false;

	for (; *text; text++) {
		/* A character may have several bytes. */
		if (escaped && ((unsigned char)*text & 0xc0) != 0x80)
			escaped = false;
		if (*text == '\\' && !escaped) {
			if (text[1] == '\n') {
				text++;
				continue;
			}
			escaped = true;
			text++;
			if (!*text)
				break;
			piece(p, true, *text);
			escaped = ((unsigned char)*text & 0x80) != 0;
			continue;
		}
		piece(p, escaped, *text);
	}
}

static void double_literal(struct pieces *p, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' && text[1] == '\n')
			text++;
		else if (*text == '\\' && text[1] && strchr("$`\"\\", text[1]))
			piece(p, true, *++text);
		else
			piece(p, true, *text);
	}
}

/* Only $name and ${name}. */
static bool plain_variable(const json *j)
{
	static const char *const more[] = {
		"Excl", "Length", "Width", "Index", "Slice", "Repl", "Names", "Exp"};

	for (size_t i = 0; i < COUNT(more); i++)
		if (json_get(j, more[i]))
			return false;
	return true;
}

static void parts(const struct scribe *s, struct pieces *p, const json *list, bool quoted)
{
	for (const json *j = json_first(list); j; j = json_next(j)) {
		const char *value = json_get_str(j, "Value");

		if (is(j, "Lit")) {
			(quoted ? double_literal : unquoted_literal)(p, value ? value : "");
		} else if (is(j, "SglQuoted") && !json_get(j, "Dollar")) {
			for (; value && *value; value++)
				piece(p, true, *value);
		} else if (is(j, "DblQuoted") && !json_get(j, "Dollar")) {
			parts(s, p, json_get(j, "Parts"), true);
		} else if (is(j, "ParamExp") && plain_variable(j)) {
			pieces_end(p);
			buf_addf(s->out, "$%s%s", quoted ? "\"" : "",
				json_get_str(json_get(j, "Param"), "Value"));
		} else if (is(j, "CmdSubst") && s->source.p[offset(j, "Pos")] == '$') {
			pieces_end(p);
			buf_addf(s->out, "$%s", quoted ? "\"" : "");
			statements(s, json_get(j, "Stmts"));
		} else {
			strange(s, j);
		}
	}
}

static void word(const struct scribe *s, const json *w, bool offsets)
{
	struct pieces p = {s->out, '\0'};

	buf_addc(s->out, '(');
	if (offsets)
		buf_addf(s->out, "%zu-%zu", offset(w, "Pos") - s->base, end(s, w) - s->base);
	parts(s, &p, json_get(w, "Parts"), false);
	pieces_end(&p);
	buf_addc(s->out, ')');
}

static void body_text(const json *hdoc, struct buf *out)
{
	buf_reserve(out, 1);
	for (const json *j = json_first(json_get(hdoc, "Parts")); j; j = json_next(j)) {
		const char *value = json_get_str(j, "Value");

		if (is(j, "Lit"))
			buf_adds(out, value ? value : "");
		else
			buf_addf(out, "<%s>", json_get_str(j, "Type"));
	}
}

/* Without the tabs that <<- takes off, those before the delimiter included. */
static void document(const struct scribe *s, const json *r, bool strip)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, bare = BUF_INIT;
	bool begins = true;

	body_text(json_get(r, "Hdoc"), &text);
	buf_reserve(&bare, 1);
	for (size_t i = 0; i < text.len; i++) {
		bool tab = text.s[i] == '\t';

		if (!(strip && begins && tab))
			buf_addc(&bare, text.s[i]);
		begins = text.s[i] == '\n' || (begins && tab);
	}
	json_print_text(s->out, buf_str(&bare));
}

static void redirect(const struct scribe *s, const json *r)
{
	struct str op = operator_at(s, offset(r, "OpPos"));
	const char *n = json_get_str(json_get(r, "N"), "Value");
	const json *target = json_get(r, "Word");

	if (n)
		buf_addf(s->out, " %s", n);
	else
		buf_adds(s->out, op.p[0] == '<' ? " 0" : " 1");
	if (str_is(op, ">&") || str_is(op, "<&")) {
		buf_addc(s->out, '&');
		buf_add(s->out, str_sub(s->source, offset(target, "Pos"), end(s, target)));
	} else if (str_is(op, "<<") || str_is(op, "<<-")) {
		buf_adds(s->out, "<<");
		document(s, r, op.n == 3);
	} else {
		buf_add(s->out, op);
		word(s, target, true);
	}
}

static void assignment(const struct scribe *s, const json *a)
{
	if (json_get(a, "Append") || json_get(a, "Index") || json_get(a, "Array"))
		strange(s, a);
	buf_addf(s->out, "%zu:%s=", offset(a, "Pos") - s->base,
		json_get_str(json_get(a, "Name"), "Value"));
	if (json_get(a, "Value"))
		word(s, json_get(a, "Value"), false);
	else
		buf_adds(s->out, "()");
}

static void call(const struct scribe *s, const json *c)
{
	buf_addc(s->out, '[');
	for (const json *a = json_first(json_get(c, "Assigns")); a; a = json_next(a))
		assignment(s, a);
	for (const json *w = json_first(json_get(c, "Args")); w; w = json_next(w))
		word(s, w, true);
	buf_addc(s->out, ']');
}

static void statement(const struct scribe *s, const json *stmt);

static bool plain(const json *stmt)
{
	return !json_get(stmt, "Negated") && !json_get(stmt, "Background") &&
	       !json_first(json_get(stmt, "Redirs"));
}

/* `pipe`: of pipes alone, or of && and || alone. */
static void chain(const struct scribe *s, const json *stmt, bool pipe, bool first)
{
	const json *cmd = json_get(stmt, "Cmd");
	struct str op =
		cmd && is(cmd, "BinaryCmd") ? operator_at(s, offset(cmd, "OpPos")) : STR("?");
	bool is_pipe = str_is(op, "|") || str_is(op, "|&");

	if (!(first || plain(stmt)) || str_is(op, "?") || is_pipe != pipe) {
		statement(s, stmt);
		return;
	}
	chain(s, json_get(cmd, "X"), pipe, false);
	if (str_is(op, "|&"))
		buf_adds(s->out, " 2&1");
	buf_addf(s->out, " %.*s ", pipe ? 1 : (int)op.n, op.p);
	chain(s, json_get(cmd, "Y"), pipe, false);
}

static void binary(const struct scribe *s, const json *stmt, const json *cmd)
{
	struct str op = operator_at(s, offset(cmd, "OpPos"));

	buf_addc(s->out, '{');
	chain(s, stmt, str_is(op, "|") || str_is(op, "|&"), true);
	buf_addc(s->out, '}');
}

static void if_command(const struct scribe *s, const json *cmd)
{
	bool first = true;

	for (; cmd; cmd = json_get(cmd, "Else")) {
		if (json_first(json_get(cmd, "Cond"))) {
			buf_adds(s->out, first ? "{if " : " elif ");
			statements(s, json_get(cmd, "Cond"));
			buf_adds(s->out, " then ");
		} else {
			buf_adds(s->out, " else ");
		}
		statements(s, json_get(cmd, "Then"));
		first = false;
	}
	buf_addc(s->out, '}');
}

static void for_command(const struct scribe *s, const json *cmd)
{
	const json *loop = json_get(cmd, "Loop");

	if (!is(loop, "WordIter") || !json_get(loop, "InPos") || json_get(cmd, "Select"))
		strange(s, loop);
	buf_addf(s->out, "{for %s", json_get_str(json_get(loop, "Name"), "Value"));
	for (const json *w = json_first(json_get(loop, "Items")); w; w = json_next(w))
		word(s, w, true);
	buf_adds(s->out, " do ");
	statements(s, json_get(cmd, "Do"));
	buf_addc(s->out, '}');
}

static void case_command(const struct scribe *s, const json *cmd)
{
	buf_adds(s->out, "{case ");
	word(s, json_get(cmd, "Word"), true);
	for (const json *i = json_first(json_get(cmd, "Items")); i; i = json_next(i)) {
		buf_adds(s->out, " arm");
		for (const json *w = json_first(json_get(i, "Patterns")); w; w = json_next(w))
			word(s, w, true);
		buf_addc(s->out, ':');
		statements(s, json_get(i, "Stmts"));
	}
	buf_addc(s->out, '}');
}

static void enclosed(const struct scribe *s, const char *open, const json *list, const char *close)
{
	buf_adds(s->out, open);
	statements(s, list);
	buf_adds(s->out, close);
}

static void body(const struct scribe *s, const json *stmt, const json *cmd)
{
	if (!cmd) {
		buf_adds(s->out, "[]");
	} else if (is(cmd, "CallExpr")) {
		call(s, cmd);
	} else if (is(cmd, "BinaryCmd")) {
		binary(s, stmt, cmd);
	} else if (is(cmd, "TimeClause")) {
		buf_adds(s->out, "{time ");
		if (json_get(cmd, "Stmt"))
			statement(s, json_get(cmd, "Stmt"));
		buf_addc(s->out, '}');
	} else if (is(cmd, "Subshell")) {
		enclosed(s, "{(", json_get(cmd, "Stmts"), ")}");
	} else if (is(cmd, "Block")) {
		enclosed(s, "{{", json_get(cmd, "Stmts"), "}}");
	} else if (is(cmd, "IfClause")) {
		if_command(s, cmd);
	} else if (is(cmd, "WhileClause")) {
		enclosed(s, json_get(cmd, "Until") ? "{until " : "{while ", json_get(cmd, "Cond"),
			"");
		enclosed(s, " do ", json_get(cmd, "Do"), "}");
	} else if (is(cmd, "ForClause")) {
		for_command(s, cmd);
	} else if (is(cmd, "CaseClause")) {
		case_command(s, cmd);
	} else {
		strange(s, cmd);
	}
}

static void statement(const struct scribe *s, const json *stmt)
{
	if (json_get(stmt, "Negated"))
		buf_adds(s->out, "{! ");
	body(s, stmt, json_get(stmt, "Cmd"));
	for (const json *r = json_first(json_get(stmt, "Redirs")); r; r = json_next(r))
		redirect(s, r);
	if (json_get(stmt, "Negated"))
		buf_addc(s->out, '}');
	if (json_get(stmt, "Coprocess"))
		buf_adds(s->out, "<coprocess>");
	if (json_get(stmt, "Background"))
		buf_adds(s->out, " &");
}

static void statements(const struct scribe *s, const json *list)
{
	for (const json *j = json_first(list); j; j = json_next(j)) {
		if (j != json_first(list))
			buf_adds(s->out, "; ");
		statement(s, j);
	}
}

const json *shfmt_statements(const json *file)
{
	return json_first(json_get(file, "Stmts"));
}

void notes_shfmt(struct buf *out, struct str source, const json **at, size_t from, size_t to)
{
	const struct scribe s = {out, source, from};
	bool first = true;

	for (; *at && offset(*at, "Pos") < to; *at = json_next(*at)) {
		if (!first)
			buf_adds(out, "; ");
		first = false;
		if (offset(*at, "Pos") < from)
			buf_adds(out, "<before>");
		statement(&s, *at);
	}
}
