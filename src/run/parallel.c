#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "src/base/clock.h"
#include "src/base/error.h"
#include "src/base/number.h"
#include "src/run/worker_pool.h"
#include "src/event/event.h"
#include "src/run/run_internal.h"

enum { READ_SIZE = 8192, OUT_MAX = 1 << 20, LINE_MAX_BYTES = 4096 };

/* One run. Its standard output is collected, its standard error logged line by line. */
struct runner {
	const struct worker_item *item; /* NULL: the slot is free */
	pid_t pid;
	int fd[2]; /* stdout, stderr; -1: at its end */
	struct buf out, line;
	int64_t begun;
};

struct parallel_run {
	const struct run_parallel *request;
	struct arena *arena;
	struct worker_pool pool;
	struct runner runner[CONCURRENT_MAX];
	size_t busy;
	bool forwarded; /* the interrupt, to the children */
	json **row;     /* results, in the order of request->ids */
	const struct worker_item *items;
	bool failed; /* one ended failed */
	int rc;
	struct error *err;
};

static void emit(
	struct parallel_run *c, enum event_id what, const struct worker_item *item, json *fields)
{
	struct event h = {.id = what, .issue = item->id, .fields = fields};

	if (event_emit(c->request->artifacts, &h, c->err) < 0)
		c->rc = -1;
	json_free(&fields);
}

static json *number(const char *key, int64_t value)
{
	json *fields = json_object();

	json_put_int(fields, key, value);
	return fields;
}

static _Noreturn void exec_run(
	const struct run_parallel *m, const char *id, int out, int err, pid_t parent)
{
	struct arena a = {0};
	const char **argv = arena_alloc(&a, (m->n_options + 5) * sizeof(*argv));
	size_t n = 0;

	argv[n++] = "dev-team";
	argv[n++] = "run";
	for (size_t i = 0; i < m->n_options; i++)
		argv[n++] = m->options[i];
	argv[n++] = "--";
	argv[n++] = id;
	interrupt_end();
	(void)unsetenv("PORT"); /* several runs cannot share it */
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		_exit(ERR_SYSTEM);
	execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
	_exit(ERR_SYSTEM);
}

static int make_pipes(int out[2], int err[2], struct error *e)
{
	if (pipe2(out, O_CLOEXEC) < 0)
		return error_errno(e, "cannot make a pipe");
	if (pipe2(err, O_CLOEXEC) == 0)
		return 0;
	close(out[0]);
	close(out[1]);
	return error_errno(e, "cannot make a pipe");
}

static int start(struct parallel_run *c, const struct worker_item *item)
{
	struct runner *r = c->runner;
	pid_t parent = getpid();
	int out[2], err[2];

	while (r->item)
		r++;
	if (make_pipes(out, err, c->err) < 0)
		return -1;
	*r = (struct runner){.item = item, .fd = {out[0], err[0]}, .begun = clock_ticks()};
	r->pid = fork();
	if (r->pid == 0)
		exec_run(c->request, item->id, out[1], err[1], parent);
	close(out[1]);
	close(err[1]);
	if (r->pid > 0) {
		emit(c, EVENT_STARTED, item, number("inFlight", (int64_t)++c->busy));
		return 0;
	}
	close(out[0]);
	close(err[0]);
	*r = (struct runner){0};
	return error_errno(c->err, "cannot start a process");
}

/* Logs complete lines, each with the id of the work item before it. */
static void show(struct runner *r, bool at_end)
{
	struct str rest = buf_str(&r->line), line;

	while (rest.n && (at_end || memchr(rest.p, '\n', rest.n) || rest.n >= LINE_MAX_BYTES)) {
		if (!memchr(rest.p, '\n', rest.n) && rest.n > LINE_MAX_BYTES)
			line = str_sub(rest, 0, LINE_MAX_BYTES);
		else
			(void)str_line(&(struct str){rest.p, rest.n}, &line);
		error_log("%s  %.*s", r->item->id, (int)line.n, line.p);
		rest = str_sub(rest, line.n, rest.n);
		if (rest.n && rest.p[0] == '\r')
			rest = str_sub(rest, 1, rest.n);
		if (rest.n && rest.p[0] == '\n')
			rest = str_sub(rest, 1, rest.n);
	}
	memmove(r->line.s, rest.p, rest.n);
	buf_cut(&r->line, rest.n);
}

static void take(struct runner *r, size_t which)
{
	char piece[READ_SIZE];
	ssize_t n = read(r->fd[which], piece, sizeof(piece));

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		close(r->fd[which]);
		r->fd[which] = -1;
		return;
	}
	if (which == 1) {
		buf_add(&r->line, (struct str){piece, (size_t)n});
		show(r, false);
	} else if (r->out.len < OUT_MAX) {
		buf_add(&r->out, (struct str){piece, (size_t)n});
	}
}

/* The exit code of a run that did not reach its end. */
static enum err code_of(int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : ERR_SYSTEM;

	return code >= ERR_USAGE && code <= ERR_SYSTEM ? (enum err)code : ERR_SYSTEM;
}

/* The last array of a run has its result; a run that did not reach its end prints none. */
static void note_result(struct parallel_run *c, const struct runner *r, int status)
{
	CLEANUP(json_free) json *array = NULL;
	struct error ignored;
	const json *done = NULL;
	bool whole = WIFEXITED(status) && WEXITSTATUS(status) <= ERR_CHECK &&
		     json_parse(&array, str_trim(buf_str(&r->out)), &ignored) == 0;
	const char *reason = whole && (done = json_first(array)) ? json_get_str(done, "reason")
								 : NULL,
		   *result = done ? json_get_str(done, "result") : NULL;
	bool good = result && strcmp(result, "success") == 0;
	json *row = json_object(), *fields = number("durationMs", clock_ticks() - r->begun);

	json_put_str(row, "id", str_of(r->item->id));
	json_put_str(row, "result", str_of(result ? result : "stopped"));
	json_put_str(row, "reason", str_of(reason ? reason : "the run stopped; see above"));
	c->row[r->item - c->items] = row;
	worker_pool_ended(&c->pool, r->item, good ? WORKER_SUCCEEDED : WORKER_FAILED, reason);
	if (!good)
		json_put_str(fields, "error", str_of(reason ? reason : "the run stopped"));
	emit(c, good ? EVENT_COMPLETED : EVENT_FAILED, r->item, fields);
	c->failed |= !good;
	if (!result && c->rc == 0)
		c->rc = error_set(
			c->err, code_of(status), "the run of '%s' stopped: see above", r->item->id);
}

static void finish(struct parallel_run *c, struct runner *r)
{
	int status = 0;

	show(r, true);
	while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
		;
	note_result(c, r, status);
	buf_release(&r->out);
	buf_release(&r->line);
	*r = (struct runner){0};
	c->busy--;
}

static void forward_interrupt(struct parallel_run *c)
{
	if (c->forwarded || !interrupt_caught())
		return;
	c->forwarded = true;
	for (size_t i = 0; i < CONCURRENT_MAX; i++)
		if (c->runner[i].item)
			(void)kill(c->runner[i].pid, SIGTERM);
}

static void wait_for_some(struct parallel_run *c)
{
	struct pollfd fds[2 * CONCURRENT_MAX];

	for (size_t i = 0; i < COUNT(fds); i++) {
		const struct runner *r = &c->runner[i / 2];

		fds[i] = (struct pollfd){.fd = r->item ? r->fd[i % 2] : -1, .events = POLLIN};
	}
	forward_interrupt(c);
	if (poll(fds, COUNT(fds), c->forwarded ? -1 : 200) <= 0)
		return;
	for (size_t i = 0; i < COUNT(fds); i++) {
		struct runner *r = &c->runner[i / 2];

		if (fds[i].fd >= 0 && fds[i].revents)
			take(r, i % 2);
		if (i % 2 && r->item && r->fd[0] < 0 && r->fd[1] < 0)
			finish(c, r);
	}
}

static void start_some(struct parallel_run *c)
{
	const struct worker_item *item;

	while (!interrupt_caught() && c->busy < CONCURRENT_MAX && worker_pool_next(&c->pool, &item))
		if (start(c, item) < 0) {
			worker_pool_ended(&c->pool, item, WORKER_FAILED, c->err->text);
			c->rc = -1;
		}
}

static int run_all(struct parallel_run *c)
{
	while (!worker_pool_over(&c->pool) || c->busy) {
		start_some(c);
		if (c->busy)
			wait_for_some(c);
		else if (interrupt_caught())
			break;
	}
	return interrupt_caught() ? error_set(c->err, ERR_STATE, "interrupted by signal %d",
					    interrupt_caught())
				  : c->rc;
}

/* Items that were not started are left out. */
static void print_rows(struct parallel_run *c, struct buf *out)
{
	CLEANUP(json_free) json *all = json_array();

	for (size_t i = 0; i < c->request->n; i++)
		if (c->row[i])
			json_push(all, c->row[i]);
	json_print(out, all);
	buf_addc(out, '\n');
}

int run_parallel(struct arena *a, const struct run_parallel *m, struct buf *out, struct error *err)
{
	struct worker_item *items = arena_alloc(a, m->n * sizeof(*items));
	struct parallel_run c = {
		.request = m, .arena = a, .err = err, .row = arena_alloc(a, m->n * sizeof(json *))};
	char line[2048];
	int ignored, rc;

	for (size_t i = 0; i < m->n; i++)
		items[i] = (struct worker_item){.id = m->ids[i]};
	if (worker_pool_init(a, &c.pool, items, m->n, m->at_once, err) < 0)
		return -1;
	for (size_t i = 0; i < m->n; i++)
		emit(&c, EVENT_QUEUED, &items[i], number("queueSize", (int64_t)m->n));
	if (c.rc < 0 || interrupt_begin(&ignored, err) < 0)
		return -1;
	c.items = items;
	rc = run_all(&c);
	interrupt_end();
	print_rows(&c, out);
	if (rc == 0)
		return c.failed ? ERR_CHECK : 0;
	/* The results of the others are printed all the same. */
	error_format(err, line, sizeof(line));
	error_log("%s", line);
	return (int)err->code;
}

int run_max_concurrent(struct arena *a, const char *text, const struct resources *r,
	const struct pipeline *p, const char *artifacts, unsigned *out, struct error *err)
{
	struct parallelism resolved;
	uint64_t n = 1;

	*out = 1;
	if (text && !number_parse(str_of(text), 1, CONCURRENT_MAX, &n))
		return error_set(err, ERR_USAGE, "--max-concurrent must be 1 to %d, not '%.60s'",
			CONCURRENT_MAX, text);
	*out = (unsigned)n;
	if (text || !p)
		return 0;
	parallelism_resolve(a, r, p, parallelism_mode(getenv("AI_SDLC_PARALLELISM")), &resolved);
	*out = resolved.max;
	return event_report_parallelism(artifacts, p, &resolved, err);
}
