#include "context/file.h"
#include "src/base/yaml.h"
#include "src/graph/manifest.h"
#include "src/sys/path.h"
#include "tests/bench/bench.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"

enum { FEW = 1000, MANY = 100000, RUNNING = MANIFEST_RUN_MAX, TRIES = 15, MANY_TRIES = 3 };

/* Layers of nodes in one parallel block; each node but those of the first has three edges into it.
 */
static void lay(struct buf *b, unsigned nodes, unsigned layer)
{
	buf_adds(b, "apiVersion: dev-team/v1\nkind: AgentManifest\nmetadata: {name: large}\nspec:\n"
		    "  personas: [{name: w, systemPrompt: Work.}]\n"
		    "  topology: {blocks: [{name: all, kind: parallel}]}\n  nodes:\n"
		    "    - {id: n0, persona: w}\n");
	for (unsigned i = 1; i < nodes; i++)
		buf_addf(b, "    - {id: n%u, persona: w, block: all, task: Part %u.}\n", i, i);
	buf_adds(b, "  edges:\n");
	for (unsigned i = 1; i < nodes; i++)
		for (unsigned k = 0; k < (i <= layer ? 1 : 3); k++)
			buf_addf(b, "    - {from: n%u, to: n%u}\n",
				i <= layer ? 0
					   : (i - 1) / layer * layer - layer + 1 + (i + k) % layer,
				i);
}

static double parse_once(struct str text)
{
	CLEANUP(arena_release) struct arena a = {0};
	double began = bench_now();
	struct error err;
	struct yaml *tree;

	if (yaml_parse(&a, text, "m.yaml", 1, &tree, &err) < 0)
		die("%s", err.text);
	return bench_now() - began;
}

static double check_once(struct str text)
{
	CLEANUP(buf_release) struct buf faults = BUF_INIT;
	CLEANUP(arena_release) struct arena a = {0};
	double began = bench_now();
	struct error err;
	size_t n;

	if (manifest_check_text(&a, "m.yaml", text, &faults, &n, &err) < 0 || n)
		die("%s", faults.len ? faults.s : err.text);
	return bench_now() - began;
}

static void compare_check(const char *name, unsigned nodes, unsigned tries)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	double check[TRIES], parse[TRIES];

	lay(&text, nodes, 10);
	for (unsigned i = 0; i < tries; i++) {
		parse[i] = parse_once(buf_str(&text));
		check[i] = check_once(buf_str(&text));
	}
	bench_row(name, check, parse, tries, "1.5");
}

/* ---- a step ---- */

static double run_once(const char *dir, const char *const *argv, const char *input)
{
	struct run r = {.argv = argv, .cwd = dir, .input = str_of(input), .limit_s = WAIT_LIMIT_S};
	double began = bench_now(), ms;

	run(&r);
	ms = bench_now() - began;
	if (r.status)
		die("'%s': %s", argv[1], r.err.s);
	run_release(&r);
	return ms;
}

/* Reads and parses the manifest and the document of the item, once. */
static double read_once(const char *manifest, const char *document)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	double began = bench_now();
	struct error err;
	bool missing;

	if (sys_read_file(&text, manifest, MANIFEST_BYTES_MAX, &missing, &err) < 0)
		die("%s", err.text);
	(void)parse_once(buf_str(&text));
	if (context_open(&f, document, CONTEXT_READ_ONLY, &err) < 0)
		die("%s", err.text);
	return bench_now() - began;
}

static void compare_step(const char *dir, const char *program)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(arena_release) struct arena a = {0};
	const char *manifest = path_join(&a, dir, "large.yaml");
	const char *document = path_join(&a, dir, "large/B-1.md");
	const char *const step[] = {program, "step", "B-1", "--workflow", manifest,
		"--context-file", document, "--repo", dir, "--owner", "bench", NULL};
	const char *const record[] = {program, "record", "--context-file", document, "--action",
		"B-1/n0/1", "--result", "success", NULL};
	double steps[TRIES], reads[TRIES];

	lay(&text, RUNNING, 100);
	tree_write(manifest, buf_str(&text));
	(void)run_once(dir, step, "");
	(void)run_once(dir, record, "Go.\n");
	for (unsigned i = 0; i < TRIES; i++) {
		steps[i] = run_once(dir, step, "");
		reads[i] = read_once(manifest, document);
	}
	bench_row("step, 10,000 nodes, 100 out / read and parse", steps, reads, TRIES, "3.0");
}

void bench_manifests(const char *dir, const char *program)
{
	compare_check("check a manifest of 1,000 nodes / parse it", FEW, TRIES);
	compare_check("check 100,000 nodes / parse them", MANY, MANY_TRIES);
	compare_step(dir, program);
}
