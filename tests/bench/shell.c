#include "src/policy/table.h"
#include "src/shell/parse.h"
#include "tests/bench/bench.h"
#include "tests/lib/tap.h"

enum { TRIES = 15, SMALL = 1 << 10 };

/* A piece that is repeated, and the text around it. */
static const struct worst {
	const char *name, *before, *piece, *after;
	unsigned most;     /* repetitions; 0: up to the longest text allowed */
	const char *close; /* repeated as often, after all of them */
} worst[] = {
	{"one long word", "echo ", "a", "", 0, NULL},
	{"backslashes", "echo ", "\\a", "", 0, NULL},
	{"empty quotes", "echo a", "''", "", 0, NULL},
	{"quotes in turn", "echo ", "'a'\"b\"", "", 0, NULL},
	{"words", "echo", " a", "", 4000, NULL},
	{"variables", "x=1; echo ", "$x", "", 0, NULL},
	{"braces", "echo ", "{", "", 60, NULL},
	{"closing braces", "echo {", "}", "", 0, NULL},
	{"brackets", "echo ", "[", "", 0, NULL},
	{"stars", "ls ", "*", "", 0, NULL},
	{"stars and letters", "ls ", "*a", "b", 0, NULL},
	{"folders of stars", "ls ", "*/", "", 0, NULL},
	{"parents", "cat ", "../", "x", 0, NULL},
	{"folders up and down", "cat ", "src/../", "x", 0, NULL},
	{"continued lines", "echo ", "\\\n ", "", 0, NULL},
	{"comments", "ls\n", "#\n", "", 0, NULL},
	{"one comment", "ls #", "a", "", 0, NULL},
	{"empty lines", "ls", "\n", "", 0, NULL},
	{"blanks", "ls", " ", "", 0, NULL},
	{"commands", "ls", ";ls", "", 500, NULL},
	{"alternatives", "ls", " || cd src", "", 250, NULL},
	{"pipes", "ls", "|ls", "", 500, NULL},
	{"background", "ls", "&ls", "", 500, NULL},
	{"subshells", "", "( ", "ls", 30, ")"},
	{"outputs in outputs", "echo ", "$(echo ", "a", 15, ")"},
	{"redirections", "ls", " 2>&1", "", 4000, NULL},
	{"here documents", "cat", " <<E", "\n", 4000, "E\n"},
	{"a long here document", "cat <<'E'\n", "a\n", "E\n", 0, NULL},
	{"nearly the end", "cat <<'EEEEEEEEEE'\n", "EEEEEEEEE\n", "EEEEEEEEEE\n", 0, NULL},
	{"assignments", "", "CC=gcc ", "make", 4000, NULL},
	{"loops", "for i in 1 2 3; do ", "cd src; ", "ls; done", 250, NULL},
	{"nested loops", "", "for i in a b c d; do ", "ls; ", 15, "done; "},
	{"branches that go elsewhere", "", "if cd src; then ls; else cd sub; fi; ", "ls", 100,
		NULL},
	{"variables that double", "x=aaaaaaaa; ", "x=$x$x; ", "echo $x", 160, NULL},
	{"a long sed script", "sed '", "s/a/b/;", "' README.md", 0, NULL},
	{"blocks of sed", "sed '", "{", "p' README.md", 0, NULL},
	{"arms", "case a in ", "b) ls;; ", "esac", 400, NULL},
	{"wrappers", "", "env ", "ls", 4000, NULL},
	{"tests of find", "find . ", "-name a -o ", "-print", 1200, NULL},
	{"open quote", "echo '", "a", "", 0, NULL},
	{"zeros", "echo ", "0", ">x", 0, NULL},
};

static void fill(struct buf *out, const struct worst *w)
{
	size_t end = strlen(w->after) + strlen(w->piece);

	buf_clear(out);
	buf_adds(out, w->before);
	for (unsigned i = 0; (!w->most || i < w->most) && out->len + end <= SHELL_MAX; i++)
		buf_adds(out, w->piece);
	buf_adds(out, w->after);
	for (unsigned i = 0; w->close && i < w->most; i++)
		buf_adds(out, w->close);
}

static bool parse(const struct fixture *f, const struct policy *p, struct str text)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct verdict v = {0};
	struct node *tree;

	(void)f;
	(void)p;
	return shell_parse(&a, text, &tree, &v) == 0;
}

static bool check(const struct fixture *f, const struct policy *p, struct str text)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct verdict v;
	struct node *tree;

	return policy_check(&a, p, &f->root, f->tree, text, &tree, &v, NULL) == 0;
}

typedef bool (*job)(const struct fixture *f, const struct policy *p, struct str text);

/* The best of some tries, because other load only adds time. */
static double best(
	job what, const struct fixture *f, const struct policy *p, struct str text, bool *yes)
{
	double least = 0;

	for (int i = 0; i < TRIES; i++) {
		double from = bench_now(), took;

		*yes = what(f, p, text);
		took = bench_now() - from;
		if (i == 0 || took < least)
			least = took;
		if (took > 200)
			break;
	}
	return least;
}

static double per_kib(double ms, size_t n)
{
	/* A short text may take as long as a whole KiB. */
	return ms * 1024 / (double)(n > SMALL ? n : SMALL);
}

void bench_shell(void)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(fixture_release) struct fixture f = {.root.fd = -1};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct policy policy;
	struct error err;
	double most_parse = 0, most_check = 0;

	if (fixture_make(&a, &f, &err) < 0 || policy_load(&a, "developer", &policy, &err) < 0)
		die("%s", err.text);
	printf("\n%-30s %8s %10s %10s %9s\n", "the worst texts for the shell policy", "bytes",
		"parse", "check", "verdict");
	for (size_t i = 0; i < COUNT(worst); i++) {
		bool parsed, allowed;
		double p, c;

		fill(&text, &worst[i]);
		p = per_kib(best(parse, &f, &policy, buf_str(&text), &parsed), text.len);
		c = per_kib(best(check, &f, &policy, buf_str(&text), &allowed), text.len);
		most_parse = p > most_parse ? p : most_parse;
		most_check = c > most_check ? c : most_check;
		printf("%-36s %8zu %10.4f %10.4f %9s\n", worst[i].name, text.len, p, c,
			allowed  ? "allow"
			: parsed ? "deny"
				 : "no parse");
		fflush(stdout);
	}
	printf("%-36s %8s %10.4f %10.4f %9s  <= 1 ms per KiB\n", "the worst of them", "",
		most_parse, most_check, "");
}
