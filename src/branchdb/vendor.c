#include <ctype.h>
#include "src/branchdb/vendor.h"
#include "src/base/clock.h"
#include "src/sys/http.h"

enum {
	TRIES = 4,
	BUSY_TRIES = 20,
	WAIT_S = 1,
	WAIT_MAX_S = 60,
	READY_TRIES = 600,
	REQUEST_S = 60,
	ANSWER_MAX = 4 << 20,
	TEXT_SHOWN = 200
};

char *vendor_encode(struct arena *a, const char *text)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	buf_adds(&out, "");
	for (; *text; text++)
		if (isalnum((unsigned char)*text) || strchr("-._~", *text))
			buf_addc(&out, *text);
		else
			buf_addf(&out, "%%%02X", (unsigned char)*text);
	return arena_dup(a, buf_str(&out));
}

int vendor_malformed(struct adapter_call *c, const struct vendor *v, struct error *err)
{
	return adapter_refuse(
		c, ADAPTER_UNAVAILABLE, err, "%s's answer is not what its API describes", v->name);
}

static const char *vendor_base_of(const struct vendor *v)
{
	const char *own = getenv(v->variable);

	return own && *own ? own : v->base;
}

int vendor_check_project(struct adapter_call *c, const struct vendor *v, struct error *err)
{
	const char *id = database_credential(c->pool, "projectId"), *base = vendor_base_of(v);

	for (const char *p = id; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '-' && *p != '_')
			return error_set(err, ERR_INPUT,
				"'credentials.projectId' must be letters, digits, '-' and '_'");
	if (!str_starts(str_of(base), "https://") && !http_loopback(base))
		return error_set(err, ERR_INPUT,
			"the variable '%s' must be a URL with https: the token is sent there",
			v->variable);
	return 0;
}

int vendor_wait(struct adapter_call *c, const struct vendor *v, unsigned tries, struct error *err)
{
	if (tries >= READY_TRIES)
		return adapter_refuse(c, ADAPTER_UNAVAILABLE, err,
			"%s has not made the branch ready after %d tries", v->name, READY_TRIES);
	clock_pause(WAIT_S * 1000);
	return 0;
}

/* ---- answers ---- */

/* The vendors' texts about limits; the list is ours, from their documentation and error codes. */
static bool names_limit(const json *j)
{
	static const char *const words[] = {
		"LIMIT_EXCEEDED", "limit exceeded", "limit reached", "maximum number of branches"};
	const char *const texts[] = {json_get_str(j, "code"), json_get_str(j, "message")};

	for (size_t i = 0; i < COUNT(texts); i++)
		for (size_t k = 0; texts[i] && k < COUNT(words); k++)
			if (strstr(texts[i], words[k]))
				return true;
	return false;
}

static int refuse_status(struct adapter_call *c, const struct vendor *v, long status,
	const struct buf *body, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	struct error ignored;
	const char *text;

	if (status == 401 || status == 403)
		return adapter_refuse(c, ADAPTER_OTHER, err,
			"%s refuses the token of 'credentials.apiTokenEnv' (HTTP %ld)", v->name,
			status);
	if (status >= 500)
		return adapter_refuse(c, ADAPTER_UNAVAILABLE, err,
			"%s answers with an error (HTTP %ld)", v->name, status);
	(void)json_parse(&j, buf_str(body), &ignored);
	text = json_get_str(j, "message");
	return adapter_refuse(c, status == 402 || names_limit(j) ? ADAPTER_QUOTA : ADAPTER_OTHER,
		err, "%s refuses the request (HTTP %ld)%s%s", v->name, status, text ? ": " : "",
		text ? arena_printable(c->arena, str_of(text), TEXT_SHOWN) : "");
}

static int take_body(struct adapter_call *c, const struct vendor *v, const struct buf *body,
	json **out, struct error *err)
{
	struct error ignored;

	if (!out)
		return VENDOR_OK;
	if (!body->len || json_parse(out, buf_str(body), &ignored) < 0)
		return vendor_malformed(c, v, err);
	return VENDOR_OK;
}

static bool is_busy(long status)
{
	return status == 423 || status == 429 || status == 503;
}

static void wait_as_told(const struct http_answer *a)
{
	long s = a->retry_after_s < 0 ? WAIT_S : a->retry_after_s;

	clock_pause((unsigned)(s > WAIT_MAX_S ? WAIT_MAX_S : s) * 1000);
}

int vendor_send(struct adapter_call *c, const struct vendor *v, const char *method,
	const char *path, json *body, json **out, struct error *err)
{
	const char *token = getenv(database_credential(c->pool, "apiTokenEnv"));
	const char *const headers[] = {arena_printf(c->arena, "Authorization: Bearer %s", token),
		"Accept: application/json", body ? "Content-Type: application/json" : NULL, NULL};
	const struct http_request r = {.method = method,
		.url = arena_printf(c->arena, "%s%s", vendor_base_of(v), path),
		.headers = headers,
		.body = body ? json_print_in(c->arena, body) : (struct str){0},
		.timeout_s = REQUEST_S,
		.max = ANSWER_MAX};
	bool changes = strcmp(method, "POST") == 0;

	for (unsigned tries = 0, busy = 0;; tries++) {
		struct http_answer a = {0};
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		if (http_send(&r, &a, err) < 0)
			return -1;
		text = a.body;
		if (a.outcome == HTTP_ANSWERED && is_busy(a.status) && busy++ < BUSY_TRIES) {
			wait_as_told(&a);
			continue;
		}
		if (a.outcome == HTTP_ANSWERED && (a.status < 500 || tries >= TRIES)) {
			if (a.status == 404)
				return VENDOR_GONE;
			if (a.status == 409)
				return VENDOR_EXISTS;
			if (a.status / 100 != 2)
				return refuse_status(c, v, a.status, &text, err);
			return take_body(c, v, &text, out, err);
		}
		if (changes && a.outcome != HTTP_UNREACHABLE)
			return VENDOR_NO_REPLY;
		if (tries >= TRIES)
			return adapter_refuse(c, ADAPTER_UNAVAILABLE, err, "%s does not answer: %s",
				v->name, a.why ? a.why : "the connection ended");
		clock_pause(WAIT_S * 1000);
	}
}
