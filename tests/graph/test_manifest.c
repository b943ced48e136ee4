#include "src/graph/manifest.h"
#include "tests/lib/scratch.h"

static struct error err;

/* The faults of a manifest `m.yaml`, one a line; or why it is no YAML. */
static const char *faults_of(const char *text)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	size_t n;

	if (manifest_check_text(&arena, "m.yaml", str_of(text), &out, &n, &err) < 0)
		return arena_printf(&arena, "%u:%u: %s", err.line, err.col, err.text);
	return out.len ? arena_dup(&arena, buf_str(&out)) : "";
}

#define HEAD "apiVersion: dev-team/v1\nkind: AgentManifest\nmetadata: {name: m}\nspec:\n"
#define WHO  "  personas: [{name: w, systemPrompt: Work.}]\n"
#define ABC                                                                                        \
	"  nodes:\n    - {id: a, persona: w}\n    - {id: b, persona: w}\n    - {id: c, persona: "  \
	"w}\n"
/* Line 7 has the first node, line 11 the first edge. */
#define GRAPH(edges) HEAD WHO ABC "  edges:\n" edges

static const struct {
	const char *text, *faults;
} rows[] = {
	{GRAPH("    - {from: a, to: b}\n    - {from: b, to: c}\n"), ""},
	/* the graph */
	{GRAPH("    - {from: a, to: b}\n    - {from: b, to: c}\n    - {from: c, to: b}\n"),
		"m.yaml:13:7: the edges run in a circle: 'b' -> 'c' -> 'b'\n"},
	{GRAPH("    - {from: a, to: b}\n    - {from: b, to: b}\n    - {from: b, to: c}\n"),
		"m.yaml:12:7: the edges run in a circle: 'b' -> 'b'\n"},
	{GRAPH("    - {from: a, to: b}\n"), "m.yaml:9:12: node 'c' cannot be reached from 'a'\n"},
	{GRAPH("    - {from: a, to: b}\n    - {from: b, to: d}\n"),
		"m.yaml:12:21: unknown node 'd'\n"},
	{GRAPH("    - {from: a, to: b}\n    - {from: b, to: c}\n") "  entry: b\n",
		"m.yaml:7:12: node 'a' cannot be reached from 'b'\n"
		"m.yaml:13:10: 'b' is the entry, and 'a' leads to it\n"},
	/* routes */
	{GRAPH("    - {from: a, to: b}\n    - {from: a, to: c}\n"),
		"m.yaml:12:7: two routes from 'a' can both be taken, to 'b' (line 11) and to 'c': "
		"give them conditions that exclude each other, or put both nodes into one parallel "
		"block\n"},
	{GRAPH("    - {from: a, to: b}\n    - {from: a, to: c, on: validation_fail}\n"), ""},
	{GRAPH("    - {from: a, to: b, when: [{type: state_flag, flag: x}]}\n"
	       "    - {from: a, to: c, when: [{type: state_flag, flag: x, is: false}]}\n"),
		""},
	{GRAPH("    - {from: a, to: b, when: [{type: state_flag, flag: x}]}\n"
	       "    - {from: a, to: b, when: [{type: state_flag, flag: y}]}\n"
	       "    - {from: b, to: c}\n"),
		"m.yaml:12:7: two edges from 'a' to 'b' can both be taken: the first is in line "
		"11\n"},
	{GRAPH("    - {from: a, to: b}\n    - {from: a, to: c}\n    - {from: b, to: c}\n"), ""},
	{GRAPH("    - {from: a, to: b}\n    - {from: a, to: c, on: validation_fail}\n"
	       "    - {from: b, to: c}\n"),
		"m.yaml:9:12: node 'c' can never be dispatched: no status of 'a' lets all that it "
		"waits for choose it\n"},
	{GRAPH("    - {from: a, to: b}\n    - {from: a, to: c, on: failure}\n"),
		"m.yaml:12:28: the edge is never taken: 'a' is in a sequential block, where a "
		"failure "
		"ends the run\n"},
	/* names */
	{GRAPH("    - {from: a, to: b, event: gone}\n    - {from: b, to: c}\n"),
		"m.yaml:11:31: unknown event 'gone': 'events' must declare it\n"},
	{GRAPH("    - {from: a, to: b, when: [{type: history_has_event, event: gone}]}\n"
	       "    - {from: b, to: c, when: [{type: file_exists, path: x, flag: y}]}\n"),
		"m.yaml:11:64: unknown event 'gone': 'events' must declare it\n"
		"m.yaml:12:66: 'flag' does not go with this type\n"},
	{HEAD WHO "  nodes: [{id: a, persona: x}, {id: a, persona: w}]\n",
		"m.yaml:6:28: unknown persona 'x'\n"
		"m.yaml:6:37: duplicate id 'a': the first is in line 6\n"
		"m.yaml:6:37: node 'a' cannot be reached from 'a'\n"},
	{HEAD WHO "  nodes: [{id: a}]\n",
		"m.yaml:5:14: no node has the persona 'w'\n"
		"m.yaml:6:11: node 'a' must have one of 'persona', 'command', 'workflow', 'merge' "
		"and 'close', not none\n"},
	{HEAD WHO "  nodes: [{id: a, persona: w, block: x}]\n", "m.yaml:6:38: unknown block 'x'\n"},
	{HEAD WHO "  events: [{name: code_committed}]\n"
		  "  nodes: [{id: Spec, persona: w}]\n",
		"m.yaml:6:19: every manifest has the event 'code_committed': it cannot be "
		"declared\n"
		"m.yaml:7:16: 'Spec' is taken by the program: a node needs another id\n"},
	/* templates */
	{HEAD "  personas: [{name: w, systemPrompt: 'In {{place}}, {{task}}'}]\n"
	      "  nodes: [{id: a, persona: w}]\n",
		"m.yaml:5:38: nothing provides the variable 'place' of the template: declare it in "
		"'variables'\n"
		"m.yaml:6:11: the template of 'w' has the variable 'task', which this node does "
		"not "
		"provide: it has no 'task'\n"},
	{HEAD "  personas: [{name: w, systemPrompt: 'In {{place'}]\n"
	      "  nodes: [{id: a, persona: w}]\n",
		"m.yaml:5:38: '{{' of the template is not closed, or names nothing: '{{NAME}}' "
		"stands "
		"for a variable\n"},
	/* limits */
	{HEAD WHO "  topology:\n    maxRetries: 1\n    blocks: [{name: b, kind: sequential, "
		  "maxRetries: "
		  "2}]\n  nodes: [{id: a, persona: w, block: b, maxRetries: 3}]\n",
		"m.yaml:8:54: 'maxRetries' is 2, above the cap of the topology, 1\n"
		"m.yaml:9:53: 'maxRetries' is 3, above the cap of its block, 2\n"},
	{HEAD WHO "  topology:\n    maxDepth: 1\n    blocks: [{name: x, kind: parallel}, {name: y, "
		  "kind: parallel, within: x}]\n  nodes: [{id: a, persona: w, block: y}]\n",
		"m.yaml:8:75: block 'y' is 2 deep, above the cap of the topology, 1\n"},
	{HEAD WHO "  topology:\n    blocks: [{name: x, kind: parallel, within: x}]\n"
		  "  nodes: [{id: a, persona: w, block: x}]\n",
		"m.yaml:7:48: block 'x' is within itself\n"},
	/* relationships */
	{HEAD "  personas: [{name: w, systemPrompt: Work.}, {name: l, systemPrompt: Lead.}]\n"
	      "  relationships: [{parent: l, child: w, maxChildren: 1}]\n"
	      "  topology: {blocks: [{name: h, kind: hierarchical}]}\n"
	      "  nodes: [{id: a, persona: l}, {id: b, persona: w, block: h}, {id: c, persona: w, "
	      "block: h}]\n"
	      "  edges: [{from: a, to: b}, {from: a, to: c}]\n",
		"m.yaml:9:29: 'a' leads more than 1 nodes of the persona 'w', the 'maxChildren' of "
		"line 6\n"},
	{HEAD "  personas: [{name: w, systemPrompt: Work.}, {name: l, systemPrompt: Lead.}]\n"
	      "  topology: {blocks: [{name: h, kind: hierarchical}]}\n"
	      "  nodes: [{id: a, persona: l}, {id: b, persona: w, block: h}]\n"
	      "  edges: [{from: a, to: b}]\n",
		"m.yaml:8:11: 'b' is in a hierarchical block, and no relationship lets the persona "
		"'l' "
		"lead 'w'\n"},
	{HEAD WHO "  relationships: [{parent: w, child: x}]\n  nodes: [{id: a, persona: w}]\n",
		"m.yaml:6:38: unknown persona 'x'\n"},
	{HEAD "  personas: [{name: w, systemPrompt: Work.}, {name: l, systemPrompt: Lead.}]\n"
	      "  relationships: [{parent: l, child: w, maxDepth: 1}]\n"
	      "  topology: {blocks: [{name: h, kind: hierarchical}]}\n"
	      "  nodes: [{id: a, persona: l}, {id: b, persona: w, block: h}, {id: c, persona: w, "
	      "block: h}]\n"
	      "  edges: [{from: a, to: b}, {from: b, to: c}]\n",
		"m.yaml:8:63: node 'c' is 2 deep below 'l', above the 'maxDepth' of line 6, 1\n"},
	/* what has no effect */
	{HEAD WHO "  securityViolation: hard_abort\n  nodes: [{id: a, persona: w}]\n",
		"m.yaml:6:22: 'securityViolation' needs 'policy': nothing is denied without one\n"},
	{HEAD WHO
		"  nodes: [{id: a, persona: w, timeout: 9}, {id: b, command: x, task: y, worktree: "
		"true}]\n  edges: [{from: a, to: b, on: failure}]\n",
		"m.yaml:6:40: 'timeout' goes with 'command'\n"
		"m.yaml:6:44: node 'b' is a command, which reads nothing: 'task' and 'reads' go "
		"with "
		"'persona' and 'workflow'\n"
		"m.yaml:6:83: 'worktree' goes with 'persona': a workflow has a worktree of its "
		"own, "
		"and a command runs in that of the item\n"
		"m.yaml:7:32: the edge is never taken: 'a' is in a sequential block, where a "
		"failure "
		"ends the run\n"},
	/* merges */
	{HEAD WHO
		"  nodes: [{id: a, persona: w, worktree: true}, {id: b, merge: a}, {id: c, close: "
		"true, resolver: w, maxRetries: 2}]\n"
		"  edges: [{from: a, to: b}, {from: b, to: c, on: conflict}]\n",
		""},
	{HEAD WHO "  nodes:\n    - {id: a, merge: z}\n    - {id: b, merge: a}\n"
		  "    - {id: c, merge: origin/main, evidence: [work], maxRetries: 1, task: x}\n"
		  "    - {id: d, persona: w, resolver: w}\n    - {id: e, close: true, command: x}\n"
		  "  edges: [{from: a, to: b}, {from: b, to: c}, {from: c, to: d}, {from: d, to: "
		  "e}]\n",
		"m.yaml:7:22: unknown node 'z'\n"
		"m.yaml:8:22: node 'a' has no branch of its own: 'worktree: true' gives it one\n"
		"m.yaml:9:7: node 'c' has no 'resolver', who alone reads 'task' and 'reads'\n"
		"m.yaml:9:45: 'evidence' does not go with 'merge' and 'close', which verify the "
		"merge\n"
		"m.yaml:9:65: 'maxRetries' needs a 'resolver', which tries it\n"
		"m.yaml:10:37: 'resolver' goes with 'merge' or 'close'\n"
		"m.yaml:11:7: node 'e' must have one of 'persona', 'command', 'workflow', 'merge' "
		"and 'close', not several\n"},
	{HEAD WHO "  nodes: [{id: a, merge: b}, {id: b, persona: w, worktree: true}]\n"
		  "  edges: [{from: a, to: b, on: validation_fail}]\n",
		"m.yaml:6:26: 'a' does not come after 'b', whose branch it merges\n"
		"m.yaml:7:32: the edge is never taken: 'a' ends as success, conflict or "
		"fatal_error\n"},
	{HEAD WHO "  policy: build\n  dropUid: 7\n  nodes: [{id: a, persona: w}]\n",
		"m.yaml:7:12: 'dropUid' and 'dropGid' go together\n"},
	{HEAD WHO "  policy: build\n  dropUid: 7\n  dropGid: 7\n  nodes: [{id: a, persona: w}]\n",
		""},
	{HEAD WHO "  dropGid: 7\n  nodes: [{id: a, persona: w}]\n",
		"m.yaml:6:12: 'dropUid' and 'dropGid' go together\n"},
	/* more names */
	{HEAD "  personas: [{name: w, systemPrompt: 'In {{block}}', subscribes: [gone]}, {name: w, "
	      "systemPrompt: x}]\n"
	      "  variables: [{name: v, value: x}, {name: v, value: y}]\n"
	      "  events: [{name: e}, {name: e}]\n"
	      "  topology: {blocks: [{name: b, kind: parallel}, {name: b, kind: parallel, within: "
	      "none}, {name: c, kind: parallel, within: d}, {name: d, kind: parallel, within: "
	      "c}]}\n"
	      "  nodes: [{id: a, persona: w}, {id: m, merge: origin/main, resolver: none}]\n"
	      "  edges: [{from: a, to: m}]\n",
		"m.yaml:5:67: unknown event 'gone': 'events' must declare it\n"
		"m.yaml:5:75: no node has the persona 'w'\n"
		"m.yaml:5:82: duplicate name 'w': the first is in line 5\n"
		"m.yaml:6:43: duplicate name 'v': the first is in line 6\n"
		"m.yaml:7:30: duplicate name 'e': the first is in line 7\n"
		"m.yaml:8:23: no node is in the block 'b'\n"
		"m.yaml:8:50: no node is in the block 'b'\n"
		"m.yaml:8:57: duplicate name 'b': the first is in line 8\n"
		"m.yaml:8:84: unknown block 'none'\n"
		"m.yaml:8:125: block 'c' is within itself\n"
		"m.yaml:8:163: block 'd' is within itself\n"
		"m.yaml:9:11: the template of 'w' has the variable 'block', which this node does "
		"not provide: it has no 'block'\n"
		"m.yaml:9:70: unknown persona 'none'\n"},
	{HEAD WHO
		"  nodes: [{id: Actions, persona: w}, {id: graph, persona: w}, {id: lock, persona: "
		"w}, {id: troubleshooter, persona: w}]\n"
		"  edges: [{from: Actions, to: graph}, {from: graph, to: lock}, {from: lock, to: "
		"troubleshooter}]\n",
		"m.yaml:6:16: 'Actions' is taken by the program: a node needs another id\n"
		"m.yaml:6:43: 'graph' is taken by the program: a node needs another id\n"
		"m.yaml:6:68: 'lock' is taken by the program: a node needs another id\n"
		"m.yaml:6:92: 'troubleshooter' is taken by the program: a node needs another id\n"},
	{HEAD WHO "  entry: none\n  nodes: [{id: a, persona: w}]\n",
		"m.yaml:6:10: unknown node 'none'\n"},
	{GRAPH("    - {from: b, to: a}\n    - {from: b, to: c, on: validation_fail}\n"),
		"m.yaml:7:7: 'a' is the entry, and 'b' leads to it\n"
		"m.yaml:8:12: node 'b' cannot be reached from 'a'\n"
		"m.yaml:9:12: node 'c' cannot be reached from 'a'\n"},
	/* edges that are never taken */
	{HEAD "  nodes: [{id: a, command: x}, {id: b, command: y}, {id: c, workflow: tdd, "
	      "evidence: "
	      "[work]}]\n"
	      "  events: [{name: e}]\n"
	      "  edges: [{from: a, to: b, event: e}, {from: b, to: c, on: failure}]\n",
		"m.yaml:5:86: 'evidence' does not go with 'workflow', which verifies its own\n"
		"m.yaml:7:35: the edge is never taken: 'a' is a command, whose result has no "
		"events\n"
		"m.yaml:7:60: the edge is never taken: 'b' has no persona, so that it cannot "
		"answer 'failure'\n"},
	/* conditions that exclude each other, or do not */
	{GRAPH("    - {from: a, to: b, when: [{type: history_has_event, event: task_blocked}]}\n"
	       "    - {from: a, to: c, when: [{type: history_has_event, event: task_blocked, is: "
	       "false}]}\n"),
		""},
	{GRAPH("    - {from: a, to: b, when: [{type: file_exists, path: x}]}\n"
	       "    - {from: a, to: c, when: [{type: file_exists, path: x, is: false}]}\n"),
		""},
	{GRAPH("    - {from: a, to: b, match: any, when: [{type: state_flag, flag: x}, {type: "
	       "state_flag, flag: y}]}\n"
	       "    - {from: a, to: c, when: [{type: state_flag, flag: x, is: false}]}\n"),
		"m.yaml:12:7: two routes from 'a' can both be taken, to 'b' (line 11) and to 'c': "
		"give them conditions that exclude each other, or put both nodes into one parallel "
		"block\n"},
	/* fields */
	{HEAD WHO "  nodes: [{id: 1a, persona: w}, {id: b, person: w}]\n",
		"m.yaml:6:16: 'id' must be a name: up to 40 letters, digits, '-' and '_', a letter "
		"first, not '1a'\n"
		"m.yaml:6:41: unknown key 'person'\n"},
	{HEAD "  nodes: [{id: a, workflow: /flows/tdd.md}]\n",
		"m.yaml:5:29: 'workflow' must be a relative path, not '/flows/tdd.md'\n"},
	{"apiVersion: dev-team/v2\nkind: AgentManifest\nmetadata: {name: m}\nspec: {nodes: []}\n",
		"m.yaml:1:13: 'apiVersion' must be 'dev-team/v1', not 'dev-team/v2'\n"
		"m.yaml:4:15: 'nodes' must have 1 to 100000 entries, not 0\n"},
	{"- a\n", "m.yaml:1:1: a manifest must be a map: apiVersion, kind, metadata, spec\n"},
	{"a: b: c\n", "1:5: mapping values are not allowed in this context"},
};

TEST(every_fault_of_a_file_is_reported_at_its_place)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(faults_of(rows[i].text), rows[i].faults);
}

TEST(a_workflow_of_the_first_fault_says_how_many_there_are)
{
	struct workflow w;

	assert_int_equal(manifest_workflow_parse(&arena, "m.yaml",
				 STR(HEAD WHO "  nodes: [{id: a, persona: x}]\n"), &w, &err),
		-1);
	assert_string_equal(
		err.text, "no node has the persona 'w'; 1 more: 'dev-team workflow check'");
	assert_int_equal(err.line, 5);
}

/* A node with thousands of routes, some of them by status, and one that all of them lead to. */
TEST(a_large_manifest_is_checked_and_not_run)
{
	enum { LARGE = MANIFEST_RUN_MAX + 2 };
	CLEANUP(buf_release) struct buf text = BUF_INIT, faults = BUF_INIT;
	struct workflow w;
	size_t n;

	buf_adds(&text,
		"apiVersion: dev-team/v1\nkind: AgentManifest\nmetadata: {name: large}\nspec:\n"
		"  personas: [{name: w, systemPrompt: Work.}]\n"
		"  topology: {blocks: [{name: all, kind: parallel}]}\n  nodes:\n"
		"    - {id: n0, persona: w}\n");
	for (unsigned i = 1; i < LARGE; i++)
		buf_addf(&text, "    - {id: n%u, persona: w, block: all}\n", i);
	buf_adds(&text, "    - {id: end, persona: w, join: any}\n  edges:\n");
	for (unsigned i = 1; i < LARGE; i++)
		buf_addf(&text, "    - {from: n0, to: n%u, on: %s}\n    - {from: n%u, to: end}\n",
			i, i % 3 ? "success" : "validation_fail", i);
	assert_int_equal(
		manifest_check_text(&arena, "m.yaml", buf_str(&text), &faults, &n, &err), 0);
	assert_string_equal(faults.len ? faults.s : "", "");
	assert_int_equal(manifest_workflow_parse(&arena, "m.yaml", buf_str(&text), &w, &err), 0);
	assert_int_equal(manifest_check_run(&w, &err), -1);
	assert_non_null(strstr(err.text, "the manifest has 10003 nodes; at most 10000 can run"));
}

TEST(json_and_yaml_give_the_same_workflow)
{
	static const char text[] =
		"{\"apiVersion\": \"dev-team/v1\", \"kind\": \"AgentManifest\", \"metadata\": "
		"{\"name\": \"m\"}, \"spec\": {\"personas\": [{\"name\": \"w\", \"systemPrompt\": "
		"\"Work.\"}], \"nodes\": [{\"id\": \"a\", \"persona\": \"w\", \"maxRetries\": "
		"1}]}}";
	struct workflow w;

	assert_int_equal(manifest_workflow_parse(&arena, "m.json", STR(text), &w, &err), 0);
	assert_int_equal(w.declared->n, 1);
	assert_int_equal(w.declared->manifest->nodes[0].max_retries, 1);
	assert_int_equal(manifest_workflow_parse(&arena, "m.json#a", STR(text), &w, &err), 0);
	assert_int_equal(w.declared->manifest->nodes[0].max_retries, 0);
	assert_int_equal(manifest_workflow_parse(&arena, "m.json#b", STR(text), &w, &err), -1);
	assert_string_equal(err.text, "m.json: the manifest has no node 'b'");
}

TEST(the_limit_of_a_node_is_the_smallest)
{
	struct workflow w;

	assert_int_equal(
		manifest_workflow_parse(&arena, "m.yaml",
			STR(HEAD WHO "  topology:\n    maxRetries: 3\n    blocks: [{name: b, "
				     "kind: retry-unrolled, maxRetries: 2}, {name: r, kind: "
				     "retry-unrolled}]\n  nodes: [{id: a, persona: w, block: "
				     "b}, {id: c, persona: w, block: b, maxRetries: 1}, {id: "
				     "d, persona: w, block: r}, {id: e, persona: w}]\n  edges: "
				     "[{from: a, to: c}, {from: c, to: d}, {from: d, to: e}]\n"),
			&w, &err),
		0);
	assert_int_equal(w.declared->manifest->nodes[0].max_retries, 2);
	assert_int_equal(w.declared->manifest->nodes[1].max_retries, 1);
	assert_int_equal(w.declared->manifest->nodes[2].max_retries, 3);
	assert_int_equal(w.declared->manifest->nodes[3].max_retries, 0);
}

static void put_name(void *data, struct str name, struct buf *out)
{
	(void)data;
	buf_addf(out, "<{{%.*s}}>", (int)name.n, name.p);
}

/* What stands for a variable is not rendered again. */
TEST(a_template_is_rendered_once)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	assert_int_equal(template_render(STR("{a} {{b}} }} {{ c }}"), put_name, NULL, &out), 0);
	assert_string_equal(out.s, "{a} <{{b}}> }} <{{c}}>");
	assert_int_equal(template_render(STR("x {{b"), put_name, NULL, &out), 3);
	assert_int_equal(template_render(STR("{{}}"), put_name, NULL, &out), 1);
}

/* ---- answers ---- */

TEST(updates_of_an_answer_are_checked_against_their_types)
{
	static const struct {
		const char *answer, *fault; /* what the fault contains; NULL: it is good */
	} answers[] = {{"{\"status\":\"success\"}", NULL},
		{"{\"flags\":{\"a\":true},\"artifacts\":{\"r\":\"out/r.txt\"},\"tasks\":[{\"id\":"
		 "\"T-1\",\"title\":\"x\"}],\"events\":[\"tasks_planned\",{\"type\":\"e\","
		 "\"payload\":"
		 "{\"n\":1}}]}",
			NULL},
		{"{\"flags\":[true]}", "'flags' must be an object"},
		{"{\"flags\":{\"a b\":true}}", "'a b' must be a name"},
		{"{\"artifacts\":{\"r\":\"/etc/passwd\"}}", "'r' must be a name"},
		{"{\"artifacts\":{\"r\":\"../x\"}}", "'r' must be a name"},
		{"{\"tasks\":[{\"id\":\"T-1\"}]}", "'tasks' must have objects"},
		{"{\"tasks\":{}}", "'tasks' must be a list"},
		{"{\"tasks\":[{\"id\":\"T\",\"title\":\"x\",\"state\":\"merged\"}]}",
			"and nothing else"},
		{"{\"events\":[\"branch_merged\"]}", "observed, not claimed"},
		{"{\"events\":\"tasks_planned\"}", "'events' must be a list"},
		{"{\"events\":[1]}", "'events' must have names"},
		{"{\"events\":[\"f\"]}", "unknown event 'f'"},
		{"{\"events\":[\"code_committed\"]}", "observed, not claimed"},
		{"{\"events\":[\"e\"]}", "needs 'n', a number"},
		{"{\"events\":[{\"type\":\"e\",\"payload\":{\"n\":1,\"m\":2}}]}",
			"unknown member 'm'"},
		{"{\"events\":[{\"type\":\"e\",\"payload\":[]}]}", "'payload' must be an object"}};
	CLEANUP(json_free) json *declared = NULL;

	assert_int_equal(json_parse(&declared, STR("{\"e\":{\"n\":\"number\"}}"), &err), 0);
	for (size_t i = 0; i < COUNT(answers); i++) {
		CLEANUP(json_free) json *answer = NULL;
		const char *fault;

		assert_int_equal(json_parse(&answer, str_of(answers[i].answer), &err), 0);
		fault = answer_updates_fault(&arena, answer, declared);
		if (!answers[i].fault)
			assert_null(fault);
		else if (!fault || !strstr(fault, answers[i].fault))
			fail_msg("%s: %s", answers[i].answer, fault ? fault : "no fault");
	}
}

/* ---- what is shipped, and the page ---- */

TEST(events_do_not_fill_the_document)
{
	CLEANUP(json_free) json *answer = NULL;
	const char *fault;
	char *text = arena_alloc(&arena, 70001);

	memset(text, 'x', 70000);
	answer = JSON_OBJECT(JSON_VALUE("events", json_array()));
	json_push_str((json *)json_get(answer, "events"), str_of(text));
	fault = answer_updates_fault(&arena, answer, NULL);
	assert_non_null(fault);
	assert_non_null(strstr(fault, "may have 65536 bytes, not 70004: give the path of a file"));
}

TEST(what_is_shipped_is_good)
{
	static const char *const names[] = {"feature", "audit", "conflict"};

	for (size_t i = 0; i < COUNT(names); i++) {
		struct workflow w;

		if (manifest_workflow_load(&arena,
			    arena_printf(&arena, "workflows/%s.yaml", names[i]), &w, &err) < 0)
			fail_msg("%s:%u:%u: %s", err.file, err.line, err.col, err.text);
	}
}

TEST(the_page_has_the_table)
{
	CLEANUP(buf_release) struct buf page = BUF_INIT, block = BUF_INIT;

	assert_true(tree_read("docs/manifests.md", &page));
	buf_adds(&block, "<!-- resources schema AgentManifest --markdown -->\n");
	resource_page(&manifest_kind, &block);
	buf_adds(&block, "<!-- end -->\n");
	if (str_find(buf_str(&page), buf_str(&block)) == page.len)
		fail_msg("docs/manifests.md must have:\n%s", block.s);
}
