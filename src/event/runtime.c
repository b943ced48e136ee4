#include "src/event/artifact_internal.h"
#include "src/sys/path.h"
#include "src/schema/json_text.h"

static const char runtime_name[] = "runtime.json";

/* The object of `into` gets the members of `from`, objects those of theirs. */
static void merge(json *into, const json *from, bool deeper)
{
	for (const json *m = json_first(from); m; m = json_next(m)) {
		const json *old = json_get(into, json_key(m));

		if (deeper && json_is_object(old) && json_is_object(m)) {
			json *both = json_copy(old);

			merge(both, m, false);
			json_set(into, json_key(m), both);
		} else {
			json_set(into, json_key(m), json_copy(m));
		}
	}
}

/* *out is an object, an empty one when there is no file. */
static int read_object(const struct artifact_place *at, json **out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct arena a = {0};
	bool missing;
	char *path;
	int rc = artifact_find(&a, at, &path, err);

	if (rc == 0)
		rc = artifact_get(at, &text, &missing, err);
	if (rc == 0 && missing)
		*out = json_object();
	else if (rc == 0)
		rc = json_text_read(out, path, buf_str(&text), err);
	if (rc == 0 && !json_is_object(*out)) {
		json_free(out);
		rc = error_at(err, path, 1, 1, "it must be an object");
	}
	arena_release(&a);
	return rc;
}

int runtime_merge_at(const struct artifact_place *at, const json *members, struct error *err)
{
	CLEANUP(artifact_unlock) struct disk_lock *lock = NULL;
	CLEANUP(json_free) json *whole = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!json_is_object(members))
		return error_set(err, ERR_SYSTEM, "what is put into runtime.json is no object");
	if (artifact_lock(at, &lock, err) < 0 || read_object(at, &whole, err) < 0)
		return -1;
	merge(whole, members, true);
	json_print_pretty(&text, whole);
	return artifact_replace(at, buf_str(&text), err);
}

int runtime_merge(const char *dir, const char *issue, const json *members, struct error *err)
{
	return runtime_merge_at(ARTIFACT_AT(dir, issue, runtime_name), members, err);
}

int runtime_read(const char *dir, const char *issue, json **out, struct error *err)
{
	return artifact_read(dir, issue, runtime_name, out, err);
}
