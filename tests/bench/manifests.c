#include "src/base/yaml.h"
#include "src/graph/manifest.h"
#include "tests/bench/bench.h"
#include "tests/lib/tap.h"

enum { NODES = MANIFEST_NODES_MAX, TRIES = 20 };

/* Layers of ten nodes in one parallel block; each but those of the first has three edges into it.
 */
static void lay(struct buf *b)
{
	buf_adds(b, "apiVersion: dev-team/v1\nkind: AgentManifest\nmetadata: {name: large}\nspec:\n"
		    "  personas: [{name: w, systemPrompt: Work.}]\n"
		    "  topology: {blocks: [{name: all, kind: parallel}]}\n  nodes:\n"
		    "    - {id: n0, persona: w}\n");
	for (unsigned i = 1; i < NODES; i++)
		buf_addf(b, "    - {id: n%u, persona: w, block: all, task: Part %u.}\n", i, i);
	buf_adds(b, "  edges:\n");
	for (unsigned i = 1; i < NODES; i++)
		for (unsigned k = 0; k < (i < 11 ? 1 : 3); k++)
			buf_addf(b, "    - {from: n%u, to: n%u}\n",
				i < 11 ? 0 : (i - 1) / 10 * 10 - 9 + (i + k) % 10, i);
}

void bench_manifests(void)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	double check[TRIES], parse[TRIES];

	lay(&text);
	for (unsigned i = 0; i < TRIES; i++) {
		CLEANUP(buf_release) struct buf faults = BUF_INIT;
		struct arena a = {0};
		struct error err;
		struct yaml *tree;
		double began = bench_now();
		size_t n;

		if (yaml_parse(&a, buf_str(&text), "m.yaml", 1, &tree, &err) < 0)
			die("%s", err.text);
		parse[i] = bench_now() - began;
		arena_release(&a);
		began = bench_now();
		if (manifest_check_text(&a, "m.yaml", buf_str(&text), &faults, &n, &err) < 0 || n)
			die("%s", faults.len ? faults.s : err.text);
		check[i] = bench_now() - began;
		arena_release(&a);
	}
	bench_row("check a manifest of 1,000 nodes / parse it", check, parse, TRIES, "1.5");
}
