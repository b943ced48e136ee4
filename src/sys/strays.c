#include <errno.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "src/base/buf.h"
#include "src/sys/procfs.h"
#include "src/sys/strays.h"

static void pids_add(struct pids *l, pid_t pid)
{
	l->p = xrealloc(l->p, (l->n + 1) * sizeof(*l->p));
	l->p[l->n++] = pid;
}

static bool pids_has(const struct pids *l, pid_t pid)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->p[i] == pid)
			return true;
	return false;
}

static bool childless(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

static void note_child(const struct proc_info *info, void *arg)
{
	if (info->parent == getpid())
		pids_add(arg, info->pid);
}

void strays_begin(struct strays *s)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};

	*s = (struct strays){0};
	/* Ignored, as a caller may have left it, it would take the exit statuses away. */
	(void)sigaction(SIGCHLD, &usual, &s->was_sigchld);
	(void)prctl(PR_GET_CHILD_SUBREAPER, &s->was_reaper);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (!childless())
		proc_each(note_child, &s->before);
}

struct round {
	struct strays *s;
	bool now;
	size_t seen;
};

static void end_child(const struct proc_info *info, void *arg)
{
	struct round *r = arg;

	if (info->parent != getpid() || pids_has(&r->s->before, info->pid))
		return;
	r->seen++; /* one that ends here may have left children behind: it counts too */
	if (waitpid(info->pid, NULL, WNOHANG) != 0)
		return;
	if (r->now) {
		(void)kill(info->pid, SIGKILL);
	} else if (!pids_has(&r->s->told, info->pid)) {
		pids_add(&r->s->told, info->pid);
		(void)kill(info->pid, SIGTERM);
		(void)kill(info->pid, SIGCONT);
	}
}

size_t strays_end(struct strays *s, bool now)
{
	struct round r = {s, now, 0};

	if (!childless())
		proc_each(end_child, &r);
	return r.seen;
}

void strays_release(struct strays *s)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, s->was_reaper);
	(void)sigaction(SIGCHLD, &s->was_sigchld, NULL);
	free(s->before.p);
	free(s->told.p);
	*s = (struct strays){0};
}
