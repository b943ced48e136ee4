/*
 * conform: runs the conformance suite on every backend, compares two of them, and runs it on
 * backends with one planted fault: each of those must fail the check that is meant for it. Prints
 * TAP.
 *
 *     conform [--quick] [PART-OF-A-CHECK'S-NAME]
 *
 * --quick: neither the machine's disk nor broken backends
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "src/base/clock.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"
#include "tests/model/sim_disk.h"
#include "tests/store/conform/backends.h"

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

static void install(struct disk *d)
{
	under = d->ops;
	tapped = *under;
	tapped.open = tap_open;
	d->ops = &tapped;
}

static void disk_tap_kill(struct disk *d, unsigned n)
{
	install(d);
	moments = n;
	tapped.write = tap_write;
	tapped.rename = tap_rename;
	tapped.exchange = tap_exchange;
	tapped.unlink = tap_unlink;
	tapped.append = tap_append;
	tapped.truncate = tap_truncate;
	tapped.sync = tap_sync;
	tapped.sync_directory = tap_sync_directory;
}

static int lie(struct disk_file *f, struct error *err)
{
	(void)f;
	(void)err;
	return 0;
}

static int lie_directory(struct disk *d, const char *dir, struct error *err)
{
	(void)d;
	(void)dir;
	(void)err;
	return 0;
}

static void disk_tap_lie(struct disk *d)
{
	install(d);
	tapped.sync = lie;
	tapped.sync_directory = lie_directory;
}

static int lock_nothing(struct disk *d, const char *path, unsigned wait_ms, struct disk_lock **out,
	struct error *err)
{
	static struct disk_lock everybodys;

	(void)d;
	(void)path;
	(void)wait_ms;
	(void)err;
	everybodys.ops = &tapped;
	*out = &everybodys;
	return 0;
}

static void note_nothing(struct disk_lock *l, const char *what)
{
	(void)l;
	(void)what;
}

static void unlock_nothing(struct disk_lock *l)
{
	(void)l;
}

static void disk_tap_unlock(struct disk *d)
{
	install(d);
	tapped.lock = lock_nothing;
	tapped.lock_note = note_nothing;
	tapped.unlock = unlock_nothing;
}

static void disk_tap_off(struct disk *d)
{
	d->ops = under;
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
		getpid() == self ? 0 : 60000, err);
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

/* ---- correct backends ---- */

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

/* ---- broken ones ---- */

struct spoiled {
	struct memory *memory;
	struct store_methods ops;
	const struct broken *broken;
};

static int in_spoiled(const struct backend *b, const char *ns, enum store_mode mode,
	struct store **out, struct error *err)
{
	struct spoiled *s = b->self;

	if (memory_store_open(
		    s->memory, ns, s->broken->mode ? s->broken->mode(mode) : mode, out, err))
		return -1;
	(*out)->ops = &s->ops;
	return 0;
}

struct hunt {
	const char *meant;
	struct buf why;
	unsigned failed;
	bool known;
};

static void note_failed(void *to, const struct verdict *v)
{
	struct hunt *h = to;
	bool meant = !strcmp(v->name, h->meant);

	h->known |= meant;
	h->failed += v->why && !v->skipped;
	if (meant && v->why && !v->skipped)
		buf_adds(&h->why, v->why);
}

/* `all`: counts the other checks that also find it. */
static void must_fail(const struct backend *b, const char *fault, const char *meant, bool all)
{
	struct hunt h = {.meant = meant};

	conformance(b, all ? NULL : meant, note_failed, &h);
	if (!h.known)
		die("there is no check '%s'", meant);
	tap(h.why.len > 0, "broken: %s: found by '%s'", fault, meant);
	tap_notef("%s (%u checks failed)", h.why.len ? h.why.s : "not found", h.failed);
	buf_release(&h.why);
}

/* Copies the operations that `with` sets. */
static void overlay(struct store_methods *ops, const struct store_methods *with)
{
	void (*f)(void);

	for (size_t at = 0; at < sizeof(*ops); at += sizeof(f)) {
		memcpy(&f, (const char *)with + at, sizeof(f));
		if (f)
			memcpy((char *)ops + at, &f, sizeof(f));
	}
}

static unsigned hunt(const struct broken *broken)
{
	unsigned n = 0;

	for (; broken->fault; broken++, n++) {
		struct spoiled s = {memory_store_new(), memory_store_ops, broken};
		struct backend b = {.name = broken->fault,
			.self = &s,
			.open = in_spoiled,
			.advance = clock_advance};

		overlay(&s.ops, &broken->with);
		must_fail(&b, broken->fault, broken->meant, true);
		memory_store_free(&s.memory);
	}
	return n;
}

static const struct store_backend_ops *whole;

static int keep_the_beginning(struct store_backend *b, const char *dir, const char *path,
	struct str text, struct error *err)
{
	text.n = text.n < STORE_DOCUMENT_MAX ? text.n : STORE_DOCUMENT_MAX;
	return whole->keep_blob(b, dir, path, text, err);
}

static void hunt_short_blobs(void)
{
	struct disk disk = {.ops = disk_real()->ops};
	struct store_backend_ops ops = *(whole = store_files(&disk)->ops);
	struct backend b = {.name = "short", .self = &disk.files, .open = on_real};

	ops.keep_blob = keep_the_beginning;
	disk.files.ops = &ops;
	must_fail(&b, "the engine keeps shorter blobs",
		"a blob has any bytes, a name of its own, and more than a document", false);
}

/* A disk that reports writes as durable, and then loses power. */
static void hunt_liar(void)
{
	struct disk *disk = sim_disk_new(7);
	struct backend b = {.name = "a lying disk",
		.self = disk,
		.open = on_sim,
		.advance = clock_advance,
		.doom = sim_doom};

	disk_tap_lie(disk);
	must_fail(&b, "a disk lies about what is durable",
		"what was acknowledged outlives a kill, and a receipt tells of the rest", false);
	disk_tap_off(disk);
	sim_disk_free(&disk);
}

/* Several processes at once in a store without a lock. On a busy machine they may not collide the
 * first time. */
static void hunt_unlocked(void)
{
	static const char meant[] = "processes that write at once count exactly";
	const struct backend b = {.name = "an unlocked disk",
		.open = on_real,
		.advance = clock_advance,
		.shared = true};
	char *good = directory;
	unsigned failed = 0;

	disk_tap_unlock(disk_real());
	for (int tries = 0; tries < 50 && !failed; tries++) {
		directory = tree_scratch("unlocked");
		failed = conformance(&b, meant, NULL, NULL);
		tree_remove(directory);
		free(directory);
	}
	disk_tap_off(disk_real());
	directory = good;
	tap(failed > 0, "broken: locks do not keep others out: found by '%s'", meant);
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
	unsigned broken = 0;

	self = getpid();
	for (size_t i = 0; i < COUNT(backends) - quick; i++)
		conformance(&backends[i], only, tell, (void *)(uintptr_t)&backends[i]);
	if (!only)
		compare(&backends[0], &backends[2], 100, quick ? 4 : 20, 600);
	if (!only && !quick) {
		compare(&backends[0], &backends[3], 1, 4, 400);
		broken = hunt(broken_backends);
		hunt_short_blobs();
		hunt_liar();
		hunt_unlocked();
		tap_notef("figures: conformance: %u broken backends", broken + 3);
	}
	memory_store_free(&m);
	sim_disk_free(&disk);
	tree_remove(directory);
	free(directory);
	return tap_end();
}
