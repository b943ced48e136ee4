#include "src/machine/engine_internal.h"

static void note_effect(struct engine_run *r, const char *effect)
{
	json *event = context_event(r->m->file, "effect");

	json_put_str(event, "effect", str_of(effect));
}

static int several_specs(struct engine_run *r, char *const *paths, size_t n, struct error *err)
{
	CLEANUP(buf_release) struct buf list = BUF_INIT;

	for (size_t i = 0; i < n; i++)
		buf_addf(&list, "%s%s", i ? ", " : "", paths[i]);
	return error_set(err, ERR_INPUT,
		"%zu files name '%s': %s; say which with 'dev-team context set FILE spec_path'", n,
		r->m->id, list.s);
}

static json *yes_or_no(bool yes)
{
	return json_string(yes ? STR("yes") : STR("no"));
}

/* find_spec() refuses a name that is not UTF-8, and nothing is saved. */
static void note_specs(struct engine_run *r, char *const *paths, size_t n)
{
	json *list = json_array();

	for (size_t i = 0; i < n; i++)
		if (!str_utf8_fault(str_of(paths[i])))
			json_push_str(list, str_of(paths[i]));
	context_seen(r->m->file, "specs", list);
}

static int find_spec(struct engine_run *r, struct error *err)
{
	const struct environment *e = r->m->environment;
	char **paths;
	size_t n;

	if (context_get(r->doc, "spec_path").n)
		return 0;
	if (e->find_specs(e->data, &r->arena, r->m->id, &paths, &n, err) < 0)
		return -1;
	note_specs(r, paths, n);
	if (n == 0)
		return error_set(err, ERR_INPUT,
			"no file '_spec_*.md' in '%s' names '%s': write the id into the spec, or "
			"set 'spec_path'",
			r->m->repo, r->m->id);
	if (n > 1)
		return several_specs(r, paths, n, err);
	if (str_utf8_fault(str_of(paths[0])))
		return error_set(
			err, ERR_INPUT, "the name of the spec of '%s' is not UTF-8", r->m->id);
	if (paths[0][strcspn(paths[0], "\n\r\t\033")])
		return error_set(err, ERR_INPUT,
			"the name of the spec of '%s' has a control character", r->m->id);
	context_set(r->doc, "spec_path", str_of(paths[0]));
	return 0;
}

/* In the order in which they are carried out. */
static const struct effect_kind kinds[] = {
	{EFFECT_COMMIT, "commit", "git commit", NULL, NULL},
	{EFFECT_PUSH, "push", "git push", "push skipped",
		"no remote 'origin', or nothing new for it: nothing is pushed"},
};

/* A later effect failed, so the step is not saved. These exist all the same, and the next call will
 * find nothing to do for them. */
static void keep_effect_events(struct engine_run *r)
{
	struct error ignored;

	if (!r->done)
		return;
	context_forget(r->m->file);
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (r->done & kinds[i].effect)
			note_effect(r, kinds[i].name);
	(void)context_log(r->m->file, &ignored);
}

static int carry_out(struct engine_run *r, const struct effect_kind *kind, struct error *err)
{
	const struct environment *e = r->m->environment;
	bool done;

	context_note(r->m->file, kind->waiting);
	if (e->carry_out(e->data, kind, r->m->id, &done, err) < 0) {
		keep_effect_events(r);
		return -1;
	}
	context_seen(r->m->file, kind->name, yes_or_no(done));
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
	const struct environment *e = r->m->environment;
	struct str url = context_get(r->doc, "pr_url"), old;
	char *text;

	if (!url.n)
		return 0;
	context_note(r->m->file, "gh pr checks");
	if (e->failing_checks(e->data, &r->arena, url.p, &text, err) < 0) {
		engine_say(r, arena_printf(&r->arena, "the checks of %s cannot be asked: %s", url.p,
				      err->text));
		context_seen(r->m->file, "checks", NULL);
		note_effect(r, "checks not asked");
		*err = (struct error){0};
		return 0;
	}
	if (str_utf8_fault(str_of(text)))
		text = arena_dup(&r->arena, (struct str){0});
	context_seen(r->m->file, "checks", json_string(str_of(text)));
	if (!*text)
		return 0;
	old = context_section(r->doc, "Last Failure");
	text = arena_printf(&r->arena, "Failing checks of %s:\n\n%s", url.p, text);
	if (str_find(old, str_of(text)) < old.n)
		return 0;
	context_put(r->doc, "Last Failure",
		str_of(arena_printf(&r->arena, "%s%s%s", old.p, old.n ? "\n\n---\n\n" : "", text)));
	return 0;
}

int effects_run(struct engine_run *r, unsigned effects, struct error *err)
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
