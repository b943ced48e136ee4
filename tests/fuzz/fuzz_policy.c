/*
 * The whole check on any text, with any policy: the first line is a policy as the rows of tables
 * have it, or its first byte chooses a shipped one; the rest is the command. Every input gets a
 * verdict: allowed with a tree, or denied with a reason and a position in the text. Nothing is
 * written: a write to a file ends the process, and the directories are unchanged.
 */
#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "src/policy/table.h"
#include "tests/fuzz/fuzz.h"

static struct arena arena;
static struct fixture fixture = {.root.fd = -1};

static void end(void)
{
	fixture_release(&fixture);
	arena_release(&arena);
}

static void begin(void)
{
	struct error err;

	if (fixture.tree)
		return;
	expect(fixture_make(&arena, &fixture, &err) == 0);
	expect(atexit(end) == 0);
}

static bool choose(struct arena *a, struct str line, struct policy *out)
{
	CLEANUP(json_free) json *j = NULL;
	const char *const *names = policy_shipped();
	struct error err;
	size_t n = 0;

	if (line.n && line.p[0] == '{')
		return json_parse(&j, line, &err) == 0 && policy_from_json(a, j, out, &err) == 0;
	while (names[n])
		n++;
	return policy_load(a, names[line.n ? (uint8_t)line.p[0] % n : 0], out, &err) == 0;
}

/* A checksum that changes when something is created or removed in the directory. */
static uint64_t directories(void)
{
	static const char *const names[] = {
		"..", ".", "src", "sub", "build", "include", ".git", ".git/hooks", "../other"};
	uint64_t sum = 0;

	for (size_t i = 0; i < COUNT(names); i++) {
		struct stat st;

		expect(fstatat(fixture.root.fd, names[i], &st, 0) == 0);
		sum = sum * 31 + (uint64_t)st.st_ctim.tv_sec * 1000000000 +
		      (uint64_t)st.st_ctim.tv_nsec;
	}
	return sum;
}

static void look(const struct verdict *v, struct str text)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	CLEANUP(json_free) json *j = verdict_object(v);

	expect(v->rule < RULES && v->at.from <= v->at.to && v->at.to <= text.n);
	expect(v->reason[0]);
	verdict_line(&line, v);
	for (size_t i = 0; i < line.len; i++)
		expect((unsigned char)line.s[i] >= ' ' && line.s[i] != 0x7f);
	expect(!str_utf8_fault(buf_str(&line)));
	buf_clear(&line);
	json_print(&line, j);
	expect(!str_utf8_fault(buf_str(&line)));
}

static void check(struct arena *a, const struct policy *p, struct str text)
{
	struct rlimit former, none;
	struct trace trace = {0};
	struct node *tree = NULL;
	struct verdict v;
	uint64_t before = directories();
	int rc;

	expect(getrlimit(RLIMIT_FSIZE, &former) == 0);
	none = (struct rlimit){0, former.rlim_max};
	expect(setrlimit(RLIMIT_FSIZE, &none) == 0);
	rc = policy_check(a, p, &fixture.root, fixture.tree, text, &tree, &v, &trace);
	expect(setrlimit(RLIMIT_FSIZE, &former) == 0);
	expect(directories() == before && (rc < 0) == v.denied);
	if (rc < 0)
		look(&v, text);
	else
		expect(tree != NULL);
	for (size_t i = 0; i < trace.n; i++)
		expect(trace.list[i].at.from <= trace.list[i].at.to &&
			trace.list[i].at.to <= text.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct str rest = {(const char *)data, size}, line;
	struct policy policy;

	begin();
	if (str_line(&rest, &line) && choose(&a, line, &policy))
		check(&a, &policy, rest);
	return 0;
}
