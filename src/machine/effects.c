/* effects.c: how the engine carries out each effect and notes its outcome. */
#include "src/machine/engine_internal.h"

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
		"%zu files name '%s': %s; say which with 'echo PATH | dev-team context set %s "
		"spec_path'",
		n, id, list.s, id);
}

int environment_check_specs(
	const char *repo, const char *id, char *const *paths, size_t n, struct error *err)
{
	if (n == 0)
		return error_set(err, ERR_INPUT,
			"no file '_spec_*.md' in '%s' names '%s': write the id into the spec, or "
			"let 'dev-team new --id %s TITLE' write one",
			repo, id, id);
	if (n > 1)
		return several_specs(id, paths, n, err);
	if (str_utf8_fault(str_of(paths[0])))
		return error_set(err, ERR_INPUT, "the name of the spec of '%s' is not UTF-8", id);
	if (paths[0][strcspn(paths[0], "\n\r\t\033")])
		return error_set(
			err, ERR_INPUT, "the name of the spec of '%s' has a control character", id);
	return 0;
}

static int search_spec(struct engine_run *r, struct error *err)
{
	const struct environment *env = r->e->environment;
	const struct environment_input input = {.what = "specs", .text = r->e->id, .always = true};
	CLEANUP(json_free) json *specs = NULL;
	char *const *paths;
	size_t n;

	if (context_get(r->doc, "spec_path").n || context_get(r->doc, "parent").n)
		return 0;
	if (env->find_specs(env->data, &r->arena, &input, &specs, err) < 0)
		return -1;
	context_seen(r->e->file, input.what, json_copy(specs));
	paths = (char *const *)json_dup_texts(&r->arena, specs, &n);
	if (environment_check_specs(r->e->repo, r->e->id, paths, n, err) < 0)
		return -1;
	context_set(r->doc, "spec_path", str_of(paths[0]));
	return 0;
}

/* In the order in which they are carried out. */
static const struct effect_kind kinds[] = {
	{EFFECT_COMMIT, "commit", "git commit", NULL, NULL},
	{EFFECT_PUSH, "push", "git push", "push skipped",
		"no remote 'origin', or nothing new for it: nothing is pushed"},
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

/* Work has been done since, and the remote says the same: of the name of the branch, for example.
 */
static int declined_again(struct engine_run *r, struct error *err)
{
	const char *words = arena_dup(&r->arena, str_of(err->text));

	engine_keep_effect_events(r);
	return error_set(err, ERR_STATE,
		"'origin' declines the branch '%s' again, in the same words, and no other agent is "
		"asked to mend it: change that rule, or what it asks for, and run the same command "
		"again: %s",
		r->place.branch ? r->place.branch : "", words);
}

/* The agent must correct something: no failure of the effect. */
static int note_fault(struct engine_run *r, const struct effect_kind *kind, struct error *err)
{
	r->fault = arena_dup(&r->arena, str_of(err->text));
	if (kind->effect == EFFECT_PUSH)
		engine_evidence_unpushed(r);
	context_seen(r->e->file, kind->name, JSON_OBJECT(JSON_TEXT("fault", r->fault)));
	*err = (struct error){0};
	return 0;
}

static int effects_carry_out(
	struct engine_run *r, const struct effect_kind *kind, struct error *err)
{
	const struct environment *env = r->e->environment;
	struct item_place place;
	const struct environment_input input = {
		.what = kind->name, .text = r->e->id, .place = &place, .always = true};
	CLEANUP(json_free) json *answer = NULL;
	bool done;

	if (kind->effect == EFFECT_COMMIT && engine_load_marks(r, err) < 0)
		return -1;
	if (kind->effect == EFFECT_PUSH && engine_evidence_before_push(r, err) < 0)
		return -1;
	place = engine_place(r);
	context_note(r->e->file, kind->waiting);
	if (env->carry_out(env->data, &r->arena, &input, &answer, err) < 0) {
		if (err->code == ERR_CHECK && kind->effect == EFFECT_PUSH &&
			engine_evidence_declined(r, err->text))
			return declined_again(r, err);
		if (err->code == ERR_CHECK)
			return note_fault(r, kind, err);
		engine_keep_effect_events(r);
		return -1;
	}
	if (kind->effect == EFFECT_COMMIT)
		engine_forget_marks(r);
	done = str_is(str_of(json_text(answer)), "yes") || (r->earlier & kind->effect);
	r->earlier &= ~(unsigned)kind->effect;
	context_seen(r->e->file, kind->name, json_string(done ? STR("yes") : STR("no")));
	if (done) {
		if (kind->effect == EFFECT_PUSH)
			engine_evidence_pushed(r);
		else
			r->head = NULL; /* it has moved */
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

/* Comments and checks of a pull request help, but the run continues without them. NULL: they could
 * not be read. */
static const char *effects_read_forge(struct engine_run *r, const char *what)
{
	const struct environment *env = r->e->environment;
	struct str url = context_get(r->doc, "pr_url");
	const struct environment_input input = {.what = what, .text = url.p};
	CLEANUP(json_free) json *answer = NULL;
	struct error err;

	if (!url.n || !env->read_forge)
		return NULL;
	context_note(r->e->file, "the forge");
	if (env->read_forge(env->data, &r->arena, &input, &answer, &err) < 0) {
		engine_say(r, arena_printf(&r->arena, "cannot read the %s of '%s': %s", what, url.p,
				      err.text));
		context_seen(r->e->file, what, NULL);
		note_effect(r, arena_printf(&r->arena, "%s not read", what));
		return NULL;
	}
	if (!answer)
		return NULL;
	context_seen(r->e->file, what, json_copy(answer));
	return arena_dup(&r->arena, str_of(json_text(answer)));
}

/* Adds to Last Failure, which already has what the reviewers found. */
static void effects_failing_checks(struct engine_run *r)
{
	const char *text = effects_read_forge(r, "checks");
	struct str old = context_section(r->doc, CONTEXT_LAST_FAILURE);

	if (!text || !*text)
		return;
	text = arena_printf(
		&r->arena, "Failing checks of %s:\n\n%s", context_get(r->doc, "pr_url").p, text);
	if (str_find(old, str_of(text)) == old.n)
		context_put(r->doc, CONTEXT_LAST_FAILURE,
			str_of(arena_printf(
				&r->arena, "%s%s%s", old.p, old.n ? "\n\n---\n\n" : "", text)));
}

static void effects_open_comments(struct engine_run *r)
{
	const char *text = effects_read_forge(r, "comments");

	if (text && *text)
		context_put(r->doc, CONTEXT_COMMENTS, str_of(text));
	else if (text)
		context_remove(r->doc, CONTEXT_COMMENTS);
}

int engine_carry_out(struct engine_run *r, unsigned effects, struct error *err)
{
	if ((effects & EFFECT_FIND_SPEC) &&
		(search_spec(r, err) < 0 || engine_take_spec(r, err) < 0))
		return -1;
	for (size_t i = 0; i < COUNT(kinds); i++)
		if ((effects & kinds[i].effect) && effects_carry_out(r, &kinds[i], err) < 0)
			return -1;
	if (effects & EFFECT_PR_CHECKS)
		effects_failing_checks(r);
	if (effects & EFFECT_PR_COMMENTS)
		effects_open_comments(r);
	return 0;
}
