/*
 * enter.c: chooses or checks the place of the item, and records what is changed there before an
 * agent begins. The keys `marks` and `script` of the store: {"for": SECTION, "marks": [...]} and
 * {"path": PATH, "digest": ID}.
 */
#include "src/base/json.h"
#include "src/machine/engine_internal.h"

const char *engine_directory(const struct engine_run *r)
{
	return r->place.directory ? r->place.directory : r->e->repo;
}

struct item_place engine_place(const struct engine_run *r)
{
	const struct workflow *w = r->e->workflow;
	struct item_place place = r->place;

	place.directory = engine_directory(r);
	place.allow_secrets = w->allow_secrets;
	place.n_allow_secrets = w->n_allow_secrets;
	return place;
}

/* A state that requests nothing, such as the search for the spec, needs no place, so a mistyped id
 * leaves no worktree behind. */
static bool needs_place(const struct engine_run *r)
{
	const struct step *step = r->e->step_for(r->e->workflow, engine_state(r));

	return r->place.directory || !step || step->request;
}

int engine_enter_place(struct engine_run *r, struct error *err)
{
	const struct environment *env = r->e->environment;
	bool changed = false;

	if (!env->enter || r->entered || !needs_place(r))
		return 0;
	if (!r->place.directory)
		context_note(r->e->file, "git worktree");
	if (env->enter(env->data, &r->arena, r->e->id, &r->place, &changed, err) < 0)
		return -1;
	r->entered = true;
	if (!changed)
		return 0;
	context_seen(r->e->file, "place", place_to_json(&r->place));
	place_store(r->e->file, &r->place);
	return 0;
}

#define MARKS_KEY "marks"

static void store_marks(struct engine_run *r, const char *section)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	CLEANUP(json_free)
	json *j = JSON_OBJECT(
		JSON_TEXT("for", section), JSON_VALUE("marks", json_copy(r->place.marks)));

	json_print(&out, j);
	context_put_key(r->e->file, MARKS_KEY, buf_str(&out));
}

int engine_load_marks(struct engine_run *r, struct error *err)
{
	struct str value;

	if (context_get_key(r->e->file, MARKS_KEY, &value, err) < 0)
		return -1;
	json_free(&r->marks);
	if (value.n && json_parse(&r->marks, value, err) < 0)
		return error_prefix(err, "key '" MARKS_KEY "' of '%s'", r->e->file->path);
	r->place.marks = json_get(r->marks, "marks");
	return 0;
}

int engine_mark_changes(struct engine_run *r, const char *section, struct error *err)
{
	const struct environment *env = r->e->environment;
	CLEANUP(json_free) json *found = NULL;

	if (!r->place.directory || !env->marks)
		return 0;
	if (engine_load_marks(r, err) < 0)
		return -1;
	if (json_str_is(r->marks, "for", section)) /* an earlier request has no answer yet */
		return 0;
	if (env->marks(env->data, &r->arena, &r->place, &found, err) < 0)
		return -1;
	if (json_len(found))
		context_seen(r->e->file, "marks", json_copy(found));
	r->place.marks = found;
	store_marks(r, section);
	r->place.marks = NULL;
	return 0;
}

void engine_forget_marks(struct engine_run *r)
{
	if (r->marks)
		context_put_key(r->e->file, MARKS_KEY, (struct str){0});
}

#define SCRIPT_KEY "script"

int engine_take_script(struct engine_run *r, struct error *err)
{
	const struct environment *env = r->e->environment;
	const struct workflow *w = r->e->workflow;
	CLEANUP(json_free) json *taken = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str last;

	if (!r->place.directory || !env->take_script ||
		!(workflow_state(w, "validating") || workflow_state(w, "signoff")))
		return 0;
	if (env->take_script(env->data, &r->arena, &r->place,
		    w->validate ? w->validate : WORKFLOW_VALIDATE, &taken, err) < 0 ||
		context_get_key(r->e->file, SCRIPT_KEY, &last, err) < 0)
		return -1;
	if (!taken)
		return 0;
	json_print(&text, taken);
	if (str_eq(buf_str(&text), last))
		return 0;
	context_seen(r->e->file, "script", json_copy(taken));
	context_put_key(r->e->file, SCRIPT_KEY, buf_str(&text));
	(void)JSON_ADD(context_event(r->e->file, "effect"), JSON_TEXT("effect", "script"),
		JSON_TEXT("path", json_get_str(taken, "path")),
		JSON_TEXT("digest", json_get_str(taken, "digest")));
	return 0;
}
