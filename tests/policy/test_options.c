/*
 * The notation of options and operands, and what is only known at run time: by calls that are made
 * up of arguments, without a line around them.
 */
#include "src/policy/notation.h"
#include "tests/lib/policy_rig.h"

#define ROW                                                                                        \
	"-a,--all -l -n,--lines:number -C,--context?number --name:name -w,--write:write@write "    \
	"--in-place?name@write -#  -f,--file:read -e:text -o:word{one,two} -cols:number"

static struct verdict verdict;

static struct check asking(void)
{
	verdict = (struct verdict){0};
	return (struct check){.arena = &arena,
		.policy = &rig_policy,
		.root = &rig_root,
		.v = &verdict,
		.left = 100};
}

/* Words between blanks. $NAME: not known; $NAME= in front of it is known; @: found. ~: may be
 * several; %: names of commits. */
static struct arg make_arg(struct str word)
{
	struct arg arg = {.text = word, .origin = ARG_KNOWN};
	size_t at = str_find(word, STR("$"));

	if (word.n && word.p[0] == '@')
		return (struct arg){.origin = ARG_FOUND, .split = word.n > 1};
	if (at == word.n)
		return arg;
	arg.text = str_sub(word, 0, at);
	arg.origin = ARG_DYNAMIC;
	arg.split = str_ends(word, "~");
	arg.commits = str_ends(word, "%");
	return arg;
}

static struct call make_call(const char *line)
{
	struct str rest = str_of(line);
	struct call call = {.cwd = STR("")};

	call.args = arena_alloc(&arena, (rest.n + 2) * sizeof(*call.args));
	while (rest.n) {
		size_t to = str_find(rest, STR(" "));

		call.args[call.n++] = make_arg(str_sub(rest, 0, to));
		rest = str_sub(rest, to + (to < rest.n), rest.n);
	}
	return call;
}

static int try(const char *line, const char *options, const char *operands, struct parsed *p)
{
	struct check c = asking();
	struct call call = make_call(line);

	if (check_options(&c, &call, 1, options, p) < 0)
		return -1;
	return check_operands(&c, &call, p, operands);
}

static void taken(const char *line, const char *options, const char *operands)
{
	struct parsed p;

	if (try(line, options, operands, &p) < 0)
		fail_msg("should be taken: %s: %s", line, verdict.reason);
}

static void refused(const char *line, const char *operands, const char *rule)
{
	struct parsed p;

	if (try(line, ROW, operands, &p) == 0)
		fail_msg("should be refused by %s: %s", rule, line);
	if (strcmp(rule_id(verdict.rule), rule) != 0)
		fail_msg("should be refused by %s: %s: %s: %s", rule, line, rule_id(verdict.rule),
			verdict.reason);
}

static void use(bool write)
{
	rig_policy = (struct policy){.name = "test", .write = write};
}

TEST(splits_a_line)
{
	struct parsed p;

	use(true);
	assert_int_equal(try("x -la -n5 --lines=6 -n 7 a -C b -C3 -12 -- -l", ROW, "text*", &p), 0);
	assert_int_equal(p.n, 8);
	assert_str(p.options[0].name, "-l");
	assert_str(p.options[1].name, "-a");
	assert_str(p.options[2].name, "-n");
	assert_str(p.options[2].value.text, "5");
	assert_str(p.options[3].name, "-n");
	assert_str(p.options[3].value.text, "6");
	assert_str(p.options[4].value.text, "7");
	assert_int_equal(p.options[4].arg, 4);
	assert_false(p.options[5].has_value);
	assert_str(p.options[6].value.text, "3");
	assert_str(p.options[7].name, "-#");
	assert_int_equal(p.n_operands, 3);
	assert_str(p.operands[2].text, "-l");
	assert_int_equal(p.first_operand, 6);
	assert_int_equal(p.n_before, 2);
	assert_true(given_any(&p, "-a"));
	assert_false(given_any(&p, "--all"));
}

TEST(ends_where_it_says)
{
	struct parsed p;

	use(true);
	assert_int_equal(try("x -a b -z", "+ -a", "text*", &p), 0);
	assert_int_equal(p.n_operands, 2);
	assert_int_equal(try("x -", "+ -a", "text*", &p), 0);
	assert_int_equal(p.n_operands, 1);
	assert_int_equal(try("x b -z", "-a", "text*", &p), -1);
	taken("x -cols 5", ROW, "");
	taken("x -cols=5", ROW, "");
	taken("x -ab", "-a -b", "");
	assert_int_equal(try("x -ab", "= -a -b", "", &p), -1);
	taken("x -n5", "= -n:number", "");
}

TEST(refuses_what_is_not_in_the_row)
{
	static const char *const lines[] = {"x -z", "x -lz", "x --al", "x --lin=5", "x --allx",
		"x --all=1", "x -n", "x --lines", "x --", "x -l=1"};

	use(true);
	for (size_t i = 0; i < COUNT(lines); i++)
		if (i != 8)
			refused(lines[i], "", "option");
	refused("x --\xc3\xa9t\xc3\xa9", "", "name.bytes");
	refused("x -\xc3\xa9", "", "name.bytes");
	refused("x \xe2\x80\x94l", "", "operand");
}

TEST(knows_the_kinds)
{
	use(true);
	taken("x -n -5", ROW, "");
	taken("x -n +5k", ROW, "");
	refused("x -n a/b", "", "operand");
	refused("x -n kb", "", "operand");
	taken("x --name=a.b-c", ROW, "");
	refused("x --name=-a", "", "operand");
	refused("x --name=a/b", "", "operand");
	taken("x -o two", ROW, "");
	taken("x -oone", ROW, "");
	refused("x -o three", "", "operand");
	refused("x -o on", "", "operand");
	refused("x -o one,two", "", "operand");
	taken("x -f src/main.c", ROW, "");
	refused("x -f ../secret", "", "path.outside");
	refused("x -f../secret", "", "path.outside");
	refused("x -laf../secret", "", "path.outside");
	refused("x --file=esc/passwd", "", "path.outside");
	refused("x --file esc/passwd", "", "path.outside");
	refused("x -w .git/config", "", "path.protected");
}

TEST(writes_where_the_policy_does)
{
	use(true);
	taken("x -w build/x --in-place=b", ROW, "");
	use(false);
	refused("x -w build/x", "", "write");
	refused("x --in-place", "", "write");
	refused("x a", "write*", "write");
	refused("x a", "entry*", "write");
	refused("x @", "tree*", "write");
	taken("x a", ROW, "read*");
}

TEST(counts_operands)
{
	use(true);
	taken("x a b", ROW, "read read");
	refused("x a b c", "read read", "operand");
	refused("x a", "", "operand");
	taken("x", ROW, "read read");
	taken("x ../a src/main.c", ROW, "text read*");
	refused("x -e p ../a", "text(-e) read*", "path.outside");
	taken("x a b c build/d", ROW, "read+ write");
	refused("x a b .git/config", "read+ write", "path.protected");
	taken("x .git/config b", ROW, "read+ write");
	refused("x .git/config", "read+ write", "path.protected");
}

TEST(takes_no_doubt)
{
	use(true);
	refused("x $v", "text*", "value.dynamic");
	taken("x a$v", ROW, "text*");
	taken("x a$v% $v%", ROW, "text*");
	refused("x a$v~", "text*", "value.dynamic");
	taken("x -- $v a$v~", ROW, "text*");
	refused("x -- a$v~ b", "text text", "operand");
	refused("x -- $v", "read*", "path.dynamic");
	refused("x -- src/$v", "read*", "path.dynamic");
	refused("x -$v", "text*", "value.dynamic");
	refused("x -l$v", "text*", "value.dynamic");
	taken("x -e$v", ROW, "");
	taken("x -le$v", ROW, "");
	taken("x -e $v", ROW, "");
	refused("x -e $v~", "", "value.dynamic");
	refused("x -e$v~", "", "value.dynamic");
	taken("x --lines=$v", ROW, "");
	refused("x --lin$v", "", "value.dynamic");
	refused("x --name=$v", "", "value.dynamic");
	refused("x -o $v", "", "value.dynamic");
	refused("x -f $v", "", "path.dynamic");
	taken("x -n$v%", ROW, "");
	taken("x HEAD$v $v%", ROW, "rev*");
	refused("x -- $v", "rev", "value.dynamic");
}

TEST(takes_found_names)
{
	use(true);
	taken("x @", ROW, "read*");
	taken("x a @@", ROW, "text read*");
	refused("x ../a @@", "read*", "path.outside");
	refused("x @@ ../a", "text read*", "path.outside");
	refused("x @@", "text read", "operand");
	refused("x @@ a", "name text*", "value.dynamic");
	refused("x -e @@", "", "value.dynamic");
	taken("x -f @", ROW, "");
	/* Nothing has found them, so nothing says that they may be written. */
	refused("x @", "write*", "path.dynamic");
}

TEST(says_what_is_wrong_with_a_notation)
{
	static const struct {
		const char *options, *operands, *fault;
	} rows[] = {
		{"-a:file", "", "unknown kind 'file'"},
		{"a", "", "'a' is not the name of an option"},
		{"--", "", "'--' is not the name of an option"},
		{"-a -b -a", "", "option '-a' is given twice"},
		{"-a,-a", "", "option '-a' is given twice"},
		{"", "read** write", "unknown kind 'read**'"},
		{"", "read* text write",
			"only the last operand, or the one before it, can be repeated"},
		{"", "read* text*", "two operands are repeated"},
		{"", "read(-e", "'read(-e' has no closing bracket"},
		{"", "word{}", "unknown kind 'word{}'"},
		{"", "text text text text text text text text text", "more than 8 operands"},
	};
	struct error err;

	assert_int_equal(notation_check(ROW, "text(-e,-f) read+ write", &err), 0);
	assert_int_equal(notation_check(NULL, NULL, &err), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		err = (struct error){0};
		if (notation_check(rows[i].options, rows[i].operands, &err) == 0)
			fail_msg("should be refused: %s | %s", rows[i].options, rows[i].operands);
		assert_string_equal(err.text, rows[i].fault);
	}
}

TEST(asks_the_policys_own_first)
{
	static struct program own = {.name = "tool", .options = "-v", .operands = "read*"};
	static struct program other = {.name = "sed", .options = "-n", .operands = "text read*"};
	struct program both[] = {own, other};
	const struct binary *b;

	use(true);
	assert_null(binary_find(&arena, &rig_policy, STR("tool")));
	rig_policy.programs = both;
	rig_policy.n_programs = 2;
	b = binary_find(&arena, &rig_policy, STR("tool"));
	assert_string_equal(b->options, "-v");
	b = binary_find(&arena, &rig_policy, STR("sed"));
	assert_null(b->check);
	assert_null(binary_find(&arena, &rig_policy, STR("bash")));
	assert_null(binary_find(&arena, &rig_policy, STR("sudo")));
	use(true);
}

/* Interpreters and what runs a text are in no table but the one that says that code is run. */
TEST(has_no_shells)
{
	static const char *const names[] = {"sh", "bash", "dash", "zsh", "ksh", "busybox", "perl",
		"python", "ruby", "lua", "php", "tclsh", "expect", "vi", "vim", "ed", "ex", "emacs",
		"nano", "less", "more", "man", "eval", "exec", "source", ".", "trap", "alias",
		"enable", "hash", "builtin", "declare", "typeset", "local", "unset", "shopt",
		"sudo", "su", "doas", "chroot", "nsenter", "unshare", "setsid", "setpriv", "ssh",
		"scp", "rsync", "curl", "wget", "nc", "socat", "dd", "mount", "strace", "gdb",
		"ltrace", "watch", "parallel", "entr", "script", "screen", "tmux", "at", "crontab",
		"npx", "pip", "docker", "objcopy", "ld", "as", "ldd", "patch", "split", "csplit",
		"install-info", "kill"};

	use(true);
	for (size_t i = 0; i < COUNT(names); i++)
		if (binary_find(&arena, &rig_policy, str_of(names[i])))
			fail_msg("there is a row for '%s'", names[i]);
}

typedef int checker(struct check *c, struct str text, struct str word, struct span at);

static void sorts(checker *check, const char *const *good, const char *const *bad)
{
	struct check c;

	use(true);
	for (; *good; good++) {
		c = asking();
		if (check(&c, str_of(*good), STR(""), (struct span){0, 0}) < 0)
			fail_msg("should be good: '%s': %s", *good, verdict.reason);
	}
	for (; *bad; bad++) {
		c = asking();
		if (check(&c, str_of(*bad), STR(""), (struct span){0, 0}) == 0)
			fail_msg("should be bad: '%s'", *bad);
	}
}

TEST(checks_flags_of_compilers)
{
	static const char *const good[] = {"", "-O2", "-O2 -g -Wall", " -O2  -g ",
		"-Wall -Wextra -Werror", "-Isrc -Iinclude -DNDEBUG -DX=1",
		"-fsanitize=address,undefined", "-std=c11 -pthread", "-Wl,-O1,--as-needed",
		"-lm -lpthread -Lbuild", "-I/usr/include/libxml2", "-march=native", NULL};
	static const char *const bad[] = {"-O2;id", "$(id)", "`id`", "-O2 | id", "-O2 #", "-DX='a'",
		"-DX=\"a\"", "-DX=(a)", "-O2\n-g", "-O2\t-g", "a.c", "-fplugin=x", "-B.",
		"-wrapper x", "@x", "-I..", "-o ../x", "-specs=x", "-Xlinker x", "-Wl,-plugin,x",
		"-O2 &", "-D", "{a,b}", "-I*", "~", "-O2 \\", NULL};

	sorts(check_flags, good, bad);
}

TEST(checks_names_of_compilers)
{
	static const char *const good[] = {"gcc", "clang", "cc", "gcc-12", "clang-15", "g++ -m64",
		"gcc -m32 -O2", "ccache", NULL};
	static const char *const bad[] = {"", "./gcc", "/tmp/gcc", "sh", "gcc;id", "gcc -B.",
		"gcc12x", "sh -c id", "gcc sh", "python3", "gcc -wrapper sh", NULL};

	sorts(check_compiler, good, bad);
}

UNIT_GROUP(rig_make, rig_remove)
