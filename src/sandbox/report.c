#include <errno.h>
#include <fcntl.h>
#include "src/sys/path.h"
#include "src/sandbox/execute.h"

static int open_new(const char *path, const char *fresh, struct error *err)
{
	int fd;

	(void)unlink(fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? error_errno(err, "cannot write '%s'", path) : fd;
}

static char *fresh_name(struct arena *a, const char *path)
{
	return arena_printf(a, "%s.new", path);
}

int execution_report_try(struct arena *a, const char *path, struct error *err)
{
	char *fresh = path ? fresh_name(a, path) : NULL;
	int fd;

	if (!path)
		return 0;
	fd = open_new(path, fresh, err);
	if (fd < 0)
		return -1;
	close(fd);
	(void)unlink(fresh);
	(void)unlink(path); /* one that is there is of another run */
	return 0;
}

static json *visible_names(const struct texts *changed)
{
	json *list = json_array();

	for (size_t i = 0; i < changed->n; i++) {
		CLEANUP(buf_release) struct buf name = BUF_INIT;

		text_visible(&name, str_of(changed->p[i]));
		json_push_str(list, buf_str(&name));
	}
	return list;
}

static void put_end(json *j, const struct execution_end *end)
{
	JSON_ADD(j, JSON_INT("status", end->status), JSON_BOOL("timed_out", end->timed_out),
		JSON_BOOL("cancelled", end->cancelled), JSON_BOOL("output_cut", end->cut),
		JSON_INT("ms", end->ms),
		JSON_VALUE("protected_changed", visible_names(&end->changed)),
		JSON_IF(end->layers, JSON_VALUE("layers", json_copy(end->layers))));
}

static json *verdict_of(const struct execution_report *o)
{
	if (o->end && o->end->denied)
		return verdict_object(&o->end->verdict);
	if (o->verdict)
		return verdict_object(o->verdict);
	return JSON_OBJECT(JSON_TEXT("verdict", "none"));
}

static json *report_of(const struct execution_report *o)
{
	json *j = verdict_of(o);

	if (o->policy) {
		json_put_str(j, "policy", str_of(o->policy->name));
		json_put_str(j, "violation", str_of(violation_name(o->policy->violation)));
	}
	json_put_bool(j, "started", o->end != NULL);
	if (o->end)
		put_end(j, o->end);
	if (o->error) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		text_visible(&text, str_of(o->error->text));
		json_put_str(j, "error", buf_str(&text));
	}
	return j;
}

int execution_report_write(
	struct arena *a, const char *path, const struct execution_report *o, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(base_close) int fd = -1;
	char *fresh = path ? fresh_name(a, path) : NULL;

	if (!path)
		return 0;
	json_print_line(&text, report_of(o));
	fd = open_new(path, fresh, err);
	if (fd < 0 || sys_write_all(fd, buf_str(&text), path, err) < 0)
		return -1;
	return rename(fresh, path) < 0 ? error_errno(err, "cannot write '%s'", path) : 0;
}

void execution_end_release(struct execution_end *end)
{
	json_free(&end->layers);
}

int policy_execute_here(struct arena *a, struct execution *x, const char *cwd,
	struct execution_end *end, struct error *err)
{
	struct verdict denied = {0};
	struct str relative = STR("");
	struct host host;
	int rc;

	if (policy_cwd(a, x->root, cwd, &relative, &denied) < 0)
		return error_set(err, ERR_INPUT, "%s", denied.reason);
	x->cwd = arena_dup(a, relative);
	x->host = &host;
	host_expect(&host);
	rc = policy_execute(a, x, end, err);
	if (rc < 0 && !end->started) {
		host_probe(&host);
		rc = policy_execute(a, x, end, err);
	}
	x->host = NULL;
	return rc;
}
