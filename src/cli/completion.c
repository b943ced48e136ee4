#include "src/cli/cli.h"

static int run(struct invocation *in, struct error *err)
{
	const char *shell = in->words[0];

	if (strcmp(shell, "bash") == 0)
		option_bash(in->out, &cli_program);
	else if (strcmp(shell, "zsh") == 0)
		option_zsh(in->out, &cli_program);
	else
		return error_set(err, ERR_USAGE, "unknown shell '%.60s': one of bash, zsh", shell);
	return 0;
}

const struct verb verb_completion = {
	.name = "completion",
	.group = "Setup",
	.about = "print the script that completes command lines in bash or zsh",
	.examples = "source <(dev-team completion bash)\n"
		    "dev-team completion zsh >~/.zsh/completions/_dev_team",
	.words = "bash|zsh",
	.run = run,
};
