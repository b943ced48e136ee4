/*
 * broker.c: what a command may do outside. It has no keys and no network; git's remote helper and
 * `gh` inside send what they want over a socket, and the broker on the host does it with the user's
 * keys. It judges refs and words of a call, never text of the shell, and only data comes back:
 *
 *     list REMOTE                    the remote's refs
 *     fetch REMOTE REF...            their objects and tracking branches become the repository's
 *     push REMOTE [+]ID:REF...       never forced, deleted, or to the default branch
 *     forge PROGRAM WORD...          gh or glab; commands of the policy's `forge`
 *
 * A request is its words, a NUL behind each, an empty one, and standard input of the call. The
 * reply is `STATUS LENGTH NEWLINE`, so many bytes of output, and then errors.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "src/sandbox/sandbox_internal.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum {
	REQUEST_MAX = 16 << 20,
	REPLY_MAX = 64 << 20,
	WORDS_MAX = 256,
	PATIENCE_S = 10,
	FORGE_S = 120
};

struct request {
	struct sandbox *s;
	const char *words[WORDS_MAX + 1];
	size_t n;
	struct str body;
	struct buf out, errors;
	int status;
};

static int broker_refuse(struct request *q, const char *text)
{
	buf_addf(&q->errors, "dev-team: %s\n", text);
	return q->status = 1;
}

#define REFUSE(q, ...) broker_refuse(q, arena_printf((q)->s->arena, __VA_ARGS__))

/* ---- remotes ---- */

/* The host's git; what it prints on failure becomes the reply's errors. */
static int broker_run_git(struct request *q, const char *const *argv, struct buf *out)
{
	struct error err = {0};
	int status = 0;

	if (sandbox_git_command(q->s, argv, STR(""), out, &status, &err) < 0)
		return broker_refuse(q, err.text);
	if (status != 0) {
		buf_add(&q->errors, buf_str(out));
		buf_clear(out);
	}
	return q->status = status;
}

/* As gitremote-helpers(7) has them. */
static void serve_list(struct request *q)
{
	const char *const argv[] = {"git", "ls-remote", "--symref", "--", q->words[1], NULL};
	CLEANUP(buf_release) struct buf all = BUF_INIT;
	struct str rest, line;

	if (broker_run_git(q, argv, &all) != 0)
		return;
	rest = buf_str(&all);
	while (str_line(&rest, &line)) {
		size_t tab = str_find(line, STR("\t"));
		bool symbolic = str_starts(line, "ref: ");
		struct str value = str_sub(line, symbolic ? 5 : 0, tab),
			   name = str_sub(line, tab + 1, line.n);

		if (!str_ends(name, "^{}"))
			buf_addf(&q->out, "%s%.*s %.*s\n", symbolic ? "@" : "", (int)value.n,
				value.p, (int)name.n, name.p);
	}
}

static bool is_ref(const char *name)
{
	return strcmp(name, "HEAD") == 0 ||
	       (str_starts(str_of(name), "refs/") && !name[strcspn(name, " :*^~?[\\\n+")]);
}

static void serve_fetch(struct request *q)
{
	const char *argv[WORDS_MAX + 8] = {"git", "fetch", "--quiet", "--no-auto-maintenance",
		"--no-write-fetch-head", "--no-tags", "--", q->words[1]};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	size_t n = 8;

	for (size_t i = 2; i < q->n; i++)
		if (is_ref(q->words[i]))
			argv[n++] = q->words[i];
	if (n > 8)
		(void)broker_run_git(q, argv, &out);
}

/* ---- push ---- */

/* NULL: it may be pushed. */
static const char *push_fault(const struct request *q, const char *id, const char *ref, bool force)
{
	const struct policy *p = q->s->x->policy;

	if (!p->push.n)
		return "the policy does not allow pushing";
	if (!*id)
		return "the policy does not allow deleting on the remote";
	if (force)
		return "the policy does not allow forced pushes: add commits, or push another "
		       "branch";
	if (!str_starts(str_of(ref), "refs/heads/") || !is_ref(ref))
		return "only branches are pushed";
	if (sandbox_git_is_default(q->s, ref))
		return "the default branch is protected: push another one and open a pull request";
	if (sandbox_git_is_of_others(q->s, ref))
		return "another worktree has this branch: push one of your own";
	for (size_t i = 0; i < p->push.n; i++)
		if (fnmatch(p->push.p[i], ref + strlen("refs/heads/"), 0) == 0)
			return NULL;
	return "the policy does not allow pushing to this branch";
}

/* Its own branch gets new commits; another one must not be there yet. */
static const char *push_ref(struct request *q, const char *id, const char *ref)
{
	bool own = sandbox_git_is_own(q->s, ref);
	const char *const argv[] = {"git", "push", "--porcelain", "--no-verify",
		"--no-recurse-submodules",
		own ? "--no-force-with-lease"
		    : arena_printf(q->s->arena, "--force-with-lease=%s:", ref),
		"--", q->words[1], arena_printf(q->s->arena, "%s:%s", id, ref), NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status = broker_run_git(q, argv, &out);

	if (own || (status == 0 && str_find(buf_str(&out), STR("\n*\t")) < out.len)) {
		if (!own)
			sandbox_git_add_line(q->s, "pushed", ref);
		return status == 0 ? NULL : "the remote did not take it";
	}
	return "the remote did not take it, or has this branch, which is not the item's: push "
	       "another one";
}

static void push_one(struct request *q, const char *spec)
{
	bool force = *spec == '+';
	const char *id = spec + force, *ref = strrchr(spec, ':'), *fault;
	size_t n;

	if (!ref)
		return;
	id = arena_dup(q->s->arena, (struct str){id, (size_t)(ref - id)});
	ref++;
	n = strspn(id, "0123456789abcdef");
	fault = id[n] || (n && n != 40 && n != 64) ? "this is no commit"
						   : push_fault(q, id, ref, force);
	if (!fault)
		fault = push_ref(q, id, ref);
	q->status = 0;
	if (fault)
		buf_addf(&q->out, "error %s %s\n", ref, fault);
	else
		buf_addf(&q->out, "ok %s\n", ref);
}

static void serve_push(struct request *q)
{
	struct error err = {0};

	/* Another run of this root may end, and take over the same objects. */
	(void)TEMP_FAILURE_RETRY(flock(q->s->mutex, LOCK_EX));
	if (sandbox_git_import(q->s, false, &err) < 0)
		broker_refuse(q, err.text);
	(void)flock(q->s->mutex, LOCK_UN);
	for (size_t i = 2; q->status == 0 && i < q->n; i++)
		push_one(q, q->words[i]);
}

/* ---- the forge's program ---- */

/* A pattern of `api` is a path: what follows a `?` would let any path match. */
static bool is_forge_command(const struct request *q)
{
	const struct texts *t = &q->s->x->policy->forge;
	const char *name = q->words[2], *next = q->words[3];

	for (size_t i = 0; i < t->n; i++) {
		const char *blank = strchr(t->p[i], ' ');
		size_t n = (size_t)(blank - t->p[i]);

		if (strlen(name) == n && strncmp(name, t->p[i], n) == 0 &&
			(strcmp(name, "api") == 0
					? !next[strcspn(next, "?#%")] &&
						  fnmatch(blank + 1, next, FNM_PATHNAME) == 0
					: strcmp(blank + 1, next) == 0))
			return true;
	}
	return false;
}

/* Options that act on the command's own repository and show nothing of the host; `=`: with a value,
 * of which the letter behind it says more (is_plain_value()). A letter that has a value in one
 * command and none in another is not here. */
static const char gh_options[] =
	" --title= -t= --body= -b= --body-file=- -F=- --base= -B= --head=h -H=h --draft -d --fill "
	"-f "
	"--fill-first --fill-verbose --label= -l= --assignee= -a= --reviewer= -r= --milestone= -m= "
	"--add-label= --remove-label= --add-assignee= --remove-assignee= --add-reviewer= "
	"--remove-reviewer= --comments -c --json= --jq=q -q=q --limit= -L= --state= -s= --author= "
	"-A= --search= -S= --name-only --patch --color= --required --watch --fail-fast --interval= "
	"-i= --undo --edit-last --log --log-failed --verbose -v --exit-status --job= -j= "
	"--attempt= --workflow= --branch= --status= --event= --user= --commit= --created= ";
static const char api_options[] =
	" --method= -X= --field=@ -F=@ --raw-field= -f= --input=- --header= "
	"-H= --jq=q -q=q --paginate --slurp --include -i --silent ";
static const char glab_options[] =
	" --title= -t= --description= --message= -m= --source-branch=h -s=h --target-branch= -b= "
	"--branch= --draft --wip --ready --label= --unlabel= --assignee= -a= --reviewer= "
	"--milestone= --remove-source-branch --squash-before-merge --yes -y --comments -c "
	"--system-logs --per-page= -P= --page= -p= --all -A --merged -M --closed --opened "
	"--author= --search= --output= -F= --raw --color= --unique ";

static bool is_own_branch(const struct request *q, const char *name)
{
	return sandbox_git_is_own(
		q->s, arena_printf(q->s->arena, "refs/heads/%s", name ? name : ""));
}

/* Standard input is the only file; `env` and `$ENV` of jq are the host's environment. */
static bool is_plain_value(const struct request *q, char kind, const char *value)
{
	const char *file = strchr(value, '=');

	switch (kind) {
	case 'h':
		return strcmp(q->words[3], "create") != 0 || is_own_branch(q, value);
	case 'q':
		return !strcasestr(value, "env");
	case '-':
		return strcmp(value, "-") == 0;
	case '@':
		return !file || file[1] != '@' || strcmp(file, "=@-") == 0;
	default:
		return true;
	}
}

/* A URL must be of the repository's own remote: https://HOST/OWNER/REPO/... */
static bool is_own_operand(const struct request *q, size_t at)
{
	const char *url = strstr(q->words[at], "://"), *path = url ? strchr(url + 3, '/') : NULL;
	struct error ignored;
	char *slug;

	if (!url)
		return strcmp(q->words[2], "repo") != 0 || at == 3;
	return path && git_slug(q->s->arena, q->s->x->root->path, &slug, &ignored) == 0 &&
	       str_starts(str_of(path + 1), arena_printf(q->s->arena, "%s/", slug));
}

static bool broker_take_output(void *data, bool errors, struct str piece)
{
	struct request *q = data;
	struct buf *to = errors ? &q->errors : &q->out;

	if (to->len < REPLY_MAX)
		buf_add(to, piece);
	return true;
}

static int run_forge(struct request *q, const char *const *argv, struct str body)
{
	static const char *const env[] = {"GH_PROMPT_DISABLED=1", "NO_PROMPT=1", "NO_COLOR=1",
		"GIT_TERMINAL_PROMPT=0", GIT_RUNS_NOTHING, NULL};
	struct process p = {.argv = argv,
		.cwd = q->s->x->root->path,
		.env = env,
		.input = body,
		.output = -1,
		.on_output = broker_take_output,
		.data = q,
		.timeout_s = FORGE_S};
	struct process_end end;
	struct error err = {0};

	if (process_run(&p, &end, &err) < 0) {
		broker_refuse(q, err.text);
		return q->status = end.missing ? 127 : 1;
	}
	return q->status = end.timed_out ? 124 : end.status;
}

/* Whether its branch is in the repository that the item pushes to, which may be a fork. */
static bool is_of_origin(const struct request *q, const json *pull)
{
	const char *owner = json_get_str(json_get(pull, "headRepositoryOwner"), "login"),
		   *name = json_get_str(json_get(pull, "headRepository"), "name");
	struct error ignored;
	char *slug;

	if (!json_is_true(json_get(pull, "isCrossRepository")))
		return json_get_int(pull, "source_project_id", 0) ==
		       json_get_int(pull, "target_project_id", 0);
	return owner && name && git_slug(q->s->arena, q->s->x->root->path, &slug, &ignored) == 0 &&
	       strcasecmp(slug, arena_printf(q->s->arena, "%s/%s", owner, name)) == 0;
}

/* Whether a pull request is the item's: the forge says what its branch is, since a number and the
 * name of a branch look alike. */
static bool is_own_request(struct request *q, const char *name)
{
	bool gh = strcmp(q->words[1], "gh") == 0;
	const char *const argv[] = {q->words[1], gh ? "pr" : "mr", "view", name,
		gh ? "--json" : "--output",
		gh ? "headRefName,headRepository,headRepositoryOwner,isCrossRepository" : "json",
		NULL};
	CLEANUP(json_free) json *answer = NULL;
	struct error ignored;
	bool own = run_forge(q, argv, STR("")) == 0 &&
		   json_parse_foreign(&answer, buf_str(&q->out), &ignored) == 0;

	own = own && is_of_origin(q, answer) &&
	      is_own_branch(q, json_get_str(answer, gh ? "headRefName" : "source_branch"));
	buf_clear(&q->out);
	return own;
}

/* Whether the command changes a pull request that is there. */
static bool changes_request(const struct request *q)
{
	static const char *const groups[] = {"pr", "mr", NULL};
	static const char *const others[] = {
		"view", "diff", "checks", "list", "status", "create", NULL};

	return str_in(str_of(q->words[2]), groups) && !str_in(str_of(q->words[3]), others);
}

/* The pull request that an operand names; NULL: none, or it is only read. */
static const char *request_of_operand(const struct request *q, size_t at)
{
	const char *path = strcmp(q->words[2], "api") == 0 ? strstr(q->words[at], "/pulls/") : NULL;
	struct str rest = str_of(path ? path + strlen("/pulls/") : ""), number;

	if (at > 3 && changes_request(q))
		return q->words[at];
	return str_piece(&rest, '/', &number) ? arena_dup(q->s->arena, number) : NULL;
}

/* `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`. *at: the last word that it takes. */
static bool is_harmless_option(const struct request *q, size_t *at)
{
	bool gh = strcmp(q->words[1], "gh") == 0, api = strcmp(q->words[2], "api") == 0;
	const char *word = q->words[*at], *list = !gh   ? glab_options
						  : api ? api_options
							: gh_options;
	size_t n = word[1] == '-' ? strcspn(word, "=") : 2;
	const char *name = arena_printf(q->s->arena, " %.*s", (int)n, word), *found;

	if (strstr(list, arena_printf(q->s->arena, "%s ", name)))
		return !word[n];
	found = strstr(list, arena_printf(q->s->arena, "%s=", name));
	if (!found)
		return false;
	found += strlen(name) + 1;
	if (word[n])
		return is_plain_value(q, *found, word + n + (word[n] == '='));
	return ++*at < q->n && is_plain_value(q, *found, q->words[*at]);
}

/* A command that changes a pull request and names none gets that of the branch. */
static int check_forge_words(struct request *q)
{
	const char *branch = sandbox_git_branch(q->s), *request;
	bool named = !changes_request(q);

	for (size_t i = 3; i < q->n; i++) {
		const char *word = q->words[i];
		bool option = word[0] == '-' && word[1];

		if (option ? !is_harmless_option(q, &i) : !is_own_operand(q, i))
			return REFUSE(q,
				"'%.60s' is not available to agents: give text on standard input, "
				"of this repository",
				word);
		request = option ? NULL : request_of_operand(q, i);
		if (request && !is_own_request(q, request))
			return REFUSE(q, "'%.60s' is not the item's pull request", request);
		named |= request != NULL;
	}
	if (strcmp(q->words[3], "create") == 0 && !is_own_branch(q, branch))
		return broker_refuse(q, "the branch that is checked out is not the item's");
	if (named)
		return 0;
	if (!branch || q->n == WORDS_MAX || !is_own_request(q, branch))
		return broker_refuse(q, "there is no pull request of the item's branch");
	q->words[q->n++] = branch;
	return 0;
}

static void serve_forge(struct request *q)
{
	const char *program = q->words[1];

	if ((strcmp(program, "gh") != 0 && strcmp(program, "glab") != 0) || q->n < 4 ||
		!is_forge_command(q))
		REFUSE(q,
			"the policy '%s' does not allow '%.60s %.60s %.60s'; see 'forge' in "
			"'dev-team policy show'",
			q->s->x->policy->name, program, q->n > 2 ? q->words[2] : "",
			q->n > 3 ? q->words[3] : "");
	else if (check_forge_words(q) == 0)
		(void)run_forge(q, q->words + 1, q->body);
}

/* ---- the socket, outside ---- */

static int broker_read_request(int fd, struct request *q, struct buf *text)
{
	struct error ignored;
	size_t at = 0;

	if (sys_read_all(text, fd, REQUEST_MAX, "a request", &ignored) < 0)
		return -1;
	while (at < text->len && q->n < WORDS_MAX) {
		const char *word = text->s + at;

		at += strlen(word) + 1;
		if (!*word)
			break;
		q->words[q->n++] = word;
	}
	q->body = at < text->len ? str_sub(buf_str(text), at, text->len) : (struct str){0};
	return q->n >= 2 ? 0 : -1;
}

static void serve_request(struct request *q)
{
	const struct policy *p = q->s->x->policy;
	const char *word = q->words[0];

	buf_adds(&q->out, "");
	buf_adds(&q->errors, "");
	if (strcmp(word, "forge") == 0)
		serve_forge(q);
	else if (!texts_have(&p->remotes, str_of(q->words[1])))
		REFUSE(q, "the policy '%s' does not allow the remote '%.100s'", p->name,
			q->words[1]);
	else if (strcmp(word, "list") == 0)
		serve_list(q);
	else if (strcmp(word, "fetch") == 0)
		serve_fetch(q);
	else if (strcmp(word, "push") == 0)
		serve_push(q);
	else
		broker_refuse(q, "unknown request");
}

void sandbox_broker_serve(struct sandbox *s)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	CLEANUP(base_close) int fd = accept4(s->broker, NULL, NULL, SOCK_CLOEXEC);
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct request q = {.s = s};
	struct error ignored;
	char head[64];

	if (fd < 0)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (s->brokered && broker_read_request(fd, &q, &text) == 0) {
		serve_request(&q);
		(void)snprintf(head, sizeof(head), "%d %zu\n", q.status, q.out.len);
		if (sys_write_all(fd, str_of(head), "reply", &ignored) == 0 &&
			sys_write_all(fd, buf_str(&q.out), "reply", &ignored) == 0)
			(void)sys_write_all(fd, buf_str(&q.errors), "reply", &ignored);
	}
	buf_release(&q.out);
	buf_release(&q.errors);
}

/* Another repository is around this one: an agent can have made it, with a configuration that names
 * programs. The worktrees of one repository may be inside each other. */
static bool is_nested(const struct sandbox *s)
{
	const struct root *r = s->x->root;
	char *dir = arena_dup(s->arena, str_of(r->path));

	while (dir[1]) {
		struct root above;
		struct error ignored;

		dir = arena_dup(s->arena, path_dir(dir));
		if (path_exists(path_join(s->arena, dir, ".git")) &&
			(root_open(s->arena, dir, &above, &ignored) < 0 ||
				strcmp(sandbox_common_of(s->arena, &above),
					sandbox_common_of(s->arena, r)) != 0))
			return true;
	}
	return false;
}

bool sandbox_broker_wanted(const struct sandbox *s)
{
	const struct policy *p = s->x->policy;

	return (p->remotes.n || p->forge.n) && !is_nested(s);
}

/* ---- the socket, inside ---- */

static const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = BOX_BROKER};

bool sandbox_broker_listen(int channel)
{
	return sandbox_listen(channel, (const struct sockaddr *)&address, sizeof(address));
}

/* ---- its clients, inside ---- */

/* Sends the request; the reply's output in *out, its errors to standard error. -1: no broker. */
static int ask_broker(const struct buf *request, struct buf *out, int *status)
{
	CLEANUP(base_close) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CLEANUP(buf_release) struct buf reply = BUF_INIT;
	struct error err;
	unsigned long length;
	char *end;

	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
		sys_write_all(fd, buf_str(request), "request", &err) < 0 ||
		shutdown(fd, SHUT_WR) < 0 ||
		sys_read_all(&reply, fd, 2 * REPLY_MAX, "reply", &err) < 0 || !reply.len) {
		error_log("dev-team: the policy does not allow remotes, the repository is inside "
			  "another one, or the broker has ended");
		return -1;
	}
	*status = (int)strtol(reply.s, &end, 10);
	length = strtoul(end, &end, 10);
	end++;
	buf_add(out, (struct str){end, length});
	(void)sys_write_all(STDERR_FILENO,
		str_sub(buf_str(&reply), (size_t)(end - reply.s) + length, reply.len), "errors",
		&err);
	return 0;
}

static void broker_add_word(struct buf *request, const char *word)
{
	buf_add(request, str_of(word));
	buf_addc(request, '\0');
}

int sandbox_broker_forge_client(const char *program, int argc, char **argv)
{
	CLEANUP(buf_release) struct buf request = BUF_INIT, out = BUF_INIT;
	struct error err;
	bool input = false;
	int status;

	broker_add_word(&request, "forge");
	broker_add_word(&request, program);
	for (int i = 0; i < argc; i++) {
		if (*argv[i])
			broker_add_word(&request, argv[i]);
		input = input || strcmp(argv[i], "-") == 0 || strstr(argv[i], "@-") ||
			str_ends(str_of(argv[i]), "=-");
	}
	buf_addc(&request, '\0');
	if (input &&
		sys_read_all(&request, STDIN_FILENO, REQUEST_MAX, "standard input", &err) < 0) {
		error_print(&err);
		return 1;
	}
	if (ask_broker(&request, &out, &status) < 0)
		return 1;
	return sys_write_all(STDOUT_FILENO, buf_str(&out), "output", &err) < 0 ? 1 : status;
}

/* The commit of `SRC` in `SRC:DST`; "" stays "". */
static bool add_push(struct buf *request, const char *spec)
{
	bool force = *spec == '+';
	const char *colon = strrchr(spec, ':');
	CLEANUP(buf_release) struct buf id = BUF_INIT;
	char source[512];
	const char *const argv[] = {"git", "rev-parse", "--verify", "--quiet", source, NULL};
	struct process p = {.argv = argv, .output = -1, .out = &id, .out_max = 256};
	struct process_end end;
	struct error ignored;

	if (!colon)
		return false;
	(void)snprintf(source, sizeof(source), "%.*s", (int)(colon - spec - force), spec + force);
	if (*source && (process_run(&p, &end, &ignored) < 0 || end.status != 0))
		return false;
	buf_addf(request, "%s%.*s%s", force ? "+" : "", (int)str_trim(buf_str(&id)).n,
		id.s ? id.s : "", colon);
	buf_addc(request, '\0');
	return true;
}

static int send_batch(const char *word, const char *remote, char *line, size_t size)
{
	CLEANUP(buf_release) struct buf request = BUF_INIT, out = BUF_INIT;
	int status;

	broker_add_word(&request, word);
	broker_add_word(&request, remote);
	do {
		line[strcspn(line, "\n")] = '\0';
		if (!*line || strncmp(line, "list", 4) == 0)
			break;
		if (strncmp(line, "push ", 5) == 0 && !add_push(&request, line + 5))
			return -1;
		if (strncmp(line, "fetch ", 6) == 0 && strchr(line + 6, ' '))
			broker_add_word(&request, strchr(line + 6, ' ') + 1);
	} while (fgets(line, (int)size, stdin));
	if (ask_broker(&request, &out, &status) < 0 || status != 0)
		return -1;
	printf("%.*s\n", (int)out.len, out.s ? out.s : "");
	return 0;
}

/* gitremote-helpers(7) */
int sandbox_broker_git_client(int argc, char **argv)
{
	static const char *const requests[] = {"list", "fetch", "push", NULL};
	static char line[8192];
	unsigned which;
	int rc = 0;

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	while (rc == 0 && fgets(line, sizeof(line), stdin)) {
		if (strcmp(line, "capabilities\n") == 0)
			printf("fetch\npush\noption\n\n");
		else if (strncmp(line, "option ", 7) == 0)
			printf("unsupported\n");
		else if (str_index(
				 str_sub(str_of(line), 0, strcspn(line, " \n")), requests, &which))
			rc = send_batch(requests[which], argc ? argv[0] : "", line, sizeof(line));
		else
			break;
	}
	return rc < 0 ? 1 : 0;
}
