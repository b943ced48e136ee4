/*
 * Variables. A list of those that are harmless, and never one of those that are not: too many
 * programs have a variable that makes them run something.
 */
#include "src/policy/binary.h"

enum kind {
	ANY,    /* a text that programs only show */
	WORD,   /* letters, digits and `._:/@+,=-`: no shell or make can make more of it */
	FLAGS,  /* options for the compiler */
	TOOL,   /* a compiler, perhaps with options */
	LOCALE, /* the name of a locale or of a terminal: no path */
	ZONE,   /* the name of a time zone */
	NUMBER,
	QUIET, /* a program that does nothing: cat, true, : or none */
};

static const struct {
	const char *name; /* a `*` at the end: all that begin so */
	enum kind kind;
} known[] = {
	{"GIT_AUTHOR_NAME", ANY},
	{"GIT_AUTHOR_EMAIL", ANY},
	{"GIT_AUTHOR_DATE", ANY},
	{"GIT_COMMITTER_NAME", ANY},
	{"GIT_COMMITTER_EMAIL", ANY},
	{"GIT_COMMITTER_DATE", ANY},
	{"GIT_TERMINAL_PROMPT", NUMBER},
	{"GIT_OPTIONAL_LOCKS", NUMBER},
	{"GIT_EDITOR", QUIET},
	{"GIT_SEQUENCE_EDITOR", QUIET},
	{"GIT_PAGER", QUIET},
	{"GIT_MERGE_AUTOEDIT", WORD},
	{"EDITOR", QUIET},
	{"VISUAL", QUIET},
	{"PAGER", QUIET},
	{"LANG", LOCALE},
	{"LANGUAGE", LOCALE},
	{"LC_*", LOCALE},
	{"TZ", ZONE},
	{"TERM", LOCALE},
	{"COLUMNS", NUMBER},
	{"LINES", NUMBER},
	{"NO_COLOR", WORD},
	{"CLICOLOR", NUMBER},
	{"CLICOLOR_FORCE", NUMBER},
	{"FORCE_COLOR", WORD},
	{"CI", WORD},
	{"DEBIAN_FRONTEND", WORD},
	{"SOURCE_DATE_EPOCH", NUMBER},
	{"V", WORD},
	{"VERBOSE", WORD},
	{"DEBUG", WORD},
	{"NDEBUG", WORD},
	{"Q", QUIET},
	{"ARCH", WORD},
	{"BUILD_TYPE", WORD},
	{"CMAKE_BUILD_TYPE", WORD},
	{"CMAKE_BUILD_PARALLEL_LEVEL", NUMBER},
	{"CTEST_OUTPUT_ON_FAILURE", NUMBER},
	{"CTEST_PARALLEL_LEVEL", NUMBER},
	{"JOBS", NUMBER},
	{"SAN", WORD},
	{"WERROR", FLAGS},
	{"CC", TOOL},
	{"CXX", TOOL},
	{"CPP", TOOL},
	{"LD", TOOL},
	{"AR", TOOL},
	{"RANLIB", TOOL},
	{"CFLAGS", FLAGS},
	{"CXXFLAGS", FLAGS},
	{"CPPFLAGS", FLAGS},
	{"LDFLAGS", FLAGS},
	{"LDLIBS", FLAGS},
	{"OPT", FLAGS},
	{"CGO_ENABLED", NUMBER},
	{"GOOS", WORD},
	{"GOARCH", WORD},
	{"RUST_BACKTRACE", WORD},
	{"CARGO_TERM_COLOR", WORD},
	{"NODE_ENV", WORD},
};

static bool is_pattern_of(const char *name, struct str text)
{
	size_t n = strlen(name);

	if (n && name[n - 1] == '*')
		return text.n >= n - 1 && memcmp(name, text.p, n - 1) == 0;
	return str_is(text, name);
}

static bool is_word(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char ch = s.p[i];
		bool plain = (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') ||
			     (ch >= 'A' && ch <= 'Z');

		if (!plain && !(ch && strchr("._:/@+,=-%", ch)))
			return false;
	}
	return true;
}

static bool is_locale(struct str s)
{
	return is_word(s) && str_find(s, STR("/")) == s.n && str_find(s, STR("..")) == s.n;
}

static bool is_zone(struct str s)
{
	return is_word(s) && str_find(s, STR("..")) == s.n &&
	       !(s.n && (s.p[0] == '/' || s.p[0] == ':'));
}

static bool is_number(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0 && s.n < 12;
}

static bool is_quiet(struct str s)
{
	return !s.n || str_is(s, "cat") || str_is(s, "true") || str_is(s, ":") ||
	       str_is(s, "/bin/true") || str_is(s, "/bin/cat") || str_is(s, "@");
}

static int fault(
	struct check *c, enum rule r, struct str name, const struct arg *value, const char *why)
{
	(void)deny_word(c->v, r, value->at, name, STR(""), "%s", why);
	return asked(c, r, value->at, name, STR(""), -1);
}

static int check_kind(
	struct check *c, enum kind kind, struct str cwd, struct str name, const struct arg *value)
{
	struct str text = value->text;

	switch (kind) {
	case ANY:
		return 0;
	case WORD:
		return is_word(text)
			       ? 0
			       : fault(c, RULE_ASSIGN_VALUE, name, value,
					 "the value may have letters, digits and ._:/@+,=-% only");
	case LOCALE:
		return is_locale(text) ? 0
				       : fault(c, RULE_ASSIGN_VALUE, name, value,
						 "the value must be a name without '/'");
	case ZONE:
		return is_zone(text) ? 0
				     : fault(c, RULE_ASSIGN_VALUE, name, value,
					       "the value must be the name of a time zone");
	case NUMBER:
		return is_number(text) || !text.n ? 0
						  : fault(c, RULE_ASSIGN_VALUE, name, value,
							    "the value must be a number");
	case QUIET:
		return is_quiet(text) ? 0
				      : fault(c, RULE_ASSIGN_VALUE, name, value,
						"the value may be cat, true, ':' or empty only");
	case FLAGS:
		return check_flags(c, text, cwd, value->at);
	case TOOL:
		return check_compiler(c, text, cwd, value->at);
	}
	return deny(c->v, RULE_INTERNAL, value->at, "an unknown kind of variable");
}

int check_assignment(struct check *c, struct str cwd, struct str name, const struct arg *value)
{
	if (value->origin != ARG_KNOWN)
		return fault(c, RULE_ASSIGN_VALUE, name, value,
			"the value of a variable that programs see must be known");
	for (size_t i = 0; i < COUNT(known); i++)
		if (is_pattern_of(known[i].name, name)) {
			if (check_kind(c, known[i].kind, cwd, name, value) < 0)
				return -1;
			return asked(c, RULE_ASSIGN_NAME, value->at, name, STR(""), 0);
		}
	if (!texts_have(&c->policy->environment, name))
		return fault(c, RULE_ASSIGN_NAME, name, value,
			"programs may not be given this variable");
	return asked(c, RULE_ASSIGN_NAME, value->at, name, STR(""), 0);
}

/*
 * A variable of the shell is seen by no program, unless the shell was started with one of that
 * name. What a shell or a common program looks at is refused, whether it is there now or not.
 */
int check_variable(struct check *c, struct str name, struct span at)
{
	static const char *const special[] = {"BASH*", "CDPATH", "CHILD_MAX", "COMP*", "COPROC",
		"COLUMNS", "DIRSTACK", "EMACS", "ENV", "EPOCH*", "EUID", "EXECIGNORE", "FCEDIT",
		"FIGNORE", "FUNC*", "GLOB*", "GROUPS", "HIST*", "HOME", "HOST*", "IFS", "IGNOREEOF",
		"INPUTRC", "INSIDE_*", "LANG*", "LC_*", "LINE*", "MACHTYPE", "MAIL*", "MAPFILE",
		"OLDPWD", "OPT*", "OSTYPE", "PATH*", "PIPESTATUS", "POSIX*", "PPID", "PROMPT*",
		"PS*", "PWD", "RANDOM", "READLINE*", "REPLY", "SECONDS", "SHELL*", "SHLVL",
		"SRANDOM", "TEXTDOMAIN*", "TIMEFORMAT", "TMOUT", "TMP*", "TEMP*", "UID", "USER*",
		"LOGNAME", "auto_resume", "histchars", "_", "LD_*", "DYLD_*", "GIT*", "SSH*",
		"GPG*", "GNUPG*", "PYTHON*", "PERL*", "RUBY*", "NODE*", "NPM*", "npm_*", "JAVA*",
		"JDK*", "_JAVA*", "CLASSPATH", "GO*", "CGO*", "RUST*", "CARGO*", "CC", "CXX", "CPP",
		"LD", "AR", "AS", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LDLIBS", "MAKE*",
		"MFLAGS", "GNUMAKEFLAGS", "CMAKE*", "CTEST*", "GCC*", "COMPILER_PATH",
		"LIBRARY_PATH", "CPATH", "C_INCLUDE*", "OBJC*", "LESS*", "MORE", "PAGER",
		"MANPAGER", "EDITOR", "VISUAL", "BROWSER", "TERM*", "TAR*", "GZIP", "XZ*", "ZSTD*",
		"TZ*", "XDG*", "DBUS*", "DISPLAY", "CLAUDE*", "ANTHROPIC*", "OPENAI*", "CODEX*",
		"GEMINI*", "DEV_TEAM*", "*_proxy", "*_PROXY", "*_OPTIONS", "*PATH", "SUDO*",
		"CURL*", "WGET*", "DOCKER*", "KUBE*", "AWS*", "AZURE*", "GOOGLE*"};
	const struct arg value = {.text = name, .at = at};
	bool bad = name.n == 0;

	for (size_t i = 0; i < COUNT(special) && !bad; i++)
		bad = special[i][0] == '*' ? str_ends(name, special[i] + 1)
					   : is_pattern_of(special[i], name);
	if (bad)
		return fault(c, RULE_ASSIGN_NAME, name, &value,
			"the shell or a program looks at this variable");
	return asked(c, RULE_ASSIGN_NAME, at, name, STR(""), 0);
}
