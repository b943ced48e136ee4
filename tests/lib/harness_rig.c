#include "src/base/vec.h"
#include "src/event/event.h"
#include "tests/lib/event_log.h"
#include "tests/lib/harness_rig.h"

struct error harness_err;
struct harness_result harness_got;
struct harness_availability harness_seen;
struct buf harness_events;

int harness_rig_enter(void **state)
{
	int rc = scratch_enter(state);
	static const char *const ours[] = {"ANTHROPIC_API_KEY", "CLAUDE_CODE_API_KEY",
		"ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL",
		"OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL", "GEMINI_API_KEY"};

	setenv("PATH", arena_printf(&arena, "%s/bin:/usr/bin:/bin", base), 1);
	for (size_t i = 0; i < COUNT(ours); i++)
		unsetenv(ours[i]);
	tree_mkdirs(at("bin"));
	return rc;
}

int harness_rig_leave(void **state)
{
	buf_release(&harness_events);
	return scratch_leave(state);
}

const char *stand_in_path(const char *program)
{
	return path_join(&arena, at("bin"), program);
}

void stand_in(const char *program, const char *script)
{
	const char *path = stand_in_path(program);

	tree_write(path, str_of(arena_printf(&arena, "#!/bin/sh\n%s\n", script)));
	assert_int_equal(chmod(path, 0755), 0);
}

void no_stand_in(const char *program)
{
	(void)unlink(stand_in_path(program));
}

void harness_note_event(void *data, const struct harness_event *e)
{
	static const char *const words[] = {
		[HARNESS_STARTED] = "started",
		[HARNESS_HEARTBEAT] = "heartbeat",
		[HARNESS_PROGRESS] = "progress",
		[HARNESS_COMPLETED] = "completed",
	};

	(void)data;
	buf_addf(&harness_events, "%s%s", harness_events.len ? " " : "", words[e->kind]);
}

int harness_rig_invoke(const struct harness *h, struct harness_input input)
{
	if (!input.prompt.p)
		input.prompt = STR("do it");
	if (!input.timeout_s)
		input.timeout_s = WAIT_LIMIT_S;
	buf_clear(&harness_events);
	harness_got = (struct harness_result){0};
	return harness_invoke(
		&arena, h, &input, harness_note_event, NULL, &harness_got, &harness_err);
}

const char *harness_outcome(void)
{
	const char *status = harness_status_names[harness_got.status];

	if (!harness_got.rate_limited)
		return status;
	return harness_got.status == HARNESS_UNAVAILABLE
		       ? "limited"
		       : arena_printf(&arena, "%s, limited", status);
}

void harness_assert_cases(
	const struct harness *h, const char *program, const struct harness_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		stand_in(program, cases[i].script);
		assert_int_equal(
			harness_rig_invoke(h, (struct harness_input){.timeout_s = WAIT_LIMIT_S}),
			0);
		if (strcmp(harness_outcome(), cases[i].outcome) != 0)
			fail_msg("%s, row %zu: %s: '%s'", program, i, harness_outcome(),
				harness_got.detail);
		if (cases[i].detail)
			assert_string_equal(harness_got.detail, cases[i].detail);
	}
}

const char *run_claude(const char *script)
{
	stand_in("claude", script);
	assert_int_equal(harness_rig_invoke(&harness_claude_code, (struct harness_input){0}), 0);
	return harness_status_names[harness_got.status];
}

const char *harness_probed(const struct harness *h, unsigned seconds)
{
	const char *why;

	harness_probe(&arena, h, seconds, &harness_seen);
	why = harness_reason_names[harness_seen.reason];
	return arena_printf(&arena, "%s %s %s", harness_seen.available ? "true" : "false",
		why ? why : "-", harness_seen.version ? harness_seen.version : "-");
}

const struct harness_availability *harness_rig_available(const struct harness *h)
{
	static const struct harness_availability yes = {.available = true},
						 unread = {true, HARNESS_PROBE_FAILED, "no version",
							 NULL},
						 no = {false, HARNESS_BINARY_MISSING, "not on PATH",
							 NULL};

	return strcmp(h->name, "codex") == 0         ? &unread
	       : strcmp(h->name, "claude-code") == 0 ? &yes
						     : &no;
}

struct text_list words(const char *text)
{
	VEC(const char *) list = {0};
	struct str rest = str_of(text);

	while (rest.n) {
		size_t n = str_find(rest, STR(" "));

		vec_push_in(&arena, &list, arena_dup(&arena, str_sub(rest, 0, n)));
		rest = str_sub(rest, n < rest.n ? n + 1 : n, rest.n);
	}
	return (struct text_list){list.items, list.n};
}

const char *harness_rig_event_types(void)
{
	CLEANUP(json_free) json *all = NULL;
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	size_t skipped;

	assert_int_equal(event_list(at("artifacts"), NULL, NULL, &all, &skipped, &harness_err), 0);
	assert_int_equal(skipped, 0);
	for (const json *e = json_first(all); e; e = json_next(e))
		buf_addf(&b, "%s%s", b.len ? " " : "", json_get_str(e, "type"));
	(void)event_log_count(at("artifacts"), NULL);
	tree_remove(at("artifacts"));
	return arena_dup(&arena, buf_str(&b));
}
