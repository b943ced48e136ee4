#include "src/sys/process.h"
#include "src/harness/environment.h"
#include "src/harness/lines.h"
#include "src/harness/version.h"

enum { OUTPUT_MAX = 65536, SHOWN_MAX = 80, GRACE_MS = 500 };

/* What the program answered. */
struct answer {
	struct buf out;
	size_t errors; /* bytes of stderr, which is not read */
};

static bool hear(void *data, bool errors, struct str piece)
{
	struct answer *a = data;
	size_t room = OUTPUT_MAX - a->out.len;

	if (errors)
		a->errors += piece.n;
	else
		buf_add(&a->out, str_sub(piece, 0, piece.n < room ? piece.n : room));
	return true;
}

static void forget(struct answer *a)
{
	buf_release(&a->out);
}

static void is_not(struct availability *out, enum unavailable_reason why, const char *detail)
{
	out->available = false;
	out->reason = why;
	out->detail = detail;
}

/* How the probe of a program ended, when that says that it cannot be used. */
static const char *fault_of(
	struct arena *a, const char *binary, const struct process_end *end, unsigned seconds)
{
	if (end->timed_out)
		return arena_printf(a, "'%s --version' did not end within %u s", binary, seconds);
	if (end->status > 128)
		return arena_printf(
			a, "'%s --version' was ended by signal %d", binary, end->status - 128);
	if (end->status)
		return arena_printf(
			a, "'%s --version' ended with exit status %d", binary, end->status);
	return NULL;
}

/* It answered, but not with a version: it can be used, and people are told. */
static void unreadable(struct arena *a, const struct harness *h, const struct answer *said,
	struct availability *out)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	struct str shown;
	CLEANUP(buf_release) struct buf masked = BUF_INIT;
	struct secrets secrets = {0};
	struct str rest = buf_str(&said->out), first = {NULL, 0};

	(void)str_line(&rest, &first);
	buf_add(&line, first);
	utf8_mend(&line);
	secrets_add(a, &secrets, (const char *const *)environ, h->credentials);
	secrets_mask(&secrets, buf_str(&line), &masked);
	shown = first_bytes(buf_str(&masked), SHOWN_MAX);
	out->available = true;
	out->reason = PROBE_FAILED;
	out->detail = arena_printf(a, "no version in what '%s --version' prints: '%.*s'", h->binary,
		(int)shown.n, shown.n ? shown.p : "");
}

static void judge(struct arena *a, const struct harness *h, const struct answer *said,
	struct availability *out)
{
	out->version = version_find(a, buf_str(&said->out));
	if (!out->version) {
		unreadable(a, h, said, out);
		return;
	}
	if (!version_in(str_of(out->version), str_of(h->range))) {
		is_not(out, VERSION_OUT_OF_RANGE,
			arena_printf(a, "%s %s installed, adapter requires %s; %s", h->binary,
				out->version, h->range, h->install));
		return;
	}
	out->available = true;
}

static void probe_program(
	struct arena *a, const struct harness *h, unsigned seconds, struct availability *out)
{
	CLEANUP(forget) struct answer said = {0};
	bool blocked;
	const char *file = harness_binary(a, h->binary, &blocked), *fault;
	const char *argv[] = {file, "--version", NULL};
	struct process p = {.argv = argv,
		.env = harness_environment(a, h, NULL),
		.env_whole = true,
		.output = -1,
		.heard = hear,
		.data = &said,
		.timeout_s = seconds,
		.grace_ms = GRACE_MS};
	struct process_end end;
	struct error err;

	if (!file) {
		is_not(out, blocked ? PROBE_FAILED : BINARY_MISSING,
			arena_printf(a, blocked ? "'%s' may not be run; %s" : "no '%s' on PATH; %s",
				h->binary, h->install));
		return;
	}
	if (process_run(&p, &end, &err) < 0) {
		is_not(out, PROBE_FAILED, arena_dup(a, str_of(err.text)));
		return;
	}
	fault = fault_of(a, h->binary, &end, seconds);
	if (fault)
		is_not(out, PROBE_FAILED, fault);
	else
		judge(a, h, &said, out);
}

void harness_probe(
	struct arena *a, const struct harness *h, unsigned seconds, struct availability *out)
{
	struct harness_input nothing = {0};

	*out = (struct availability){.available = !h->binary};
	if (h->binary)
		probe_program(a, h, seconds, out);
	if (out->available && h->health)
		h->health(a, h, harness_environment(a, h, &nothing), out);
}
