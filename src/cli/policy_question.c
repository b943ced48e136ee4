#include "src/sys/path.h"
#include "src/cli/common.h"
#include "src/cli/policy.h"
#include "src/policy/clearance.h"
#include "src/shell/parse.h"

/* The policy of a persona, by the repository's clearance file. One that may not run commands is
 * denied. */
static int policy_of_persona(
	struct invocation *in, struct policy_question *q, const char *name, struct error *err)
{
	char *file = path_join(in->arena, q->root.path, ".dev-team/clearance.yaml");
	struct clearance c;
	const struct persona *persona;
	bool there;

	if (clearance_load(in->arena, file, &c, &there, err) < 0)
		return -1;
	if (!there)
		return error_set(err, ERR_INPUT, "there is no '%s'", file);
	if (clearance_persona(&c, str_of(name), &persona, &q->verdict) < 0 ||
		clearance_tool(persona, STR("Bash"), &q->verdict) < 0)
		return 0;
	return policy_load(in->arena, persona->policy, &q->policy, err);
}

static int load(struct invocation *in, struct policy_question *q, struct error *err)
{
	const char *name = in->args->value[POLICY_NAME];
	const char *persona = in->args->value[POLICY_PERSONA];

	if (name && persona)
		return error_set(err, ERR_USAGE, "give --policy or --persona, not both");
	if (persona)
		return policy_of_persona(in, q, persona, err);
	return policy_load(in->arena, name ? name : "readonly", &q->policy, err);
}

/* One word is a command line; several are the words of one command, each taken literally. */
static int read_command(struct invocation *in, size_t first, struct str *out, struct error *err)
{
	const struct args *args = in->args;
	const char *file = args->value[POLICY_COMMAND_FILE];
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (file && args->n > first)
		return error_set(err, ERR_USAGE, "give a command or --command-file, not both");
	if (!file && args->n <= first)
		return error_set(err, ERR_USAGE, "no command given (behind '--')");
	if (file) {
		int rc = strcmp(file, "-") == 0 ? read_input(&text, SHELL_MAX + 1, err)
						: file_read(&text, file, SHELL_MAX + 1, NULL, err);

		if (rc < 0)
			return -1;
	} else if (args->n == first + 1) {
		buf_adds(&text, args->words[first]);
	} else {
		for (size_t i = first; i < args->n; i++) {
			if (i > first)
				buf_addc(&text, ' ');
			buf_add_shell(&text, str_of(args->words[i]));
		}
	}
	*out = arena_str(in->arena, buf_str(&text));
	return 0;
}

int policy_question(
	struct invocation *in, size_t first, struct policy_question *q, struct error *err)
{
	char *root = (char *)in->args->value[POLICY_ROOT];

	q->cwd = in->args->value[POLICY_CWD] ? in->args->value[POLICY_CWD] : ".";
	q->root = (struct root){.fd = -1};
	q->policy = (struct policy){.name = "none"};
	q->verdict = (struct verdict){0};
	if (read_command(in, first, &q->command, err) < 0)
		return -1;
	if (!root && root_find(in->arena, q->cwd, &root, err) < 0)
		return -1;
	if (root_open(in->arena, root, &q->root, err) < 0)
		return -1;
	if (load(in, q, err) == 0)
		return 0;
	root_close(&q->root);
	return -1;
}

void policy_question_end(struct policy_question *q)
{
	root_close(&q->root);
}

int policy_ask(
	struct invocation *in, struct policy_question *q, struct node **tree, struct trace *trace)
{
	*tree = NULL;
	if (q->verdict.denied)
		return -1;
	return policy_check(
		in->arena, &q->policy, &q->root, q->cwd, q->command, tree, &q->verdict, trace);
}
