#include <sys/stat.h>
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/harness/output_parser.h"
#include "src/sys/path.h"

enum {
	MODEL_SHOWN = 200,
	FAULT_SHOWN = 4000,
	RAW_KEPT = 2 * TEXT_KEPT, /* of any text, until it is masked */
	CHARACTER_MAX = 4,        /* bytes of one character */
	COST_MAX = 1000000000,
	MARGIN_S = 60
};

/* ---- the command line ---- */

void command_add(struct command *c, const char *word)
{
	vec_reserve_in(c->arena, c, 2);
	c->items[c->n++] = arena_dup(c->arena, str_of(word));
	c->items[c->n] = NULL;
}

void command_option(struct command *c, const char *option, const char *value)
{
	if (!value)
		return;
	command_add(c, option);
	command_add(c, value);
}

void command_list(struct command *c, const char *option, const char *const *names)
{
	CLEANUP(buf_release) struct buf joined = BUF_INIT;

	for (size_t i = 0; names && names[i]; i++)
		buf_addf(&joined, "%s%s", i ? "," : "", names[i]);
	if (joined.len)
		command_option(c, option, joined.s);
}

void command_set_env(struct command *c, const struct harness_input *input, const char *entry)
{
	struct str name = {entry, strcspn(entry, "=")};
	VEC(const char *) env = {0};

	if (harness_env_get(input->env, arena_dup(c->arena, name)))
		return;
	vec_push_in(c->arena, &env, entry);
	for (const char *const *e = c->env; *e; e++)
		if (strncmp(*e, entry, name.n + 1) != 0)
			vec_push_in(c->arena, &env, *e);
	vec_push_in(c->arena, &env, NULL);
	c->env = env.items;
}

bool harness_input_allows(const struct harness_input *input, const char *tool)
{
	size_t n = strlen(tool);

	if (!input->tools)
		return true;
	for (const char *const *t = input->tools; *t; t++)
		if (strncmp(*t, tool, n) == 0 && ((*t)[n] == '\0' || (*t)[n] == '('))
			return true;
	return false;
}

bool harness_input_allows_writes(const struct harness_input *input)
{
	static const char *const tools[] = {"Bash", "Edit", "Write", "MultiEdit", "NotebookEdit"};

	for (size_t i = 0; i < COUNT(tools); i++)
		if (harness_input_allows(input, tools[i]))
			return true;
	return false;
}

/* ---- the session ---- */

void session_begin(struct session *s)
{
	s->env = harness_environment(s->arena, s->harness, s->input);
	secrets_add(s->arena, &s->secrets, (const char *const *)environ, s->harness->credentials);
	secrets_add(s->arena, &s->secrets, s->env, s->harness->credentials);
	s->started_ms = clock_ticks();
	s->usage = (struct usage)USAGE_NONE;
	s->exit_code = -1;
}

void session_emit(struct session *s, struct harness_event *e)
{
	e->at = clock_now();
	if (s->listener)
		s->listener(s->listener_data, e);
}

void session_heartbeat(struct session *s)
{
	struct harness_event e = {.kind = HARNESS_HEARTBEAT, .tokens = s->progress};

	session_emit(s, &e);
}

void session_output(struct session *s, struct str line)
{
	CLEANUP(buf_release) struct buf masked = BUF_INIT;

	if (!s->input->output)
		return;
	secrets_mask(&s->secrets, line, &masked);
	s->input->output(s->input->output_data, buf_str(&masked));
}

/* Keeps more than is shown: a secret must be complete when it is masked. */
static void invoke_replace(struct buf *b, struct str text)
{
	buf_clear(b);
	buf_add(b, str_cut(text, RAW_KEPT));
	buf_utf8_repair(b);
}

void session_text(struct session *s, struct str text)
{
	invoke_replace(&s->text, text);
}

void session_model(struct session *s, struct str model)
{
	invoke_replace(&s->model, model);
}

void session_verdict(struct session *s, enum harness_status verdict, struct str reason)
{
	bool replaces = verdict == HARNESS_UNAVAILABLE && s->verdict != HARNESS_UNAVAILABLE;

	if (s->judged && !replaces)
		return;
	s->judged = true;
	s->verdict = verdict;
	invoke_replace(&s->fault, reason);
}

bool session_recover(struct session *s)
{
	if (!s->faulted || s->stop)
		return false;
	s->judged = s->rate_limited = false;
	s->verdict = HARNESS_SUCCESS;
	return true;
}

void session_api_verdict(struct session *s, long status, struct str reason)
{
	session_verdict(s,
		harness_api_status_unavailable(status) ? HARNESS_UNAVAILABLE : HARNESS_FAILURE,
		reason);
	s->rate_limited = s->rate_limited || status == API_LIMIT;
}

void session_progress(struct session *s, int64_t tokens, const char *activity)
{
	CLEANUP(buf_release) struct buf masked = BUF_INIT;
	struct harness_event e = {.kind = HARNESS_PROGRESS};

	s->progress += tokens > 0 ? tokens : 0;
	s->worked = s->worked || tokens > 0 || activity;
	e.tokens = s->progress;
	if (activity) {
		secrets_mask(&s->secrets, str_of(activity), &masked);
		e.message = masked.s;
	}
	session_emit(s, &e);
}

void session_retrying(struct session *s, bool limited, struct str reason)
{
	s->retrying = true;
	s->retry_limited = limited;
	invoke_replace(&s->retry_reason, reason);
}

void session_resumed(struct session *s)
{
	s->retrying = false;
}

void session_abort(struct session *s, bool limited, struct str reason)
{
	session_verdict(s, HARNESS_UNAVAILABLE, reason);
	s->rate_limited = s->rate_limited || limited;
	s->stop = true;
}

static int64_t tokens_at(struct arena *a, const json *object, const char *path)
{
	const char *dot;

	if (!path)
		return 0;
	for (; (dot = strchr(path, '.')); path = dot + 1)
		object = json_get(object, arena_dup(a, (struct str){path, (size_t)(dot - path)}));
	return json_get_int(object, path, 0);
}

int64_t session_usage(struct session *s, const json *object, const struct usage_form *form)
{
	int64_t input = tokens_at(s->arena, object, form->input);
	int64_t output = tokens_at(s->arena, object, form->output) +
			 tokens_at(s->arena, object, form->reasoning);
	int64_t written = tokens_at(s->arena, object, form->cache_write);
	int64_t cached = tokens_at(s->arena, object, form->cache_read) + written;
	int64_t fresh = !form->input_has_cached ? input : input >= cached ? input - cached : 0;

	usage_add_tokens(&s->usage, fresh, output, cached);
	s->usage.cache_written += written;
	return input + output;
}

void session_model_most_used(struct session *s, const json *models, const char *output)
{
	int64_t most = -1;

	for (const json *m = json_first(models); m; m = json_next(m)) {
		int64_t tokens = json_get_int(m, output, 0);

		if (tokens <= most)
			continue;
		session_model(s, str_of(json_key(m)));
		most = tokens;
	}
}

/* The first `max` bytes, masked. If RAW_KEPT cut the text, the cut may be inside a secret: as many
 * bytes as the longest secret has are dropped from the end. */
static const char *mask_text(struct session *s, const struct buf *b, bool credentials, size_t max)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str text;

	if (credentials)
		secrets_mask(&s->secrets, buf_str(b), &out);
	else
		secrets_mask_values(&s->secrets, buf_str(b), &out);
	text = buf_str(&out);
	if (b->len + CHARACTER_MAX > RAW_KEPT) {
		size_t longest = secrets_longest(&s->secrets);

		text = str_cut(text, text.n > longest ? text.n - longest : 0);
	}
	return arena_dup(s->arena, str_cut(text, max));
}

void session_result(struct session *s, struct harness_result *out)
{
	bool success = s->verdict == HARNESS_SUCCESS;

	*out = (struct harness_result){
		.status = s->verdict,
		.exit_code = s->exit_code,
		.usage = s->usage,
		.text = mask_text(s, &s->text, false, TEXT_KEPT),
		.model = s->model.len ? mask_text(s, &s->model, true, MODEL_SHOWN) : NULL,
		.detail = success ? NULL : mask_text(s, &s->fault, true, FAULT_SHOWN),
		.rate_limited = s->verdict == HARNESS_UNAVAILABLE && s->rate_limited,
		.worked = s->worked || s->usage.output_tokens > 0,
	};
	if (out->rate_limited)
		out->resets_at = harness_limit_reset(buf_str(&s->fault), clock_now());
	out->usage.ms = clock_ticks() - s->started_ms;
	/* A cost that no run can have was misread. */
	if (!(s->usage.cost_usd >= 0 && s->usage.cost_usd < COST_MAX))
		out->usage.cost_usd = -1;
}

void session_release(struct session *s)
{
	buf_release(&s->text);
	buf_release(&s->model);
	buf_release(&s->fault);
	buf_release(&s->retry_reason);
	buf_release(&s->note);
}

/* ---- faults of the API ---- */

enum {
	PAYMENT_REQUIRED = 402,
	PROXY_LOGIN = 407,
	REQUEST_TIMEOUT = 408,
	TOO_EARLY = 425,
	CLIENT_CLOSED = 499,
	SERVER_ERROR = 500,
};

bool harness_api_status_unavailable(long status)
{
	static const long statuses[] = {0, API_UNAUTHORIZED, PAYMENT_REQUIRED, API_FORBIDDEN,
		PROXY_LOGIN, REQUEST_TIMEOUT, TOO_EARLY, API_LIMIT, CLIENT_CLOSED};

	for (size_t i = 0; i < COUNT(statuses); i++)
		if (status == statuses[i])
			return true;
	return status >= SERVER_ERROR;
}

bool harness_api_starts_any(struct str text, const char *const *phrases)
{
	for (; *phrases; phrases++) {
		size_t n = strlen(*phrases);

		if (n <= text.n && strncasecmp(text.p, *phrases, n) == 0)
			return true;
	}
	return false;
}

bool harness_api_code_limited(struct str code)
{
	static const char *const codes[] = {"rate_limit_exceeded", "rate_limit_error", "rate_limit",
		"too_many_requests", "insufficient_quota", "quota_exceeded", "resource_exhausted",
		"usage_limit_reached"};

	for (size_t i = 0; i < COUNT(codes); i++)
		if (code.n == strlen(codes[i]) && strncasecmp(code.p, codes[i], code.n) == 0)
			return true;
	return false;
}

long harness_api_status_parse(struct str text)
{
	uint64_t status;

	if (number_digits(text, &status) != 3 || status < 100 || status >= 600)
		return -1;
	return (long)status;
}

/* ---- the run ---- */

static void invoke_on_tick(void *data)
{
	struct output_parser *p = data;

	session_heartbeat(p->session);
}

/* It ends the program at its own limit first, with a reason. */
static void add_container(struct command *c, const struct harness_input *input)
{
	const char *self = path_own_program(c->arena);

	command_add(c, self ? self : "dev-team");
	command_add(c, "policy");
	command_add(c, "exec");
	command_option(c, "--policy", input->contained);
	command_option(c, "--timeout", arena_printf(c->arena, "%u", input->timeout_s + MARGIN_S));
	command_add(c, "--stdin");
	command_add(c, "--keep-environment");
	command_add(c, "--");
}

static int run_program(struct session *s, struct error *err)
{
	bool blocked;
	const char *file = path_find_program(s->arena, s->harness->binary, &blocked);
	CLEANUP(output_parser_release) struct output_parser parser;
	struct command c = {.arena = s->arena, .env = s->env};
	struct process p = {.cwd = s->input->cwd,
		.env_whole = true,
		.input = s->input->prompt,
		.output = -1,
		.on_output = output_parser_add,
		.tick = invoke_on_tick,
		.tick_ms = s->input->heartbeat_ms,
		.data = &parser,
		.timeout_s = s->input->timeout_s,
		.until = &s->until,
		.cancel = s->input->cancel,
		.inherit = s->input->inherit,
		.uid = s->input->uid,
		.gid = s->input->gid};
	struct process_end end;
	struct error fault;

	output_parser_begin(&parser, s);
	if (!file) {
		session_verdict(s, HARNESS_UNAVAILABLE,
			str_of(arena_printf(s->arena,
				blocked ? "'%s' is not executable" : "no '%s' on PATH",
				s->harness->binary)));
		return 0;
	}
	if (s->input->contained && !s->harness->has_hooks)
		add_container(&c, s->input);
	command_add(&c, file);
	s->harness->command(&c, s->input);
	if (c.fault)
		return error_set(err, ERR_USAGE, "%s", c.fault);
	p.argv = c.items;
	p.env = c.env;
	if (process_run(&p, &end, &fault) < 0)
		session_verdict(s, HARNESS_UNAVAILABLE, str_of(fault.text));
	else
		output_parser_end(&parser, &end);
	return 0;
}

static bool model_valid(const char *model)
{
	return *model && *model != '-' &&
	       strspn(model, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			     "._:/@[]-") == strlen(model);
}

/* Model and tools end up on a command line, where they must not be taken for options. */
static int check_input(const struct harness_input *input, struct error *err)
{
	struct stat st;

	if (!str_trim(input->prompt).n)
		return error_set(err, ERR_INPUT, "the prompt is empty");
	if (input->cwd && stat(input->cwd, &st) < 0)
		return error_errno(err, "cannot use directory '%s'", input->cwd);
	if (input->cwd && !S_ISDIR(st.st_mode))
		return error_set(err, ERR_INPUT, "'%.500s' is not a directory", input->cwd);
	if (input->model && !model_valid(input->model))
		return error_set(err, ERR_INPUT, "'%.100s' is not a model id", input->model);
	for (const char *const *t = input->tools; t && *t; t++)
		if (!**t || **t == '-')
			return error_set(err, ERR_INPUT, "'%.100s' is not the name of a tool", *t);
	return 0;
}

int harness_invoke(struct arena *a, const struct harness *h, const struct harness_input *input,
	harness_listener *listener, void *data, struct harness_result *result, struct error *err)
{
	struct harness_input whole = *input;
	CLEANUP(session_release)
	struct session s = {.arena = a,
		.harness = h,
		.input = &whole,
		.listener = listener,
		.listener_data = data};
	struct harness_event e = {.kind = HARNESS_STARTED};

	if (check_input(input, err) < 0)
		return -1;
	if (!whole.timeout_s)
		whole.timeout_s = HARNESS_TIMEOUT_S;
	if (!whole.heartbeat_ms)
		whole.heartbeat_ms = HARNESS_HEARTBEAT_MS;
	if (!whole.stay_ms)
		whole.stay_ms = HARNESS_STAY_MS;
	session_begin(&s);
	session_emit(&s, &e);
	if ((h->invoke ? h->invoke(&s, err) : run_program(&s, err)) < 0)
		return -1;
	session_result(&s, result);
	e = (struct harness_event){.kind = HARNESS_COMPLETED,
		.tokens = s.progress,
		.status = result->status,
		.message = result->detail};
	session_emit(&s, &e);
	return 0;
}
