/*
 * conform: runs the conformance suite on every backend, and compares backends on random operations.
 * Prints TAP.
 *
 *     conform [--quick] [PART-OF-A-CHECK'S-NAME]
 *
 * --quick: without the file backend on the machine's disk, and fewer random operations
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "src/base/clock.h"
#include "tests/lib/memory_store.h"
#include "tests/lib/random.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"
#include "tests/model/sim_disk.h"
#include "tests/store/conform/conformance.h"

/* ---- between a store and its disk ---- */

static struct disk_ops tapped;
static const struct disk_ops *under;
static unsigned moments;

/* True when the process dies after this call. */
static bool moment(void)
{
	if (moments == 1)
		kill(getpid(), SIGKILL);
	if (moments == 2)
		return true;
	moments -= 2;
	return false;
}

static int after(bool last, int result)
{
	if (last)
		kill(getpid(), SIGKILL);
	return result;
}

#define TAP(name, arguments, ...)                                                                  \
	static int tap_##name(__VA_ARGS__)                                                         \
	{                                                                                          \
		bool last = moment();                                                              \
                                                                                                   \
		return after(last, under->name arguments);                                         \
	}

TAP(write, (d, path, like, text, err), struct disk *d, const char *path, const char *like,
	struct str text, struct error *err)
TAP(rename, (d, from, to, err), struct disk *d, const char *from, const char *to, struct error *err)
TAP(exchange, (d, from, to, err), struct disk *d, const char *from, const char *to,
	struct error *err)
TAP(unlink, (d, path, err), struct disk *d, const char *path, struct error *err)
TAP(truncate, (f, size, err), struct disk_file *f, int64_t size, struct error *err)
TAP(sync, (f, err), struct disk_file *f, struct error *err)
TAP(sync_directory, (d, dir, err), struct disk *d, const char *dir, struct error *err)

static int tap_append(struct disk_file *f, struct str text, struct error *err)
{
	bool last = moment();

	return after(last, under->append(f, last ? str_sub(text, 0, text.n / 2) : text, err));
}

static int tap_open(struct disk *d, const char *path, bool make, bool *made, struct disk_file **out,
	struct error *err)
{
	int result = under->open(d, path, make, made, out, err);

	if (!result)
		(*out)->ops = &tapped;
	return result;
}

static void disk_tap_kill(struct disk *d, unsigned n)
{
	under = d->ops;
	tapped = *under;
	d->ops = &tapped;
	moments = n;
	tapped.open = tap_open;
	tapped.write = tap_write;
	tapped.rename = tap_rename;
	tapped.exchange = tap_exchange;
	tapped.unlink = tap_unlink;
	tapped.append = tap_append;
	tapped.truncate = tap_truncate;
	tapped.sync = tap_sync;
	tapped.sync_directory = tap_sync_directory;
}

static void clock_advance(const struct backend *b, int64_t seconds)
{
	(void)b;
	clock_fix(clock_now() + seconds);
}

/* ---- in memory ---- */

static int in_memory(const struct backend *b, const char *ns, enum store_mode mode,
	struct store **out, struct error *err)
{
	return memory_store_open(b->self, ns, mode, out, err);
}

/* ---- on the machine's disk: the file backend, and a memory that is shared ---- */

static char *directory;
static pid_t self;

static struct store_backend *share(void)
{
	struct store_backend *b;

	directory = tree_scratch("conform");
	memory_store_share(directory, true);
	b = store_backend();
	store_set_backend(NULL);
	return b;
}

static int on_real(const struct backend *b, const char *ns, enum store_mode mode,
	struct store **out, struct error *err)
{
	CLEANUP(buf_release) struct buf dir = BUF_INIT;

	buf_addf(&dir, "%s/%s/%s", directory, b->name, ns);
	/* A client in this process cannot wait for another one: nothing else runs meanwhile. */
	return store_open(out, b->self ? b->self : store_backend(), dir.s, "S", mode,
		getpid() == self ? 0 : WAIT_LIMIT_S * 1000, err);
}

static bool real_doom(const struct backend *b, unsigned n, void (*work)(void *), void *arg)
{
	int status;
	pid_t pid;

	(void)b;
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die("cannot fork");
	if (!pid) {
		disk_tap_kill(disk_real(), n);
		work(arg);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) < 0)
		die("cannot wait");
	return WIFSIGNALED(status);
}

static void real_by_hand(
	const struct backend *b, const char *ns, const char *name, const struct str *text)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;

	buf_addf(&path, "%s/%s/%s/%s", directory, b->name, ns, name);
	if (text)
		tree_write(path.s, *text);
	else if (unlink(path.s) < 0)
		die("cannot remove '%s'", path.s);
}

/* ---- the file backend on a disk that loses data ---- */

static int on_sim(const struct backend *b, const char *ns, enum store_mode mode, struct store **out,
	struct error *err)
{
	CLEANUP(buf_release) struct buf dir = BUF_INIT;

	buf_addf(&dir, "/sim/%s", ns);
	return store_open(out, store_files(b->self), dir.s, "S", mode, 0, err);
}

/* Before and after each call, with a power cut or a kill. */
static bool sim_doom(const struct backend *b, unsigned n, void (*work)(void *), void *arg)
{
	sim_disk_plan(b->self, (n + 3) / 4, n % 2 ? SIM_STOP : SIM_STOP_AFTER);
	work(arg);
	if (!sim_disk_stopped(b->self)) {
		sim_disk_plan(b->self, 0, SIM_NONE);
		return false;
	}
	sim_disk_restart(b->self, n % 4 < 2);
	return true;
}

static void sim_by_hand(
	const struct backend *b, const char *ns, const char *name, const struct str *text)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;

	buf_addf(&path, "/sim/%s/%s", ns, name);
	if (text)
		sim_disk_put(b->self, path.s, *text);
	else
		sim_disk_remove(b->self, path.s);
}

/* ---- the run ---- */

static void tell(void *to, const struct verdict *v)
{
	const struct backend *b = to;
	CLEANUP(buf_release) struct buf name = BUF_INIT;

	buf_addf(&name, "%s: %s", b->name, v->name);
	if (v->skipped)
		tap_notef("%s: not asked: %s", name.s, v->why);
	else if (!tap(!v->why, "%s", name.s))
		tap_notef("%s", v->why);
}

static void compare(const struct backend *one, const struct backend *other, uint32_t first,
	uint32_t seeds, unsigned steps)
{
	uint32_t same = 0;

	for (uint32_t seed = first; seed < first + seeds; seed++) {
		CLEANUP(buf_release) struct buf why = BUF_INIT;

		same += conformance_compare(one, other, seed, steps, &why);
		if (why.len)
			tap_notef("%s", why.s);
	}
	tap(same == seeds, "%s does what %s does: %u of %u runs of %u random operations",
		other->name, one->name, same, seeds, steps);
}

int main(int argc, char **argv)
{
	bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	const char *only = argc > 1 + quick ? argv[1 + quick] : NULL;
	struct memory *m = memory_store_new();
	struct disk *disk = sim_disk_new(1);
	const struct backend backends[] = {
		{.name = "memory", .self = m, .open = in_memory, .advance = clock_advance},
		{.name = "memory that does all that it may",
			.self = share(),
			.open = on_real,
			.advance = clock_advance,
			.by_hand = real_by_hand,
			.shared = true,
			.no_hold = true,
			.drops_watches = true},
		{.name = "file on a disk that loses",
			.self = disk,
			.open = on_sim,
			.advance = clock_advance,
			.doom = sim_doom,
			.by_hand = sim_by_hand},
		{.name = "file",
			.open = on_real,
			.advance = clock_advance,
			.doom = real_doom,
			.by_hand = real_by_hand,
			.shared = true},
	};
	uint32_t seed = (uint32_t)random_seed(NULL);

	self = getpid();
	for (size_t i = 0; i < COUNT(backends) - quick; i++)
		conformance(&backends[i], only, tell, (void *)(uintptr_t)&backends[i]);
	if (!only)
		compare(&backends[0], &backends[2], seed, quick ? 4 : 20, 600);
	if (!only && !quick) /* other seeds: each has a store of its own in memory */
		compare(&backends[0], &backends[3], seed + 20, 4, 400);
	memory_store_free(&m);
	sim_disk_free(&disk);
	tree_remove(directory);
	free(directory);
	return tap_end();
}
