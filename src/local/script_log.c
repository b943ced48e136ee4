/* script_log.c: the log of a script that has database branches. */
#include "src/local/script.h"
#include "src/sys/process.h"
#include "src/sys/secrets.h"

static bool script_log_hear(void *data, bool errors, struct str piece)
{
	(void)errors;
	masked_output_add(data, piece);
	return true;
}

int script_run_logged(
	struct arena *a, const struct process *p, struct process_end *end, struct error *err)
{
	struct masked_output m = {.fd = p->output, .max = p->output_max, .cut = p->output_cut};
	struct process masked = *p;
	int rc;

	secrets_add(a, &m.secrets, NULL, NULL);
	if (!m.secrets.n)
		return process_run(p, end, err);
	masked.output = -1;
	masked.on_output = script_log_hear;
	masked.together = true;
	masked.data = &m;
	rc = process_run(&masked, end, err);
	masked_output_end(&m);
	return rc;
}
