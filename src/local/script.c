#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include "src/base/clock.h"
#include "src/config/violation.h"
#include "src/machine/answer.h"
#include "src/machine/place.h"
#include "src/local/script.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/sys/secrets.h"
#include "context/lease.h"

/* A run_script action as the document has it. Texts are in the arena, the caller's. */
struct script_action {
	struct arena *arena;
	const char *document, *id, *command, *log, *lock;
	unsigned timeout_s;
	unsigned uid, gid; /* 0: as the caller */
	/* With a policy: its name, what a denial means (NULL: as the policy says), the shell
	 * command and its working directory. Without: NULL. */
	const char *policy, *violation, *inner, *directory;
	const char *const *env; /* of the caller; NULL: none */
	const char *format;     /* the words of its results, that of exit status 0 first */
	char *answer;           /* first line of the recorded answer; NULL if there is none */
	bool kept;              /* the lock file has a result that is not recorded yet */
};

static const int ending[] = {SIGTERM, SIGINT, SIGHUP}; /* the script, and then the caller */

/* ---- the action as the document has it ---- */

enum { TIMEOUT_DEFAULT = 1800, NEW_FILE = O_CREAT | O_CLOEXEC | O_NOFOLLOW };

/* `.ADR-7.validating-1.exec` for `ADR-7/validating/1`. The id may have been edited: no `/` or `.`
 * of it reaches the path. */
static char *script_lock_file(struct arena *a, const struct context_file *f, const char *id)
{
	const char *slash = strchr(id, '/');
	char *part = arena_dup(a, str_of(slash ? slash + 1 : id));

	for (char *p = part; *p; p++)
		if (!(*p >= '0' && *p <= '9') && !((*p | 32) >= 'a' && (*p | 32) <= 'z') &&
			*p != '_')
			*p = '-';
	return arena_printf(a, "%s/.%s.%s.exec", f->dir, f->name, part);
}

static char *script_answer_of(struct arena *a, const struct context_file *f, const json *action)
{
	struct str rest = context_section(&f->doc, json_get_str(action, "write_section")), line;

	if (!action_answered(&f->doc, action))
		return NULL;
	if (!str_line(&rest, &line))
		line = action_word(&f->doc, action);
	return arena_dup(a, str_trim(action_complete_line(a, f, line)));
}

/* The path may have been edited, and the log is truncated: it must be a file in logs/. */
static int check_log(const struct context_file *f, const struct script_action *s, struct error *err)
{
	const char *logs = arena_printf(s->arena, "%s/logs/", f->dir);
	size_t n = strlen(logs);

	if (!str_starts(str_of(s->log), logs) || !s->log[n] || strchr(s->log + n, '/'))
		return error_set(err, ERR_INPUT, "'log_file' of '%.200s' is not in '%s': '%.200s'",
			s->id, logs, s->log);
	return 0;
}

/* Splits `cd DIRECTORY || exit 125; REST`, as a step writes it; another form runs as it is. */
static void split_command(struct script_action *s)
{
	struct str rest = str_of(s->command), directory;

	s->directory = ".";
	s->inner = s->command;
	if (!str_starts(rest, "cd '"))
		return;
	rest = str_sub(rest, strlen("cd "), rest.n);
	if (!arena_shell_word(s->arena, &rest, &directory) || !str_starts(rest, " || exit 125; "))
		return;
	s->directory = directory.p;
	s->inner = rest.p + strlen(" || exit 125; ");
}

static const char *script_text_of(const struct script_action *s, const json *j, const char *key)
{
	const char *text = json_get_str(j, key);

	return text ? arena_dup(s->arena, str_of(text)) : NULL;
}

static int fill_policy(
	const json *security, const char *wished, struct script_action *s, struct error *err)
{
	s->policy = script_text_of(s, security, "policy");
	s->directory = script_text_of(s, security, "folder");
	s->inner = script_text_of(s, security, "script");
	s->violation = script_text_of(s, security, "violation");
	if (!wished || (s->policy && strcmp(s->policy, wished) == 0))
		return 0;
	if (s->policy)
		return error_set(err, ERR_STATE, "'%.200s' runs under the policy '%.200s'", s->id,
			s->policy);
	s->policy = wished;
	split_command(s);
	return 0;
}

/* Loads action `id`. `locked`: holds the document's lock meanwhile. `policy`: see script_run(). */
static int script_load(struct arena *a, const char *document, const char *id, const char *policy,
	bool locked, struct script_action *s, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *array = NULL, *noted = NULL, *full = NULL;
	struct item_place place;
	const json *action;

	*s = (struct script_action){.arena = a, .id = id};
	if (context_open(&f, document, locked ? CONTEXT_MUST_EXIST : CONTEXT_READ_ONLY, err) < 0 ||
		action_load_noted(&f, &array, &noted, err) < 0)
		return -1;
	action = action_find(array, id);
	if (!action || (!action_answered(&f.doc, action) && !action_is_noted(noted, id, NULL)))
		return answer_refuse_stale(&f, id, err);
	if (action_kind(action) != ACTION_SCRIPT)
		return error_set(err, ERR_INPUT, "action '%.200s' is not a run_script but a %s", id,
			json_get_str(action, "action"));
	if (place_load(a, &f, &place, err) < 0)
		return -1;
	if (place.directory && !path_is_directory(place.directory) &&
		!action_answered(&f.doc, action))
		return error_set(err, ERR_STATE,
			"'%.200s' runs in '%s', which is not there: a 'dev-team step' in the clone "
			"finds or makes the directory",
			id, place.directory);
	full = action_complete(&f, &place, action);
	s->document = arena_dup(a, str_of(f.path));
	s->command = script_text_of(s, full, "command");
	s->log = script_text_of(s, full, "log_file");
	s->timeout_s = (unsigned)json_get_int(action, "timeout_s", TIMEOUT_DEFAULT);
	s->format = script_text_of(s, action, "result_format");
	action_user(action, &s->uid, &s->gid);
	s->lock = script_lock_file(a, &f, id);
	s->answer = script_answer_of(a, &f, action);
	return check_log(&f, s, err) < 0 ? -1
					 : fill_policy(json_get(full, "security"), policy, s, err);
}

/* ---- the lock file ---- */

enum {
	TEXT_MAX = 2048,
	REPORT_SHOWN = 16 << 10,
	REPORT_MAX = 16 << 20,
	SWEEP_MS = 5000,
	BRIEFLY_MS = 2
};

/* A guard removes its file while it holds the lock: the file that we locked may have no name. */
static bool script_is_named(int fd, const char *path)
{
	struct stat ours, named;

	return fstat(fd, &ours) == 0 && lstat(path, &named) == 0 && ours.st_ino == named.st_ino &&
	       ours.st_dev == named.st_dev;
}

/* 1: locked. 0: a guard holds it. */
static int lock_take(int fd, const char *path, struct error *err)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(fd, F_OFD_SETLK, &whole) == 0)
		return 1;
	return errno == EAGAIN || errno == EACCES ? 0 : error_errno(err, "cannot lock '%s'", path);
}

/* Removes the file, which we have locked; the lock ends with the last copy of the descriptor. */
static void lock_remove(int fd, const char *path)
{
	if (script_is_named(fd, path))
		(void)unlink(path);
}

/* What the file says: who its guard is, below it the result, if the script has ended, and why the
 * result is not recorded. */
struct guard_report {
	struct process_info guard; /* pid and start; pid 0: no guard has signed */
	json *result;              /* {"result":WORD,"text":TEXT}, or NULL */
	enum err code;
	char reason[TEXT_MAX]; /* empty: none */
};

static void report_release(struct guard_report *r)
{
	json_free(&r->result);
}

static void report_read(int fd, struct guard_report *r)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;
	struct str rest, line;
	int n = 0, code = ERR_SYSTEM;

	*r = (struct guard_report){0};
	if (lseek(fd, 0, SEEK_SET) < 0 ||
		sys_read_all(&text, fd, REPORT_MAX, "lock file", &ignored) < 0)
		return;
	rest = buf_str(&text);
	if (!str_line(&rest, &line) ||
		sscanf(text.s, "%d %" SCNu64, &r->guard.pid, &r->guard.start) != 2)
		return;
	if (str_starts(rest, "{") && str_line(&rest, &line))
		(void)json_parse(&r->result, line, &ignored);
	if (rest.n && sscanf(rest.p, "%d %n", &code, &n) == 1)
		(void)snprintf(r->reason, sizeof(r->reason), "%s", rest.p + n);
	r->code = (enum err)code;
}

bool script_running(const struct context_file *f, const char *id)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(base_close)
	int fd = open(script_lock_file(&a, f, id), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	CLEANUP(report_release) struct guard_report report = {0};
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fd < 0 || fcntl(fd, F_OFD_GETLK, &whole) < 0)
		return false;
	if (whole.l_type == F_UNLCK)
		report_read(fd, &report);
	return whole.l_type != F_UNLCK || report.result;
}

/* An environment variable of everything that a script starts, to find what a killed guard left. */
static char *environment_mark(const struct script_action *s)
{
	return arena_printf(s->arena, "DEV_TEAM_EXEC=%s", s->lock);
}

struct marked {
	const char *mark;
	int signal;
	size_t n;
};

static void signal_marked(const struct process_info *info, void *arg)
{
	struct marked *s = arg;

	if (info->pid == getpid() || !process_has_env(info->pid, s->mark))
		return;
	s->n++;
	(void)kill(info->pid, s->signal);
}

/* Sends the signal (0: none) to each process of the script; whether there are any. */
static bool signal_script(const struct script_action *s, int signal)
{
	struct marked found = {environment_mark(s), signal, 0};

	process_each(signal_marked, &found);
	return found.n;
}

/* Kills whatever a killed guard's script left running. */
static void kill_leftovers(const struct script_action *s)
{
	int64_t until = clock_ticks() + SWEEP_MS;

	while (clock_ticks() < until && signal_script(s, SIGKILL))
		clock_pause(BRIEFLY_MS);
}

void script_discard(const struct context_file *f, const char *id)
{
	CLEANUP(arena_release) struct arena a = {0};
	const struct script_action s = {.arena = &a, .lock = script_lock_file(&a, f, id)};
	CLEANUP(base_close) int fd = -1;
	struct error ignored;

	if (!path_exists(s.lock)) /* an agent, or a script that no guard has started */
		return;
	fd = open(s.lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || lock_take(fd, s.lock, &ignored) != 1)
		return;
	kill_leftovers(&s);
	lock_remove(fd, s.lock);
}

/* ---- the guard ---- */

/* The file that this program was started from, even if its name now leads to another. */
const char *script_program = "/proc/self/exe";
int script_inherit;

enum {
	LOCK_FD = 3,
	LOG_FD = 4,
	INHERITED_FD = 5, /* script_inherit */
	LOG_MAX = 64 << 20,
	POLICY_END_S = 30, /* for `policy exec` to end the script after its time limit */
};
static const char log_cut[] = "\n(dev-team: output over 64 MiB is left out)\n";

/* Closes the caller's descriptors: the process that started the caller waits for that. */
static bool settle_descriptors(int lock, int log)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int more = script_inherit ? fcntl(script_inherit, F_DUPFD_CLOEXEC, INHERITED_FD + 1) : 0;

	lock = fcntl(lock, F_DUPFD_CLOEXEC, INHERITED_FD + 1);
	log = fcntl(log, F_DUPFD_CLOEXEC, INHERITED_FD + 1);
	if (null < 0 || lock < 0 || log < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
		dup2(null, 2) < 0 || dup3(lock, LOCK_FD, O_CLOEXEC) < 0 ||
		dup3(log, LOG_FD, O_CLOEXEC) < 0 ||
		(more && dup3(more, INHERITED_FD, O_CLOEXEC) < 0))
		return false;
	(void)syscall(SYS_close_range, (unsigned)(more ? INHERITED_FD : LOG_FD) + 1, ~0u, 0u);
	return true;
}

/* The signals that end the script, as a descriptor. */
static int cancel_descriptor(void)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < COUNT(ending); i++) {
		sigaddset(&set, ending[i]);
		(void)sigaction(ending[i], &usual, NULL);
	}
	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigprocmask(SIG_SETMASK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* The log as the document names it, below its directory. */
static const char *log_name(const struct script_action *s)
{
	return s->log + path_dir(s->document).n + 1;
}

/* Its words are `passed` and `failed`, in the order of the workflow. */
static bool has_usual_words(const struct script_action *s)
{
	return !s->format || action_format_has(s->format, STR("passed"));
}

/* The last line of its output, if that is a JSON object; else NULL. */
static json *script_report_of(const struct script_action *s)
{
	CLEANUP(buf_release) struct buf log = BUF_INIT;
	struct error ignored;
	struct str rest, line = {0};
	json *report = NULL;

	if (sys_read_file(&log, s->log, LOG_MAX, NULL, &ignored) < 0)
		return NULL;
	rest = str_trim(buf_str(&log));
	while (str_line(&rest, &line))
		;
	return str_starts(line, "{") && json_parse(&report, line, &ignored) == 0 ? report : NULL;
}

/* `k` below 0, or too large: the last one. */
static const char *word_at(const struct script_action *s, int k)
{
	struct str rest = str_of(s->format), word = {0}, one;

	for (int i = 0; str_piece(&rest, '|', &one); i++) {
		word = one;
		if (i == k)
			break;
	}
	return arena_dup(s->arena, str_trim(word));
}

/* That of exit status 0, 1, or any other and a time limit. A report names another one by `status`
 * or `result`; a command that fails has not the good one. */
static const char *result_word(const struct script_action *s, int status, const json *report)
{
	const char *said = report ? json_get_str(report, "status") : NULL;

	if (has_usual_words(s))
		return status ? "failed" : "passed";
	said = report && !said ? json_get_str(report, "result") : said;
	return said && action_format_has(s->format, str_of(said)) &&
			       (!status || strcmp(said, word_at(s, 0)) != 0)
		       ? said
		       : word_at(s, status == 0 || status == 1 ? status : -1);
}

/* The first line of the answer, and what the command reports, which must not say another word. */
static char *outcome_line(
	const struct script_action *s, const char *word, bool timed_out, const json *report)
{
	const char *why =
		timed_out ? arena_printf(s->arena, " — timed out after %u s", s->timeout_s) : "";
	const char *said = report ? json_get_str(report, "status") : NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (report && (!said || strcmp(said, word) == 0))
		json_print(&text, report);
	return arena_printf(s->arena, "%s%s — log: %s%s%s", word, why, log_name(s),
		text.len && text.len <= REPORT_SHOWN ? "\n\n" : "",
		text.len && text.len <= REPORT_SHOWN ? text.s : "");
}

static char *denied(
	const struct script_action *s, const struct violation_report *b, const char *word)
{
	CLEANUP(json_free) json *j = violation_json(b);
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	json_set(j, "status", json_string(str_of(word)));
	json_print(&text, j);
	return arena_printf(s->arena, "%s — security violation: %s — log: %s\n\n%s", word,
		violation_line(s->arena, b), log_name(s), text.s);
}

/* Best effort: on a full disk the log has less. */
static void script_log_text(const struct script_action *s, const char *text)
{
	struct error ignored;

	(void)sys_write_all(LOG_FD, str_of(text), s->log, &ignored);
}

/* *blob: the log as it is now, which nothing changes later, below the document's directory; NULL if
 * the script has removed it, or put something else than a file in its place. */
static int keep_log(const struct script_action *s, char **blob, struct error *err)
{
	CLEANUP(base_close) int fd = open(s->log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *dir = arena_dup(s->arena, path_dir(s->document));
	struct error ignored;
	struct stat st;

	*blob = NULL;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
		sys_read_all(&text, fd, STORE_BLOB_MAX, s->log, &ignored) < 0)
		return 0;
	if (store_keep_blob(store_backend(), s->arena, path_join(s->arena, dir, "blobs"),
		    path_base(s->log).p, buf_str(&text), blob, err) < 0)
		return -1;
	*blob += strlen(dir) + 1;
	return 0;
}

/* Records a result. s->kept: that failed, and a later call may succeed. */
static int script_record_result(struct script_action *s, const json *result, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct answer_offer offer = {.id = s->id,
		.ran = true,
		.word = json_get_str(result, "result"),
		.text = str_of(json_get_str(result, "text"))};
	char *blob;
	int rc;

	s->kept = true;
	if (keep_log(s, &blob, err) < 0 ||
		context_open(&f, s->document, CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	offer.log = blob;
	rc = answer_record(&f, &offer, err);
	s->kept = rc < 0 && offer.outcome != ANSWER_REFUSED;
	return rc;
}

/* The result is in the lock file before it is recorded, and durable there if that fails. */
static int script_record(
	struct script_action *s, const char *word, const char *text, struct error *err)
{
	CLEANUP(json_free)
	json *result = JSON_OBJECT(JSON_TEXT("result", word), JSON_TEXT("text", text));
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	struct error ignored;
	bool kept;

	json_print(&line, result);
	buf_addc(&line, '\n');
	kept = sys_write_all(LOCK_FD, buf_str(&line), s->lock, &ignored) == 0;
	if (script_record_result(s, result, err) == 0)
		return 0;
	s->kept = s->kept && kept && fdatasync(LOCK_FD) == 0;
	return -1;
}

static int script_conclude(
	struct script_action *s, const struct process_end *end, struct error *err)
{
	CLEANUP(json_free) json *report = script_report_of(s);
	const char *word = result_word(s, end->timed_out ? -1 : end->status, report);

	if (end->cancelled) {
		script_log_text(s, "\ndev-team: ended by a signal\n");
		return error_set(err, ERR_SYSTEM, "the script was ended by a signal");
	}
	if (end->timed_out)
		script_log_text(s,
			arena_printf(s->arena, "\ndev-team: timed out after %u s\n", s->timeout_s));
	return script_record(s, word, outcome_line(s, word, end->timed_out, report), err);
}

/* Records what the report of `policy exec` says. */
static int conclude_policy(
	struct script_action *s, const char *path, const struct process_end *end, struct error *err)
{
	CLEANUP(buf_release) struct buf all = BUF_INIT;
	CLEANUP(json_free) json *report = NULL, *own = NULL;
	struct violation_report b;
	const char *word;
	bool timed_out;
	int found;

	if (end->cancelled || end->timed_out)
		return script_conclude(s, end, err);
	if (sys_read_file(&all, path, REPORT_MAX, NULL, err) < 0 ||
		json_parse(&report, str_trim(buf_str(&all)), err) < 0 ||
		(found = violation_read(s->arena, report, s->violation, &b, err)) < 0)
		return error_prefix(err, "nothing ran under the policy '%.200s'%s", s->policy,
			report && json_get_str(report, "error") ? ""
								: " (its message is in the log)");
	timed_out = found || json_is_true(json_get(report, "timed_out"));
	own = found ? NULL : script_report_of(s);
	word = result_word(s, timed_out ? -1 : end->status, own);
	return script_record(
		s, word, found ? denied(s, &b, word) : outcome_line(s, word, timed_out, own), err);
}

int script_user_directory(
	struct arena *a, unsigned uid, unsigned gid, const char **out, struct error *err)
{
	const char *dir = arena_printf(a, "/tmp/dev-team-%u", uid);

	*out = NULL;
	if (!uid || uid == geteuid())
		return 0;
	if (mkdir(dir, 0700) == 0 && chown(dir, uid, gid) < 0)
		return error_errno(err, "cannot give '%s' to user %u", dir, uid);
	*out = dir; /* one of somebody else is refused by the program that uses it */
	return 0;
}

static const char *user_report(struct script_action *s, const char *own)
{
	char digest[DIGEST_TEXT];

	digest_text(str_of(s->lock), digest);
	return arena_printf(s->arena, "%s/%s.report", own, digest);
}

/* `policy exec` keeps the time limit: it can end more than a process group. */
static int run_under(struct script_action *s, struct process p, const char *own, struct error *err)
{
	const char *report =
		own ? user_report(s, own) : arena_printf(s->arena, "%s.report", s->lock);
	const char *const argv[] = {script_program, "policy", "exec", "--policy", s->policy,
		"--cwd", s->directory, "--timeout", arena_printf(s->arena, "%u", s->timeout_s),
		"--report", report, "--", s->inner, NULL};
	struct process_end end;
	int rc;

	p.argv = argv;
	p.timeout_s = s->timeout_s + POLICY_END_S;
	(void)unlink(report);
	rc = script_run_logged(s->arena, &p, &end, err);
	if (rc == 0)
		rc = conclude_policy(s, report, &end, err);
	(void)unlink(report);
	return rc;
}

/* Commands may call dev-team: where PATH has none, this program's directory is searched last. */
static const char *search_path(struct arena *a)
{
	const char *path = getenv("PATH"), *self = path_own_program(a);

	return arena_printf(a, "PATH=%s:%s", path ? path : "/usr/local/bin:/usr/bin:/bin",
		self ? arena_dup(a, path_dir(self)) : "/usr/bin");
}

static int run_and_record(struct script_action *s, struct error *err)
{
	const char *const argv[] = {"/bin/sh", "-c", s->command, NULL}, *user;
	const char *const own[] = {environment_mark(s), search_path(s->arena),
		arena_printf(s->arena, "DEV_TEAM_ID=%.*s", (int)strcspn(s->id, "/"), s->id),
		arena_printf(s->arena, "DEV_TEAM_CONTEXT_FILE=%s", s->document), NULL};
	VEC(const char *) env = {0};
	int cancel = cancel_descriptor();

	for (const char *const *e = s->env; e && *e; e++)
		vec_push_in(s->arena, &env, *e);
	for (size_t i = 0; i < COUNT(own) - 1; i++)
		vec_push_in(s->arena, &env, own[i]);
	if (script_user_directory(s->arena, s->policy ? s->uid : 0, s->gid, &user, err) < 0)
		return -1;
	if (user)
		vec_push_in(s->arena, &env,
			arena_printf(s->arena, "DEV_TEAM_STATE_DIR=%s/state", user));
	vec_push_in(s->arena, &env, NULL);
	struct process p = {.argv = argv,
		.env = env.items,
		.output = LOG_FD,
		.output_max = LOG_MAX,
		.output_cut = log_cut,
		.timeout_s = s->timeout_s,
		.cancel = cancel > 0 ? cancel : 0,
		.inherit = script_inherit ? INHERITED_FD : 0,
		.uid = s->uid,
		.gid = s->gid};
	struct process_end end;

	if (s->policy)
		return run_under(s, p, user, err);
	return script_run_logged(s->arena, &p, &end, err) < 0 ? -1 : script_conclude(s, &end, err);
}

static int lock_sign(int fd, const char *path, struct error *err)
{
	struct process_info self;

	if (!process_info(getpid(), &self))
		return error_set(err, ERR_SYSTEM, "cannot read /proc");
	if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0 ||
		dprintf(fd, "%d %" PRIu64 "\n", (int)self.pid, self.start) < 0)
		return error_errno(err, "cannot write '%s'", path);
	return 0;
}

/* Runs in a process of its own. The caller waits until the pipe `ready` is closed. */
static void guard(struct script_action *s, int lock, int log, int ready)
{
	struct error err = {0}, ignored;

	if (lock_sign(lock, s->lock, &err) < 0) {
		(void)sys_write_all(ready, str_of(err.text), "pipe", &ignored);
		return;
	}
	if (!settle_descriptors(lock, log))
		return;
	if (run_and_record(s, &err) < 0)
		(void)sys_write_all(LOCK_FD,
			str_of(arena_printf(s->arena, "%d %s", (int)err.code, err.text)), s->lock,
			&ignored);
	if (!s->kept) /* a waiting caller has it open and reads the reason */
		lock_remove(LOCK_FD, s->lock);
}

static int open_log(const struct script_action *s, struct error *err)
{
	int fd;

	if (path_mkdirs(arena_dup(s->arena, path_dir(s->log)), err) < 0)
		return -1;
	fd = open(s->log, O_WRONLY | O_TRUNC | O_APPEND | NEW_FILE, path_new_mode(s->log, 0600));
	return fd < 0 ? error_errno(err, "cannot open log '%s'", s->log) : fd;
}

/* Starts a guard, which inherits the locked file. It is a child of init, so that ending the
 * caller's process tree does not end it. 0 once it has signed; -1 with its reason. */
static int fork_guard(struct script_action *s, int lock, struct error *err)
{
	CLEANUP(buf_release) struct buf fault = BUF_INIT;
	CLEANUP(base_close) int log = open_log(s, err);
	int ready[2], rc;
	pid_t pid;

	if (log < 0)
		return -1;
	if (pipe2(ready, O_CLOEXEC) < 0)
		return error_errno(err, "cannot start '%.200s'", s->id);
	pid = fork();
	if (pid == 0) {
		(void)setsid();
		if (fork() == 0)
			guard(s, lock, log, ready[1]);
		_exit(0);
	}
	close(ready[1]);
	rc = pid < 0 ? error_errno(err, "cannot start '%.200s'", s->id)
		     : sys_read_all(&fault, ready[0], sizeof(err->text), "pipe of the guard", err);
	if (rc == 0 && fault.len)
		rc = error_set(err, ERR_SYSTEM, "%s", fault.s);
	close(ready[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return rc;
}

/* ---- waiting for the guard ---- */

enum {
	END_MS = 30000,     /* for a guard to end its script */
	CONTINUE_MS = 1000, /* after the time limit, and from then on */
};

/* One call of script_run(). */
struct script_caller {
	const char *policy; /* requested by the caller; NULL: none */
	const char *const *env;
	int lock;    /* the script's lock file, open; -1: not yet */
	bool waited; /* a guard was running: if it ended without a result, none is started again */
	/* Signals are read from a descriptor while we wait, so that none is missed. */
	sigset_t before;
	int signals;
	int caught;    /* the first one; 0: none */
	int64_t until; /* -1: to the end */
};

enum seen { SEEN_END, SEEN_LATE, SEEN_SIGNAL };

static void caller_begin(
	struct script_caller *w, const char *policy, const char *const *env, int wait_s)
{
	sigset_t set;

	*w = (struct script_caller){.policy = policy,
		.env = env,
		.lock = -1,
		.until = wait_s < 0 ? -1 : clock_ticks() + (int64_t)wait_s * 1000};
	sigemptyset(&set);
	for (size_t i = 0; i < COUNT(ending); i++) {
		struct sigaction now;

		if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(&set, ending[i]);
	}
	(void)sigprocmask(SIG_BLOCK, &set, &w->before);
	w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* A caught signal now takes its usual effect: by default it ends the process. */
static void caller_end(struct script_caller *w)
{
	base_close(&w->lock);
	base_close(&w->signals);
	(void)sigprocmask(SIG_SETMASK, &w->before, NULL);
	if (w->caught)
		(void)raise(w->caught);
}

/* As /proc has it; 'Z' if the guard has ended. */
static char script_state_of(const struct process_info *g)
{
	struct process_info now;

	return process_info(g->pid, &now) && now.start == g->start ? now.state : 'Z';
}

static int script_wait_ms(int64_t until)
{
	int64_t left = until - clock_ticks();

	return left < 0 ? 0 : left > 60000 ? 60000 : (int)left;
}

/* Until the guard with this pidfd ends, a signal comes or the time is over. A stopped guard
 * (SIGSTOP) keeps no time limit: from `wake` on it is continued. */
static enum seen watch_guard(
	struct script_caller *w, const struct process_info *g, int handle, int64_t wake)
{
	struct pollfd fds[] = {
		{.fd = handle, .events = POLLIN},
		{.fd = w->caught ? -1 : w->signals, .events = POLLIN},
	};
	struct signalfd_siginfo info;

	for (;;) {
		(void)poll(fds, COUNT(fds),
			script_wait_ms(w->until >= 0 && w->until < wake ? w->until : wake));
		if (fds[0].revents)
			return SEEN_END;
		if (fds[1].revents && read(w->signals, &info, sizeof(info)) == sizeof(info)) {
			w->caught = (int)info.ssi_signo;
			return SEEN_SIGNAL;
		}
		if (w->until >= 0 && clock_ticks() >= w->until)
			return SEEN_LATE;
		if (clock_ticks() >= wake && script_state_of(g) == 'T')
			(void)kill(g->pid, SIGCONT);
		if (clock_ticks() >= wake)
			wake = clock_ticks() + CONTINUE_MS;
	}
}

/* Ends the script before the caller ends. A stopped guard must be continued to see the signal. */
static void end_guard(const struct script_action *s, struct script_caller *w,
	const struct process_info *g, int handle)
{
	if (script_state_of(g) != 'Z') {
		(void)kill(g->pid, SIGTERM);
		(void)kill(g->pid, SIGCONT);
	}
	w->until = clock_ticks() + END_MS;
	if (watch_guard(w, g, handle, w->until) != SEEN_END)
		kill_leftovers(s);
}

/* 1: the guard has ended, or has not signed yet: look again. 0: it runs for longer than we wait. */
static int wait_for_guard(const struct script_action *s, struct script_caller *w, struct error *err)
{
	CLEANUP(report_release) struct guard_report report = {0};
	CLEANUP(base_close) int handle = -1;
	enum seen seen;

	report_read(w->lock, &report);
	if (report.guard.pid > 1)
		handle = (int)syscall(SYS_pidfd_open, report.guard.pid, 0);
	if (handle < 0 || script_state_of(&report.guard) == 'Z') {
		clock_pause(BRIEFLY_MS);
		return w->until < 0 || clock_ticks() < w->until;
	}
	/* a later caller waits longer */
	seen = watch_guard(w, &report.guard, handle,
		clock_ticks() + (int64_t)s->timeout_s * 1000 + CONTINUE_MS);
	if (seen == SEEN_SIGNAL) {
		end_guard(s, w, &report.guard, handle);
		return error_set(
			err, ERR_SYSTEM, "'%.200s' was ended by signal %d", s->id, w->caught);
	}
	w->waited = true;
	return seen == SEEN_END;
}

/* The guard was killed or could not record: ends whatever the script left running. */
static int no_result(
	const struct script_action *s, const struct guard_report *report, struct error *err)
{
	kill_leftovers(s);
	if (report->result)
		return error_set(err, report->code,
			"the result of '%.200s' is kept, and the same command records it: %.511s",
			s->id, report->reason);
	return error_set(err, ERR_SYSTEM, "no result of '%.200s' was recorded%s%.511s (log: %s)",
		s->id, *report->reason ? ": " : "", report->reason, s->log);
}

static int start_guard(struct script_action *s, struct script_caller *w, struct error *err)
{
	/* a copy of our descriptor would hold the lock too */
	CLEANUP(base_close) int own = open(s->lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	int locked = w->lock;

	if (own < 0)
		return error_errno(err, "cannot open lock file '%s'", s->lock);
	s->env = w->env;
	if (fork_guard(s, locked, err) < 0)
		return -1;
	w->lock = own;
	own = locked;
	w->waited = true;
	return 1;
}

/*
 * We hold the script's lock: records the result that an earlier guard has left, or starts a guard.
 * 1: it runs. 0: the action has an answer.
 * Loads the action under the document's lock: a take-over reads the script's lock and fences the
 * action under the document's lock too, so a script that is being fenced cannot be started.
 */
static int record_or_start(struct script_action *s, struct script_caller *w, struct error *err)
{
	CLEANUP(report_release) struct guard_report report = {0};
	int rc;

	report_read(w->lock, &report);
	rc = script_load(s->arena, s->document, s->id, w->policy, !w->waited, s, err);
	s->kept = report.result && rc < 0;
	if (rc < 0 || s->answer)
		return rc;
	if (report.result && !(w->waited && *report.reason))
		return script_record_result(s, report.result, err) < 0
			       ? -1
			       : script_load(
					 s->arena, s->document, s->id, w->policy, false, s, err);
	s->kept = report.result != NULL;
	if (w->waited)
		return no_result(s, &report, err);
	if (report.guard.pid) /* it was killed */
		kill_leftovers(s);
	else if (signal_script(s, 0))
		return error_set(err, ERR_STATE,
			"the script of '%.200s' is running, but its lock file was removed: try "
			"again when it has ended",
			s->id);
	return start_guard(s, w, err);
}

/* 1: locked; the file has its name, unless it is that of the guard that we waited for. 0: a guard
 * holds the lock. */
static int open_and_lock(const char *path, struct script_caller *w, struct error *err)
{
	int got;

	for (;;) {
		if (w->lock < 0)
			w->lock = open(path, O_RDWR | NEW_FILE, path_new_mode(path, 0600));
		if (w->lock < 0)
			return error_errno(err, "cannot open lock file '%s'", path);
		got = lock_take(w->lock, path, err);
		if (got <= 0 || w->waited || script_is_named(w->lock, path))
			return got;
		close(w->lock);
		w->lock = -1;
	}
}

/*
 * 1: look again; 0: *line is set. The answer counts only once the lock is ours: the guard records
 * it before it removes its file, and nothing of the run is left when the caller returns.
 */
static int start_or_wait(
	struct script_action *s, struct script_caller *w, char **line, struct error *err)
{
	const char *path = s->lock;
	int rc = open_and_lock(path, w, err);

	if (rc < 0)
		return -1;
	if (rc == 0) {
		rc = wait_for_guard(s, w, err);
		*line = s->answer ? s->answer : arena_printf(s->arena, "running — log: %s", s->log);
		return rc;
	}
	rc = record_or_start(s, w, err);
	if (rc <= 0 && !s->kept)
		lock_remove(w->lock, path);
	*line = s->answer;
	return rc;
}

int script_run(struct arena *a, const char *context_file, const char *action, const char *policy,
	const char *const *env, int wait_s, char **line, struct error *err)
{
	struct script_action s;
	struct script_caller w;
	int rc;

	if (script_load(a, context_file, action, policy, false, &s, err) < 0)
		return -1;
	*line = s.answer;
	if (s.answer && access(s.lock, F_OK) < 0)
		return 0;
	caller_begin(&w, policy, env, wait_s);
	while ((rc = start_or_wait(&s, &w, line, err)) == 1)
		;
	caller_end(&w);
	return rc;
}

/* ---- who may run it ---- */

struct caller {
	const char *action, *owner;
};

/* A context_change. */
static int local_script_admit(struct context_file *f, void *data, struct error *err)
{
	const struct caller *c = data;
	struct error ignored;

	(void)context_op(f, "exec");
	if (lease_admit(f, context_get(&f->doc, "work_item_id").p, c->owner, err) == 0)
		return context_log(f, err);
	if (err->code == ERR_STATE) {
		json_put_texts(
			context_event(f, "refusal"), "action", c->action, "reason", err->text);
		(void)context_log(f, &ignored);
	}
	return -1;
}

int script_admit(const char *context_file, const char *action, const char *owner, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct caller caller = {action, owner};

	if (lease_check_owner(owner, err) < 0 ||
		context_open(&f, context_file, CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	return context_update(&f, local_script_admit, &caller, err);
}
