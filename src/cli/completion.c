#include "src/cli/cli.h"

static int completion_run(struct invocation *in, struct error *err)
{
	const char *shell = in->words[0];

	if (strcmp(shell, "bash") == 0)
		option_bash(in->out, &cli_program);
	else if (strcmp(shell, "zsh") == 0)
		option_zsh(in->out, &cli_program);
	else if (strcmp(shell, "fish") == 0)
		option_fish(in->out, &cli_program);
	else
		return error_set(
			err, ERR_USAGE, "unknown shell '%.60s': one of bash, zsh, fish", shell);
	return 0;
}

const struct verb verb_completion = {
	.name = "completion",
	.group = "Everyday",
	.about = "print the script that completes command lines in bash, zsh or fish",
	.examples = "source <(dev-team completion bash)\n"
		    "dev-team completion zsh >~/.zsh/completions/_dev_team\n"
		    "dev-team completion fish >~/.config/fish/completions/dev-team.fish",
	.words = "bash|zsh|fish",
	.run = completion_run,
};
