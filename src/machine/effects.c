/*
 * effects.c: what steps need from outside: the user's repository, git and gh, and how the engine
 * carries out each effect and notes its outcome.
 */
#include <errno.h>
#include <limits.h>
#include "src/machine/script.h"
#include "src/machine/verdict.h"
#include "src/sys/digest.h"
#include "src/sys/forge.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/machine/engine_internal.h"

/* ---- the environment of a user ---- */

/* A dot joins only if something follows it: `ADR-1.2` is another id, `ADR-1.` ends a sentence. */
static bool ends_word(struct str t, size_t end)
{
	if (end < t.n && t.p[end] == '.')
		return !verdict_word_byte(t, end + 1);
	return !verdict_word_byte(t, end);
}

static bool begins_word(struct str t, size_t at)
{
	if (at && t.p[at - 1] == '.')
		return at < 2 || !verdict_word_byte(t, at - 2);
	return at == 0 || !verdict_word_byte(t, at - 1);
}

bool environment_text_names(struct str text, struct str id)
{
	size_t at = 0;

	while ((at += str_find(str_sub(text, at, text.n), id)) < text.n) {
		if (begins_word(text, at) && ends_word(text, at + id.n))
			return true;
		at++;
	}
	return false;
}

bool environment_is_spec(struct str name)
{
	return str_starts(name, "_spec_") && str_ends(name, ".md") && name.n > strlen("_spec_.md");
}

bool environment_spec_matches(struct str name, struct str id)
{
	return environment_is_spec(name) &&
	       environment_text_names(str_sub(name, strlen("_spec_"), name.n - strlen(".md")), id);
}

#define SPEC_MAX ((size_t)4 << 20) /* a larger file is not a spec that a person wrote */

/* A file that we may not read is ignored: it may belong to another user. A faulty disk is not. */
static int spec_file_names(
	const char *root, const char *path, struct str id, bool *names, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(arena_release) struct arena a = {0};
	const char *file = path_join(&a, root, path);

	*names = environment_spec_matches(path_base(path), id);
	if (*names)
		return 0;
	if (sys_read_file(&text, file, SPEC_MAX, NULL, err) < 0)
		return err->code == ERR_SYSTEM && (access(file, R_OK) == 0 || path_is_fault(errno))
			       ? -1
			       : 0;
	*names = environment_text_names(buf_str(&text), id);
	return 0;
}

static int search_specs(
	void *data, struct arena *a, const char *id, char ***paths, size_t *n, struct error *err)
{
	const char *const *repo = data;
	size_t all, found = 0;

	if (git_find_files(a, *repo, environment_is_spec, paths, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all; i++) {
		bool names;

		if (spec_file_names(*repo, (*paths)[i], str_of(id), &names, err) < 0)
			return -1;
		if (names)
			(*paths)[found++] = (*paths)[i];
	}
	*n = found;
	return 0;
}

/* A path that somebody has set must not lead out of the repository. */
static int read_input(void *data, struct arena *a, const char *what, const char *path, char **text,
	const char **digest, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *const *repo = data;
	char real[PATH_MAX], sum[DIGEST_TEXT];
	bool missing;

	*text = NULL;
	if (!realpath(path_join(a, *repo, path), real))
		return path_is_fault(errno)
			       ? error_errno(err, "cannot read the %s '%s'", what, path)
			       : 0;
	if (!str_starts(str_of(real), arena_printf(a, "%s/", *repo)))
		return 0;
	if (sys_read_file(&out, real, SPEC_MAX, &missing, err) < 0)
		return missing ? 0 : -1;
	if (str_utf8_fault(buf_str(&out)))
		return error_set(err, ERR_INPUT, "the %s '%s' is not UTF-8", what, path);
	digest_text(buf_str(&out), sum);
	*digest = arena_dup(a, str_of(sum));
	*text = arena_dup(a, buf_str(&out));
	return 0;
}

static int commit_leftovers(
	const struct item_place *place, const char *id, bool *done, struct error *err)
{
	return place_commit_leftovers(place, id, place->marks, done, err);
}

static int read_marks(void *data, struct arena *a, const struct item_place *place, json **marks,
	struct error *err)
{
	(void)data;
	return place_marks(a, place, marks, err);
}

static int take_script(void *data, struct arena *a, const struct item_place *place,
	const char *command, json **copied, struct error *err)
{
	const char *const *repo = data;

	return place_copy_script(a, *repo, place, command, copied, err);
}

static int push(const struct item_place *place, const char *id, bool *done, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *fault;
	bool skipped;

	(void)id;
	if (place_check_commits(&a, place, &fault, err) < 0)
		return -1;
	if (fault)
		return error_set(err, ERR_CHECK, "%s", fault);
	if (git_push(place->directory, place->in_place ? NULL : place->pushed, &skipped, err) < 0)
		return -1;
	*done = !skipped;
	return 0;
}

static int carry_out_here(void *data, const struct effect_kind *kind,
	const struct item_place *place, const char *id, bool *done, struct error *err)
{
	(void)data;
	return kind->carry_out(place, id, done, err);
}

static int read_checks(
	void *data, struct arena *a, const char *pr_url, char **text, struct error *err)
{
	const char *const *repo = data;
	struct forge_checks checks;

	if (forge_checks(a, *repo, pr_url, &checks, err) < 0)
		return -1;
	*text = checks.failed;
	return 0;
}

static int read_comments(
	void *data, struct arena *a, const char *pr_url, char **text, struct error *err)
{
	const char *const *repo = data;

	return forge_open_comments(a, *repo, pr_url, text, err);
}

static int collect(void *data, struct arena *a, const struct evidence_query *q,
	struct evidence *out, struct error *err)
{
	(void)data;
	return evidence_collect(a, q, out, err);
}

static bool still_running(void *data, const struct context_file *f, const char *id)
{
	(void)data;
	return script_running(f, id);
}

static const char *own_client(void *data, struct arena *a)
{
	(void)data;
	return process_client_name(a);
}

static bool client_ended(void *data, struct arena *a, const char *client)
{
	(void)data;
	return process_name_ended(a, client);
}

const struct environment environment_local = {.find_specs = search_specs,
	.read_input = read_input,
	.marks = read_marks,
	.take_script = take_script,
	.carry_out = carry_out_here,
	.failing_checks = read_checks,
	.open_comments = read_comments,
	.evidence = collect,
	.still_running = still_running,
	.client = own_client,
	.client_ended = client_ended,
	.discard = script_discard};

/* ---- effects ---- */

static void note_effect(struct engine_run *r, const char *effect)
{
	json_put_texts(context_event(r->e->file, "effect"), "effect", effect);
}

static int several_specs(const char *id, char *const *paths, size_t n, struct error *err)
{
	CLEANUP(buf_release) struct buf list = BUF_INIT;

	for (size_t i = 0; i < n; i++)
		buf_addf(&list, "%s%s", i ? ", " : "", paths[i]);
	return error_set(err, ERR_INPUT,
		"%zu files name '%s': %s; say which with 'dev-team context set FILE spec_path'", n,
		id, list.s);
}

int environment_check_specs(
	const char *repo, const char *id, char *const *paths, size_t n, struct error *err)
{
	if (n == 0)
		return error_set(err, ERR_INPUT,
			"no file '_spec_*.md' in '%s' names '%s': write the id into the spec, or "
			"set 'spec_path'",
			repo, id);
	if (n > 1)
		return several_specs(id, paths, n, err);
	if (str_utf8_fault(str_of(paths[0])))
		return error_set(err, ERR_INPUT, "the name of the spec of '%s' is not UTF-8", id);
	if (paths[0][strcspn(paths[0], "\n\r\t\033")])
		return error_set(
			err, ERR_INPUT, "the name of the spec of '%s' has a control character", id);
	return 0;
}

/* find_spec() refuses a name that is not UTF-8, and nothing is saved. */
static void note_specs(struct engine_run *r, char *const *paths, size_t n)
{
	json *list = json_array();

	for (size_t i = 0; i < n; i++)
		if (!str_utf8_fault(str_of(paths[i])))
			json_push_str(list, str_of(paths[i]));
	context_seen(r->e->file, "specs", list);
}

static int search_spec(struct engine_run *r, struct error *err)
{
	const struct environment *env = r->e->environment;
	char **paths;
	size_t n;

	if (context_get(r->doc, "spec_path").n)
		return 0;
	if (env->find_specs(env->data, &r->arena, r->e->id, &paths, &n, err) < 0)
		return -1;
	note_specs(r, paths, n);
	if (environment_check_specs(r->e->repo, r->e->id, paths, n, err) < 0)
		return -1;
	context_set(r->doc, "spec_path", str_of(paths[0]));
	return 0;
}

static int find_spec(struct engine_run *r, struct error *err)
{
	return search_spec(r, err) < 0 ? -1 : engine_take_spec(r, err);
}

/* In the order in which they are carried out. */
static const struct effect_kind kinds[] = {
	{EFFECT_COMMIT, "commit", "git commit", NULL, NULL, commit_leftovers},
	{EFFECT_PUSH, "push", "git push", "push skipped",
		"no remote 'origin', or nothing new for it: nothing is pushed", push},
};

/* What was carried out exists, and the next call will find nothing to do for it. */
void engine_keep_effect_events(struct engine_run *r)
{
	struct error ignored;

	if (!(r->done | r->earlier))
		return;
	context_forget(r->e->file);
	for (size_t i = 0; i < COUNT(kinds); i++)
		if ((r->done | r->earlier) & kinds[i].effect)
			note_effect(r, kinds[i].name);
	(void)context_log(r->e->file, &ignored);
}

/* The agent must correct something: no failure of the effect. */
static int note_fault(struct engine_run *r, const struct effect_kind *kind, struct error *err)
{
	r->fault = arena_dup(&r->arena, str_of(err->text));
	context_seen(r->e->file, kind->name, JSON_OBJECT(JSON_TEXT("fault", r->fault)));
	*err = (struct error){0};
	return 0;
}

static int carry_out(struct engine_run *r, const struct effect_kind *kind, struct error *err)
{
	const struct environment *env = r->e->environment;
	struct item_place place;
	bool done;

	if (kind->effect == EFFECT_COMMIT && engine_load_marks(r, err) < 0)
		return -1;
	if (kind->effect == EFFECT_PUSH && engine_evidence_before_push(r, err) < 0)
		return -1;
	place = engine_place(r);
	context_note(r->e->file, kind->waiting);
	if (env->carry_out(env->data, kind, &place, r->e->id, &done, err) < 0) {
		if (err->code == ERR_CHECK)
			return note_fault(r, kind, err);
		engine_keep_effect_events(r);
		return -1;
	}
	if (kind->effect == EFFECT_COMMIT)
		engine_forget_marks(r);
	done = done || (r->earlier & kind->effect);
	r->earlier &= ~(unsigned)kind->effect;
	context_seen(r->e->file, kind->name, json_string(done ? STR("yes") : STR("no")));
	if (done) {
		if (kind->effect == EFFECT_PUSH)
			engine_evidence_pushed(r);
		r->done |= kind->effect;
		note_effect(r, kind->name);
		return 0;
	}
	if (kind->skipped)
		note_effect(r, kind->skipped);
	if (kind->notice)
		engine_say(r, kind->notice);
	return 0;
}

/* Comments and checks of a pull request help, but the run continues without them. */
static void note_unread(
	struct engine_run *r, const char *what, const char *effect, struct error *err)
{
	engine_say(r, arena_printf(&r->arena, "cannot read the %s of '%s': %s", what,
			      context_get(r->doc, "pr_url").p, err->text));
	context_seen(r->e->file, what, NULL);
	note_effect(r, effect);
	*err = (struct error){0};
}

/* Adds to Last Failure, which already has what the reviewers found. */
static int failing_checks(struct engine_run *r, struct error *err)
{
	const struct environment *env = r->e->environment;
	struct str url = context_get(r->doc, "pr_url"), old;
	char *text;

	if (!url.n)
		return 0;
	context_note(r->e->file, "the forge");
	if (env->failing_checks(env->data, &r->arena, url.p, &text, err) < 0) {
		note_unread(r, "checks", "checks not read", err);
		return 0;
	}
	if (str_utf8_fault(str_of(text)))
		text = arena_dup(&r->arena, (struct str){0});
	context_seen(r->e->file, "checks", json_string(str_of(text)));
	if (!*text)
		return 0;
	old = context_section(r->doc, CONTEXT_LAST_FAILURE);
	text = arena_printf(&r->arena, "Failing checks of %s:\n\n%s", url.p, text);
	if (str_find(old, str_of(text)) < old.n)
		return 0;
	context_put(r->doc, CONTEXT_LAST_FAILURE,
		str_of(arena_printf(&r->arena, "%s%s%s", old.p, old.n ? "\n\n---\n\n" : "", text)));
	return 0;
}

static void open_comments(struct engine_run *r, struct error *err)
{
	const struct environment *env = r->e->environment;
	struct str url = context_get(r->doc, "pr_url");
	char *text = NULL;

	if (!url.n || !env->open_comments)
		return;
	context_note(r->e->file, "gh api");
	if (env->open_comments(env->data, &r->arena, url.p, &text, err) < 0) {
		note_unread(r, "comments", "comments not read", err);
		return;
	}
	if (!text)
		return;
	context_seen(r->e->file, "comments", json_string(str_of(text)));
	if (*text)
		context_put(r->doc, CONTEXT_COMMENTS, str_of(text));
	else
		context_remove(r->doc, CONTEXT_COMMENTS);
}

int engine_carry_out(struct engine_run *r, unsigned effects, struct error *err)
{
	if ((effects & EFFECT_FIND_SPEC) && find_spec(r, err) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(kinds); i++)
		if ((effects & kinds[i].effect) && carry_out(r, &kinds[i], err) < 0)
			return -1;
	if ((effects & EFFECT_PR_CHECKS) && failing_checks(r, err) < 0)
		return -1;
	if (effects & EFFECT_PR_COMMENTS)
		open_comments(r, err);
	return 0;
}
