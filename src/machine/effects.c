/*
 * effects.c: what steps need from outside: the user's repository, git and gh, and how the engine
 * carries out each effect and notes its outcome.
 */
#include <errno.h>
#include "src/machine/script.h"
#include "src/machine/verdict.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
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
		return err->code == ERR_SYSTEM && (access(file, R_OK) == 0 || errno == EIO) ? -1
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

static int commit_remaining(const char *repo, const char *id, bool *done, struct error *err)
{
	char branch[160], message[200];

	(void)snprintf(branch, sizeof(branch), "dev-team/%s", id);
	(void)snprintf(
		message, sizeof(message), "%s: commit remaining changes after validation", id);
	return git_commit_all(repo, branch, message, done, err);
}

static int push(const char *repo, const char *id, bool *done, struct error *err)
{
	bool skipped;

	(void)id;
	if (git_push(repo, &skipped, err) < 0)
		return -1;
	*done = !skipped;
	return 0;
}

static int carry_out_here(
	void *data, const struct effect_kind *kind, const char *id, bool *done, struct error *err)
{
	const char *const *repo = data;

	return kind->carry_out(*repo, id, done, err);
}

static int read_checks(
	void *data, struct arena *a, const char *pr_url, char **text, struct error *err)
{
	const char *const *repo = data;

	return git_failing_checks(a, *repo, pr_url, text, err);
}

static bool still_running(void *data, const struct context_file *f, const char *id)
{
	(void)data;
	return script_running(f, id);
}

const struct environment environment_local = {.find_specs = search_specs,
	.carry_out = carry_out_here,
	.failing_checks = read_checks,
	.still_running = still_running,
	.discard = script_discard};

/* ---- effects ---- */

static void note_effect(struct engine_run *r, const char *effect)
{
	json_put_texts(context_event(r->e->file, "effect"), "effect", effect);
}

static int several_specs(struct engine_run *r, char *const *paths, size_t n, struct error *err)
{
	CLEANUP(buf_release) struct buf list = BUF_INIT;

	for (size_t i = 0; i < n; i++)
		buf_addf(&list, "%s%s", i ? ", " : "", paths[i]);
	return error_set(err, ERR_INPUT,
		"%zu files name '%s': %s; say which with 'dev-team context set FILE spec_path'", n,
		r->e->id, list.s);
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

static int find_spec(struct engine_run *r, struct error *err)
{
	const struct environment *env = r->e->environment;
	char **paths;
	size_t n;

	if (context_get(r->doc, "spec_path").n)
		return 0;
	if (env->find_specs(env->data, &r->arena, r->e->id, &paths, &n, err) < 0)
		return -1;
	note_specs(r, paths, n);
	if (n == 0)
		return error_set(err, ERR_INPUT,
			"no file '_spec_*.md' in '%s' names '%s': write the id into the spec, or "
			"set 'spec_path'",
			r->e->repo, r->e->id);
	if (n > 1)
		return several_specs(r, paths, n, err);
	if (str_utf8_fault(str_of(paths[0])))
		return error_set(
			err, ERR_INPUT, "the name of the spec of '%s' is not UTF-8", r->e->id);
	if (paths[0][strcspn(paths[0], "\n\r\t\033")])
		return error_set(err, ERR_INPUT,
			"the name of the spec of '%s' has a control character", r->e->id);
	context_set(r->doc, "spec_path", str_of(paths[0]));
	return 0;
}

/* In the order in which they are carried out. */
static const struct effect_kind kinds[] = {
	{EFFECT_COMMIT, "commit", "git commit", NULL, NULL, commit_remaining},
	{EFFECT_PUSH, "push", "git push", "push skipped",
		"no remote 'origin', or nothing new for it: nothing is pushed", push},
};

/* A later effect failed, so the step is not saved. These exist all the same, and the next call will
 * find nothing to do for them. */
static void keep_effect_events(struct engine_run *r)
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

static int carry_out(struct engine_run *r, const struct effect_kind *kind, struct error *err)
{
	const struct environment *env = r->e->environment;
	bool done;

	context_note(r->e->file, kind->waiting);
	if (env->carry_out(env->data, kind, r->e->id, &done, err) < 0) {
		keep_effect_events(r);
		return -1;
	}
	done = done || (r->earlier & kind->effect);
	r->earlier &= ~(unsigned)kind->effect;
	context_seen(r->e->file, kind->name, json_string(done ? STR("yes") : STR("no")));
	if (done) {
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

/*
 * Adds to Last Failure, which already has what the reviewers found. If the checks cannot be read
 * the run continues: the developer has the reviewers' notes.
 */
static int failing_checks(struct engine_run *r, struct error *err)
{
	const struct environment *env = r->e->environment;
	struct str url = context_get(r->doc, "pr_url"), old;
	char *text;

	if (!url.n)
		return 0;
	context_note(r->e->file, "gh pr checks");
	if (env->failing_checks(env->data, &r->arena, url.p, &text, err) < 0) {
		engine_say(r, arena_printf(&r->arena, "cannot read the checks of '%s': %s", url.p,
				      err->text));
		context_seen(r->e->file, "checks", NULL);
		note_effect(r, "checks not asked");
		*err = (struct error){0};
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

int engine_carry_out(struct engine_run *r, unsigned effects, struct error *err)
{
	if ((effects & EFFECT_FIND_SPEC) && find_spec(r, err) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(kinds); i++)
		if ((effects & kinds[i].effect) && carry_out(r, &kinds[i], err) < 0)
			return -1;
	if ((effects & EFFECT_PR_CHECKS) && failing_checks(r, err) < 0)
		return -1;
	return 0;
}
