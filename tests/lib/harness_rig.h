/*
 * harness_rig.h: stand-ins for the programs of the harnesses: shell scripts in a folder that is
 * first on PATH. Tests run inside the scratch folder.
 */
#ifndef DT_TESTS_HARNESS_RIG_H
#define DT_TESTS_HARNESS_RIG_H

#include <sys/stat.h>
#include "src/harness/adapter.h"
#include "tests/lib/scratch.h"

static struct error err;
static struct harness_result result;
static struct harness_availability seen;

/* The words of the events of a run: "started progress completed". */
static struct buf told;

static inline int rig_enter(void **state)
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

static inline int rig_leave(void **state)
{
	buf_release(&told);
	return scratch_leave(state);
}

static inline const char *stand_in_path(const char *program)
{
	return path_join(&arena, at("bin"), program);
}

static inline void stand_in(const char *program, const char *script)
{
	const char *path = stand_in_path(program);

	tree_write(path, str_of(arena_printf(&arena, "#!/bin/sh\n%s\n", script)));
	assert_int_equal(chmod(path, 0755), 0);
}

static inline void no_stand_in(const char *program)
{
	(void)unlink(stand_in_path(program));
}

static inline void note_event(void *data, const struct harness_event *e)
{
	static const char *const words[] = {
		[HARNESS_STARTED] = "started",
		[HARNESS_HEARTBEAT] = "heartbeat",
		[HARNESS_PROGRESS] = "progress",
		[HARNESS_COMPLETED] = "completed",
	};

	(void)data;
	buf_addf(&told, "%s%s", told.len ? " " : "", words[e->kind]);
}

static inline int invoke(const struct harness *h, struct harness_input input)
{
	if (!input.prompt.p)
		input.prompt = STR("do it");
	buf_clear(&told);
	result = (struct harness_result){0};
	return harness_invoke(&arena, h, &input, note_event, NULL, &result, &err);
}

/* Runs the script as `claude` and returns the word for what became of it. */
static inline const char *claude_says(const char *script)
{
	stand_in("claude", script);
	assert_int_equal(invoke(&harness_claude_code, (struct harness_input){0}), 0);
	return harness_status_name(result.status);
}

static inline const char *probed(const struct harness *h, unsigned seconds)
{
	const char *why;

	harness_probe(&arena, h, seconds, &seen);
	why = unavailable_reason_name(seen.reason);
	return arena_printf(&arena, "%s %s %s", seen.available ? "true" : "false", why ? why : "-",
		seen.version ? seen.version : "-");
}

#define RESULT_LINE                                                                                \
	"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\","     \
	"\"total_cost_usd\":0.25,\"num_turns\":2,\"modelUsage\":{\"claude-sonnet-4-6\":"           \
	"{\"inputTokens\":120,\"outputTokens\":30,\"cacheReadInputTokens\":7}}}"

#endif
