#include "src/base/clock.h"
#include "src/config/models.h"
#include "src/config/models_form.h"

static bool given(const char *model)
{
	return model && strcmp(model, INHERIT_MODEL) != 0;
}

static void choose(const char *stage, const char *pipeline, struct model_resolved *out)
{
	*out = (struct model_resolved){.asked = DEFAULT_MODEL, .source = "default"};
	if (given(stage))
		*out = (struct model_resolved){.asked = stage, .source = "stage"};
	else if (given(pipeline))
		*out = (struct model_resolved){.asked = pipeline, .source = "pipeline"};
}

/* `opus[2m]`: an alias with the wrong brackets is a slip, not somebody's id. */
static bool alias_with_brackets(const struct model_registry *r, struct str asked)
{
	struct str head = str_sub(asked, 0, str_find(asked, STR("[")));

	for (size_t i = 0; head.n < asked.n && i < r->n; i++)
		if (str_is(head, r->list[i].alias))
			return true;
	return false;
}

/* Words such as `mystery-model` could be either: a slip of an alias is likelier than an id. */
static bool is_id(const struct model_registry *r, const char *asked)
{
	return model_id_form(str_of(asked)) && strpbrk(asked, "0123456789/:") &&
	       !alias_with_brackets(r, str_of(asked));
}

static int unknown(const struct model_registry *r, const char *asked, struct error *err)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;

	for (size_t i = 0; i < r->n && names.len < 400; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", r->list[i].alias);
	return error_set(err, ERR_INPUT,
		"unknown model alias '%.100s': there are %s%s; an id has a digit, '/' or ':' in it",
		asked, names.s, names.len < 400 ? "" : " ...");
}

static int removed(const struct model_entry *e, struct error *err)
{
	char day[CLOCK_TEXT];

	clock_text(e->removed, day);
	return error_set(err, ERR_STATE, "model '%s' (%.200s) was removed at %s%s%s%s", e->alias,
		e->id, day, e->replacement ? ": use '" : "", e->replacement ? e->replacement : "",
		e->replacement ? "'" : "");
}

static bool past(int64_t date, int64_t now)
{
	return date && now >= date;
}

static bool soon_removed(const struct model_entry *e, int64_t now)
{
	return e->removed && !past(e->removed, now) &&
	       now >= e->removed - MODEL_GRACE_DAYS * MODEL_DAY_S;
}

int model_resolve(const struct model_registry *r, const char *stage_model,
	const char *pipeline_model, int64_t now, struct model_resolved *out, struct error *err)
{
	const struct model_entry *e;

	choose(stage_model, pipeline_model, out);
	e = models_find(r, out->asked);
	if (!e) {
		out->id = out->asked;
		return is_id(r, out->asked) ? 0 : unknown(r, out->asked, err);
	}
	out->entry = e;
	out->alias = true;
	out->id = e->id;
	out->removed = past(e->removed, now);
	out->deprecated = past(e->deprecated, now) && !out->removed;
	out->grace = out->deprecated && soon_removed(e, now);
	return out->removed ? removed(e, err) : 0;
}

bool model_stale(const struct model_entry *e, int64_t now)
{
	return e->deprecated && !e->removed && now > e->deprecated + MODEL_STALE_DAYS * MODEL_DAY_S;
}

bool model_ends_untold(const struct model_entry *e, int64_t now)
{
	return !past(e->deprecated, now) && soon_removed(e, now);
}

size_t models_bump_plan(struct arena *a, const struct model_registry *r, const struct bump_ask *ask,
	size_t n, const char *pipeline_model, int64_t now, struct bump_row **out)
{
	size_t rows = 0;

	*out = arena_alloc(a, (n + 1) * sizeof(**out));
	for (size_t i = 0; i < n; i++) {
		const struct model_entry *e, *next = NULL;
		struct model_resolved m;
		struct error none;

		(void)model_resolve(r, ask[i].model, pipeline_model, now, &m, &none);
		e = m.entry;
		if (!m.deprecated && !m.removed)
			continue;
		if (e->replacement)
			next = models_find(r, e->replacement);
		(*out)[rows++] = (struct bump_row){
			ask[i].stage, e, next ? next->id : NULL, m.grace, m.removed};
	}
	return rows;
}
