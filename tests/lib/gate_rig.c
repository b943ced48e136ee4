#include "tests/lib/gate_rig.h"
#include "tests/lib/run.h"

void pool_use(const char *state, const char *dir)
{
	pool = (struct pool){.spec.name = "default",
		.dir = at(dir),
		.repo = base,
		.common = base,
		.artifacts = at("artifacts")};
	if (store_open(&pool.store, store_backend(), at(state), "pools", STORE_WRITE,
		    WAIT_LIMIT_S * 1000, &err) < 0)
		(void)fprintf(stderr, "%s\n", err.text);
}

void gate_begin(void)
{
	unsetenv("DEV_TEAM_NOW");
	unsetenv("DEV_TEAM_GATE_HOLD");
	err = (struct error){0};
	pool_use("state", "pool");
}

int gate_setup(void **state)
{
	(void)scratch_make(state);
	sh("git init -q --bare .");
	gate_begin();
	return 0;
}

int gate_teardown(void **state)
{
	store_close(&pool.store);
	return scratch_remove(state);
}

struct other other(void (*body)(int ready, void *data), void *data)
{
	struct other o;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	o.pid = fork();
	if (o.pid == 0) {
		static const int faults[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};

		/* A fault here must not make the test program's own tests run twice. */
		for (size_t i = 0; i < COUNT(faults); i++)
			(void)signal(faults[i], SIG_DFL);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		(void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
		pool_use("state", "pool");
		if (pool.store)
			body(ends[1], data);
		_exit(pool.store ? 0 : 98);
	}
	close(ends[1]);
	o.ready = ends[0];
	return o;
}

bool wait_ready(struct other *o)
{
	char c;
	ssize_t n;

	do
		n = read(o->ready, &c, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

void send_ready(int ready)
{
	ssize_t ignored = write(ready, "!", 1);

	(void)ignored;
}

int exit_status(struct other *o)
{
	int status = 0;

	while (waitpid(o->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(o->ready);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void hold(int ready, void *data)
{
	const struct gate_ask ask = {.who = "other"};
	struct gate *g;

	(void)data;
	if (gate_take(&arena, &pool, &ask, &g, &err) < 0)
		_exit(99);
	send_ready(ready);
	for (;;)
		pause();
}

struct other holder(void)
{
	struct other o = other(hold, NULL);

	assert_true(wait_ready(&o));
	return o;
}

struct gate *gate_now(unsigned wait_ms)
{
	const struct gate_ask ask = {.who = "test", .wait_ms = wait_ms};
	struct gate *g;

	if (gate_take(&arena, &pool, &ask, &g, &err) < 0)
		fail_msg("%s", err.text);
	return g;
}

void gate_fence_is(int64_t fence)
{
	struct gate *g = gate_now(0);

	assert_int_equal(g->fence, fence);
	gate_drop(&g);
}

size_t gate_length(struct gate_holder *first, int64_t *fence)
{
	struct gate_holder *line;
	size_t n;

	assert_int_equal(gate_status(&arena, &pool, &line, &n, fence, &err), 0);
	if (n)
		*first = line[0];
	return n;
}

void gate_is_free(int64_t last)
{
	struct gate_holder h;
	int64_t fence;

	assert_int_equal(gate_length(&h, &fence), 0);
	assert_int_equal(fence, last);
}

bool gate_is_held(void)
{
	const struct gate_ask ask = {.who = "late"};
	CLEANUP(gate_drop) struct gate *g = NULL;

	return gate_take(&arena, &pool, &ask, &g, &err) == -1;
}

void kill_holder(struct other *o)
{
	(void)kill(o->pid, SIGKILL);
	(void)exit_status(o);
}
