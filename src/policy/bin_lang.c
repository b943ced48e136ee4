/*
 * Interpreters and the tools of languages, for policies that let the repository's code run: only
 * files of the repository are run, never a text of the command line or what comes down a pipe.
 */
#include "src/policy/bin.h"

#define PYTEST                                                                                     \
	"-k:text -m:text -x,--exitfirst --maxfail:number -q,--quiet -v,--verbose -vv -s "          \
	"--capture:name --tb:name --lf,--last-failed --ff,--failed-first --nf,--new-first "        \
	"--co,--collect-only --durations:number -r:name -l,--showlocals --no-header --no-summary " \
	"--rootdir:enter --junitxml,--junit-xml:write --basetemp:tree --ignore:read "              \
	"--deselect:text "                                                                         \
	"-n,--numprocesses:name --disable-warnings,--disable-pytest-warnings --strict-markers "    \
	"--sw,--stepwise --color:name -W:text --cov?name --cov-report:name --timeout:number"

int check_pytest(struct check *c, const struct call *call)
{
	struct parsed p;

	if (check_options(c, call, 1, PYTEST, &p) < 0)
		return -1;
	return check_operands(c, call, &p, "read*");
}

static int check_script_of(struct check *c, const struct call *call, const struct parsed *p)
{
	if (!p->n_operands || bin_is(&p->operands[0], "-"))
		return bin_refuse(c, RULE_OPERAND, &call->args[0],
			"a program from standard input or a prompt");
	return check_operands(c, call, p, "read text*");
}

/* `-m MODULE` ends python's own options. */
static int check_module(struct check *c, const struct call *call, size_t at)
{
	static const struct {
		const char *name, *options, *operands;
	} modules[] = {
		{"unittest",
			"-v,--verbose -q,--quiet -f,--failfast -b,--buffer -c,--catch -k:text "
			"--locals "
			"-s,--start-directory:read -t,--top-level-directory:read -p,--pattern:text",
			"read*"},
		{"py_compile", "-q,--quiet", "read*"},
		{"compileall", "-q -f -l -j:number", "read*"},
	};
	struct call rest = *call;
	struct parsed p;

	if (at >= call->n)
		return bin_refuse(c, RULE_OPTION, &call->args[0], "no module");
	rest.args += at;
	rest.n -= at;
	if (bin_is(rest.args, "pytest"))
		return check_pytest(c, &rest);
	for (size_t i = 0; i < COUNT(modules); i++)
		if (bin_is(rest.args, modules[i].name))
			return check_options(c, &rest, 1, modules[i].options, &p) < 0
				       ? -1
				       : check_operands(c, &rest, &p, modules[i].operands);
	return bin_refuse(c, RULE_OPERAND, rest.args, "a module that is not known");
}

int check_python(struct check *c, const struct call *call)
{
	struct parsed p;
	size_t i = 1;

	while (i < call->n && !bin_is(&call->args[i], "-m") && call->args[i].text.n &&
		call->args[i].text.p[0] == '-' && !str_starts(call->args[i].text, "-W"))
		i++;
	if (i < call->n && bin_is(&call->args[i], "-m")) {
		struct call own = *call;

		own.n = i;
		if (check_options(c, &own, 1, "-B -E -I -s -S -u -O -q", &p) < 0)
			return -1;
		return check_module(c, call, i + 1);
	}
	if (check_options(c, call, 1, "+ -B -E -I -s -S -u -O -q -W:text -V -VV", &p) < 0)
		return -1;
	return given_any(&p, "-V") ? 0 : check_script_of(c, call, &p);
}

int check_nodejs(struct check *c, const struct call *call)
{
	struct parsed p;

	if (check_options(c, call, 1,
		    "+ = -v -c,--check --test --no-warnings --trace-warnings --enable-source-maps "
		    "--test-only --watch --max-old-space-size?number --unhandled-rejections:name",
		    &p) < 0)
		return -1;
	if (given_any(&p, "-v"))
		return 0;
	if (given_any(&p, "--test"))
		return check_operands(c, call, &p, "read*");
	return check_script_of(c, call, &p);
}

/* NAME or @SCOPE/NAME, perhaps @VERSION: of the registry, no directory and no address. */
static bool is_package(struct str s)
{
	size_t slash = str_find(s, STR("/"));
	struct str rest = str_sub(s, slash + (slash < s.n), s.n);

	if (!s.n || s.p[0] == '.' || s.p[0] == '-' || s.p[0] == '/')
		return false;
	if (slash < s.n && (s.p[0] != '@' || str_find(rest, STR("/")) < rest.n))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
			    (s.p[i] >= '0' && s.p[i] <= '9') || strchr("@/._^~-", s.p[i])))
			return false;
	return true;
}

static int check_packages(struct check *c, const struct parsed *p)
{
	if (!c->policy->network)
		return bin_refuse(
			c, RULE_NETWORK, &p->operands[0], "the policy does not allow the network");
	for (size_t i = 1; i < p->n_operands; i++)
		if (p->operands[i].origin != ARG_KNOWN || !is_package(p->operands[i].text))
			return bin_refuse(c, RULE_OPERAND, &p->operands[i],
				"not the name of a package in the registry");
	return 0;
}

static bool is_one(const struct arg *arg, const char *const *names)
{
	for (; *names; names++)
		if (bin_is(arg, *names))
			return true;
	return false;
}

int check_npm(struct check *c, const struct call *call)
{
	static const char *const runs[] = {"test", "t", "tst", "run", "run-script", "start", "stop",
		"ls", "list", "why", "explain", NULL};
	static const char *const fetches[] = {"ci", "install", "i", "add", "update", "uninstall",
		"remove", "rm", "outdated", "audit", "view", NULL};
	struct parsed p;

	if (check_options(c, call, 1,
		    "-s,--silent -q,--quiet --verbose --prefix:enter -w,--workspace:name "
		    "-ws,--workspaces --if-present --ignore-scripts --no-audit --no-fund "
		    "--omit:word{dev,optional,peer} --include:word{dev,optional,peer} --production "
		    "--legacy-peer-deps -D,--save-dev -E,--save-exact --no-save --offline "
		    "--prefer-offline --json --depth:number --all -a --dry-run "
		    "--package-lock-only --loglevel:name --no-progress",
		    &p) < 0)
		return -1;
	if (!p.n_operands || p.n_before == 0)
		return bin_refuse(c, RULE_OPERAND, &call->args[0], "no command of npm");
	if (is_one(&p.operands[0], fetches))
		return check_packages(c, &p);
	if (!is_one(&p.operands[0], runs))
		return bin_refuse(
			c, RULE_OPERAND, &p.operands[0], "not known or not allowed in npm");
	for (size_t i = 1; i < p.n_before; i++)
		if (p.operands[i].origin != ARG_KNOWN)
			return bin_refuse(c, RULE_VALUE_DYNAMIC, &p.operands[i],
				"a script that is not known from the text");
	return 0;
}

#define CARGO                                                                                      \
	"-q,--quiet -v,--verbose -vv --release -r --all --workspace --all-targets --all-features " \
	"--no-default-features -F,--features:text -p,--package:text --exclude:text --lib --bins "  \
	"--bin:name --examples --example:name --tests --test:name --benches --bench:name --doc "   \
	"-j,--jobs:number --profile:name --target:name --target-dir:folder --manifest-path:read "  \
	"--locked --offline --frozen --message-format:name --color:name --no-run --no-fail-fast "  \
	"--check --no-deps --keep-going -e,--edges:text -i,--invert:name -d,--duplicates "         \
	"--depth:name"

int check_cargo(struct check *c, const struct call *call)
{
	static const char *const commands[] = {"build", "b", "check", "c", "test", "t", "run", "r",
		"bench", "clippy", "fmt", "doc", "d", "clean", "tree", "metadata", "nextest", NULL};
	struct parsed p;

	if (check_options(c, call, 1, CARGO, &p) < 0)
		return -1;
	if (!p.n_operands || !is_one(&p.operands[0], commands) || p.n_before == 0)
		return bin_refuse(c, RULE_OPERAND, &call->args[0], "not a known command of cargo");
	for (size_t i = 1; i < p.n_before; i++)
		if (check_value(c, call, &p.operands[i], STR("text")) < 0)
			return -1;
	return 0;
}

int check_go(struct check *c, const struct call *call)
{
	static const char *const commands[] = {"build", "test", "vet", "fmt", "list", "run",
		"clean", "version", "env", "doc", "generate", NULL};
	struct parsed p;

	if (call->n < 2 || !is_one(&call->args[1], commands))
		return bin_refuse(c, RULE_OPERAND, &call->args[0], "not a known command of go");
	if (check_options(c, call, 2,
		    "= -v -x -n -a -race -short -cover -count:number -run:text -bench:text "
		    "-benchtime:text "
		    "-benchmem -timeout:number -parallel:number -p:number -o:write -tags:text "
		    "-coverprofile:write -covermode:name -failfast -json -trimpath -m -f:text "
		    "-list:text "
		    "-mod:word{readonly,vendor} -buildvcs:name -shuffle:name -vet:name",
		    &p) < 0)
		return -1;
	if (bin_is(&call->args[1], "env"))
		return check_operands(c, call, &p, "name*");
	return check_operands(c, call, &p, bin_is(&call->args[1], "run") ? "read text*" : "read*");
}

/* `--style=file:PATH` would read any file; formatting in place writes. */
int check_format(struct check *c, const struct call *call)
{
	struct parsed p;
	const struct binary *row = binary_find(c->arena, c->policy, STR("clang-format"));

	if (check_options(c, call, 1, row->options, &p) < 0)
		return -1;
	return check_operands(c, call, &p, given_any(&p, "-i") ? "write*" : "read*");
}
