/*
 * Holders with another state directory: only their lock in the pool's directory is visible.
 */
#include <poll.h>
#include "src/sys/path.h"
#include "src/merge/gate_internal.h"
#include "src/store/disk.h"

enum { LOOKS = 20, LOOK_MS = 50 };

char *gate_lock_path(struct arena *a, const struct pool *p)
{
	return path_join(a, p->dir, ".merge-gate.lock");
}

/* A holder of this state directory has the lock briefly before and after its record: look again. */
int gate_elsewhere(struct arena *a, struct pool *p, const char **who, struct error *err)
{
	for (int i = 0; i < LOOKS; i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		struct gate_record r;
		bool held;

		*who = NULL;
		if (disk_lock_look(gate_lock_path(a, p), &held, &text, err) < 0)
			return -1;
		if (!held)
			return 0;
		buf_utf8_repair(&text);
		*who = arena_dup(a, buf_str(&text));
		if (gate_read(a, p, &r, err) < 0)
			return -1;
		if (r.held) {
			*who = NULL;
			return 0;
		}
		(void)poll(NULL, 0, LOOK_MS);
	}
	return 0;
}
