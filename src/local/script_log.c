/* script_log.c: the log of a script that has database branches. */
#include "src/local/script.h"
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/sys/secrets.h"

enum { LINE_MAX_BYTES = 64 << 10 };

struct masked_log {
	const struct process *process; /* as the caller filled it */
	struct secrets secrets;        /* the connection strings that this process knows */
	struct buf partial;            /* a line that has not ended */
	size_t written;
};

/* What is over the limit is dropped, as process.h does it. */
static void script_log_write_masked(struct masked_log *m, struct str text)
{
	CLEANUP(buf_release) struct buf masked = BUF_INIT;
	size_t room = m->process->output_max - m->written;
	struct error ignored;

	if (!room || !text.n)
		return;
	secrets_mask_values(&m->secrets, text, &masked);
	(void)sys_write_all(m->process->output,
		str_sub(buf_str(&masked), 0, masked.len < room ? masked.len : room), "log",
		&ignored);
	if (masked.len > room)
		(void)sys_write_all(
			m->process->output, str_of(m->process->output_cut), "log", &ignored);
	m->written = masked.len < room ? m->written + masked.len : m->process->output_max;
}

/* Line by line: half of a secret is not recognised. */
static bool script_log_hear(void *data, bool errors, struct str piece)
{
	struct masked_log *m = data;
	size_t n;

	(void)errors;
	buf_add(&m->partial, piece);
	n = m->partial.len;
	while (n && m->partial.s[n - 1] != '\n' && m->partial.len < LINE_MAX_BYTES)
		n--;
	script_log_write_masked(m, (struct str){m->partial.s, n});
	memmove(m->partial.s, m->partial.s + n, m->partial.len - n);
	buf_cut(&m->partial, m->partial.len - n);
	return true;
}

int script_run_logged(
	struct arena *a, const struct process *p, struct process_end *end, struct error *err)
{
	struct masked_log m = {.process = p, .partial = BUF_INIT};
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
	script_log_write_masked(&m, buf_str(&m.partial));
	buf_release(&m.partial);
	return rc;
}
