#include "src/cli/resources.h"

static const char built_in[] = "built in"; /* in place of a file */
static const char default_pool[] = "apiVersion: dev-team/v1\nkind: WorktreePool\n"
				   "metadata:\n  name: default\nspec: {}\n";

static enum origin origin_of(const struct shown_field *f)
{
	return f->origin == ORIGIN_WRITTEN && f->file == built_in ? ORIGIN_DEFAULT : f->origin;
}

static char *source(struct arena *a, const struct shown_field *f)
{
	switch (origin_of(f)) {
	case ORIGIN_WRITTEN:
		return arena_printf(a, "%s:%u%s%s%s", f->file, f->line, f->why ? ", " : "",
			f->why ? f->why : "", f->inert ? ", not acted on" : "");
	case ORIGIN_DEFAULT:
		return arena_printf(a, "default%s%s", f->why ? ", " : "", f->why ? f->why : "");
	case ORIGIN_DERIVED:
		return arena_printf(a, "from %s", f->why);
	default:
		return arena_printf(a, "environment, %s", f->why);
	}
}

static void put_shown(
	struct invocation *in, const struct resource_doc *doc, const struct shown *shown)
{
	buf_addf(in->out, "%s/%s\n", doc->kind->name, doc->name);
	for (size_t i = 0; i < shown->n; i++) {
		CLEANUP(buf_release) struct buf value = BUF_INIT;

		json_print(&value, shown->items[i].value);
		buf_addf(in->out, "  %-42s %-28s %s\n", shown->items[i].path, value.s,
			source(in->arena, &shown->items[i]));
	}
}

static json *field_json(const struct shown_field *f)
{
	static const char *const origins[] = {[ORIGIN_WRITTEN] = "file",
		[ORIGIN_DEFAULT] = "default",
		[ORIGIN_DERIVED] = "derived",
		[ORIGIN_ENVIRONMENT] = "environment"};
	json *j = json_object();

	json_put(j, "value", json_copy(f->value));
	json_put_str(j, "from", str_of(origins[origin_of(f)]));
	if (origin_of(f) == ORIGIN_WRITTEN) {
		resources_put_path(j, "file", f->file);
		json_put_int(j, "line", f->line);
	}
	if (f->why)
		json_put_str(j, "why", str_of(f->why));
	if (f->inert)
		json_put_bool(j, "inert", true);
	return j;
}

static json *shown_json(const struct resource_doc *doc, const struct shown *shown)
{
	json *j = json_object(), *fields = json_object();

	json_put_str(j, "kind", str_of(doc->kind->name));
	json_put_str(j, "name", str_of(doc->name));
	if (doc->file == built_in)
		json_put_null(j, "file");
	else
		resources_put_path(j, "file", doc->file);
	for (size_t i = 0; i < shown->n; i++)
		json_put(fields, shown->items[i].path, field_json(&shown->items[i]));
	json_put(j, "fields", fields);
	return j;
}

/* `KIND`, `KIND/NAME`, or nothing for all. */
static bool wanted(const struct invocation *in, const struct resource_doc *doc)
{
	const char *word = in->args->n > 1 ? in->args->words[1] : "", *slash = strchr(word, '/');
	struct str kind = {word, slash ? (size_t)(slash - word) : strlen(word)};

	return (!kind.n || str_is(kind, doc->kind->name)) &&
	       (!slash || strcmp(slash + 1, doc->name) == 0);
}

/* How many of them were wanted. */
static size_t show_all(struct invocation *in, const struct resources *r, json *all)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_docs; i++) {
		CLEANUP(shown_release) struct shown shown = {0};

		if (!wanted(in, &r->docs[i]))
			continue;
		resource_shown(in->arena, r, &r->docs[i], resources_mode(), &shown);
		if (in->args->value[JSON])
			json_push(all, shown_json(&r->docs[i], &shown));
		else
			put_shown(in, &r->docs[i], &shown);
		n++;
	}
	return n;
}

int resources_show(struct invocation *in, struct error *err)
{
	CLEANUP(json_free) json *all = json_array();
	struct resources r, standard;
	size_t n;

	if (resources_any(in, &r, err) < 0 ||
		resources_parse(in->arena, built_in, STR(default_pool), &standard, err) < 0)
		return -1;
	n = show_all(in, &r, all);
	if (!r.n_pools)
		n += show_all(in, &standard, all);
	if (!n && in->args->n > 1)
		return error_set(
			err, ERR_INPUT, "there is no resource '%.300s'", in->args->words[1]);
	if (in->args->value[JSON]) {
		json_print(in->out, all);
		buf_addc(in->out, '\n');
	}
	return 0;
}
