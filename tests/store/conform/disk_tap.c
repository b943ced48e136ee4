#include "tests/store/conform/disk_tap.h"
#include <signal.h>
#include <unistd.h>

static struct disk_ops tapped;
static const struct disk_ops *under;
static unsigned moments;

/* True when the moment after the call is the last one. */
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

static int tap_write(
	struct disk *d, const char *path, const char *like, struct str text, struct error *err)
{
	bool last = moment();

	return after(last, under->write(d, path, like, text, err));
}

static int tap_create(
	struct disk *d, const char *path, struct str text, bool *taken, struct error *err)
{
	bool last = moment();

	return after(last, under->create(d, path, text, taken, err));
}

static int tap_rename(struct disk *d, const char *from, const char *to, struct error *err)
{
	bool last = moment();

	return after(last, under->rename(d, from, to, err));
}

static int tap_unlink(struct disk *d, const char *path, struct error *err)
{
	bool last = moment();

	return after(last, under->unlink(d, path, err));
}

static int tap_append(struct disk_file *f, struct str text, struct error *err)
{
	bool last = moment();

	return after(last, under->append(f, last ? str_sub(text, 0, text.n / 2) : text, err));
}

static int tap_truncate(struct disk_file *f, int64_t size, struct error *err)
{
	bool last = moment();

	return after(last, under->truncate(f, size, err));
}

static int tap_sync(struct disk_file *f, struct error *err)
{
	bool last = moment();

	return after(last, under->sync(f, err));
}

static int tap_sync_folder(struct disk *d, const char *dir, struct error *err)
{
	bool last = moment();

	return after(last, under->sync_folder(d, dir, err));
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

void disk_tap_kill(struct disk *d, unsigned n)
{
	install(d);
	moments = n;
	tapped.write = tap_write;
	tapped.create = tap_create;
	tapped.rename = tap_rename;
	tapped.unlink = tap_unlink;
	tapped.append = tap_append;
	tapped.truncate = tap_truncate;
	tapped.sync = tap_sync;
	tapped.sync_folder = tap_sync_folder;
}

static int lie(struct disk_file *f, struct error *err)
{
	(void)f;
	(void)err;
	return 0;
}

static int lie_folder(struct disk *d, const char *dir, struct error *err)
{
	(void)d;
	(void)dir;
	(void)err;
	return 0;
}

void disk_tap_lie(struct disk *d)
{
	install(d);
	tapped.sync = lie;
	tapped.sync_folder = lie_folder;
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

void disk_tap_unlock(struct disk *d)
{
	install(d);
	tapped.lock = lock_nothing;
	tapped.lock_note = note_nothing;
	tapped.unlock = unlock_nothing;
}

void disk_tap_off(struct disk *d)
{
	d->ops = under;
}
