/*
 * Compilers. Their options are too many for a row, so they are known by how they begin; what loads
 * code into the compiler or starts another program (-B -wrapper -specs -fplugin -Xlinker -Wl with
 * anything but the list) is in none of the tables.
 */
#include "src/policy/bin.h"

struct walk {
	struct check *c;
	const struct call *call;
	size_t i;
};

static bool in_list(struct str s, const char *const *list)
{
	for (; *list; list++)
		if (str_is(s, *list))
			return true;
	return false;
}

static int no(struct walk *w, const char *why)
{
	return bin_refuse(w->c, RULE_OPTION, &w->call->args[w->i], why);
}

/* Directories of the system have what the compiler finds there anyway. */
static bool of_system(struct str path)
{
	static const char *const folders[] = {"/usr/include/", "/usr/lib/", "/usr/local/include/",
		"/usr/local/lib/", "/usr/share/"};
	struct str base = str_find(path, STR("..")) < path.n ? STR("") : path;

	for (size_t i = 0; i < COUNT(folders); i++) {
		size_t n = strlen(folders[i]);

		if (str_starts(base, folders[i]) ||
			(base.n == n - 1 && !memcmp(base.p, folders[i], n - 1)))
			return true;
	}
	return false;
}

/* Options with a value, joined or in the next word. */
static const struct valued {
	const char *name, *kind;
	bool places; /* of headers and libraries */
} valued[] = {
	{"-o", "write", false},
	{"-I", "read", true},
	{"-L", "read", true},
	{"-isystem", "read", true},
	{"-iquote", "read", true},
	{"-idirafter", "read", true},
	{"-include", "read", true},
	{"-imacros", "read", true},
	{"-D", "text", false},
	{"-U", "text", false},
	{"-x", "name", false},
	{"-MF", "write", false},
	{"-MT", "text", false},
	{"-MQ", "text", false},
	{"-MJ", "write", false},
	{"-T", "read", false},
	{"-u", "name", false},
	{"-z", "text", false},
	{"-target", "name", false},
	{"-arch", "name", false},
};

static int check_valued(struct walk *w, const struct valued *v, const struct arg *value)
{
	if (value->split)
		return bin_refuse(w->c, RULE_VALUE_DYNAMIC, value, "may become several words");
	if (v->places && value->origin == ARG_KNOWN && of_system(value->text))
		return 0;
	return check_value(w->c, w->call, value, str_of(v->kind));
}

/* 0 with *known false: it is none of these. */
static int take_valued(struct walk *w, const struct arg *arg, bool *known)
{
	const struct valued *best = NULL;
	struct arg value;

	for (size_t i = 0; i < COUNT(valued); i++)
		if (str_starts(arg->text, valued[i].name) &&
			(!best || strlen(valued[i].name) > strlen(best->name)))
			best = &valued[i];
	*known = best != NULL;
	if (!best)
		return 0;
	/* -target and -imacros are words; with more behind they are another option. */
	if (arg->text.n > strlen(best->name)) {
		if (strlen(best->name) > 3 && best->name[1] != 'i')
			return no(w, "not known or not allowed in a compiler");
		value = bin_part(arg, strlen(best->name), arg->text.n);
		return check_valued(w, best, &value);
	}
	if (arg->origin != ARG_KNOWN || w->i + 1 >= w->call->n)
		return no(w, "no value for this option");
	return check_valued(w, best, &w->call->args[++w->i]);
}

static const char *const words[] = {"-", "-c", "-S", "-E", "-v", "-w", "-s", "-p", "-pg", "-pipe",
	"-shared", "-static", "-static-libgcc", "-static-libstdc++", "-static-pie", "-pie",
	"-no-pie", "-nopie", "-pthread", "-pthreads", "-pedantic", "-pedantic-errors", "-ansi",
	"-rdynamic", "-nostdlib", "-nostdlib++", "-nostdinc", "-nostdinc++", "-nodefaultlibs",
	"-nostartfiles", "-nolibc", "-symbolic", "-r", "-P", "-C", "-CC", "-H", "-Q", "-undef",
	"-traditional-cpp", "-trigraphs", "-save-temps", "-save-temps=obj", "-save-temps=cwd",
	"-time", "-dumpversion", "-dumpfullversion", "-dumpmachine", "-dM", "-dD", "-dN", "-dI",
	"-dU", "-###", "-M", "-MM", "-MD", "-MMD", "-MP", "-MG", "-MV", "--version", "--help",
	"--coverage", "-coverage", "-print-search-dirs", "-print-libgcc-file-name",
	"-print-multiarch", "-print-multi-lib", "-print-multi-directory",
	"-print-multi-os-directory", "-print-sysroot", "-print-resource-dir", "-print-targets",
	"-print-target-triple", "-print-effective-triple", "-ObjC", "-ObjC++", "-Qunused-arguments",
	"--pedantic", "--analyze", NULL};

/* -fNAME=VALUE; -fNAME alone only turns something on or off. */
static const char *const f_values[] = {"-fabi-version", "-falign-functions", "-falign-jumps",
	"-falign-labels", "-falign-loops", "-fcf-protection", "-fcolor-diagnostics",
	"-fconstexpr-depth", "-fconstexpr-loop-limit", "-fconstexpr-ops-limit",
	"-fcoverage-prefix-map", "-fdebug-prefix-map", "-fdiagnostics-color",
	"-fdiagnostics-column-unit", "-fdiagnostics-format", "-fdiagnostics-show-location",
	"-fdiagnostics-urls", "-femit-struct-debug-reduced", "-ferror-limit", "-fexcess-precision",
	"-fexec-charset", "-ffile-prefix-map", "-ffp-contract", "-ffp-model", "-finline-limit",
	"-finput-charset", "-finstrument-functions-exclude-function-list", "-fivopts", "-flto",
	"-flto-compression-level", "-flto-partition", "-fmacro-prefix-map", "-fmax-errors",
	"-fmessage-length", "-fno-sanitize", "-fno-sanitize-recover", "-fno-sanitize-trap",
	"-fopenmp", "-fpatchable-function-entry", "-fprofile-partial-training", "-fprofile-update",
	"-frandom-seed", "-fsanitize", "-fsanitize-address-use-after-scope", "-fsanitize-coverage",
	"-fsanitize-recover", "-fsanitize-trap", "-fsanitize-undefined-trap-on-error",
	"-fshort-enums", "-fsimd-cost-model", "-fstack-limit-symbol", "-fstack-reuse",
	"-fstrict-flex-arrays", "-ftabstop", "-ftemplate-backtrace-limit", "-ftemplate-depth",
	"-ftls-model", "-ftrivial-auto-var-init", "-fuse-cxa-atexit", "-fvect-cost-model",
	"-fvisibility", "-fzero-call-used-regs", NULL};

static int take_f(struct walk *w, struct str text)
{
	static const char *const linkers[] = {
		"-fuse-ld=bfd", "-fuse-ld=gold", "-fuse-ld=lld", "-fuse-ld=mold", NULL};
	size_t equals = str_find(text, STR("="));

	if (in_list(text, linkers))
		return 0;
	if (equals == text.n) {
		if (bin_has_only(text, "-+") && !str_starts(text, "-fplugin"))
			return 0;
	} else if (in_list(str_sub(text, 0, equals), f_values) &&
		   bin_has_only(str_sub(text, equals, text.n), "=-+,._:/")) {
		return 0;
	}
	return no(w, "not known or not allowed in a compiler");
}

/* Words for the linker. Those with a value have it behind `=` or in the next one. */
static const char *const linker_words[] = {"--as-needed", "--no-as-needed", "--gc-sections",
	"--no-gc-sections", "--start-group", "--end-group", "--whole-archive", "--no-whole-archive",
	"--no-undefined", "--build-id", "--export-dynamic", "-E", "-Bstatic", "-Bdynamic",
	"-Bsymbolic", "-Bsymbolic-functions", "--fatal-warnings", "--no-fatal-warnings",
	"--warn-common", "--warn-unresolved-symbols", "--sort-common", "--strip-all",
	"--strip-debug", "-s", "-S", "-x", "-X", "--discard-all", "--discard-locals",
	"--print-gc-sections", "--stats", "--trace", "-t", "--verbose", "--print-memory-usage",
	"--allow-multiple-definition", "--allow-shlib-undefined", "--no-allow-shlib-undefined",
	"--enable-new-dtags", "--disable-new-dtags", "--eh-frame-hdr",
	"--no-copy-dt-needed-entries", "--copy-dt-needed-entries", "--add-needed",
	"--no-add-needed", "--relax", "--no-relax", "--cref", "-dead_strip", "-O0", "-O1", "-O2",
	"-O3", "--push-state", "--pop-state", "--no-keep-memory", "--reduce-memory-overheads",
	"--demangle", "--no-warnings", "--threads", "--no-threads", "-z", NULL};
static const struct {
	const char *name, *kind;
} linker_values[] = {
	{"-z", "name"},
	{"-soname", "name"},
	{"--soname", "name"},
	{"-h", "name"},
	{"--version-script", "read"},
	{"--dynamic-list", "read"},
	{"--retain-symbols-file", "read"},
	{"-T", "read"},
	{"--script", "read"},
	{"-Map", "write"},
	{"--Map", "write"},
	{"--wrap", "name"},
	{"--defsym", "text"},
	{"--undefined", "name"},
	{"-u", "name"},
	{"--exclude-libs", "text"},
	{"--hash-style", "name"},
	{"--build-id", "name"},
	{"--icf", "name"},
	{"--threads", "number"},
	{"--thread-count", "number"},
	{"--compress-debug-sections", "name"},
	{"--sort-section", "name"},
	{"--unresolved-symbols", "name"},
	{"--entry", "name"},
	{"-e", "name"},
	{"-Ttext", "name"},
	{"--section-start", "text"},
	{"-rpath", "rpath"},
	{"--rpath", "rpath"},
	{"-R", "rpath"},
	{"-rpath-link", "rpath"},
	{"--rpath-link", "rpath"},
};

static int check_linker_value(struct walk *w, const char *kind, struct str text)
{
	struct arg value = w->call->args[w->i];

	value.text = text;
	if (strcmp(kind, "rpath"))
		return check_value(w->c, w->call, &value, str_of(kind));
	/* $ORIGIN is the directory of the program that is made. */
	if (str_starts(text, "$ORIGIN") && str_find(text, STR(":")) == text.n)
		return 0;
	return of_system(text) ? 0 : check_value(w->c, w->call, &value, STR("read"));
}

static bool cut_comma(struct str *rest, struct str *word)
{
	size_t at = str_find(*rest, STR(","));

	if (!rest->n)
		return false;
	*word = str_sub(*rest, 0, at);
	*rest = str_sub(*rest, at + (at < rest->n), rest->n);
	return true;
}

static int take_linker_word(struct walk *w, struct str word, struct str *rest)
{
	size_t equals = str_find(word, STR("="));
	struct str name = str_sub(word, 0, equals), value = str_sub(word, equals + 1, word.n);
	size_t i = 0;

	while (i < COUNT(linker_values) && !str_is(name, linker_values[i].name))
		i++;
	if (equals == word.n && in_list(word, linker_words) && !str_is(word, "-z"))
		return 0;
	if (i == COUNT(linker_values))
		return no(w, "not known or not allowed in a linker");
	if (equals == word.n && !cut_comma(rest, &value))
		return no(w, "no value for a word of the linker");
	return check_linker_value(w, linker_values[i].kind, value);
}

static int take_linker(struct walk *w, struct str rest)
{
	struct str word;

	while (cut_comma(&rest, &word))
		if (take_linker_word(w, word, &rest) < 0)
			return -1;
	return 0;
}

static int take_w(struct walk *w, struct str text)
{
	if (str_starts(text, "-Wl,"))
		return take_linker(w, str_sub(text, 4, text.n));
	if (str_is(text, "-Wa,--noexecstack") || str_is(text, "-Wa,--fatal-warnings"))
		return 0;
	if (str_starts(text, "-Wp,-D") &&
		str_find(str_sub(text, 4, text.n), STR(",")) == text.n - 4)
		return 0;
	if (bin_has_only(text, "-+=_"))
		return 0;
	return no(w, "not known or not allowed in a compiler");
}

static int take_option(struct walk *w, const struct arg *arg)
{
	struct str text = arg->text;
	bool known;

	if (arg->origin == ARG_KNOWN && in_list(text, words))
		return 0;
	if (take_valued(w, arg, &known) < 0)
		return -1;
	if (known)
		return 0;
	if (arg->origin != ARG_KNOWN)
		return bin_refuse(w->c, RULE_VALUE_DYNAMIC, arg, "an option that is not known");
	if (str_starts(text, "-W"))
		return take_w(w, text);
	if (str_starts(text, "-f"))
		return take_f(w, text);
	if (str_starts(text, "-l") && bin_has_only(text, "-._+:"))
		return 0;
	if (str_starts(text, "-O") && bin_has_only(text, "-") && text.n < 8)
		return 0;
	if (str_starts(text, "-g") && bin_has_only(text, "-=+") && !str_starts(text, "-gcc"))
		return 0;
	if ((str_starts(text, "-std=") || str_starts(text, "--std=") ||
		    str_starts(text, "-stdlib=") || str_starts(text, "--target=") ||
		    str_starts(text, "-print-file-name=") ||
		    str_starts(text, "-print-prog-name=") || str_starts(text, "--param=") ||
		    str_starts(text, "-rtlib=")) &&
		bin_has_only(text, "-=+._"))
		return 0;
	if (str_starts(text, "-m") && bin_has_only(text, "-=+.,_") && !str_starts(text, "-mllvm"))
		return 0;
	return no(w, "not known or not allowed in a compiler");
}

static int walk_args(struct walk *w, bool operands)
{
	for (; w->i < w->call->n; w->i++) {
		const struct arg *arg = &w->call->args[w->i];

		if (arg->origin == ARG_DYNAMIC && (arg->split || !arg->text.n))
			return bin_refuse(w->c, RULE_VALUE_DYNAMIC, arg, "may become an option");
		if (arg->text.n && arg->text.p[0] == '-') {
			if (take_option(w, arg) < 0)
				return -1;
			continue;
		}
		if (!operands)
			return bin_refuse(w->c, RULE_OPTION, arg, "not an option");
		/* @FILE would be read as more of the command line. */
		if (arg->text.n && arg->text.p[0] == '@')
			return no(w, "options out of a file");
		if (check_value(w->c, w->call, arg, STR("read")) < 0)
			return -1;
	}
	return asked(w->c, RULE_OPTION, w->call->at, w->call->args[0].text, STR(""), 0);
}

/* Without being told where to, it writes beside the source and into the working directory. */
static bool only_tells(const struct call *call)
{
	static const char *const quiet[] = {"-E", "-M", "-MM", "-fsyntax-only", "-###", "--version",
		"--help", "-dumpversion", "-dumpfullversion", "-dumpmachine", NULL};
	bool tells = false;

	for (size_t i = 1; i < call->n; i++) {
		struct str text = call->args[i].text;

		if (str_starts(text, "-save-temps") || str_is(text, "-MD") || str_is(text, "-MMD"))
			return false;
		tells |= in_list(text, quiet) || str_starts(text, "-print-");
	}
	return tells;
}

int check_cc(struct check *c, const struct call *call)
{
	struct walk w = {.c = c, .call = call, .i = 1};

	if (!c->policy->write && !only_tells(call))
		return bin_refuse(c, RULE_WRITE, &call->args[0],
			"the policy does not allow writing, and a compiler writes");
	return walk_args(&w, true);
}

/* make and the shells that it starts read these values again. */
static bool survives_make(struct str s)
{
	return bin_has_only(s, " -+=_.,:/%@^");
}

static int check_words(struct check *c, struct str value, struct str cwd, struct span at)
{
	struct call call = {.cwd = cwd, .at = at};
	struct walk w = {.c = c, .call = &call, .i = 1};

	call.args = arena_alloc(c->arena, (value.n + 2) * sizeof(*call.args));
	call.args[call.n++] = (struct arg){.text = STR("cc"), .at = at};
	for (size_t i = 0; i < value.n;) {
		size_t from;

		while (i < value.n && value.p[i] == ' ')
			i++;
		for (from = i; i < value.n && value.p[i] != ' ';)
			i++;
		if (i > from)
			call.args[call.n++] =
				(struct arg){.text = str_sub(value, from, i), .at = at};
	}
	return walk_args(&w, false);
}

int check_flags(struct check *c, struct str value, struct str cwd, struct span at)
{
	struct arg arg = {.text = value, .at = at};

	if (!survives_make(value))
		return bin_refuse(
			c, RULE_ASSIGN_VALUE, &arg, "a byte that is special to make or its shell");
	return check_words(c, value, cwd, at);
}

int check_compiler(struct check *c, struct str value, struct str cwd, struct span at)
{
	static const char *const names[] = {"gcc", "g++", "cc", "c++", "cpp", "clang", "clang++",
		"ld", "ar", "ranlib", "nm", "strip", "ccache", NULL};
	struct arg arg = {.text = value, .at = at};
	size_t blank = str_find(value, STR(" ")), n = blank;

	while (n && ((value.p[n - 1] >= '0' && value.p[n - 1] <= '9') || value.p[n - 1] == '-'))
		n--;
	if (!in_list(str_sub(value, 0, n), names) && !in_list(str_sub(value, 0, blank), names))
		return bin_refuse(c, RULE_ASSIGN_VALUE, &arg, "not the plain name of a compiler");
	return check_flags(c, str_sub(value, blank, value.n), cwd, at);
}
