/* diff goes through directories, and jq has a language: what of both leads to other files is
 * denied. */
#include "src/policy/found.h"

/* diff of two directories follows the symbolic links in them, except with --no-dereference. */
static int check_folder(struct check *c, const struct call *call, const struct arg *arg, bool deep)
{
	const struct finding f = {.starts = arg, .n = 1, .followed = true};
	struct place place;

	if (arg->origin == ARG_FOUND)
		return bin_refuse(c, RULE_OPTION, arg,
			"diff of directories follows links: give --no-dereference");
	if (!deep && (bin_place(c, call, arg, &place) < 0 || !place.folder))
		return 0;
	return check_links(c, call, &f, arg);
}

int check_diff(struct check *c, const struct call *call)
{
	const struct binary *row = binaries_text;
	struct parsed p;

	while (row->check != check_diff)
		row++;
	if (check_options(c, call, 1, row->options, &p) < 0 ||
		check_operands(c, call, &p, row->operands) < 0)
		return -1;
	for (size_t i = 0; i < p.n_operands && !given_any(&p, "--no-dereference"); i++)
		if (check_folder(c, call, &p.operands[i], given_any(&p, "-r")) < 0)
			return -1;
	return 0;
}

static bool is_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
}

/* `import "a" as b;` and `include "a";` read files from wherever they are told to; the environment
 * may have secrets. */
static bool reads_elsewhere(struct str s)
{
	static const char *const words[] = {"import", "include", "env", "ENV"};

	for (size_t i = 0; i < s.n; i++) {
		if (i && (is_letter(s.p[i - 1]) || s.p[i - 1] == '.' || s.p[i - 1] == '"'))
			continue;
		for (size_t k = 0; k < COUNT(words); k++) {
			size_t n = strlen(words[k]);

			if (s.n - i >= n && !memcmp(s.p + i, words[k], n) &&
				(s.n - i == n || !is_letter(s.p[i + n])))
				return true;
		}
	}
	return false;
}

/* The options of jq that take a name and a value. */
static int drop_pairs(struct check *c, const struct call *call, struct call *out)
{
	static const char *const names[] = {
		"--arg", "--argjson", "--slurpfile", "--rawfile", "--argfile"};

	*out = *call;
	out->args = arena_alloc(c->arena, (call->n + 1) * sizeof(*out->args));
	out->n = 0;
	for (size_t i = 0; i < call->n; i++) {
		size_t k = 0;

		if (bin_is(&call->args[i], "--"))
			return bin_refuse(
				c, RULE_OPTION, &call->args[i], "not the same in every jq: '--'");
		while (k < COUNT(names) && !bin_is(&call->args[i], names[k]))
			k++;
		/* Its value is taken whatever it looks like. */
		if (bin_is(&call->args[i], "--indent") && i + 1 < call->n)
			out->args[out->n++] = call->args[i++];
		if (k == COUNT(names)) {
			out->args[out->n++] = call->args[i];
			continue;
		}
		if (i + 2 >= call->n || call->args[i + 1].split || call->args[i + 2].split)
			return bin_refuse(c, RULE_OPTION, &call->args[i],
				"this option needs a name and a value");
		if (k >= 2 && check_value(c, call, &call->args[i + 2], STR("read")) < 0)
			return -1;
		i += 2;
	}
	return 0;
}

int check_jq(struct check *c, const struct call *call)
{
	struct call rest;
	struct parsed p;

	if (drop_pairs(c, call, &rest) < 0 ||
		check_options(c, &rest, 1,
			"-n,--null-input -r,--raw-output -R,--raw-input -c,--compact-output "
			"-C,--color-output -M,--monochrome-output -S,--sort-keys -s,--slurp "
			"-e,--exit-status -a,--ascii-output -j,--join-output --tab --indent:number "
			"--stream --seq --unbuffered --args --jsonargs",
			&p) < 0 ||
		check_operands(c, &rest, &p, "text read*") < 0)
		return -1;
	if (!p.n_operands)
		return 0;
	if (p.operands[0].origin != ARG_KNOWN)
		return bin_refuse(
			c, RULE_SCRIPT, &p.operands[0], "a filter that is not known from the text");
	if (reads_elsewhere(p.operands[0].text))
		return bin_refuse(c, RULE_SCRIPT, &p.operands[0],
			"a filter that reads modules or the environment");
	return asked(c, RULE_SCRIPT, p.operands[0].at, p.operands[0].text, STR(""), 0);
}
