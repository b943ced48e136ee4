#include "context/file.h"
#include "src/cli/cli.h"
#include "src/run/locate.h"
#include "src/run/status.h"
#include "src/sys/path.h"

int cli_read_input(struct buf *out, size_t max, struct error *err)
{
	if (isatty(STDIN_FILENO))
		return error_set(err, ERR_USAGE, "standard input is a terminal: pipe the text in");
	return sys_read_all(out, STDIN_FILENO, max, "standard input", err);
}

int cli_read_text(struct buf *out, const char *file, size_t max, struct error *err)
{
	if (!file || strcmp(file, "-") == 0)
		return cli_read_input(out, max, err);
	return sys_read_file(out, file, max, NULL, err);
}

static bool cli_is_path(struct str word)
{
	return str_find(word, STR("/")) < word.n || str_ends(word, ".md") ||
	       str_ends(word, ".jsonl") || !path_is_id(word);
}

int cli_find_document(struct invocation *in, const char *word, const char **path, struct error *err)
{
	struct error ignored;
	const char *repo;
	bool there;

	*path = word;
	if (cli_is_path(str_of(word)))
		return 0;
	if (locate_repository(in->arena, NULL, &repo, &ignored) < 0)
		return error_set(err, ERR_STATE,
			"'%s' is the id of a work item, and this is not in a git repository: go "
			"into its repository, or give the path of its document",
			word);
	if (locate_document(in->arena, NULL, repo, word, path, err) < 0 ||
		store_exists(store_backend(), arena_dup(in->arena, path_dir(*path)), word,
			path_base(*path).p, &there, err) < 0)
		return -1;
	return there ? 0 : status_refuse_unknown(word, *path, err);
}

const struct option cli_item_options[] = {
	CLI_REPO(struct cli_item),
	CLI_DOCUMENT(struct cli_item),
	OPTION_END,
};

int cli_find_item(struct invocation *in, const char **document, struct error *err)
{
	const struct cli_item *o = in->values;

	return status_find(in->arena, in->words[0], o->repo, o->context_file, document, err);
}

int cli_find_action_document(struct invocation *in, const char *file, const char *action,
	const char **path, struct error *err)
{
	const char *item = arena_dup(in->arena, str_sub(str_of(action), 0, strcspn(action, "/")));

	*path = file;
	if (file && in->n)
		return error_set(
			err, ERR_USAGE, "%s: give the ID or --context-file, not both", in->path);
	return file ? 0 : cli_find_document(in, in->n ? in->words[0] : item, path, err);
}

int cli_flush(struct buf *out, struct error *err)
{
	int rc = sys_write_all(STDOUT_FILENO, buf_str(out), "standard output", err);

	buf_clear(out);
	return rc;
}

void cli_put_json(struct invocation *in, bool as_json, json *j)
{
	if (!as_json) {
		json_free(&j);
		return;
	}
	buf_clear(in->out);
	json_print_line(in->out, j);
}

int cli_end_ticks(struct invocation *in, int rc, int status, struct error *err)
{
	if (rc < 0 && !status)
		return -1;
	if (rc < 0)
		error_print(err);
	else
		buf_adds(in->out, in->out->len ? "\n" : "");
	return status;
}

void cli_end_row(struct buf *out)
{
	while (out->len && out->s[out->len - 1] == ' ')
		buf_cut(out, out->len - 1);
	buf_addc(out, '\n');
}

#define X(name) &verb_##name,
static const struct verb *const verbs[] = {
#include "src/cli/list.h"
	NULL,
};
#undef X

const struct verb cli_program = {
	.name = "dev-team",
	.about = "take a work item from a task to a pull request, one step at a time",
	.subcommands = verbs,
	.details =
		"'dev-team help VERB' describes a verb and its options; 'dev-team version' prints "
		"the version. Results go to standard output, progress and errors to "
		"standard error.\n"
		"\n"
		"Exit status:\n"
		"  0  success\n"
		"  1  the check failed: a run failed, a file has faults, a command is denied\n"
		"  2  usage\n"
		"  3  input refused: FILE:LINE:COL: ...\n"
		"  4  state refused: held by another session, stale or foreign answer\n"
		"  5  system: input or output, git, network, a missing program",
	.examples = "dev-team init\n"
		    "dev-team run \"Greet the user by name\"\n"
		    "dev-team run ADR-1 --harness claude-code\n"
		    "dev-team status ADR-1 --watch\n"
		    "dev-team logs ADR-1 -f\n"
		    "dev-team retry ADR-1",
};
