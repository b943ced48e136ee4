/*
 * fields.c: the keys of a manifest, in one table: the reader, the JSON Schema and the page for
 * people are made from it.
 */
#include "src/config/decode.h"
#include "src/graph/manifest.h"

enum { LIST_MAX = 1000, TEXTS_MAX = 100, PROMPT_MAX = 16384 };

const char *const node_status_names[] = {"success", "validation_fail", "failure", NULL};
const char *const merge_status_names[] = {"success", "conflict", "fatal_error", NULL};

bool manifest_node_merges(const struct manifest_node *n)
{
	return n->merge || n->close;
}

/* A part of ids of actions and children, of branches, and a section. */
static bool manifest_node_valid(struct str s)
{
	return s.n <= 40 && config_made_of(s, CONFIG_LETTER, "", CONFIG_ALNUM, "_-") &&
	       s.p[s.n - 1] != '-' && s.p[s.n - 1] != '_';
}

static bool fields_is_word(struct str s)
{
	return s.n <= 64 && config_made_of(s, CONFIG_LETTER, "_", CONFIG_ALNUM, "_");
}

static bool is_tool(struct str s)
{
	return s.n && s.n <= 128 && config_line.valid(s) && !memchr(s.p, ',', s.n);
}

static bool fields_is_section(struct str s)
{
	return s.n && s.n <= 80 && config_line.valid(s) && !memchr(s.p, '<', s.n) &&
	       !memchr(s.p, '>', s.n) && str_find(s, STR("--")) == s.n && !str_is(s, "Actions");
}

static bool fields_is_path(struct str s)
{
	return s.n <= 1024 && config_relative.valid(s) && str_find(s, STR("..")) == s.n;
}

/* A node, or a branch of the remote. */
static bool fields_is_merged(struct str s)
{
	return manifest_node_valid(s) ||
	       (s.n <= 200 && str_starts(s, "origin/") && s.n > strlen("origin/") &&
		       config_made_of(s, CONFIG_LETTER, "", CONFIG_ALNUM, "_-/.") &&
		       str_find(s, STR("..")) == s.n);
}

static bool is_prompt(struct str s)
{
	return s.n > 0;
}

#define FORM(name, is, most, like, text)                                                           \
	static const struct config_form name = {                                                   \
		.valid = is, .what = text, .max = most, .pattern = like}
FORM(node_form, manifest_node_valid, 40, "^[A-Za-z]([A-Za-z0-9_-]*[A-Za-z0-9])?$",
	"a name: up to 40 letters, digits, '-' and '_', a letter first");
FORM(word_form, fields_is_word, 64, "^[A-Za-z_][A-Za-z0-9_]*$",
	"a word: up to 64 letters, digits and '_', no digit first");
FORM(tool_form, is_tool, 128, "^[^,]+$", "the name of a tool, one line without a comma");
FORM(section_form, fields_is_section, 80, "^[^<>]+$", "the name of a node or of a section");
FORM(path_form, fields_is_path, 1024, "^[^/]", "a path below the item's directory, without '..'");
FORM(prompt_form, is_prompt, PROMPT_MAX, NULL, "a text of 1 to 16384 characters");
FORM(task_form, is_prompt, 4096, NULL, "a text of 1 to 4096 characters");
FORM(merge_form, fields_is_merged, 200, "^[A-Za-z]", "the name of a node, or origin/BRANCH");
FORM(role_form, workflow_skill_valid, 100, "^[A-Za-z0-9_]", "the name of a role or skill");

#define TEXT(name, of, member) .key = name, .kind = CONFIG_TEXT, .form = &of, IN(member)
#define TEXTS(name, member)                                                                        \
	.key = name, .kind = CONFIG_TEXTS, .max = TEXTS_MAX, IN(member.list),                      \
	.count_at = AT(member.n)
#define WORD(name, member, ...)                                                                    \
	.key = name, .kind = CONFIG_WORD, IN(member), CONFIG_WORDS(__VA_ARGS__)
#define WORD_TEXT(name, member, ...)                                                               \
	.key = name, .kind = CONFIG_WORD_TEXT, IN(member), CONFIG_WORDS(__VA_ARGS__)
#define INTEGER(name, member, least, most)                                                         \
	.key = name, .kind = CONFIG_INTEGER, IN(member), CONFIG_RANGE(least, most)
#define BOOL(name, member) .key = name, .kind = CONFIG_BOOL, IN(member)
#define LIST(name, type, member, least, most, table)                                               \
	.key = name, .kind = CONFIG_LIST, CONFIG_ITEMS_AT(type, member, n_##member),               \
	CONFIG_RANGE(least, most), .fields = table

/* clang-format off */
#define IN(member) CONFIG_AT(manifest_persona, member)
#define AT(member) offsetof(struct manifest_persona, member)
static const struct config_field persona_fields[] = {
	{TEXT("name", node_form, name), .required = true, .about = "Unique among the personas."},
	{TEXT("systemPrompt", prompt_form, prompt), .required = true,
		.about = "Who it is and how it works: a template whose `{{NAME}}` are replaced."},
	{TEXT("model", config_model, model), .derived = "as the run says",
		.about = "The model that its attempts use."},
	{TEXTS("tools", tools), .form = &tool_form, .once = true, .derived = "as its role says",
		.about = "All tools that it may use, those of MCP servers included."},
	{TEXT("role", role_form, role), .about = "A role file (`agents/NAME.md`) whose tools it has."},
	{TEXT("skill", role_form, skill), .about = "A skill file that its briefs contain."},
	{TEXTS("subscribes", subscribes), .form = &word_form, .once = true, .preset = "[]",
		.about = "Events that its briefs report."},
	{0},
};
#undef IN
#undef AT

#define IN(member) CONFIG_AT(manifest_relationship, member)
static const struct config_field relationship_fields[] = {
	{TEXT("parent", node_form, parent), .required = true, .about = "A persona that leads."},
	{TEXT("child", node_form, child), .required = true, .about = "A persona that it leads."},
	{INTEGER("maxDepth", max_depth, 1, MANIFEST_DEPTH_MAX), .derived = "that of the topology",
		.about = "How many nodes of the child may follow each other below a node of the parent."},
	{INTEGER("maxChildren", max_children, 1, MANIFEST_NODES_MAX), .derived = "any number",
		.about = "How many nodes of the child one node of the parent may lead to."},
	{0},
};
#undef IN

#define IN(member) CONFIG_AT(manifest_block, member)
static const struct config_field block_fields[] = {
	{TEXT("name", node_form, name), .required = true, .about = "Unique among the blocks."},
	{WORD("kind", kind, "sequential", "parallel", "hierarchical", "retry-unrolled"), .required = true,
		.about = "How its nodes are dispatched, and what their failures mean."},
	{TEXT("within", node_form, within), .about = "The block that it is a part of."},
	{INTEGER("maxRetries", max_retries, 0, MANIFEST_RETRIES_MAX), CONFIG_SEEN(manifest_block, limited),
		.derived = "that of the topology", .about = "The most retries of each of its nodes."},
	{0},
};
#undef IN

#define IN(member) CONFIG_AT(manifest_field, member)
static const struct config_field payload_fields[] = {
	{TEXT("name", word_form, name), .required = true, .about = "A member of the payload."},
	{WORD_TEXT("type", type, "text", "number", "boolean", "list", "map"), .required = true,
		.about = "What it is."},
	{0},
};
#undef IN

#define IN(member) CONFIG_AT(manifest_event, member)
static const struct config_field event_fields[] = {
	{TEXT("name", word_form, name), .required = true, .about = "Unique among the events."},
	{LIST("payload", manifest_event, payload, 0, TEXTS_MAX, payload_fields), .about = "What an event of this type has, all of it."},
	{0},
};
#undef IN

#define IN(member) CONFIG_AT(manifest_variable, member)
static const struct config_field variable_fields[] = {
	{TEXT("name", word_form, name), .required = true, .about = "The name in templates."},
	{TEXT("value", task_form, value), .required = true, .about = "What stands for it."},
	{0},
};
#undef IN

#define IN(member) CONFIG_AT(manifest_node, member)
#define AT(member) offsetof(struct manifest_node, member)
static const struct config_field node_fields[] = {
	{TEXT("id", node_form, id), .required = true, .about = "Unique among the nodes; its answer is the section of this name."},
	{TEXT("persona", node_form, persona), .about = "Who works on it. A node has one of `persona`, `command`, `workflow`, `merge` and `close`."},
	{TEXT("command", task_form, command), .about = "A shell command: exit status 0 is `success`, any other `validation_fail`."},
	{TEXT("workflow", config_relative, workflow), .about = "A workflow or manifest, a name or a path relative to this file, which is run as a work item of its own."},
	{TEXT("merge", merge_form, merge), .about = "What is merged into the branch of the item: that of a node before it which is a work item, or `origin/BRANCH`; `origin/HEAD` is the default branch."},
	{BOOL("close", close), .preset = "false", .about = "It lands the branch of the item on the default branch of the remote, as `dev-team land` does."},
	{TEXT("resolver", node_form, resolver), .about = "The persona that resolves the conflicts of `merge` or `close`."},
	{TEXT("block", node_form, block_name), .about = "The block that it is in. Without one it is as in a sequential block."},
	{TEXT("task", task_form, task), .about = "What is to be done; `{{task}}` in templates."},
	{TEXTS("reads", reads), .form = &section_form, .preset = "[]",
		.about = "Answers of other nodes, and sections such as `Spec`, that its brief has, besides those of the nodes that lead to it."},
	{INTEGER("maxRetries", max_retries, 0, MANIFEST_RETRIES_MAX), CONFIG_SEEN(manifest_node, limited),
		.derived = "that of its block; 0 outside of a `retry-unrolled` one, but with `resolver`",
		.about = "How often it is tried again after `validation_fail`; of `merge` and `close`: how often the resolver tries."},
	{WORD_TEXT("join", join, "all", "any"), .preset = "all", .about = "Whether all nodes that lead to it must choose it, or one."},
	{BOOL("worktree", worktree), .preset = "false",
		.about = "It is a work item of its own, whose worktree begins at the branch of this one."},
	{TEXTS("evidence", evidence), CONFIG_WORDS("work", "tree", "pull_request", "review"), .once = true, .preset = "[]",
		.about = "What is verified when it answers `success`."},
	{INTEGER("timeout", timeout_s, 1, WORKFLOW_TIMEOUT_MAX_S), .preset = "600", .about = "Of a command, in seconds."},
	{0},
};
#undef IN
#undef AT

#define IN(member) CONFIG_AT(manifest_condition, member)
static const struct config_field condition_fields[] = {
	{WORD("type", kind, "always", "state_flag", "history_has_event", "file_exists"), .required = true,
		.about = "What is looked at."},
	{TEXT("flag", word_form, flag), .required_when = "type", .required_is = (const char *const[]){"state_flag", NULL},
		.about = "A flag of the project."},
	{TEXT("event", word_form, event), .required_when = "type", .required_is = (const char *const[]){"history_has_event", NULL},
		.about = "An event that the run had."},
	{TEXT("path", path_form, path), .required_when = "type", .required_is = (const char *const[]){"file_exists", NULL},
		.about = "A file or directory where the item is worked on."},
	{BOOL("is", is), .preset = "true", .about = "`false`: it must not be so."},
	{0},
};
#undef IN

#define IN(member) CONFIG_AT(manifest_edge, member)
static const struct config_field edge_fields[] = {
	{TEXT("from", node_form, from), .required = true, .about = "A node."},
	{TEXT("to", node_form, to), .required = true, .about = "A node that comes after it."},
	{WORD_TEXT("on", status, "success", "validation_fail", "failure", "conflict", "fatal_error", "always"), .preset = "success",
		.about = "The status with which it is taken."},
	{TEXT("event", word_form, event), .about = "It is taken only if the answer has this event."},
	{LIST("when", manifest_edge, when, 0, TEXTS_MAX, condition_fields), .about = "Conditions that must hold."},
	{.key = "match", .kind = CONFIG_SWITCH, IN(any), CONFIG_WORDS("all", "any"), .preset = "all",
		.about = "Whether all conditions must hold, or one."},
	{0},
};
#undef IN

#define IN(member) CONFIG_AT(manifest, member)
static const struct config_field topology_fields[] = {
	{INTEGER("maxDepth", max_depth, 1, MANIFEST_DEPTH_MAX), .preset = "8", .about = "How deep blocks may be in each other."},
	{INTEGER("maxRetries", max_retries, 0, MANIFEST_RETRIES_MAX), .preset = "3", .about = "The most retries of any node."},
	{LIST("blocks", manifest, blocks, 0, LIST_MAX, block_fields), CONFIG_PLACE(manifest_block, line),
		.about = "Groups of nodes."},
	{0},
};

static const struct config_field spec_fields[] = {
	{LIST("personas", manifest, personas, 0, LIST_MAX, persona_fields), CONFIG_PLACE(manifest_persona, line),
		.about = "Who works."},
	{LIST("relationships", manifest, relationships, 0, LIST_MAX, relationship_fields),
		CONFIG_PLACE(manifest_relationship, line), .about = "Who may lead whom in hierarchical blocks."},
	{.key = "topology", .kind = CONFIG_GROUP, .fields = topology_fields, .about = "Limits, and the blocks."},
	{LIST("events", manifest, events, 0, TEXTS_MAX, event_fields), CONFIG_PLACE(manifest_event, line),
		.about = "Types of events, besides those that every manifest has."},
	{LIST("variables", manifest, variables, 0, TEXTS_MAX, variable_fields), .about = "Texts for templates."},
	{TEXT("entry", node_form, entry), .derived = "the first node", .about = "The node that a run begins with."},
	{LIST("nodes", manifest, nodes, 1, MANIFEST_NODES_MAX, node_fields), CONFIG_PLACE(manifest_node, line), .required = true,
		.about = "What is done."},
	{LIST("edges", manifest, edges, 0, MANIFEST_EDGES_MAX, edge_fields), CONFIG_PLACE(manifest_edge, line),
		.about = "What follows what; no cycle."},
	{TEXT("policy", config_line, policy), CONFIG_PLACE(manifest, policy_line), .about = "The policy that commands run under: a shipped one, or a file."},
	{WORD_TEXT("securityViolation", violation, "hard_abort", "validation_fail"), .preset = "hard_abort",
		.about = "What a command means that the policy denies."},
	{INTEGER("dropUid", drop_uid, 1, UINT32_MAX - 1), CONFIG_PLACE(manifest, drop_line), .derived = "that of the run",
		.about = "The user that the commands and headless agents of all nodes run as; with `dropGid`."},
	{INTEGER("dropGid", drop_gid, 1, UINT32_MAX - 1), .derived = "that of the run", .about = "Their group; they have no other."},
	{INTEGER("maxActions", max_actions, 1, 100000), .derived = "60, or four for each node",
		.about = "Actions of the whole run before the troubleshooter is called."},
	{0},
};

static const struct config_field metadata_fields[] = {
	{TEXT("name", config_name, name), .required = true, .about = "The name of the manifest, for people."},
	{0},
};

static const struct config_field manifest_fields[] = {
	{.key = "apiVersion", .kind = CONFIG_WORD_TEXT, .required = true, CONFIG_WORDS("dev-team/v1"), .about = "Version of the format."},
	{.key = "kind", .kind = CONFIG_WORD_TEXT, .required = true, CONFIG_WORDS("AgentManifest"), .about = "The kind of the document."},
	{.key = "metadata", .kind = CONFIG_GROUP, .fields = metadata_fields, .required = true, .about = "Its name."},
	{.key = "spec", .kind = CONFIG_GROUP, .fields = spec_fields, .required = true, .about = "The manifest itself."},
	{0},
};
#undef IN
/* clang-format on */

const struct resource_kind manifest_kind = {.name = "AgentManifest",
	.about = "Agents and the order in which they work: a directed graph without cycles.",
	.fields = manifest_fields,
	.size = sizeof(struct manifest)};
