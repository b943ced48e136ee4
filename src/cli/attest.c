#include "src/cli/cli.h"
#include "src/run/locate.h"
#include "src/verify/attest.h"

struct attest_options {
	const char *repo;
	bool json, must_sign;
};

static const struct option options[] = {
	OPTION_FLAG(struct attest_options, must_sign, "signed", "it must be signed, too"),
	CLI_JSON(struct attest_options),
	CLI_REPO(struct attest_options),
	OPTION_END,
};

static int attest_run_verify(struct invocation *in, struct error *err)
{
	CLEANUP(json_free) json *note = NULL;
	const struct attest_options *o = in->values;
	bool is_signed = false;
	const char *repo;

	if (locate_repository(in->arena, o->repo, &repo, err) < 0 ||
		attest_verify(in->arena, repo, in->words[0], &note, &is_signed, err) < 0)
		return -1;
	if (o->must_sign && !is_signed)
		return error_set(
			err, ERR_CHECK, "the attestation of '%.100s' is not signed", in->words[0]);
	buf_addf(in->out, "%s %.12s %s\n", json_get_str(note, "taskId"),
		json_get_str(note, "commit"), is_signed ? "signed" : "not signed");
	for (const json *i = json_first(json_get(note, "answers")); i; i = json_next(i))
		buf_addf(in->out, "  %s %s: %s\n", json_get_str(i, "action"),
			json_get_str(i, "agent"), json_get_str(i, "result"));
	for (const json *i = json_first(json_get(note, "others")); i; i = json_next(i))
		buf_addf(in->out, "  '%s': %s\n", json_get_str(i, "path"),
			json_get_str(i, "reason"));
	cli_put_json(in, o->json, o->json ? json_copy(note) : NULL);
	return 0;
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("verify", "COMMIT", attest_run_verify,
		"check that the attestation of a commit is of that commit and its tree",
		.details = "Exit status 1: it names another one, or its signature is not good. 3: "
			   "there is none.",
		.options = {options}),
	NULL,
};

const struct verb verb_attest = {
	.name = "attest",
	.group = "Backlog",
	.about = "check which agents approved a commit of a task",
	.details = "'tick' writes the attestation as a git note when a task is approved.",
	.examples = "dev-team attest verify dev-team/T-1",
	.size = sizeof(struct attest_options),
	.subcommands = subcommands,
};
