#include "src/sandbox/sandbox_internal.h"
#include "src/sys/path.h"

int sandbox_report_try(struct arena *a, const char *path, struct error *err)
{
	if (!path)
		return 0;
	if (access(arena_dup(a, path_dir(path)), W_OK) < 0)
		return error_errno(err, "cannot write '%s'", path);
	(void)unlink(path); /* one that is there is of another run */
	return 0;
}

static json *sandbox_report_of(struct arena *a, const struct sandbox_report *o)
{
	json *j = o->verdict ? verdict_object(o->verdict)
			     : JSON_OBJECT(JSON_TEXT("verdict", "none")),
	     *notes = json_array();

	if (o->policy) {
		json_put_str(j, "policy", str_of(o->policy->name));
		json_put_str(j, "violation", str_of(violation_name(o->policy->violation)));
	}
	json_put_bool(j, "started", o->end && o->end->started);
	for (size_t i = 0; o->end && i < o->end->notes.n; i++)
		json_push_str(notes, str_of(o->end->notes.items[i]));
	json_put(j, "notes", notes);
	if (o->end)
		JSON_ADD(j, JSON_INT("status", o->end->status),
			JSON_BOOL("timed_out", o->end->timed_out),
			JSON_BOOL("cancelled", o->end->cancelled), JSON_INT("ms", o->end->ms));
	if (o->error)
		json_put_str(
			j, "error", str_of(arena_printable(a, str_of(o->error->text), SIZE_MAX)));
	return j;
}

int sandbox_report_write(
	struct arena *a, const char *path, const struct sandbox_report *o, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *fresh = path ? arena_printf(a, "%s.new", path) : NULL;

	if (!path)
		return 0;
	json_print_line(&text, sandbox_report_of(a, o));
	(void)unlink(fresh);
	if (sandbox_write_file(fresh, buf_str(&text), 0600, err) < 0)
		return -1;
	return rename(fresh, path) < 0 ? error_errno(err, "cannot write '%s'", path) : 0;
}
