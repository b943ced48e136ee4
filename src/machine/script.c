#include <fcntl.h>
#include "src/machine/actions.h"
#include "src/machine/past.h"
#include "src/machine/run_script.h"
#include "src/machine/script.h"

enum { TIMEOUT_MAX = 7 * 86400, TIMEOUT_DEFAULT = 1800 };

/* `.ADR-7.validating-1.exec` of `ADR-7/validating/1`. People edit the document: nothing climbs. */
static char *lock_name(struct arena *a, const struct context_file *f, const char *id)
{
	const char *slash = strchr(id, '/');
	char *part = arena_dup(a, str_of(slash ? slash + 1 : id));

	for (char *p = part; *p; p++)
		if (!(*p >= '0' && *p <= '9') && !((*p | 32) >= 'a' && (*p | 32) <= 'z') &&
			*p != '_')
			*p = '-';
	return arena_printf(a, "%s/.%s.%s.exec", f->dir, f->name, part);
}

bool script_running(const struct context_file *f, const char *id)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(close_fd) int fd = open(lock_name(&a, f, id), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fd >= 0 && fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

static const char *answer_of(struct arena *a, const struct context *c, const json *action)
{
	struct str rest = context_section(c, json_get_str(action, "write_section")), line;

	if (!action_answered(c, action))
		return NULL;
	if (!str_line(&rest, &line))
		line = action_word(c, action);
	return arena_dup(a, str_trim(line));
}

/* People edit the document, and the log is emptied first: no other file may be named as one. */
static int check_log(
	struct arena *a, const struct context_file *f, const struct script *s, struct error *err)
{
	const char *folder = arena_printf(a, "%s/logs/", f->dir);
	struct str log = str_of(s->log), name;

	name = str_starts(log, folder) ? str_sub(log, strlen(folder), log.n) : (struct str){0};
	if (!name.n || str_find(name, STR("/")) < name.n)
		return error_set(err, ERR_INPUT, "'log_file' of '%.200s' is not in '%s': '%.200s'",
			s->id, folder, s->log);
	return 0;
}

/* The reverse of buf_add_shell() on the word that `*rest` begins with; false: it begins with none.
 */
static bool cut_quoted(struct arena *a, struct str *rest, const char **out)
{
	CLEANUP(buf_release) struct buf word = BUF_INIT;
	struct str s = *rest;

	if (!str_starts(s, "'"))
		return false;
	for (s = str_sub(s, 1, s.n); s.n; s = str_sub(s, 1, s.n)) {
		if (s.p[0] != '\'') {
			buf_addc(&word, s.p[0]);
		} else if (str_starts(s, "'\\''")) {
			buf_addc(&word, '\'');
			s = str_sub(s, 3, s.n);
		} else {
			*rest = str_sub(s, 1, s.n);
			*out = arena_dup(a, buf_str(&word));
			return true;
		}
	}
	return false;
}

/* `cd FOLDER || exit 125; REST` of a step in its parts; what has another form runs here. */
static void split_command(struct arena *a, struct script *s)
{
	static const char go[] = " || exit 125; ";
	struct str rest = str_of(s->command);

	s->folder = ".";
	s->inner = s->command;
	if (!str_starts(rest, "cd "))
		return;
	rest = str_sub(rest, 3, rest.n);
	if (cut_quoted(a, &rest, &s->folder) && str_starts(rest, go))
		s->inner = arena_dup(a, str_sub(rest, sizeof(go) - 1, rest.n));
	else
		s->folder = ".";
}

static int fill_policy(struct arena *a, const json *action, const char *wished, struct script *s,
	struct error *err)
{
	const json *security = json_get(action, "security");

	if (security) {
		s->policy = arena_dup(a, str_of(json_get_str(security, "policy")));
		s->folder = arena_dup(a, str_of(json_get_str(security, "folder")));
		s->inner = arena_dup(a, str_of(json_get_str(security, "script")));
		if (json_get(security, "violation"))
			s->violation = arena_dup(a, str_of(json_get_str(security, "violation")));
	}
	if (!wished || (s->policy && strcmp(s->policy, wished) == 0))
		return 0;
	if (s->policy)
		return error_set(err, ERR_STATE, "'%.200s' runs under the policy '%.200s'", s->id,
			s->policy);
	s->policy = wished;
	split_command(a, s);
	return 0;
}

static int fill(struct arena *a, const struct context_file *f, const json *action,
	const char *policy, struct script *s, struct error *err)
{
	int64_t timeout = json_get_int(action, "timeout_s", TIMEOUT_DEFAULT);

	if (strcmp(json_get_str(action, "action"), "run_script") != 0)
		return error_set(err, ERR_INPUT, "action '%.200s' is not a run_script but a %s",
			s->id, json_get_str(action, "action"));
	s->document = arena_dup(a, str_of(f->path));
	s->command = arena_dup(a, str_of(json_get_str(action, "command")));
	s->log = arena_dup(a, str_of(json_get_str(action, "log_file")));
	s->timeout_s = (unsigned)(timeout > TIMEOUT_MAX ? TIMEOUT_MAX : timeout);
	s->lock = lock_name(a, f, s->id);
	s->answer = answer_of(a, &f->doc, action);
	return check_log(a, f, s, err) < 0 ? -1 : fill_policy(a, action, policy, s, err);
}

int script_load(struct arena *a, const char *document, const char *id, const char *policy,
	bool alone, struct script *s, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *array = NULL;
	const json *action;

	*s = (struct script){.id = id};
	if (context_open(&f, document, alone ? CONTEXT_MUST_EXIST : CONTEXT_READ_ONLY, err) < 0 ||
		actions_load(&f.doc, &array, err) < 0)
		return -1;
	action = actions_find(array, id);
	if (!action)
		return past_refuse(&f, id, err);
	return fill(a, &f, action, policy, s, err);
}
