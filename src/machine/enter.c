/*
 * enter.c: chooses or checks the place of the item, and records what is changed there before an
 * agent begins and what is taken from the user's checkout. The keys of the store: `marks`,
 * {"for": SECTION, "marks": [...]}, and `script`, `spec` and `config`, {"path": PATH, "digest":
 * ID}.
 */
#include "src/base/json.h"
#include "src/machine/engine_internal.h"

struct item_place engine_place(const struct engine_run *r)
{
	const struct workflow *w = r->e->workflow;
	struct item_place place = r->place;

	place.directory = place.directory ? place.directory : r->e->repo;
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
	const struct environment_input input = {
		.what = "place", .text = r->e->id, .place = &r->place};
	const char *script = r->place.script;
	CLEANUP(json_free) json *place = NULL;

	if (!env->enter || r->entered || !needs_place(r))
		return 0;
	if (!r->place.directory)
		context_note(r->e->file, "git worktree");
	if (env->enter(env->data, &r->arena, &input, &place, err) < 0)
		return -1;
	r->entered = true;
	if (!place)
		return 0;
	context_seen(r->e->file, "place", json_copy(place));
	place_from_json(&r->arena, place, r->e->file->dir, &r->place);
	r->place.script = script;
	context_put_json(r->e->file, PLACE_KEY, place);
	return 0;
}

#define MARKS_KEY "marks"

static void store_marks(struct engine_run *r, const char *section)
{
	CLEANUP(json_free)
	json *j = JSON_OBJECT(
		JSON_TEXT("for", section), JSON_VALUE("marks", json_copy(r->place.marks)));

	context_put_json(r->e->file, MARKS_KEY, j);
}

int engine_load_marks(struct engine_run *r, struct error *err)
{
	if (context_get_json(r->e->file, MARKS_KEY, &r->marks, err) < 0)
		return -1;
	r->place.marks = json_get(r->marks, "marks");
	return 0;
}

int engine_mark_changes(struct engine_run *r, const char *section, struct error *err)
{
	const struct environment *env = r->e->environment;
	const struct environment_input input = {.what = "marks", .place = &r->place};
	const struct declared_state *declared = engine_declared(r);
	CLEANUP(json_free) json *found = NULL;

	if (!r->place.directory || !env->marks)
		return 0;
	if (engine_load_marks(r, err) < 0)
		return -1;
	/* An earlier request has no answer yet. What a person approves is there now. */
	if (json_str_is(r->marks, "for", section) && !(declared && declared->items->approve))
		return 0;
	if (env->marks(env->data, &r->arena, &input, &found, err) < 0)
		return -1;
	found = found ? found : json_array();
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

/* ---- what a dispatch takes from the user's checkout ---- */

enum { SPEC_SHOWN = 256 << 10 };

/* `what` names the key, the input in the journal and the effect; `seen` is the input. Returns 1 if
 * it was not taken before, or `again`; else 0, or -1. */
static int note_source(
	struct engine_run *r, const char *what, const json *seen, bool again, struct error *err)
{
	const char *path = json_get_str(seen, "path"), *digest = json_get_str(seen, "digest");
	CLEANUP(json_free)
	json *taken = JSON_OBJECT(JSON_TEXT("path", path), JSON_TEXT("digest", digest));
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str last;

	if (context_get_key(r->e->file, what, &last, err) < 0)
		return -1;
	json_print(&text, taken);
	if (!again && str_eq(buf_str(&text), last))
		return 0;
	context_seen(r->e->file, what, json_copy(seen));
	context_put_key(r->e->file, what, buf_str(&text));
	(void)JSON_ADD(context_event(r->e->file, "effect"), JSON_TEXT("effect", what),
		JSON_TEXT("path", path), JSON_TEXT("digest", digest));
	return 1;
}

/* Agents get the text: the spec need not be committed, and then it is not where they work. A
 * section that a person has edited stays until the file changes. */
int engine_take_spec(struct engine_run *r, struct error *err)
{
	const struct environment *env = r->e->environment;
	const char *path = context_get(r->doc, "spec_path").p, *text;
	const struct environment_input input = {.what = "spec", .text = path};
	CLEANUP(json_free) json *seen = NULL;
	struct str shown;
	int rc;

	if (!env->read_input || !str_ends(str_of(path), ".md") || path[0] == '/')
		return 0;
	if (env->read_input(env->data, &r->arena, &input, &seen, err) < 0)
		return -1;
	if (!seen)
		return 0;
	text = json_dup(&r->arena, seen, "text");
	shown = str_cut(str_of(text), SPEC_SHOWN);
	if (shown.n < strlen(text))
		shown = str_of(arena_printf(
			&r->arena, "%.*s\n\n(The rest is in %s.)", (int)shown.n, shown.p, path));
	json_set(seen, "text", json_string(shown));
	rc = note_source(r, "spec", seen, !context_has_section(r->doc, CONTEXT_SPEC), err);
	if (rc > 0)
		context_put(r->doc, CONTEXT_SPEC, shown);
	return rc < 0 ? -1 : 0;
}

static int enter_take_script(struct engine_run *r, struct error *err)
{
	const struct environment *env = r->e->environment;
	const struct workflow *w = r->e->workflow;
	const struct environment_input input = {.what = "script",
		.text = w->validate ? w->validate : WORKFLOW_VALIDATE,
		.place = &r->place};
	CLEANUP(json_free) json *taken = NULL;

	if (!r->place.directory || !env->take_script ||
		!(workflow_state(w, "validating") || workflow_state(w, "signoff")))
		return 0;
	if (env->take_script(env->data, &r->arena, &input, &taken, err) < 0)
		return -1;
	return taken && note_source(r, SCRIPT_KEY, taken, false, err) < 0 ? -1 : 0;
}

static int note_config(struct engine_run *r, struct error *err)
{
	const struct environment *env = r->e->environment;
	const struct environment_input input = {.what = "config", .text = SETTINGS_FILE};
	CLEANUP(json_free) json *seen = NULL;

	if (!env->read_input)
		return 0;
	if (env->read_input(env->data, &r->arena, &input, &seen, err) < 0)
		return -1;
	if (!seen)
		return 0;
	json_drop(seen, "text");
	return note_source(r, "config", seen, false, err) < 0 ? -1 : 0;
}

int engine_take_inputs(struct engine_run *r, struct error *err)
{
	if (engine_take_spec(r, err) < 0 || enter_take_script(r, err) < 0)
		return -1;
	return note_config(r, err);
}
