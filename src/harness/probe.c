#include <ctype.h>
#include "src/base/number.h"
#include "src/harness/output_parser.h"
#include "src/sys/path.h"

enum { OUTPUT_MAX = 65536, SHOWN_MAX = 80, GRACE_MS = 500, VERSION_PARTS = 3, DIGITS_MAX = 18 };

/* ---- versions ---- */

/* Cuts X.Y.Z off the start of *rest. */
static bool take_version(struct str *rest, uint64_t out[VERSION_PARTS])
{
	for (int i = 0; i < VERSION_PARTS; i++) {
		size_t n;

		if (i && !str_starts(*rest, "."))
			return false;
		*rest = str_sub(*rest, i ? 1 : 0, rest->n);
		n = number_digits(*rest, &out[i]);
		if (!n || n > DIGITS_MAX)
			return false;
		*rest = str_sub(*rest, n, rest->n);
	}
	return true;
}

const char *harness_version_find(struct arena *a, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		struct str rest = str_sub(text, i, text.n);
		uint64_t parts[VERSION_PARTS];

		/* Not in the middle of a number. */
		if (!(i && isdigit((unsigned char)text.p[i - 1])) && take_version(&rest, parts))
			return arena_dup(a, str_sub(text, i, text.n - rest.n));
	}
	return NULL;
}

bool harness_version_in_range(struct str version, struct str range)
{
	uint64_t is[VERSION_PARTS], least[VERSION_PARTS];
	int i = 0;

	range = str_sub(range, strlen(">="), range.n);
	if (!take_version(&version, is) || !take_version(&range, least) || range.n)
		return false;
	while (i < VERSION_PARTS - 1 && is[i] == least[i])
		i++;
	return is[i] >= least[i];
}

/* ---- the probe ---- */

/* A program that prints only to stderr has printed no version. */
static bool probe_take_output(void *data, bool errors, struct str piece)
{
	struct buf *out = data;
	size_t room = OUTPUT_MAX - out->len;

	if (!errors)
		buf_add(out, str_sub(piece, 0, piece.n < room ? piece.n : room));
	return true;
}

static void set_unavailable(
	struct harness_availability *out, enum harness_reason reason, const char *detail)
{
	out->available = false;
	out->reason = reason;
	out->detail = detail;
}

static const char *exit_fault(
	struct arena *a, const char *binary, const struct process_end *end, unsigned seconds)
{
	if (end->timed_out)
		return arena_printf(a, "'%s --version' did not end within %u s", binary, seconds);
	if (end->status > 128)
		return arena_printf(
			a, "'%s --version' was killed by signal %d", binary, end->status - 128);
	if (end->status)
		return arena_printf(
			a, "'%s --version' ended with exit status %d", binary, end->status);
	return NULL;
}

/* It ran but printed no version: usable, with a warning. */
static void set_unknown_version(struct arena *a, const struct harness *h, struct str printed,
	struct harness_availability *out)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	CLEANUP(buf_release) struct buf masked = BUF_INIT;
	struct secrets secrets = {0};
	struct str first = {NULL, 0};

	(void)str_line(&printed, &first);
	buf_add(&line, first);
	buf_utf8_repair(&line);
	secrets_add(a, &secrets, (const char *const *)environ, h->credentials);
	secrets_mask(&secrets, buf_str(&line), &masked);
	first = str_cut(buf_str(&masked), SHOWN_MAX);
	out->available = true;
	out->reason = HARNESS_PROBE_FAILED;
	out->detail = arena_printf(a, "'%s --version' printed no version: '%.*s'", h->binary,
		(int)first.n, first.n ? first.p : "");
}

static void judge_version(struct arena *a, const struct harness *h, struct str printed,
	struct harness_availability *out)
{
	out->version = harness_version_find(a, printed);
	if (!out->version)
		set_unknown_version(a, h, printed, out);
	else if (harness_version_in_range(str_of(out->version), str_of(h->range)))
		out->available = true;
	else
		set_unavailable(out, HARNESS_VERSION_OUT_OF_RANGE,
			arena_printf(a, "%s %s installed, adapter requires %s; %s", h->binary,
				out->version, h->range, h->install));
}

static void probe_program(struct arena *a, const struct harness *h, unsigned seconds,
	struct harness_availability *out)
{
	CLEANUP(buf_release) struct buf printed = BUF_INIT;
	bool blocked;
	const char *file = path_find_program(a, h->binary, &blocked), *fault;
	const char *argv[] = {file, "--version", NULL};
	struct process p = {.argv = argv,
		.env = harness_environment(a, h, NULL),
		.env_whole = true,
		.output = -1,
		.on_output = probe_take_output,
		.data = &printed,
		.timeout_s = seconds,
		.grace_ms = GRACE_MS};
	struct process_end end;
	struct error err;

	if (!file) {
		set_unavailable(out, blocked ? HARNESS_PROBE_FAILED : HARNESS_BINARY_MISSING,
			arena_printf(a,
				blocked ? "'%s' is not executable; %s" : "no '%s' on PATH; %s",
				h->binary, h->install));
		return;
	}
	if (process_run(&p, &end, &err) < 0) {
		set_unavailable(out, HARNESS_PROBE_FAILED, arena_dup(a, str_of(err.text)));
		return;
	}
	fault = exit_fault(a, h->binary, &end, seconds);
	if (fault)
		set_unavailable(out, HARNESS_PROBE_FAILED, fault);
	else
		judge_version(a, h, buf_str(&printed), out);
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

static bool has_login(struct arena *a, const struct harness *h)
{
	for (const char *const *name = h->credentials; name && *name; name++)
		if (is_set(*name))
			return true;
	for (const char *const *file = h->logins; *file; file++) {
		size_t n = **file == '$' ? strcspn(*file, "/") : 0;
		const char *name = n ? arena_dup(a, (struct str){*file + 1, n - 1}) : "HOME";

		if (is_set(name) && (n == strlen(*file) || path_exists(path_join(a, getenv(name),
								   n ? *file + n + 1 : *file))))
			return true;
	}
	return false;
}

/* It may keep its login elsewhere, such as in a keychain: a warning. */
static void look_for_login(
	struct arena *a, const struct harness *h, struct harness_availability *out)
{
	if (!h->logins || has_login(a, h))
		return;
	out->reason = HARNESS_NOT_LOGGED_IN;
	out->detail =
		arena_printf(a, "no login was found: %s, or set %s", h->login, h->credentials[0]);
}

void harness_probe(struct arena *a, const struct harness *h, unsigned seconds,
	struct harness_availability *out)
{
	const struct harness_input nothing = {0};
	const char *fault = NULL;

	*out = (struct harness_availability){.available = !h->binary};
	if (h->binary)
		probe_program(a, h, seconds, out);
	if (out->available && h->health)
		fault = h->health(a, harness_environment(a, h, &nothing), seconds);
	if (fault)
		set_unavailable(out, HARNESS_HEALTH_CHECK_FAILED, fault);
	if (out->available && out->reason == HARNESS_REASON_NONE)
		look_for_login(a, h, out);
}

int harness_require(const struct harness *h, struct error *err)
{
	const struct harness_availability *is = harness_available(h);

	if (!is->available && is->reason == HARNESS_BINARY_MISSING)
		return error_set(err, ERR_STATE,
			"no agents: '%s' is not on PATH: install it (%s), name another harness "
			"(--harness NAME), or script the agents (--agents FILE)",
			h->binary, h->install);
	return is->available ? 0
			     : error_set(err, ERR_STATE,
				       "no agents: harness '%s' cannot be used: %s: %.600s",
				       h->name, harness_reason_names[is->reason], is->detail);
}
