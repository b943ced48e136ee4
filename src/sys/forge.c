#include <ctype.h>
#include "src/base/json.h"
#include "src/base/vec.h"
#include "src/sys/forge.h"
#include "src/sys/git.h"
#include "src/sys/process.h"
#include "src/sys/secrets.h"

enum { URL_MAX = 2048, TOOL_MAX = 1 << 20, TOOL_S = 60 };

/* ---- URLs ---- */

/* A URL is a host, a path, the mark and a number. Of two marks that match, the longer is listed
 * first. */
static const struct {
	enum forge_kind kind;
	const char *mark;
} marks[] = {
	{FORGE_GITHUB, "/pull/"},
	{FORGE_GITLAB, "/-/merge_requests/"},
	{FORGE_GITLAB, "/merge_requests/"},
	{FORGE_GITEA, "/pulls/"},
	{FORGE_BITBUCKET, "/pull-requests/"},
	{FORGE_AZURE, "/pullrequest/"},
};

static struct str cut_url(struct str text)
{
	size_t n = 0;

	while (n < text.n && n < URL_MAX && (unsigned char)text.p[n] > ' ' &&
		!strchr("<>\"'`|\\^{}[]", text.p[n]))
		n++;
	return str_sub(text, 0, n);
}

static bool forge_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static bool match(struct str url, size_t scheme, size_t i, struct forge_pull *out)
{
	size_t at = str_find(url, str_of(marks[i].mark)), number = at + strlen(marks[i].mark);
	size_t end = number, slash = scheme;

	while (end < url.n && isdigit((unsigned char)url.p[end]))
		end++;
	while (slash < at && url.p[slash] != '/')
		slash++;
	if (at >= url.n || end == number || (end < url.n && forge_is_word(url.p[end])) ||
		slash == scheme || !memchr(url.p + slash + 1, '/', at > slash ? at - slash - 1 : 0))
		return false;
	*out = (struct forge_pull){.kind = marks[i].kind,
		.url = str_sub(url, 0, end),
		.host = str_sub(url, scheme, slash),
		.path = str_sub(url, slash + 1, at),
		.number = str_sub(url, number, end)};
	return true;
}

bool forge_find_pull(struct str text, struct forge_pull *out)
{
	struct str url;

	for (size_t at = 0; (at += str_find(str_sub(text, at, text.n), STR("http"))) < text.n;) {
		struct str rest = str_sub(text, at, text.n);
		size_t scheme = str_starts(rest, "https://")  ? strlen("https://")
				: str_starts(rest, "http://") ? strlen("http://")
							      : 0;

		if (!scheme) {
			at += strlen("http");
			continue;
		}
		url = cut_url(rest);
		for (size_t i = 0; i < COUNT(marks); i++)
			if (match(url, scheme, i, out))
				return true;
		at += url.n;
	}
	return false;
}

/* The parts of a path that identify the repository. Some forges put other parts between them, which
 * differ between the URLs for git and for browsers; elsewhere such a part is the name of a group.
 * Azure DevOps omits a project that has the name of the repository. `users/ada` of Bitbucket in a
 * browser is `~ada` for git. `kind`: of forge_kind, or -1.
 */
static void add_identity(struct buf *out, struct str path, int kind)
{
	static const char *const fillers[][5] = {
		[FORGE_AZURE] = {"_git", "v3", "DefaultCollection"},
		[FORGE_BITBUCKET] = {"scm", "projects", "users", "repos"}};
	const char *const *words = kind < 0 ? NULL : fillers[kind];
	bool azure = kind == FORGE_AZURE, person = false;
	struct str before = {0};

	while (path.n) {
		size_t n = str_find(path, STR("/"));
		struct str part = str_sub(path, 0, n);

		path = n < path.n ? str_sub(path, n + 1, path.n) : (struct str){0};
		person |= kind == FORGE_BITBUCKET && str_is(part, "users");
		if (!part.n || str_in(part, words) || (azure && str_eq(part, before)))
			continue;
		before = part;
		buf_adds(out, person ? "%7e" : "");
		person = false;
		for (size_t i = 0; i < part.n; i++)
			buf_addc(out, (char)tolower((unsigned char)part.p[i]));
		buf_addc(out, '/');
	}
}

#define OLD_AZURE ".visualstudio.com" /* the organisation is in the name of the host */

static void add_host_identity(struct buf *out, struct str host)
{
	if (str_ends(host, OLD_AZURE) && !str_is(host, "vs-ssh" OLD_AZURE))
		add_identity(out, str_sub(host, 0, host.n - strlen(OLD_AZURE)), FORGE_AZURE);
}

/* The host of `scheme://user@host:port/path` and `user@host:path`; empty: a local path. */
static struct str remote_host(struct str url)
{
	size_t scheme = str_find(url, STR("://")), at, end;
	struct str rest = scheme < url.n ? str_sub(url, scheme + 3, url.n) : url;

	end = str_find(rest, STR("/"));
	if (scheme == url.n && str_find(rest, STR(":")) > end)
		return STR("");
	rest = str_sub(rest, 0, end);
	if (scheme == url.n)
		rest = str_sub(rest, 0, str_find(rest, STR(":")));
	at = str_find(rest, STR("@"));
	rest = str_sub(rest, at < rest.n ? at + 1 : 0, rest.n);
	return str_sub(rest, 0, str_find(rest, STR(":")));
}

/* ssh.github.com serves github.com. A name without a dot is the user's own in ~/.ssh/config. */
static bool same_host(struct str remote, struct str host)
{
	CLEANUP(buf_release) struct buf a = BUF_INIT, b = BUF_INIT;

	if (!memchr(remote.p, '.', remote.n))
		return true;
	host = str_sub(host, 0, str_find(host, STR(":")));
	if (str_ends(remote, OLD_AZURE) || str_ends(host, OLD_AZURE))
		return str_ends(remote, OLD_AZURE) || str_ends(remote, "dev.azure.com");
	buf_addc(&a, '.');
	add_identity(&a, remote, -1);
	buf_addc(&b, '.');
	add_identity(&b, host, -1);
	return memchr(host.p, '.', host.n) &&
	       (str_ends(buf_str(&a), b.s) || str_ends(buf_str(&b), a.s));
}

/* -1: the name of the host does not tell the forge. */
static int kind_of_host(struct str name)
{
	static const struct {
		const char *name;
		enum forge_kind kind;
	} names[] = {{"github", FORGE_GITHUB}, {".ghe.com", FORGE_GITHUB}, {"gitlab", FORGE_GITLAB},
		{"codeberg", FORGE_GITEA}, {"gitea", FORGE_GITEA}, {"forgejo", FORGE_GITEA},
		{"bitbucket", FORGE_BITBUCKET}, {"dev.azure.com", FORGE_AZURE},
		{OLD_AZURE, FORGE_AZURE}};
	CLEANUP(buf_release) struct buf host = BUF_INIT;

	add_identity(&host, name, -1);
	for (size_t i = 0; i < COUNT(names); i++)
		if (str_find(buf_str(&host), str_of(names[i].name)) < host.len)
			return (int)names[i].kind;
	return -1;
}

/* If the host's name tells the forge, only the form of that forge is accepted: no program could
 * verify another one. */
static bool has_form_of_host(const struct forge_pull *p)
{
	int kind = kind_of_host(p->host);

	return kind < 0 || kind == (int)p->kind;
}

const char *forge_program(struct str remote_url)
{
	int kind = kind_of_host(remote_host(str_trim(remote_url)));

	return kind < 0 ? NULL : kind == FORGE_GITHUB ? "gh" : kind == FORGE_GITLAB ? "glab" : "";
}

bool forge_pull_is_of(const struct forge_pull *p, struct str remote_url)
{
	CLEANUP(buf_release)
	struct buf slug = BUF_INIT, path = BUF_INIT, want = BUF_INIT, have = BUF_INIT;
	struct str host = remote_host(str_trim(remote_url));

	if (!git_slug_of_url(remote_url, &slug) || !git_slug_encode(p->path, &path) ||
		!has_form_of_host(p) || (host.n && !same_host(host, p->host)))
		return false;
	add_host_identity(&want, host);
	add_identity(&want, buf_str(&slug), (int)p->kind);
	add_host_identity(&have, p->host);
	add_identity(&have, buf_str(&path), (int)p->kind);
	return str_eq(buf_str(&want), buf_str(&have));
}

/* ---- programs ---- */

/* there false: there is no such program. status -1: it exceeded the time limit. */
struct tool_output {
	struct buf out, errors;
	bool there;
	int status;
};

static void tool_output_release(struct tool_output *o)
{
	buf_release(&o->out);
	buf_release(&o->errors);
}

static bool forge_take_output(void *data, bool errors, struct str piece)
{
	struct tool_output *o = data;
	struct buf *b = errors ? &o->errors : &o->out;

	buf_add(b, piece);
	return b->len < TOOL_MAX;
}

static int run_tool(
	const char *const *argv, const char *dir, struct tool_output *o, struct error *err)
{
	static const char *const env[] = {"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1",
		"NO_PROMPT=1", "GLAB_CHECK_UPDATE=false", "NO_COLOR=1", "GH_FORCE_TTY",
		"CLICOLOR_FORCE", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", NULL};
	struct process p = {.argv = argv,
		.cwd = dir,
		.env = env,
		.output = -1,
		.on_output = forge_take_output,
		.data = o,
		.timeout_s = TOOL_S};
	struct process_end end;

	*o = (struct tool_output){.out = BUF_INIT, .errors = BUF_INIT};
	if (process_run(&p, &end, err) < 0)
		return end.missing ? 0 : -1;
	o->there = true;
	o->status = end.timed_out ? -1 : end.status;
	return end.timed_out ? process_check(&p, &end, argv[0], buf_str(&o->errors), err) : 0;
}

/* What it said. */
static const char *tool_words(struct arena *a, const struct tool_output *o)
{
	return arena_printable(a, str_trim(buf_str(&o->errors)), 500);
}

static int tool_failed(
	struct arena *a, const struct tool_output *o, const char *what, struct error *err)
{
	return error_set(err, ERR_SYSTEM, "'%s' failed: %s", what, tool_words(a, o));
}

/* ---- what a forge says about a pull request ---- */

/* The names of the members that each program uses. */
struct view_members {
	const char *branch, *head, *target, *merged;
};

static const struct view_members own_members = {"branch", "head", "target", "merged"},
				 gh_members = {"headRefName", "headRefOid", "baseRefName",
					 "mergedAt"},
				 glab_members = {
					 "source_branch", "sha", "target_branch", "merged_at"};

static const char *forge_read_state(struct arena *a, const char *text)
{
	static const char *const open[] = {"open", "opened", "OPEN", NULL};
	char *state = arena_dup(a, str_of(text));

	for (char *c = state; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return str_in(str_of(state), open) ? "open" : state;
}

static const char *read_member(struct arena *a, const json *j, const char *key)
{
	const char *text = json_get_str(j, key);

	return text && *text ? arena_dup(a, str_of(text)) : NULL;
}

static int read_view(struct arena *a, struct str text, const struct view_members *names,
	struct forge_view *out, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;

	if (json_parse(&j, str_trim(text), err) < 0 || !json_get_str(j, "state"))
		return error_set(err, ERR_SYSTEM,
			"'%s' printed no JSON object with the member 'state' for the pull request",
			out->tool);
	out->state = forge_read_state(a, json_get_str(j, "state"));
	out->missing = strcmp(out->state, "missing") == 0;
	out->branch = read_member(a, j, names->branch);
	out->head = read_member(a, j, names->head);
	out->target = read_member(a, j, names->target);
	out->merged = read_member(a, j, names->merged);
	if (out->missing || (out->branch && out->head))
		return 0;
	return error_set(err, ERR_SYSTEM, "'%s' printed no '%s' and '%s' for the pull request",
		out->tool, names->branch, names->head);
}

/* Whether the message means that the pull request does not exist, and not that the call failed. */
static bool says_missing(struct str errors)
{
	static const char *const signs[] = {"Could not resolve to a", "no pull requests found",
		"HTTP 404", "404 Not Found", "404 Not found"};

	for (size_t i = 0; i < COUNT(signs); i++)
		if (str_find(errors, str_of(signs[i])) < errors.n)
			return true;
	return false;
}

static int ask_tool(struct arena *a, const char *dir, const char *const *argv,
	const struct view_members *names, struct forge_view *out, struct error *err)
{
	CLEANUP(tool_output_release) struct tool_output o = {0};

	*out = (struct forge_view){0};
	if (run_tool(argv, dir, &o, err) < 0)
		return -1;
	if (!o.there)
		return 0;
	out->tool = strcmp(argv[0], "sh") ? argv[0] : argv[2];
	if (o.status == 0)
		return read_view(a, buf_str(&o.out), names, out, err);
	out->missing = names != &own_members && says_missing(buf_str(&o.errors));
	return out->missing ? 0 : tool_failed(a, &o, out->tool, err);
}

/* No program handles this form of URL. If another program is signed in to the host, the forge has
 * no such pull request. */
static int ask_others(const char *dir, const char *host, struct forge_view *out, struct error *err)
{
	static const char *const programs[] = {"gh", "glab"};

	for (size_t i = 0; i < COUNT(programs) && !out->tool; i++) {
		const char *const argv[] = {
			programs[i], "auth", "status", "--hostname", host, NULL};
		CLEANUP(tool_output_release) struct tool_output o = {0};

		if (run_tool(argv, dir, &o, err) < 0)
			return -1;
		if (o.there && o.status == 0)
			*out = (struct forge_view){.tool = programs[i], .missing = true};
	}
	return 0;
}

/* `glab` takes no URL of a host that is not the repository's. */
static const char *glab_repository(struct arena *a, const struct forge_pull *p)
{
	return arena_printf(a, "%.*s/%.*s", (int)(p->host.p + p->host.n - p->url.p), p->url.p,
		(int)p->path.n, p->path.p);
}

int forge_view(struct arena *a, const char *dir, const struct forge_pull *p, const char *command,
	struct forge_view *out, struct error *err)
{
	const char *url = arena_dup(a, p->url), *number = arena_dup(a, p->number);
	const char *const own[] = {"sh", "-c", command, "sh", url, NULL};
	const char *const gh[] = {"gh", "pr", "view", url, "--json",
		"state,headRefName,headRefOid,baseRefName,mergedAt", NULL};
	const char *const glab[] = {"glab", "mr", "view", number, "--output", "json", "--repo",
		glab_repository(a, p), NULL};

	*out = (struct forge_view){0};
	if (command)
		return ask_tool(a, dir, own, &own_members, out, err);
	if (p->kind == FORGE_GITHUB && ask_tool(a, dir, gh, &gh_members, out, err) < 0)
		return -1;
	if (p->kind == FORGE_GITLAB && ask_tool(a, dir, glab, &glab_members, out, err) < 0)
		return -1;
	return out->tool ? 0 : ask_others(dir, arena_dup(a, p->host), out, err);
}

/* ---- the open pull requests ---- */

#define OPEN_MAX "1000"

/* Of `statusCheckRollup`: check runs and statuses of commits. */
static bool have_failed(const json *checks)
{
	static const char *const bad[] = {"FAILURE", "ERROR", "TIMED_OUT", "CANCELLED",
		"STARTUP_FAILURE", "ACTION_REQUIRED", NULL};
	static const char *const pending[] = {"PENDING", "EXPECTED", NULL};
	bool failed = false;

	for (const json *c = json_first(checks); c; c = json_next(c)) {
		const char *state = json_get_str(c, "state"), *end = json_get_str(c, "conclusion"),
			   *status = json_get_str(c, "status");

		if ((state && str_in(str_of(state), pending)) ||
			(status && strcmp(status, "COMPLETED") != 0))
			return false;
		failed |=
			(state && str_in(str_of(state), bad)) || (end && str_in(str_of(end), bad));
	}
	return failed;
}

static const char *last_request_of_changes(struct arena *a, const json *reviews)
{
	const char *last = NULL;

	for (const json *r = json_first(reviews); r; r = json_next(r)) {
		const char *at = json_get_str(r, "submittedAt");

		if (json_str_is(r, "state", "CHANGES_REQUESTED") && at &&
			(!last || strcmp(at, last) > 0))
			last = arena_dup(a, str_of(at));
	}
	return last;
}

static int forge_read_open(
	struct arena *a, struct str text, struct forge_open_pulls *out, struct error *err)
{
	CLEANUP(json_free) json *list = NULL;
	bool good = json_parse(&list, str_trim(text), err) == 0 && json_is_array(list);

	for (const json *j = json_first(list); good && j; j = json_next(j)) {
		struct forge_open_pull p = {.number = json_get_int(j, "number", 0),
			.draft = json_is_true(json_get(j, "isDraft")),
			.conflicts = json_str_is(j, "mergeable", "CONFLICTING"),
			.checks_failed = have_failed(json_get(j, "statusCheckRollup")),
			.changes_requested =
				last_request_of_changes(a, json_get(j, "latestReviews")),
			.branch = read_member(a, j, "headRefName"),
			.url = read_member(a, j, "url")};

		good = p.number && p.branch;
		vec_push_in(a, out, p);
	}
	return good ? 0
		    : error_set(err, ERR_SYSTEM,
			      "'gh pr list' printed no JSON array of 'number' and 'headRefName'");
}

int forge_list_open(
	struct arena *a, const char *dir, struct forge_open_pulls *out, struct error *err)
{
	static const char *const argv[] = {"gh", "pr", "list", "--state", "open", "--limit",
		OPEN_MAX, "--json",
		"number,headRefName,isDraft,url,mergeable,statusCheckRollup,latestReviews", NULL};
	CLEANUP(tool_output_release) struct tool_output o = {0};

	*out = (struct forge_open_pulls){0};
	if (run_tool(argv, dir, &o, err) < 0)
		return -1;
	if (!o.there)
		return error_set(err, ERR_SYSTEM, "cannot find 'gh'");
	return o.status ? tool_failed(a, &o, "gh pr list", err)
			: forge_read_open(a, buf_str(&o.out), out, err);
}

/* ---- opening ---- */

/* *refusal: what the program says, in the arena; NULL: it has succeeded. */
static int forge_call(struct arena *a, const char *const *argv, const char *dir, struct buf *out,
	const char **refusal, struct error *err)
{
	CLEANUP(tool_output_release) struct tool_output o = {0};

	if (run_tool(argv, dir, &o, err) < 0)
		return -1;
	if (!o.there)
		return error_set(err, ERR_SYSTEM, "cannot find '%s'", argv[0]);
	*refusal = o.status ? tool_words(a, &o) : NULL;
	buf_clear(out);
	buf_add(out, buf_str(&o.out));
	return 0;
}

/* The URL of the open one of this branch, not of a fork's branch of that name; NULL: there is none.
 */
static const char *forge_find_open(
	struct arena *a, bool gh, struct str text, const char *branch, struct error *err)
{
	CLEANUP(json_free) json *list = NULL;
	const char *url = NULL;

	if (json_parse(&list, str_trim(text), err) < 0)
		return NULL;
	for (const json *j = json_first(list); j && !url; j = json_next(j))
		if (json_str_is(j, gh ? "headRefName" : "source_branch", branch) &&
			!json_is_true(json_get(j, "isCrossRepository")) &&
			json_get_int(j, "source_project_id", 0) ==
				json_get_int(j, "target_project_id", 0))
			url = read_member(a, j, gh ? "url" : "web_url");
	return url;
}

int forge_open(struct arena *a, const char *dir, const char *program, const char *branch,
	const char *title, const char *body, const char **url, bool *made, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	bool gh = strcmp(program, "gh") == 0;
	const char *refusal,
		*named = arena_printf(a, "--title=%s", title),
		*text = arena_printf(a, gh ? "--body=%s" : "--description=%s", body),
		*const gh_list[] = {"gh", "pr", "list", "--head", branch, "--state", "open",
			"--json", "url,headRefName,isCrossRepository", NULL},
		*const glab_list[] = {"glab", "mr", "list", "--source-branch", branch, "--output",
			"json", NULL},
		*gh_open[] = {"gh", "pr", "create", "--head", branch, named, text, "--draft", NULL},
		*glab_open[] = {"glab", "mr", "create", "--source-branch", branch, named, text,
			"--draft", "--yes", NULL};
	const char **open = gh ? gh_open : glab_open;
	struct forge_pull p;
	struct error ignored;

	*made = false;
	if (forge_call(a, gh ? gh_list : glab_list, dir, &out, &refusal, err) < 0)
		return -1;
	*url = refusal ? NULL : forge_find_open(a, gh, buf_str(&out), branch, &ignored);
	if (*url)
		return 0;
	if (forge_call(a, open, dir, &out, &refusal, err) < 0)
		return -1;
	if (gh && refusal && strstr(refusal, "raft pull requests are not supported")) {
		gh_open[COUNT(gh_open) - 2] = NULL;
		if (forge_call(a, open, dir, &out, &refusal, err) < 0)
			return -1;
	}
	*made = !refusal && forge_find_pull(buf_str(&out), &p);
	*url = *made ? arena_dup(a, p.url) : NULL;
	if (*made)
		return 0;
	return error_set(err, ERR_SYSTEM, "'%s' %s%s", program,
		refusal ? "failed: " : "printed no URL of a pull request", refusal ? refusal : "");
}

/* ---- checks ---- */

enum { SOME_FAILED = 1, SOME_PENDING = 8 }; /* exit statuses of `gh pr checks` */

static void forge_add_line(struct buf *out, struct str line)
{
	if (out->len)
		buf_addc(out, '\n');
	buf_add(out, line);
}

/* `name TAB state TAB time TAB url`, as gh writes without a terminal. */
static struct str state_of_check(struct str line)
{
	size_t tab = str_find(line, STR("\t"));
	struct str state = tab < line.n ? str_sub(line, tab + 1, line.n) : (struct str){0};

	return str_sub(state, 0, str_find(state, STR("\t")));
}

static int read_gh_checks(
	struct arena *a, const struct tool_output *o, struct forge_checks *out, struct error *err)
{
	CLEANUP(buf_release) struct buf failed = BUF_INIT;
	struct str rest = buf_str(&o->out), line;
	int status = o->status;
	bool pending = status == SOME_PENDING;

	while (str_line(&rest, &line)) {
		struct str state = state_of_check(line);

		if (str_is(state, "fail") || str_is(state, "cancel"))
			forge_add_line(&failed, line);
		pending |= str_is(state, "pending");
	}
	buf_utf8_repair(&failed);
	out->failed = arena_dup(a, buf_str(&failed));
	out->state = pending      ? FORGE_CHECKS_PENDING
		     : failed.len ? FORGE_CHECKS_FAILED
		     : status     ? FORGE_CHECKS_NONE
				  : FORGE_CHECKS_PASSED;
	if (status == 0 || status == SOME_PENDING ||
		(status == SOME_FAILED &&
			(failed.len || str_find(buf_str(&o->errors), STR("no checks reported")) <
					       o->errors.len)))
		return 0;
	return tool_failed(a, o, "gh pr checks", err);
}

/* The member `head_pipeline` is null before there is a pipeline for the head. */
static int read_glab_checks(
	struct arena *a, const struct tool_output *o, struct forge_checks *out, struct error *err)
{
	static const char *const good[] = {"success", "skipped", NULL}, *const bad[] = {"failed",
										"canceled", NULL};
	CLEANUP(json_free) json *j = NULL;
	const json *pipeline;
	const char *state, *url;

	if (o->status)
		return tool_failed(a, o, "glab mr view", err);
	if (json_parse(&j, str_trim(buf_str(&o->out)), err) < 0 || !json_get_str(j, "state"))
		return error_set(err, ERR_SYSTEM,
			"'glab mr view' printed no JSON object with the member 'state'");
	pipeline = json_get(j, "head_pipeline");
	state = json_get_str(pipeline, "status");
	url = json_get_str(pipeline, "web_url");
	if (!state)
		return 0;
	out->state = str_in(str_of(state), good)  ? FORGE_CHECKS_PASSED
		     : str_in(str_of(state), bad) ? FORGE_CHECKS_FAILED
						  : FORGE_CHECKS_PENDING;
	if (out->state == FORGE_CHECKS_FAILED)
		out->failed = arena_printf(a, "pipeline\t%s\t%s", state, url ? url : "");
	return 0;
}

int forge_checks(struct arena *a, const char *dir, const char *pr_url, struct forge_checks *out,
	struct error *err)
{
	struct forge_pull p = {.kind = FORGE_GITHUB};
	const char *argv[] = {"gh", "pr", "checks", pr_url, NULL, NULL, NULL, NULL, NULL};
	CLEANUP(tool_output_release) struct tool_output o = {0};

	*out = (struct forge_checks){.failed = arena_dup(a, STR(""))};
	if (pr_url && !forge_find_pull(str_of(pr_url), &p))
		return 0;
	if (p.kind == FORGE_GITLAB)
		memcpy(argv,
			((const char *[]){"glab", "mr", "view", arena_dup(a, p.number), "--output",
				"json", "--repo", glab_repository(a, &p)}),
			8 * sizeof(*argv));
	else if (p.kind != FORGE_GITHUB)
		return 0;
	if (run_tool(argv, dir, &o, err) < 0)
		return -1;
	if (!o.there)
		return 0;
	out->tool = argv[0];
	return p.kind == FORGE_GITLAB ? read_glab_checks(a, &o, out, err)
				      : read_gh_checks(a, &o, out, err);
}

/* ---- merging ---- */

int forge_merge(struct arena *a, const char *dir, const struct forge_pull *p, const char *head,
	const char *method, const char **refused, struct error *err)
{
	const char *flag = arena_printf(a, "--%s", method);
	const char *const gh[] = {
		"gh", "pr", "merge", arena_dup(a, p->url), flag, "--match-head-commit", head, NULL};
	const char *const glab[] = {"glab", "mr", "merge", arena_dup(a, p->number), "--sha", head,
		"--yes", "--auto-merge=false", "--repo", glab_repository(a, p),
		strcmp(method, "merge") ? flag : NULL, NULL};
	const char *const *argv = p->kind == FORGE_GITHUB   ? gh
				  : p->kind == FORGE_GITLAB ? glab
							    : NULL;
	CLEANUP(tool_output_release) struct tool_output o = {0};

	*refused = NULL;
	if (argv && run_tool(argv, dir, &o, err) < 0)
		return -1;
	if (!o.there)
		return error_set(err, ERR_SYSTEM, "%s to merge '%.*s'",
			argv ? arena_printf(a, "cannot find '%s'", argv[0]) : "there is no program",
			(int)p->url.n, p->url.p);
	if (o.status)
		*refused = tool_words(a, &o);
	return 0;
}

/* ---- marks ---- */

int forge_mark(struct arena *a, const char *dir, const struct forge_pull *p, enum forge_mark mark,
	const char *label, struct error *err)
{
	static const char *const gh_options[] = {NULL, "--add-label", "--remove-label"},
				 *const glab_options[] = {"--ready", "--label", "--unlabel"};
	const char *url = arena_dup(a, p->url);
	const char *const gh[] = {"gh", "pr", mark == FORGE_READY ? "ready" : "edit", url,
		gh_options[mark], label, NULL};
	const char *const glab[] = {"glab", "mr", "update", arena_dup(a, p->number), "--repo",
		glab_repository(a, p), glab_options[mark], label, NULL};
	const char *const make[] = {"gh", "label", "create", label, NULL};
	const char *const *argv = p->kind == FORGE_GITLAB ? glab : gh;
	CLEANUP(tool_output_release) struct tool_output made = {0}, o = {0};

	if (p->kind == FORGE_GITHUB && mark == FORGE_LABEL && /* fails if there is one */
		run_tool(make, dir, &made, err) < 0)
		return -1;
	if ((p->kind == FORGE_GITHUB || p->kind == FORGE_GITLAB) &&
		run_tool(argv, dir, &o, err) < 0)
		return -1;
	if (!o.there)
		return error_set(err, ERR_SYSTEM, "there is no program for '%s'", url);
	return o.status ? tool_failed(a, &o, argv[0], err) : 0;
}

/* ---- comments ---- */

enum { COMMENT_MAX = 1500, COMMENTS_MAX = 6000 };

#define MARK    "<!-- dev-team" /* begins a line of what agents write */
#define COMMENT "url body authorAssociation author{login __typename}"

static const char comments_query[] =
	"query=query($owner:String!,$name:String!,$number:Int!){"
	"repository(owner:$owner,name:$name){pullRequest(number:$number){"
	"comments(last:100){nodes{isMinimized " COMMENT "}}reviews(last:100){nodes{" COMMENT "}}"
	"reviewThreads(last:100){nodes{isResolved path line comments(first:100){nodes{" COMMENT
	"}}}}}}}";

/* The nodes of a connection. */
static const json *nodes_of(const json *j, const char *connection)
{
	return json_get(json_get(j, connection), "nodes");
}

/* The line with the mark of an agent; empty: a person wrote the comment. */
static struct str agent_mark(const json *comment)
{
	const char *body = json_get_str(comment, "body");
	struct str text = str_of(body ? body : ""), line;

	while (str_line(&text, &line))
		if (str_starts(line, MARK))
			return line;
	return (struct str){0};
}

static bool has_number(struct str text, struct str number)
{
	for (size_t at = 0; (at += str_find(str_sub(text, at, text.n), number)) < text.n; at++) {
		size_t end = at + number.n;

		if ((!at || !isdigit((unsigned char)text.p[at - 1])) &&
			(end == text.n || !isdigit((unsigned char)text.p[end])))
			return true;
	}
	return false;
}

/* The comment's id: the digits at the end of its address. */
static struct str comment_id(const json *comment)
{
	const char *url = json_get_str(comment, "url");
	struct str all = str_of(url ? url : "");
	size_t at = all.n;

	while (at && isdigit((unsigned char)all.p[at - 1]))
		at--;
	return str_sub(all, at, all.n);
}

static bool forge_is_answered(const json *pull, const json *comment)
{
	struct str id = comment_id(comment);

	for (const json *c = json_first(nodes_of(pull, "comments")); c && id.n; c = json_next(c))
		if (has_number(agent_mark(c), id))
			return true;
	return false;
}

static bool is_of_person(const json *comment)
{
	const char *body = json_get_str(comment, "body");

	return body && *body && !agent_mark(comment).n &&
	       !json_is_true(json_get(comment, "isMinimized")) &&
	       !json_str_is(json_get(comment, "author"), "__typename", "Bot");
}

struct comments {
	struct secrets secrets;
	struct buf text;
	size_t omitted; /* for which there is no room */
};

static void comments_release(struct comments *all)
{
	buf_release(&all->text);
}

static void add_printable(struct buf *out, const char *text)
{
	buf_add_printable(out, str_of(text ? text : "?"), 200);
}

/* `thread`: the comment is on a line. Its first comment has the address that replies need. */
static void forge_add_heading(struct buf *out, const json *comment, const json *thread)
{
	const json *first = thread ? json_first(nodes_of(thread, "comments")) : comment;

	if (out->len)
		buf_addc(out, '\n');
	add_printable(out, json_get_str(first, "url"));
	buf_adds(out, ": ");
	add_printable(out, json_get_str(json_get(comment, "author"), "login"));
	buf_adds(out, " (");
	add_printable(out, json_get_str(comment, "authorAssociation"));
	buf_adds(out, ")");
	if (thread) {
		buf_adds(out, " on ");
		add_printable(out, json_get_str(thread, "path"));
		buf_addf(out, ":%lld", (long long)json_get_int(thread, "line", 0));
	}
	buf_addc(out, '\n');
}

static void add_comment(struct comments *all, const json *comment, const json *thread)
{
	CLEANUP(buf_release) struct buf masked = BUF_INIT;
	struct str body, line;

	if (!is_of_person(comment))
		return;
	if (all->text.len > COMMENTS_MAX) {
		all->omitted++;
		return;
	}
	forge_add_heading(&all->text, comment, thread);
	secrets_mask(&all->secrets, str_trim(str_of(json_get_str(comment, "body"))), &masked);
	body = str_cut(buf_str(&masked), COMMENT_MAX);
	while (str_line(&body, &line)) {
		buf_adds(&all->text, "> ");
		buf_add_printable(&all->text, line, line.n);
		buf_addc(&all->text, '\n');
	}
	if (masked.len > COMMENT_MAX)
		buf_adds(&all->text, "(It is longer.)\n");
}

/* What people wrote on a line since the last answer there. */
static void add_thread(struct comments *all, const json *pull, const json *thread)
{
	const json *open = json_first(nodes_of(thread, "comments"));

	if (json_is_true(json_get(thread, "isResolved")))
		return;
	for (const json *c = open; c; c = json_next(c))
		if (agent_mark(c).n)
			open = json_next(c);
	for (; open; open = json_next(open))
		if (!forge_is_answered(pull, open))
			add_comment(all, open, thread);
}

static void forge_add_comments(struct comments *all, const json *pull)
{
	static const char *const connections[] = {"comments", "reviews"};

	for (size_t i = 0; i < COUNT(connections); i++)
		for (const json *c = json_first(nodes_of(pull, connections[i])); c;
			c = json_next(c))
			if (!forge_is_answered(pull, c))
				add_comment(all, c, NULL);
	for (const json *t = json_first(nodes_of(pull, "reviewThreads")); t; t = json_next(t))
		add_thread(all, pull, t);
	if (all->omitted)
		buf_addf(&all->text, "\n(%zu more are on the pull request.)\n", all->omitted);
}

static int ask_comments(struct arena *a, const char *dir, const struct forge_pull *p,
	struct tool_output *o, struct error *err)
{
	size_t slash = str_find(p->path, STR("/"));
	const char *const argv[] = {"gh", "api", "graphql", "--hostname", arena_dup(a, p->host),
		"-f", comments_query, "-f", arena_printf(a, "owner=%.*s", (int)slash, p->path.p),
		"-f",
		arena_printf(a, "name=%.*s", (int)(p->path.n - slash) - 1, p->path.p + slash + 1),
		"-F", arena_printf(a, "number=%.*s", (int)p->number.n, p->number.p), NULL};

	if (run_tool(argv, dir, o, err) < 0)
		return -1;
	return o->status ? tool_failed(a, o, "gh api graphql", err) : 0;
}

int forge_open_comments(
	struct arena *a, const char *dir, const char *pr_url, char **text, struct error *err)
{
	CLEANUP(tool_output_release) struct tool_output o = {0};
	CLEANUP(comments_release) struct comments all = {0};
	CLEANUP(json_free) json *answer = NULL;
	struct forge_pull p;

	*text = NULL;
	if (!forge_find_pull(str_of(pr_url), &p) || p.kind != FORGE_GITHUB)
		return 0;
	if (ask_comments(a, dir, &p, &o, err) < 0)
		return -1;
	if (!o.there)
		return 0;
	if (json_parse(&answer, str_trim(buf_str(&o.out)), err) < 0)
		return error_set(err, ERR_SYSTEM, "'gh api graphql' printed no JSON");
	secrets_add(a, &all.secrets, (const char *const *)environ, NULL);
	forge_add_comments(
		&all, json_get(json_get(json_get(answer, "data"), "repository"), "pullRequest"));
	*text = arena_dup(a, str_trim(buf_str(&all.text)));
	return 0;
}
