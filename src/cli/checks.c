#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/cli/cli.h"
#include "src/sys/forge.h"

enum {
	PAUSE_S = 10,
	PAUSE_MAX_S = 3600,
	LOOKS = 4, /* without checks or without an answer, before that is the result */
};

/* A forge adds the checks some time after a push, and may fail to answer once. */
static int wait_for_checks(
	struct arena *a, const char *url, struct forge_checks *out, struct error *err)
{
	unsigned pause_s = (unsigned)number_env("DEV_TEAM_CHECKS_PAUSE", PAUSE_MAX_S, PAUSE_S);

	for (unsigned looks = 1;; looks++) {
		int got = forge_checks(a, ".", url, out, err);
		bool pending = got == 0 && out->state == FORGE_CHECKS_PENDING;

		looks = pending ? 0 : looks;
		if (!pending &&
			(looks == LOOKS ||
				(got == 0 && (!out->tool || out->state != FORGE_CHECKS_NONE))))
			return got;
		clock_pause(1000 * pause_s);
	}
}

static int checks_run(struct invocation *in, struct error *err)
{
	struct forge_checks checks;
	struct forge_pull p;
	const char *url = in->n ? in->words[0] : NULL;

	if (url && !forge_find_pull(str_of(url), &p))
		return error_set(err, ERR_INPUT,
			"'%s' is not the URL of a pull request: name one such as "
			"https://github.com/acme/shop/pull/7",
			url);
	if (wait_for_checks(in->arena, url, &checks, err) < 0)
		return -1;
	if (!checks.tool)
		buf_adds(in->out, "not checked: no installed program knows the checks\n");
	else if (checks.state == FORGE_CHECKS_NONE)
		buf_adds(in->out, "no checks were reported\n");
	else if (checks.state == FORGE_CHECKS_PASSED)
		buf_adds(in->out, "the checks passed\n");
	else
		buf_addf(in->out, "failed:\n%s\n", checks.failed);
	return checks.state == FORGE_CHECKS_FAILED ? ERR_CHECK : 0;
}

const struct verb verb_checks = {
	.name = "checks",
	.group = "Plumbing",
	.about = "wait for the checks of a pull request",
	.details =
		"Asks 'gh' on GitHub, or 'glab' on GitLab, every 10 seconds until no check is "
		"pending; set a time limit from outside. URL is needed for GitLab; without it the "
		"pull request of the checked-out branch is meant.\n"
		"\n"
		"No checks within 30 seconds, another forge, or no such program: exit status 0, "
		"which the output says. Exit status 1: a check failed.",
	.examples = "dev-team checks https://github.com/acme/shop/pull/7",
	.words = "[URL]",
	.run = checks_run,
};
