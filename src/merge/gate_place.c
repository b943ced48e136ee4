#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/sys/process.h"
#include "src/merge/gate_internal.h"

static int boot_id(struct arena *a, const char **out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (sys_read_file(&text, "/proc/sys/kernel/random/boot_id", 64, NULL, err) < 0)
		return -1;
	*out = arena_dup(a, str_trim(buf_str(&text)));
	return 0;
}

static const char *number_space(struct arena *a)
{
	char text[64];
	ssize_t n = readlink("/proc/self/ns/pid", text, sizeof(text));

	return arena_dup(a, (struct str){text, n > 0 ? (size_t)n : 0});
}

int gate_place(struct arena *a, struct gate_place *out, struct error *err)
{
	char host[64] = "";
	struct process_info self;
	CLEANUP(buf_release) struct buf name = BUF_INIT;

	(void)gethostname(host, sizeof(host) - 1);
	buf_adds(&name, host);
	buf_utf8_repair(&name);
	if (boot_id(a, &out->boot, err) < 0)
		return -1;
	if (!process_info(getpid(), &self))
		return error_set(err, ERR_SYSTEM, "cannot read '/proc'");
	out->host = arena_dup(a, buf_str(&name));
	out->space = number_space(a);
	out->pid = getpid();
	out->start = self.start;
	return 0;
}

bool gate_process_lives(pid_t pid, uint64_t start)
{
	struct process_info info;

	return pid > 0 && process_info(pid, &info) && info.start == start &&
	       !strchr("ZXx", info.state);
}

static bool same_boot(const struct gate_place *a, const struct gate_place *b)
{
	return strcmp(a->boot, b->boot) == 0;
}

/* Uses the clock of this boot if it is also the holder's. */
static bool lease_over(const struct gate_record *r, const struct gate_place *self)
{
	if (same_boot(&r->at, self))
		return clock_ticks() >= r->until_ticks;
	return clock_now() >= r->until;
}

enum gate_view gate_look(const struct gate_record *r, const struct gate_place *self)
{
	bool here = same_boot(&r->at, self) && strcmp(r->at.space, self->space) == 0;

	if (!r->held)
		return GATE_FREE;
	if (!same_boot(&r->at, self) && strcmp(r->at.host, self->host) == 0)
		return GATE_DEAD; /* this machine has been restarted since */
	if (!here)
		return lease_over(r, self) ? GATE_AWAY : GATE_HELD;
	if (!gate_process_lives(r->at.pid, r->at.start))
		return GATE_DEAD;
	return r->evicting || lease_over(r, self) ? GATE_OVER : GATE_HELD;
}
