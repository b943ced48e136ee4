#include "tests/lib/harness_rig.h"
#include "tests/lib/http_rig.h"

#define HEAD       "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
#define EVENT      "data: {\"model\":\"m1-2026\",\"choices\":[{\"index\":0,"
#define SAYS(text) EVENT "\"delta\":{\"content\":\"" text "\"},\"finish_reason\":null}]}\n\n"
#define ENDS(why)  EVENT "\"delta\":{},\"finish_reason\":\"" why "\"}]}\n\n"
#define USAGE                                                                                      \
	"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":120,\"completion_tokens\":7,"          \
	"\"prompt_tokens_details\":{\"cached_tokens\":20}}}\n\n"
#define DONE "data: [DONE]\n\n"

/* Byte by byte, as a slow network may deliver it. */
static void dribble(int fd, unsigned n, struct str request)
{
	static const int one = 1;

	(void)n, (void)request;
	setsockopt(fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &one, sizeof(one));
	for (const char *p = server_reply; *p; p++)
		(void)!send(fd, p, 1, MSG_NOSIGNAL);
}

static void place(const char *key)
{
	setenv("DEV_TEAM_API_BASE_URL", arena_printf(&arena, "%s/v1/", server.url), 1);
	if (key)
		setenv("DEV_TEAM_API_KEY", key, 1);
	else
		unsetenv("DEV_TEAM_API_KEY");
}

static const char *ask(server_play *how, const char *answer, struct harness_input input)
{
	server_reply = answer;
	server_start(how);
	place("k-secret-12345");
	input.model = input.model ? input.model : "m1";
	assert_int_equal(harness_rig_invoke(&harness_generic_api, input), 0);
	return harness_status_names[harness_got.status];
}

TEST(a_stream_gives_text_model_and_usage)
{
	static server_play *const plays[] = {server_replies, dribble};

	for (size_t i = 0; i < COUNT(plays); i++) {
		assert_string_equal(ask(plays[i],
					    HEAD ": hello\n\n" SAYS("All ") "event: x\n" SAYS(
						    "d\\u00f6ne") ENDS("stop") USAGE DONE,
					    (struct harness_input){0}),
			"success");
		server_stop(NULL);
		assert_string_equal(harness_got.text, "All d\xc3\xb6ne");
		assert_string_equal(harness_got.model, "m1-2026");
		assert_int_equal(harness_got.usage.input_tokens, 100);
		assert_int_equal(harness_got.usage.cache_tokens, 20);
		assert_int_equal(harness_got.usage.output_tokens, 7);
		assert_int_equal(harness_got.exit_code, 0);
		assert_true(harness_got.usage.cost_usd < 0);
		assert_string_equal(harness_events.s, "started progress progress completed");
	}
}

TEST(the_request_is_what_servers_expect)
{
	CLEANUP(buf_release) struct buf asked = BUF_INIT;

	ask(server_replies, HEAD SAYS("x") DONE,
		(struct harness_input){.prompt = STR("say \"\xc3\xb6\"\n")});
	server_stop(&asked);
	assert_true(str_starts(buf_str(&asked), "POST /v1/chat/completions HTTP/1.1\r\n"));
	assert_non_null(strstr(asked.s, "\r\nAuthorization: Bearer k-secret-12345\r\n"));
	assert_non_null(
		strstr(asked.s, "\r\n\r\n{\"model\":\"m1\",\"messages\":[{\"role\":\"user\","
				"\"content\":\"say \\\"\xc3\xb6\\\"\\n\"}],\"stream\":true,"
				"\"stream_options\":{\"include_usage\":true}}"));
}

#define PLAIN(status, body)                                                                        \
	"HTTP/1.1 " status "\r\nContent-Type: application/json\r\nRetry-After: 9\r\n\r\n" body

TEST(every_answer_has_a_result)
{
	static const struct {
		const char *outcome, *reply, *text, *detail;
	} rows[] = {
		{"success",
			PLAIN("200 OK",
				"{\"choices\":[{\"message\":{\"content\":\"whole\"},"
				"\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1}}"),
			"whole", NULL},
		{"success", HEAD SAYS("a") DONE, "a", NULL},
		{"success", HEAD SAYS("a") ENDS("stop"), "a", NULL},
		{"success", HEAD DONE, "", NULL},
		{"unavailable", HEAD SAYS("a"), "a",
			"the API closed the connection before the end of its answer"},
		{"failure", HEAD SAYS("a") ENDS("length"), "a",
			"the answer was cut off at the token limit of the model"},
		{"failure", HEAD SAYS("a") ENDS("content_filter"), "a",
			"the API filtered the answer"},
		{"failure", HEAD ENDS("tool_calls"), "",
			"the model asked for a tool, but has none"},
		{"failure", HEAD SAYS("a") "data: {broken\n\n" DONE, "a",
			"the API sent an event that is not JSON"},
		{"unavailable",
			HEAD SAYS("a") "data: "
				       "{\"error\":{\"message\":\"overloaded\",\"code\":503}}\n\n",
			"a", "overloaded"},
		{"limited",
			HEAD SAYS("a") "data: {\"error\":{\"message\":\"slow "
				       "down\",\"code\":429}}\n\n",
			"a", "slow down"},
		{"failure", HEAD "data: {\"error\":{\"message\":\"no\"}}\n\n", "", "no"},
		{"success", HEAD "data: {\"error\":null,\"choices\":[]}\n\n" DONE, "", NULL},
		{"failure", PLAIN("200 OK", "<html>welcome</html>"), "",
			"the answer is not one of /chat/completions"},
		{"failure", PLAIN("200 OK", "{}"), "",
			"the answer is not one of /chat/completions"},
		{"failure", PLAIN("200 OK", "{\"error\":\"all wrong\"}"), "", "all wrong"},
		{"limited",
			PLAIN("429 Too Many Requests", "{\"error\":{\"message\":\"slow down\"}}"),
			"", "slow down (retry after 9 s)"},
		{"limited",
			PLAIN("403 Forbidden", "{\"error\":{\"message\":\"x\",\"code\":"
					       "\"insufficient_quota\"}}"),
			"", "x (retry after 9 s)"},
		{"unavailable",
			PLAIN("401 Unauthorized",
				"{\"error\":{\"message\":\"key k-secret-12345 is bad\"}}"),
			"", "key **** is bad (retry after 9 s)"},
		{"failure", PLAIN("400 Bad Request", "{\"error\":{\"message\":\"too long\"}}"), "",
			"too long"},
		{"failure", PLAIN("404 Not Found", "nothing here"), "",
			"the API answered with status 404: nothing here"},
		{"unavailable", PLAIN("500 Oops", ""), "",
			"the API answered with status 500 (retry after 9 s)"},
		{"failure", PLAIN("302 Found", ""), "",
			"the API answered with status 302, a redirect; redirects are not followed"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)ask(server_replies, rows[i].reply, (struct harness_input){0});
		server_stop(NULL);
		if (strcmp(harness_outcome(), rows[i].outcome) != 0 ||
			(rows[i].detail && strcmp(harness_got.detail, rows[i].detail) != 0))
			fail_msg("row %zu: '%s' '%s'", i, harness_outcome(), harness_got.detail);
		assert_string_equal(harness_got.text, rows[i].text);
	}
}

TEST(a_lost_connection_is_unavailable)
{
	CLEANUP(base_close) int fd = -1;

	assert_string_equal(
		ask(server_replies, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nda",
			(struct harness_input){0}),
		"unavailable");
	assert_true(str_starts(str_of(harness_got.detail), "the API closed the connection: "));
	server_stop(NULL);
	fd = server_absent();
	place(NULL);
	assert_int_equal(
		harness_rig_invoke(&harness_generic_api, (struct harness_input){.model = "m1"}), 0);
	assert_int_equal(harness_got.status, HARNESS_UNAVAILABLE);
	assert_true(str_starts(str_of(harness_got.detail), "the API cannot be reached: "));
	assert_int_equal(harness_got.exit_code, -1);
}

TEST(a_silent_api_times_out)
{
	CLEANUP(buf_release) struct buf requests = BUF_INIT;
	const char *outcome = NULL;

	/* The first limit that lets the request be sent. */
	for (unsigned limit = 1; requests.len <= 1 && limit < WAIT_LIMIT_S; limit *= 2) {
		buf_clear(&requests);
		outcome = ask(server_silent, "", (struct harness_input){.timeout_s = limit});
		server_stop(&requests);
	}
	assert_string_equal(outcome, "timeout");
}

static int beats[2]; /* a pipe */

static void send_beat(void *data, const struct harness_event *e)
{
	(void)data;
	if (e->kind == HARNESS_HEARTBEAT)
		assert_int_equal(write(beats[1], "", 1), 1);
}

static void reply_after_two_beats(int fd, unsigned n, struct str request)
{
	char beat;

	(void)n, (void)request;
	if (read(beats[0], &beat, 1) == 1 && read(beats[0], &beat, 1) == 1)
		server_say(fd, HEAD SAYS("a") DONE);
}

TEST(heartbeats_come_until_the_api_answers)
{
	struct harness_input input = {
		.prompt = STR("x"), .model = "m1", .timeout_s = WAIT_LIMIT_S, .heartbeat_ms = 20};

	assert_int_equal(pipe(beats), 0);
	server_start(reply_after_two_beats);
	place(NULL);
	assert_int_equal(harness_invoke(&arena, &harness_generic_api, &input, send_beat, NULL,
				 &harness_got, &harness_err),
		0);
	server_stop(NULL);
	close(beats[0]);
	close(beats[1]);
	assert_int_equal(harness_got.status, HARNESS_SUCCESS);
}

TEST(a_run_can_be_cancelled)
{
	struct harness_input input = {0};
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	input.cancel = fds[0];
	assert_string_equal(ask(server_silent, "", input), "failure");
	server_stop(NULL);
	assert_string_equal(harness_got.detail, "cancelled");
	close(fds[0]);
	close(fds[1]);
}

/* Status line and body of the answer to GET /models, and the probe's result. */
TEST(health_asks_the_api)
{
	static const struct {
		const char *reply, *probed;
	} rows[] = {
		{PLAIN("200 OK", "{\"data\":[]}"), "true - -"},
		{PLAIN("404 Not Found", ""), "true - -"},
		{PLAIN("401 Unauthorized", ""), "false health-check-failed -"},
		{PLAIN("500 Oops", ""), "false health-check-failed -"},
	};
	CLEANUP(base_close) int fd = -1;

	for (size_t i = 0; i < COUNT(rows); i++) {
		server_reply = rows[i].reply;
		server_start(server_replies);
		place(NULL);
		assert_string_equal(
			harness_probed(&harness_generic_api, WAIT_LIMIT_S), rows[i].probed);
		server_stop(NULL);
	}
	fd = server_absent();
	place(NULL);
	assert_string_equal(
		harness_probed(&harness_generic_api, WAIT_LIMIT_S), "false health-check-failed -");
	unsetenv("DEV_TEAM_API_BASE_URL");
	assert_string_equal(
		harness_probed(&harness_generic_api, WAIT_LIMIT_S), "false health-check-failed -");
	assert_string_equal(harness_seen.detail, "DEV_TEAM_API_BASE_URL is not set");
}

TEST(a_key_is_never_sent_unencrypted)
{
	static const char *const urls[] = {"http://example.invalid/v1",
		"http://localhost.evil.invalid/v1", "http://127.0.0.1.evil.invalid/v1",
		"http://127.evil.invalid", "http://localhostile", "http://[::1].evil.invalid/v1",
		"http://127.0.0.1@evil.invalid", "http://127.1.evil.invalid:80/v1",
		"HTTP://example.invalid", "http://1270.0.0.1/", "http://:80", "ftp://x"};

	setenv("DEV_TEAM_API_KEY", "k-secret-12345", 1);
	for (size_t i = 0; i < COUNT(urls); i++) {
		setenv("DEV_TEAM_API_BASE_URL", urls[i], 1);
		assert_string_equal(harness_probed(&harness_generic_api, WAIT_LIMIT_S),
			"false health-check-failed -");
		assert_string_equal(harness_seen.detail,
			"the key would be sent unencrypted to the host of DEV_TEAM_API_BASE_URL");
		assert_int_equal(harness_rig_invoke(&harness_generic_api,
					 (struct harness_input){.model = "m1"}),
			0);
		assert_int_equal(harness_got.status, HARNESS_UNAVAILABLE);
	}
}

/* No proxy is used for a server of this machine. */
TEST(loopback_needs_no_proxy)
{
	unsetenv("no_proxy");
	setenv("http_proxy", "http://127.0.0.1:1", 1);
	assert_string_equal(
		ask(server_replies, HEAD SAYS("yes") ENDS("stop") DONE, (struct harness_input){0}),
		"success");
	server_stop(NULL);
	unsetenv("http_proxy");
	setenv("no_proxy", "*", 1);
}

TEST(a_model_must_be_named)
{
	unsetenv("DEV_TEAM_API_MODEL");
	assert_int_equal(harness_rig_invoke(&harness_generic_api, (struct harness_input){0}), -1);
	assert_error(&harness_err, "dev-team: no model given and DEV_TEAM_API_MODEL is not set: "
				   "generic-api has no default model");
	setenv("DEV_TEAM_API_MODEL", "m7", 1);
	server_reply = HEAD SAYS("x") DONE;
	server_start(server_replies);
	place(NULL);
	assert_int_equal(harness_rig_invoke(&harness_generic_api, (struct harness_input){0}), 0);
	server_stop(NULL);
	assert_int_equal(harness_got.status, HARNESS_SUCCESS);
	unsetenv("DEV_TEAM_API_MODEL");
}

UNIT_GROUP(harness_rig_enter, harness_rig_leave)
