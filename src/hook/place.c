/*
 * place.c: recognises calls in the worktree of a work item. The client's shell starts in the user's
 * checkout, so an agent's command begins with `cd WORKTREE && `.
 */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include "context/lease.h"
#include "src/hook/loop.h"
#include "src/machine/action.h"
#include "src/machine/place.h"
#include "src/run/databases.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

/* The client may resolve `..` before links, or after them. */
static bool goes_up(const char *path)
{
	struct str rest = str_of(path);

	while (rest.n) {
		size_t end = str_find(rest, STR("/"));

		if (str_is(str_sub(rest, 0, end), ".."))
			return true;
		rest = str_sub(rest, end < rest.n ? end + 1 : end, rest.n);
	}
	return false;
}

/* A path that does not exist yet is resolved from the nearest directory that does. NULL: a link
 * leads to a file that does not exist, or the path goes up. */
static const char *real_directory(struct arena *a, const char *path)
{
	char real[PATH_MAX];
	struct stat st;

	if (goes_up(path))
		return NULL;
	while (!realpath(path, real)) {
		if (errno != ENOENT || strcmp(path, "/") == 0 || lstat(path, &st) == 0)
			return NULL;
		path = arena_dup(a, path_dir(path));
	}
	return arena_dup(a, str_of(real));
}

/* The linked worktree around a real path; NULL: none, or the main worktree. */
static const char *worktree_around(struct arena *a, const char *path)
{
	struct stat st;

	while (lstat(path_join(a, path, ".git"), &st) < 0) {
		if (strcmp(path, "/") == 0)
			return NULL;
		path = arena_dup(a, path_dir(path));
	}
	return S_ISREG(st.st_mode) ? path : NULL;
}

/* By its own name, or by that from before /clear. */
static bool hook_place_is_held(struct arena *a, const struct lease_holder *h, const char *session)
{
	struct hook_items items;
	struct error ignored;

	if (lease_held_by(h, session))
		return true;
	if (hook_session_items(a, session, &items, &ignored) < 0)
		return false;
	for (size_t i = 0; i < items.n; i++)
		if (lease_held_by(h, items.items[i].owner))
			return true;
	return false;
}

static bool opens_as_owner(
	struct arena *a, struct context_file *f, const char *document, const char *session)
{
	struct lease_holder h;
	struct error ignored;

	return context_open(f, document, CONTEXT_READ_ONLY, &ignored) == 0 &&
	       lease_read(f, &h, &ignored) == 0 && h.live && hook_place_is_held(a, &h, session);
}

/* Whether the session owns the item, and the item's own worktree is this one. */
static bool is_place_of(
	struct arena *a, const char *document, const char *session, const char *root)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct item_place place;
	struct error ignored;

	return opens_as_owner(a, &f, document, session) &&
	       place_load(a, &f, &place, &ignored) == 0 && place.directory && !place.in_place &&
	       strcmp(place.directory, root) == 0;
}

/* The document of the log DIRECTORY/logs/ID-REST is DIRECTORY/ID.md. ID and REST may contain
 * dashes, so each dash is tried. */
bool hook_is_log_of(struct arena *a, const char *session, const char *path)
{
	char real[PATH_MAX], folder[PATH_MAX], *state;
	struct error ignored;
	struct str name;
	bool found = false;

	if (context_state_directory(a, &state, &ignored) < 0 || !realpath(state, folder) ||
		!realpath(path, real) || !str_starts(str_of(real), arena_printf(a, "%s/", folder)))
		return false;
	name = path_base(real);
	path = arena_dup(a, path_dir(real));
	if (!str_is(path_base(path), "logs"))
		return false;
	path = arena_dup(a, path_dir(path));
	for (size_t i = 1; i < name.n && !found; i++) {
		CLEANUP(context_close) struct context_file f = {0};
		const char *document = arena_printf(a, "%s/%.*s.md", path, (int)i, name.p);

		found = name.p[i] == '-' && path_exists(document) &&
			opens_as_owner(a, &f, document, session);
	}
	return found;
}

/* The document of the item whose worktree this is: that of branch dev-team/ID is named ID. */
static const char *hook_place_document_of(struct arena *a, const char *root)
{
	struct error ignored;
	char *slug, *document;

	return git_slug(a, root, &slug, &ignored) == 0 &&
			       context_path(a, slug, path_base(root).p, &document, &ignored) == 0
		       ? document
		       : NULL;
}

const char *hook_place_of(struct arena *a, const char *session, const char *path)
{
	const char *real = path[0] == '/' ? real_directory(a, path) : NULL;
	const char *root = real ? worktree_around(a, real) : NULL;
	const char *document = root && session ? hook_place_document_of(a, root) : NULL;

	return document && is_place_of(a, document, session, root) ? root : NULL;
}

/* ---- the stage of an agent ---- */

enum { LEASE_S = 120 }; /* between two commands of an agent */

/* The outstanding action that the agent carries out: as its prompt says, else one for an agent of
 * its type; those of one item for the same agent are of one stage. NULL: it has none. */
static const json *hook_place_action_of(
	struct arena *a, const json *call, const json *outstanding, const char *document)
{
	const char *agent = json_get_str(call, "agent_id"),
		   *type = json_get_str(call, "agent_type");
	struct hook_agent g;

	if (agent &&
		hook_agent_read_transcript(
			a, call, hook_transcript_path(a, call, str_of(agent)), 0, &g) &&
		strcmp(hook_loop_document(&g.loop, g.id), document) == 0)
		return action_find(outstanding, g.id);
	for (const json *i = json_first(outstanding); i; i = json_next(i))
		if (json_get_str(i, "agent") &&
			hook_agent_matches(a, type, json_get_str(i, "agent")))
			return i;
	return NULL;
}

static void hook_place_add_verb(
	struct buf *out, const char *self, const char *verb, const char *repo, const char *pool)
{
	buf_add_shell(out, str_of(self));
	buf_addf(out, " %s --repo ", verb);
	buf_add_shell(out, str_of(repo));
	if (!pool)
		return;
	buf_adds(out, " --pool ");
	buf_add_shell(out, str_of(pool));
}

int hook_place_stage(struct arena *a, const json *call, const char *place, const char *common,
	const char *self, struct buf *out, struct error *err)
{
	static const char *const words[] = {[DATABASE_NONE] = "none",
		[DATABASE_READ] = "read",
		[DATABASE_WRITE] = "write",
		[DATABASE_MIGRATE] = "write"};
	const char *document = hook_place_document_of(a, place), *repo = git_main_tree(a, common);
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *all = NULL;
	struct session_databases found;
	const json *action;

	if (!document || context_open(&f, document, CONTEXT_READ_ONLY, err) < 0 ||
		action_load(&f.doc, &all, err) < 0)
		return -1;
	action = hook_place_action_of(a, call, all, document);
	if (session_databases_find(a, repo, action ? json_get_str(action, "id") : "",
		    json_get_str(action, "agent"), &found, err) < 0)
		return -1;
	if (found.under_gate) {
		hook_place_add_verb(out, self, "gate run", repo, found.pool);
		buf_adds(out, " --who ");
		buf_add_shell(out, str_of(json_get_str(action, "id")));
		buf_addf(out, " --lease %d -- ", LEASE_S);
	}
	if (!found.databases)
		return 0;
	hook_place_add_verb(out, self, "db env", repo, found.pool);
	buf_addf(out, " --access %s --worktree ", words[found.access]);
	buf_add_shell(out, str_of(place));
	buf_adds(out, " -- ");
	return 0;
}

/* Whether the real path `path` is in the directory, or is it. */
static bool hook_place_is_in(const char *path, const char *directory)
{
	char real[PATH_MAX];
	size_t n;

	if (!directory || !realpath(directory, real))
		return false;
	n = strlen(real);
	return strncmp(path, real, n) == 0 && (path[n] == '/' || !path[n]);
}

bool hook_is_temporary(struct arena *a, const char *project, const char *path)
{
	const char *real = path[0] == '/' ? real_directory(a, path) : NULL;
	struct error ignored;
	struct stat st;
	char *state;

	return real && stat(real, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) &&
	       (hook_place_is_in(real, getenv("TMPDIR")) || hook_place_is_in(real, "/tmp")) &&
	       !hook_place_is_in(real, project) &&
	       context_state_directory(a, &state, &ignored) == 0 && !hook_place_is_in(real, state);
}

/* Takes the word at the start of *text: quoted, or without characters that need quotes. */
static const char *plain_word(struct arena *a, struct str *text)
{
	static const char bare[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@%:,=";
	bool quoted = text->n && (text->p[0] == '\'' || text->p[0] == '"');
	struct str rest = str_sub(*text, quoted ? 1 : 0, text->n), word;
	size_t n = 0;

	while (n < rest.n && (quoted ? rest.p[n] != text->p[0] && !strchr("$`\\\n", rest.p[n])
				     : strchr(bare, rest.p[n]) != NULL))
		n++;
	if (!n || (quoted && (n == rest.n || rest.p[n] != text->p[0])))
		return NULL;
	word = str_sub(rest, 0, n);
	*text = str_sub(rest, n + (quoted ? 1 : 0), rest.n);
	return arena_dup(a, word);
}

const char *hook_leading_cd(struct arena *a, struct str command, struct str *rest)
{
	static const char *const ends[] = {"&&", ";", "\n"};
	struct str text = str_trim(command);
	const char *directory;

	if (!str_starts(text, "cd "))
		return NULL;
	text = str_sub(text, strlen("cd "), text.n);
	directory = plain_word(a, &text);
	while (text.n && text.p[0] == ' ')
		text = str_sub(text, 1, text.n);
	for (size_t i = 0; directory && i < COUNT(ends); i++)
		if (str_starts(text, ends[i])) {
			*rest = str_trim(str_sub(text, strlen(ends[i]), text.n));
			return rest->n ? directory : NULL;
		}
	return NULL;
}
