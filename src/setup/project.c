/*
 * project.c: what builds and tests a repository. One table says which files mark a kind of project
 * and which commands check it; the commands that depend on the content of a file are found by a
 * function of the row.
 */
#include "src/base/json.h"
#include "src/setup/setup.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

enum { MARKER_MAX = 1 << 20, PLACES_MAX = 8 };

/* A directory in which a kind of project was found. */
struct place {
	struct arena *arena;
	const char *repo;   /* its root */
	const char *dir;    /* absolute */
	const char *marker; /* the file that was found, its name only */
	bool alone;         /* no other kind of project is there */
	struct project *out;
};

static void setup_project_add_command(struct place *p, const char *command)
{
	vec_push_in(p->arena, &p->out->commands, command);
}

static bool setup_project_has(const struct place *p, const char *name)
{
	return path_exists(path_join(p->arena, p->dir, name));
}

/* The text of a file of the directory; "" if it cannot be read. */
static struct str setup_project_read_file(struct place *p, const char *name)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;

	if (sys_read_file(&text, path_join(p->arena, p->dir, name), MARKER_MAX, NULL, &ignored) < 0)
		buf_clear(&text);
	return arena_str(p->arena, buf_str(&text));
}

static bool setup_project_names(struct place *p, const char *file, const char *word)
{
	struct str text = setup_project_read_file(p, file);

	return str_find(text, str_of(word)) < text.n;
}

/* ---- C ---- */

/* A rule `NAME:` or `NAME other:`, not an assignment `NAME := ...`. */
static bool is_rule(struct str line, const char *name)
{
	struct str targets = str_sub(line, 0, str_find(line, STR(":")));

	if (targets.n == line.n || (targets.n + 1 < line.n && line.p[targets.n + 1] == '='))
		return false;
	while (targets.n) {
		size_t n = str_find(targets, STR(" "));

		if (str_is(str_sub(targets, 0, n), name))
			return true;
		targets = n < targets.n ? str_sub(targets, n + 1, targets.n) : (struct str){0};
	}
	return false;
}

static bool has_target(struct place *p, const char *name)
{
	struct str rest = setup_project_read_file(p, p->marker), line;

	while (str_line(&rest, &line))
		if (is_rule(line, name))
			return true;
	return false;
}

static void find_configure(struct place *p)
{
	if (!setup_project_has(p, "configure"))
		setup_project_add_command(
			p, setup_project_has(p, "autogen.sh") ? "./autogen.sh" : "autoreconf -i");
	setup_project_add_command(p, "./configure");
	setup_project_add_command(p, "make");
	setup_project_add_command(p, "make check");
	p->out->tested = true;
}

/* Next to another kind of project the default target may be anything, such as a deployment. */
static void find_make(struct place *p)
{
	const char *test = has_target(p, "test")    ? "make test"
			   : has_target(p, "check") ? "make check"
						    : NULL;

	if (setup_project_has(p, "Makefile.in") || setup_project_has(p, "Makefile.am")) {
		find_configure(p); /* which makes the Makefile */
		return;
	}
	if (!test &&
		(setup_project_has(p, "CMakeLists.txt") || setup_project_has(p, "meson.build")))
		return;
	if (p->alone)
		setup_project_add_command(p, "make");
	if (test)
		setup_project_add_command(p, test);
	p->out->tested = test;
}

/* ---- Python ---- */

static bool is_test_file(struct str name)
{
	return (str_starts(name, "test_") && str_ends(name, ".py")) || str_ends(name, "_test.py");
}

/* It is named, or no test is written for unittest. */
static bool uses_pytest(struct place *p, char *const *tests, size_t n)
{
	static const char *const files[] = {"pyproject.toml", "requirements.txt",
		"requirements-dev.txt", "dev-requirements.txt", "requirements/dev.txt", "setup.cfg",
		"setup.py", "tox.ini", "Pipfile"};

	for (size_t i = 0; i < COUNT(files); i++)
		if (setup_project_names(p, files[i], "pytest"))
			return true;
	for (size_t i = 0; i < n; i++)
		if (setup_project_names(p, tests[i], "unittest"))
			return false;
	return true;
}

#define PARSE_PYTHON                                                                               \
	"git ls-files -z -co --exclude-standard '*.py' | xargs -0 -r python3 -c "                  \
	"'import ast, sys; [ast.parse(open(f, \"rb\").read(), f) for f in sys.argv[1:]]'"

/* The test files of the directory, relative to it. */
static size_t find_tests(struct place *p, char ***tests)
{
	size_t all, n = 0, skip = strlen(p->dir) - strlen(p->repo);
	struct error ignored;

	if (git_find_files(p->arena, p->repo, is_test_file, tests, &all, &ignored) < 0)
		return 0;
	for (size_t i = 0; i < all; i++) {
		char *path = (*tests)[i];

		if (!skip || strncmp(path, p->dir + strlen(p->repo) + 1, skip - 1) == 0)
			(*tests)[n++] = path + skip;
	}
	return n;
}

/* The program that runs others with the modules of the lock file; NULL: none is needed. */
static const char *python_runner(struct place *p)
{
	return setup_project_has(p, "uv.lock")        ? "uv"
	       : setup_project_has(p, "poetry.lock")  ? "poetry"
	       : setup_project_has(p, "Pipfile.lock") ? "pipenv"
						      : NULL;
}

static void find_python(struct place *p)
{
	const char *runner = python_runner(p);
	const char *prefix = runner ? arena_printf(p->arena, "%s run ", runner) : "";
	char **tests;
	size_t n = find_tests(p, &tests);

	p->out->tested = n > 0;
	if (n && runner)
		p->out->tool = runner;
	setup_project_add_command(p, "export PYTHONDONTWRITEBYTECODE=1");
	if (!n)
		setup_project_add_command(p, PARSE_PYTHON);
	else if (uses_pytest(p, tests, n))
		setup_project_add_command(p, arena_printf(p->arena, "%s" PROJECT_PYTEST, prefix));
	else
		setup_project_add_command(
			p, arena_printf(p->arena, "%spython3 -m unittest discover -p '*test*.py'%s",
				   prefix,
				   !path_is_directory(path_join(p->arena, p->dir, "tests")) ? ""
				   : setup_project_has(p, "tests/__init__.py") ? " -s tests -t ."
									       : " -s tests"));
}

/* ---- Node ---- */

static const struct package_manager {
	const char *lock, *name, *install;
} package_managers[] = {
	{"pnpm-lock.yaml", "pnpm", "pnpm install --frozen-lockfile"},
	{"yarn.lock", "yarn", "yarn install --frozen-lockfile"},
	{"bun.lock", "bun", "bun install --frozen-lockfile"},
	{"bun.lockb", "bun", "bun install --frozen-lockfile"},
	{"package-lock.json", "npm", "npm ci"},
	{"npm-shrinkwrap.json", "npm", "npm ci"},
	{NULL, "npm", "npm install --no-package-lock"},
};

static const struct package_manager *package_manager(struct place *p)
{
	const struct package_manager *m = package_managers;

	while (m->lock && !setup_project_has(p, m->lock))
		m++;
	return m;
}

/* `npm init` writes a test that says that there is none. */
static bool is_test_script(const char *script)
{
	return script && *script && !strstr(script, "no test specified");
}

static void find_node(struct place *p)
{
	const struct package_manager *m = package_manager(p);
	CLEANUP(json_free) json *package = NULL;
	const json *scripts;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error err = {0};

	if (sys_read_file(&text, path_join(p->arena, p->dir, "package.json"), MARKER_MAX, NULL,
		    &err) < 0 ||
		json_parse(&package, buf_str(&text), &err) < 0) {
		p->out->fault = arena_dup(p->arena, str_of(err.text));
		return;
	}
	scripts = json_get(package, "scripts");
	p->out->tool = m->name;
	if (json_len(json_get(package, "dependencies")) ||
		json_len(json_get(package, "devDependencies")))
		setup_project_add_command(
			p, arena_printf(p->arena, "[ -d node_modules ] || %s",
				   m->lock && strcmp(m->name, "yarn") == 0 &&
						   setup_project_has(p, ".yarnrc.yml")
					   ? "yarn install --immutable"
					   : m->install));
	if (json_get_str(scripts, "build"))
		setup_project_add_command(p, arena_printf(p->arena, "%s run build", m->name));
	p->out->tested = is_test_script(json_get_str(scripts, "test"));
	if (p->out->tested)
		setup_project_add_command(p, arena_printf(p->arena, "%s run test", m->name));
}

/* ---- Java ---- */

static void find_maven(struct place *p)
{
	bool own = setup_project_has(p, "mvnw");

	p->out->tested = true;
	p->out->tool = own ? "java" : "mvn";
	setup_project_add_command(p, own ? "sh ./mvnw -q -B verify" : "mvn -q -B verify");
}

static void find_gradle(struct place *p)
{
	bool own = setup_project_has(p, "gradlew");

	p->out->tested = true;
	p->out->tool = own ? "java" : "gradle";
	setup_project_add_command(p, own ? "sh ./gradlew -q build" : "gradle -q build");
}

/* ---- the table ---- */

#define OUTSIDE "build=$(mktemp -d) && trap 'rm -rf \"$build\"' EXIT"

/* Of the rows of one language the first that is found in a directory counts. */
static const struct kind {
	const char *language, *tool;
	const char *markers[5];
	const char *commands[5];
	void (*find)(struct place *p); /* NULL: `commands`, which test it */
} kinds[] = {
	{"C (make)", "make", {"GNUmakefile", "Makefile", "makefile"}, {0}, find_make},
	{"C (meson)", "meson", {"meson.build"},
		{OUTSIDE, "meson setup \"$build\"", "meson compile -C \"$build\"",
			"meson test -C \"$build\" --print-errorlogs"},
		NULL},
	{"C (cmake)", "cmake", {"CMakeLists.txt"},
		{OUTSIDE, "cmake -S . -B \"$build\"", "cmake --build \"$build\"",
			"ctest --test-dir \"$build\" --output-on-failure"},
		NULL},
	{"C (configure)", "make", {"configure", "configure.ac"}, {0}, find_configure},
	{"Python", "python3",
		{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"}, {0},
		find_python},
	{"Node", "node", {"package.json"}, {0}, find_node},
	{"Go", "go", {"go.mod"}, {"go build ./...", "go vet ./...", "go test ./..."}, NULL},
	{"Rust", "cargo", {"Cargo.toml"}, {"cargo build", "cargo test"}, NULL},
	{"Java (maven)", "mvn", {"pom.xml"}, {0}, find_maven},
	{"Java (gradle)", "gradle", {"build.gradle", "build.gradle.kts"}, {0}, find_gradle},
};

static bool is_marker_of(const struct kind *k, struct str name)
{
	for (size_t i = 0; i < COUNT(k->markers) && k->markers[i]; i++)
		if (str_is(name, k->markers[i]))
			return true;
	return false;
}

static bool is_marker(struct str name)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (is_marker_of(&kinds[i], name))
			return true;
	return false;
}

/* `C` of "C (make)". */
static struct str family(const char *language)
{
	return str_sub(str_of(language), 0, strcspn(language, " "));
}

/* What is there for other projects or for tests. */
static bool setup_project_is_foreign(struct str path)
{
	static const char *const parts[] = {"node_modules", "vendor", "third_party", "testdata",
		"fixtures", "examples", "example", "test", "tests", NULL};

	while (path.n) {
		size_t n = str_find(path, STR("/"));

		if (n < path.n && str_in(str_sub(path, 0, n), parts))
			return true;
		path = n < path.n ? str_sub(path, n + 1, path.n) : (struct str){0};
	}
	return false;
}

/* Whether a project above `dir`, or in it, has the same family: its commands cover this one. */
static bool is_covered(const struct projects *all, const char *dir, struct str of)
{
	for (size_t i = 0; i < all->n; i++) {
		const char *above = all->items[i].dir;
		size_t n = strlen(above);

		if (str_eq(family(all->items[i].language), of) &&
			(!n || (strncmp(above, dir, n) == 0 && (!dir[n] || dir[n] == '/'))))
			return true;
	}
	return false;
}

/* A build file of another family next to it: the default target of make is then not the build. */
static bool setup_project_is_alone(
	char *const *paths, size_t n, const char *dir, const struct kind *k)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < COUNT(kinds); j++)
			if (str_is(path_dir(paths[i]), *dir ? dir : ".") &&
				!str_eq(family(kinds[j].language), family(k->language)) &&
				is_marker_of(&kinds[j], path_base(paths[i])))
				return false;
	return true;
}

static void add_project(struct arena *a, const char *repo, const struct kind *k, const char *dir,
	const char *marker, bool alone, struct projects *out)
{
	struct project found = {
		.language = k->language, .dir = dir, .tool = k->tool, .tested = !k->find};
	struct place p = {.arena = a,
		.repo = repo,
		.dir = *dir ? path_join(a, repo, dir) : repo,
		.marker = marker,
		.alone = alone,
		.out = &found};

	for (size_t i = 0; i < COUNT(k->commands) && k->commands[i]; i++)
		setup_project_add_command(&p, k->commands[i]);
	if (k->find)
		k->find(&p);
	if (found.commands.n)
		vec_push_in(a, out, found);
	if (found.fault && !out->fault)
		out->fault = arena_printf(a, "'%s' cannot be read: %s",
			*dir ? path_join(a, dir, marker) : marker, found.fault);
}

static size_t depth(const char *path)
{
	size_t n = 0;

	for (; *path; path++)
		n += *path == '/';
	return n;
}

int project_find(struct arena *a, const char *repo, struct projects *out, struct error *err)
{
	char **paths;
	size_t n, deepest = 0;

	*out = (struct projects){0};
	if (git_find_files(a, repo, is_marker, &paths, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		deepest = depth(paths[i]) > deepest ? depth(paths[i]) : deepest;
	for (size_t level = 0; level <= deepest; level++)
		for (size_t k = 0; k < COUNT(kinds); k++)
			for (size_t i = 0; i < n && out->n < PLACES_MAX; i++) {
				struct str in = path_dir(paths[i]), base = path_base(paths[i]);
				const char *dir = str_is(in, ".") ? "" : arena_dup(a, in);

				if (depth(paths[i]) == level && is_marker_of(&kinds[k], base) &&
					!setup_project_is_foreign(str_of(paths[i])) &&
					!is_covered(out, dir, family(kinds[k].language)))
					add_project(a, repo, &kinds[k], dir, arena_dup(a, base),
						setup_project_is_alone(paths, n, dir, &kinds[k]),
						out);
			}
	return 0;
}

const char *project_script(struct arena *a, const struct projects *all)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	buf_adds(&out,
		"#!/bin/sh\n"
		"# Builds and tests this repository; the exit status is 0 if all passes.\n"
		"# dev-team validates each change with it, in a worktree of its own: what git\n"
		"# ignores in this checkout is not there.\n"
		"set -eu\n"
		"cd \"$(dirname \"$0\")/..\"\n");
	for (size_t i = 0; i < all->n; i++) {
		const struct project *p = &all->items[i];
		const char *indent = *p->dir ? "\t" : "";

		buf_addf(&out, "\n# %s\n", p->language);
		if (*p->dir)
			buf_add_argument(&out, "(\n\tcd ", p->dir);
		for (size_t k = 0; k < p->commands.n; k++)
			buf_addf(&out, "%s%s%s\n", *p->dir && !k ? "\n" : "", indent,
				p->commands.items[k]);
		if (!p->tested)
			buf_addf(&out, "%s# No tests were found: add the command that runs them.\n",
				indent);
		buf_adds(&out, *p->dir ? ")\n" : "");
	}
	return arena_dup(a, buf_str(&out));
}
