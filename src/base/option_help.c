/*
 * option_help.c: what people and shells read of the tables of option.h: help, completion, the
 * manual page.
 */
#include "src/base/option.h"

enum { WIDTH = 80, HELP_COLUMN = 26 };

/* ---- text that is wrapped ---- */

static void pad(struct buf *out, size_t n)
{
	buf_addf(out, "%*s", (int)n, "");
}

/* One paragraph; the cursor is at `column`, further lines begin at `indent`. */
static void add_paragraph(struct buf *out, struct str text, size_t column, size_t indent)
{
	bool first = true;

	while (text.n) {
		size_t end = str_find(text, STR(" "));
		struct str word = str_sub(text, 0, end);

		if (!first && column + 1 + str_characters(word) > WIDTH) {
			buf_addc(out, '\n');
			pad(out, indent);
			column = indent;
		} else if (!first) {
			buf_addc(out, ' ');
			column++;
		}
		buf_add(out, word);
		column += str_characters(word);
		first = false;
		text = str_sub(text, end + (end < text.n), text.n);
	}
	buf_addc(out, '\n');
}

/* Lines are paragraphs; those that begin with a blank are kept as they are. */
static void option_help_add_text(struct buf *out, const char *text)
{
	struct str rest = str_of(text), line;

	while (str_line(&rest, &line)) {
		if (line.n && line.p[0] == ' ')
			buf_addf(out, "%.*s\n", (int)line.n, line.p);
		else
			add_paragraph(out, line, 0, 0);
	}
}

/* `head`, and behind or below it the text in a column of its own. */
static void option_help_add_row(struct buf *out, struct str head, const char *text, size_t column)
{
	size_t n = str_characters(head) + 2;

	buf_addf(out, "  %.*s", (int)head.n, head.p);
	if (n + 2 > column) {
		buf_addc(out, '\n');
		n = 0;
	}
	pad(out, column - n);
	add_paragraph(out, str_of(text), column, column);
}

/* ---- help ---- */

/* --name, --name ARGUMENT or --name[=ARGUMENT] */
static void add_option_form(struct buf *out, const struct option *o)
{
	if (o->letter)
		buf_addf(out, "-%c, ", o->letter);
	if (o->kind == OPTION_KIND_FLAG)
		buf_addf(out, "--%s", o->name);
	else if (o->kind == OPTION_KIND_OPTIONAL)
		buf_addf(out, "--%s[=%s]", o->name, o->argument);
	else
		buf_addf(out, "--%s %s", o->name, o->argument);
}

static void add_options(struct buf *out, const struct verb *v)
{
	if (v->options[0])
		buf_adds(out, "\nOptions:\n");
	OPTION_EACH(v, o)
	{
		CLEANUP(buf_release) struct buf head = BUF_INIT, text = BUF_INIT;

		add_option_form(&head, o);
		buf_addf(&text, "%s%s", o->help,
			o->kind == OPTION_KIND_LIST ? " (may be repeated)" : "");
		option_help_add_row(out, buf_str(&head), text.s, HELP_COLUMN);
	}
}

/* The words of the line after "Usage:". */
static void add_forms(struct buf *out, const char *path, const struct verb *v)
{
	bool more = false;

	buf_addf(out, "dev-team %s", path);
	if (v->subcommands && !v->run) {
		buf_adds(out, " SUBCOMMAND [OPTION...] [WORD...]");
		return;
	}
	OPTION_EACH(v, o)
	{
		more = more || !o->required;
		if (o->required)
			buf_addf(out, " --%s %s", o->name, o->argument);
	}
	buf_addf(out, "%s%s%s", more ? " [OPTION...]" : "", v->words ? " " : "",
		v->words ? v->words : "");
}

static void option_help_add_usage(struct buf *out, const char *path, const struct verb *v)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	add_forms(&text, path, v);
	buf_adds(out, "\nUsage: ");
	add_paragraph(out, buf_str(&text), 7, 7);
}

static void add_subcommands(struct buf *out, const struct verb *v)
{
	if (v->subcommands)
		buf_adds(out, "\nSubcommands:\n");
	for (size_t i = 0; v->subcommands && v->subcommands[i]; i++) {
		const struct verb *sub = v->subcommands[i];
		CLEANUP(buf_release) struct buf head = BUF_INIT;

		buf_addf(&head, "%s%s%s", sub->name, sub->words ? " " : "",
			sub->words ? sub->words : "");
		option_help_add_row(out, buf_str(&head), sub->about, HELP_COLUMN);
	}
}

static void add_examples(struct buf *out, const char *examples)
{
	struct str rest = str_of(examples), line;

	if (examples)
		buf_adds(out, "\nExamples:\n");
	while (str_line(&rest, &line))
		buf_addf(out, "  %.*s\n", (int)line.n, line.p);
}

/* The groups are in the order of their first verbs. */
static bool is_first_of_group(const struct verb *program, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(program->subcommands[k]->group, program->subcommands[i]->group) == 0)
			return false;
	return true;
}

static void add_group(struct buf *out, const struct verb *program, const char *group)
{
	buf_addf(out, "\n%s:\n", group);
	for (size_t i = 0; program->subcommands[i]; i++) {
		const struct verb *v = program->subcommands[i];

		if (strcmp(v->group, group) == 0)
			option_help_add_row(out, str_of(v->name), v->about, 14);
	}
}

void option_help_first(struct buf *out, const struct verb *program)
{
	buf_addf(out, "Usage: %s VERB [OPTION...] [WORD...]\n", program->name);
	add_group(out, program, program->subcommands[0]->group);
	buf_addf(out, "\n'%s help' lists all verbs.\n", program->name);
}

static void help_program(struct buf *out, const struct verb *program)
{
	buf_addf(out, "%s: ", program->name);
	add_paragraph(out, str_of(program->about), strlen(program->name) + 2, 0);
	buf_addf(out, "\nUsage: %s VERB [OPTION...] [WORD...]\n", program->name);
	for (size_t i = 0; program->subcommands[i]; i++)
		if (is_first_of_group(program, i))
			add_group(out, program, program->subcommands[i]->group);
	buf_addc(out, '\n');
	option_help_add_text(out, program->details);
	add_examples(out, program->examples);
}

void option_help(struct buf *out, const char *path, const struct verb *v)
{
	if (!path) {
		help_program(out, v);
		return;
	}
	buf_addf(out, "dev-team %s: ", path);
	add_paragraph(out, str_of(v->about), strlen(path) + 11, 0);
	option_help_add_usage(out, path, v);
	add_subcommands(out, v);
	add_options(out, v);
	if (v->subcommands)
		buf_addf(
			out, "\n'dev-team %s SUBCOMMAND --help' lists the options of one.\n", path);
	if (v->details) {
		buf_addc(out, '\n');
		option_help_add_text(out, v->details);
	}
	add_examples(out, v->examples);
}

/* ---- completion ---- */

/* Calls `add` for each verb and each subcommand, with its path. */
static void each_verb(struct buf *out, const struct verb *program,
	void (*add)(struct buf *out, const char *path, const struct verb *v))
{
	for (size_t i = 0; program->subcommands[i]; i++) {
		const struct verb *v = program->subcommands[i];

		add(out, v->name, v);
		for (size_t k = 0; v->subcommands && v->subcommands[k]; k++) {
			CLEANUP(buf_release) struct buf path = BUF_INIT;

			buf_addf(&path, "%s %s", v->name, v->subcommands[k]->name);
			add(out, path.s, v->subcommands[k]);
		}
	}
}

/* `text`, each byte of `special` with a backslash before it, for a word in single quotes. */
static void option_help_add_quoted(struct buf *out, struct str text, const char *special)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\'') {
			buf_adds(out, "'\\''");
			continue;
		}
		if (strchr(special, text.p[i]))
			buf_addc(out, '\\');
		buf_addc(out, text.p[i]);
	}
}

/* `blank`: what a blank within a choice is. */
static void add_choices(struct buf *out, const struct option *o, const char *blank)
{
	for (const char *p = o->argument; *p; p++)
		if (*p == ' ')
			buf_adds(out, blank);
		else
			buf_addc(out, *p == '|' ? ' ' : *p);
}

/* A row of the `case` that turns the words up to the cursor into the path of a verb. */
static void option_help_add_path(struct buf *out, const char *path, const struct verb *v)
{
	size_t parent = strlen(path) - strlen(v->name);

	buf_addf(out, "\t\t('%.*s%s%s') verb='%s' ;;\n", (int)parent, path, parent ? "" : " ",
		v->name, path);
}

static void add_bash_words(struct buf *out, const char *path, const struct verb *v)
{
	buf_addf(out, "\t('%s') list='", path);
	for (size_t i = 0; v->subcommands && v->subcommands[i]; i++)
		buf_addf(out, "%s ", v->subcommands[i]->name);
	OPTION_EACH(v, o)
	buf_addf(out, "--%s%s ", o->name, o->kind == OPTION_KIND_OPTIONAL ? "=" : "");
	buf_adds(out, "--help' ;;\n");
}

static void add_bash_choices(struct buf *out, const char *path, const struct verb *v)
{
	OPTION_EACH(v, o)
	{
		if (o->kind != OPTION_KIND_CHOICE)
			continue;
		buf_addf(out, "\t('%s --%s') list='", path, o->name);
		add_choices(out, o, "\\\\\\ ");
		buf_adds(out, "' ;;\n");
	}
}

void option_bash(struct buf *out, const struct verb *program)
{
	buf_adds(out, "_dev_team() {\n"
		      "\tlocal verb= list= i cur=${COMP_WORDS[COMP_CWORD]}\n"
		      "\tlocal before=${COMP_WORDS[COMP_CWORD-1]}\n"
		      "\tif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
		      "\tif [[ $cur == = ]]; then cur=; fi\n"
		      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		      "\t\tcase \"$verb ${COMP_WORDS[i]}\" in\n");
	each_verb(out, program, option_help_add_path);
	buf_adds(out, "\t\tesac\n\tdone\n\tcase $verb in\n\t('') list='");
	for (size_t i = 0; program->subcommands[i]; i++)
		buf_addf(out, "%s ", program->subcommands[i]->name);
	buf_adds(out, "--help --version' ;;\n");
	each_verb(out, program, add_bash_words);
	/* What begins with an option has words of its own, such as files. */
	buf_adds(out, "\tesac\n"
		      "\tif [[ $list == --* && $cur != -* ]]; then list=; fi\n"
		      "\tcase \"$verb $before\" in\n");
	each_verb(out, program, add_bash_choices);
	buf_adds(out, "\tesac\n"
		      "\tmapfile -t COMPREPLY < <(compgen -W \"$list\" -- \"$cur\")\n"
		      "}\n"
		      "complete -o default -F _dev_team dev-team\n");
}

static void add_zsh_option(struct buf *out, const struct option *o)
{
	buf_addf(out, " \\\n\t\t'%s--%s%s[", o->kind == OPTION_KIND_LIST ? "*" : "", o->name,
		o->kind == OPTION_KIND_OPTIONAL ? "=-"
		: o->kind == OPTION_KIND_FLAG   ? ""
						: "=");
	option_help_add_quoted(out, str_of(o->help), "[]\\");
	buf_addc(out, ']');
	if (o->kind != OPTION_KIND_FLAG) {
		buf_adds(out, o->kind == OPTION_KIND_OPTIONAL ? "::" : ":");
		option_help_add_quoted(out, str_of(o->argument), ":\\");
		buf_addc(out, ':');
	}
	if (o->kind == OPTION_KIND_CHOICE) {
		buf_addc(out, '(');
		add_choices(out, o, "\\ ");
		buf_addc(out, ')');
	} else if (o->argument) {
		buf_adds(out, strcmp(o->argument, "DIR") == 0 ? "_files -/" : "_files");
	}
	buf_addc(out, '\'');
}

static void add_zsh_list(struct buf *out, const struct verb *v)
{
	buf_adds(out, "\t\tlist=(");
	for (size_t i = 0; v->subcommands[i]; i++) {
		buf_addf(out, "\n\t\t\t'%s:", v->subcommands[i]->name);
		option_help_add_quoted(out, str_of(v->subcommands[i]->about), "");
		buf_addc(out, '\'');
	}
	buf_adds(out, ")\n\t\t_describe command list ;;\n");
}

static void add_zsh_verb(struct buf *out, const char *path, const struct verb *v)
{
	buf_addf(out, "\t('%s')\n", path);
	if (v->subcommands && !v->run) {
		add_zsh_list(out, v);
		return;
	}
	buf_adds(out, "\t\t_arguments");
	OPTION_EACH(v, o)
	add_zsh_option(out, o);
	buf_adds(out, " \\\n\t\t'--help[print a help text]' '*:word:_files' ;;\n");
}

void option_zsh(struct buf *out, const struct verb *program)
{
	buf_adds(out, "#compdef dev-team\n"
		      "_dev_team() {\n"
		      "\tlocal verb= i\n"
		      "\tlocal -a list\n"
		      "\tfor ((i = 2; i < CURRENT; i++)); do\n"
		      "\t\tcase \"$verb $words[i]\" in\n");
	each_verb(out, program, option_help_add_path);
	buf_adds(out, "\t\tesac\n\tdone\n\tcase $verb in\n\t('')\n");
	add_zsh_list(out, program);
	each_verb(out, program, add_zsh_verb);
	/* Loaded by itself from $fpath, or sourced. */
	buf_adds(out, "\tesac\n"
		      "}\n"
		      "if [[ $funcstack[1] == _dev_team ]]; then\n"
		      "\t_dev_team \"$@\"\n"
		      "else\n"
		      "\tcompdef _dev_team dev-team\n"
		      "fi\n");
}

/* A text of fish in single quotes. */
static void add_fish_text(struct buf *out, const char *text)
{
	buf_addc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buf_addc(out, '\\');
		buf_addc(out, *text);
	}
	buf_addc(out, '\'');
}

/* A line that completes something where the words so far are those of `path`. */
static void add_fish_line(struct buf *out, const char *path)
{
	buf_addf(out, "complete -c dev-team -n '__dev_team_at \"%s%s\"'", *path ? " " : "", path);
}

static void add_fish_option(struct buf *out, const char *path, const struct option *o)
{
	add_fish_line(out, path);
	if (o->letter)
		buf_addf(out, " -s %c", o->letter);
	buf_addf(out, " -l %s", o->name);
	if (o->kind == OPTION_KIND_CHOICE) {
		buf_adds(out, " -x -a '");
		add_choices(out, o, "\\ ");
		buf_addc(out, '\'');
	} else if (o->kind != OPTION_KIND_FLAG && o->kind != OPTION_KIND_OPTIONAL) {
		buf_adds(out, " -r");
	}
	buf_adds(out, " -d ");
	add_fish_text(out, o->help);
	buf_addc(out, '\n');
}

static void add_fish_path(struct buf *out, const char *path, const struct verb *v)
{
	(void)v;
	buf_addf(out, " ' %s'", path);
}

static void add_fish_names(struct buf *out, const char *path, const struct verb *v)
{
	for (size_t i = 0; v->subcommands && v->subcommands[i]; i++) {
		add_fish_line(out, path);
		buf_addf(out, " -f -a %s -d ", v->subcommands[i]->name);
		add_fish_text(out, v->subcommands[i]->about);
		buf_addc(out, '\n');
	}
}

static void add_fish_verb(struct buf *out, const char *path, const struct verb *v)
{
	add_fish_names(out, path, v);
	OPTION_EACH(v, o)
	add_fish_option(out, path, o);
	add_fish_line(out, path);
	buf_adds(out, " -l help -d 'print a help text'\n");
}

void option_fish(struct buf *out, const struct verb *program)
{
	/* True if the names of verbs before the cursor are these. */
	buf_adds(out, "function __dev_team_at\n"
		      "\tset -l path ''\n"
		      "\tfor word in (commandline -poc)[2..-1]\n"
		      "\t\tif contains -- \"$path $word\" $__dev_team_paths\n"
		      "\t\t\tset path \"$path $word\"\n"
		      "\t\tend\n"
		      "\tend\n"
		      "\ttest \"$path\" = \"$argv[1]\"\n"
		      "end\n");
	buf_adds(out, "set -g __dev_team_paths");
	each_verb(out, program, add_fish_path);
	buf_addc(out, '\n');
	add_fish_names(out, "", program);
	each_verb(out, program, add_fish_verb);
}

/* ---- the manual page ---- */

#define DASH "—"

/* Text of mdoc: no line is a request by chance. */
static void add_mdoc(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		bool begins = i == 0 || text.p[i - 1] == '\n';

		if (begins && (text.p[i] == '.' || text.p[i] == '\''))
			buf_adds(out, "\\&");
		if (str_starts(str_sub(text, i, text.n), DASH)) {
			buf_adds(out, "\\(em");
			i += strlen(DASH) - 1;
		} else if (text.p[i] == '\\') {
			buf_adds(out, "\\e");
		} else {
			buf_addc(out, text.p[i]);
		}
	}
}

/* A word that a macro takes literally, though it may be the name of one. */
static void option_help_add_word(struct buf *out, const char *text)
{
	buf_addf(out, " \"%s\"", text);
}

static void add_mdoc_option(struct buf *out, const struct option *o)
{
	if (o->letter)
		buf_addf(out, "Fl %c , ", o->letter);
	buf_addf(out, "Fl -%s", o->name);
	if (o->kind == OPTION_KIND_FLAG)
		return;
	buf_adds(out, o->kind == OPTION_KIND_OPTIONAL ? " Ns Op = Ns Ar" : " Ar");
	option_help_add_word(out, o->argument);
}

static void add_synopsis(struct buf *out, const char *path, const struct verb *v)
{
	if (v->subcommands && !v->run)
		return;
	buf_addf(out, ".Nm\n.Cm %s\n", path);
	OPTION_EACH(v, o)
	{
		buf_adds(out, o->required ? "." : ".Op ");
		add_mdoc_option(out, o);
		buf_adds(out, o->kind == OPTION_KIND_LIST ? " ...\n" : "\n");
	}
	if (v->words) {
		buf_adds(out, ".Ar");
		option_help_add_word(out, v->words);
		buf_addc(out, '\n');
	}
}

void option_manual_synopsis(struct buf *out, const struct verb *program)
{
	each_verb(out, program, add_synopsis);
}

/* As a sentence. */
static void option_help_add_about(struct buf *out, const char *about)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_adds(&text, about);
	if (text.s[0] >= 'a' && text.s[0] <= 'z')
		text.s[0] = (char)(text.s[0] - 'a' + 'A');
	add_mdoc(out, buf_str(&text));
	buf_adds(out, ".\n");
}

static void add_mdoc_details(struct buf *out, const char *details)
{
	struct str rest = str_of(details), line;

	buf_adds(out, ".Pp\n");
	while (str_line(&rest, &line)) {
		if (!line.n) {
			buf_adds(out, ".Pp\n");
			continue;
		}
		if (line.p[0] == ' ')
			buf_adds(out, ".Dl ");
		add_mdoc(out, str_trim(line));
		buf_addc(out, '\n');
	}
}

static void option_help_add_command(struct buf *out, const char *path, const struct verb *v)
{
	buf_addf(out, ".Ss %s", path);
	if (v->words)
		option_help_add_word(out, v->words);
	buf_addc(out, '\n');
	option_help_add_about(out, v->about);
	if (v->details)
		add_mdoc_details(out, v->details);
	if (v->options[0])
		buf_adds(out, ".Bl -tag -width Ds\n");
	OPTION_EACH(v, o)
	{
		buf_adds(out, ".It ");
		add_mdoc_option(out, o);
		buf_addc(out, '\n');
		option_help_add_about(out, o->help);
	}
	if (v->options[0])
		buf_adds(out, ".El\n");
}

void option_manual_commands(struct buf *out, const struct verb *program)
{
	each_verb(out, program, option_help_add_command);
}
