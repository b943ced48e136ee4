#include <errno.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "src/base/vec.h"
#include "src/sys/proc.h"
#include "src/sys/subreaper.h"

static bool pid_listed(const struct pid_list *l, pid_t pid)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i] == pid)
			return true;
	return false;
}

static bool is_childless(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

static void add_child(const struct proc_info *info, void *arg)
{
	if (info->parent == getpid())
		vec_push((struct pid_list *)arg, info->pid);
}

void subreaper_begin(struct subreaper *s)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};

	*s = (struct subreaper){0};
	/* A caller may have left SIGCHLD ignored, which would take the exit statuses away. */
	(void)sigaction(SIGCHLD, &usual, &s->was_sigchld);
	(void)prctl(PR_GET_CHILD_SUBREAPER, &s->was_subreaper);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (!is_childless())
		proc_each(add_child, &s->before);
}

struct reap_round {
	struct subreaper *s;
	bool kill;
	size_t seen;
};

static void end_orphan(const struct proc_info *info, void *arg)
{
	struct reap_round *r = arg;

	if (info->parent != getpid() || pid_listed(&r->s->before, info->pid))
		return;
	r->seen++; /* also one that ends here: it may leave children behind */
	if (waitpid(info->pid, NULL, WNOHANG) != 0)
		return;
	if (r->kill) {
		(void)kill(info->pid, SIGKILL);
	} else if (!pid_listed(&r->s->terminated, info->pid)) {
		vec_push(&r->s->terminated, info->pid);
		(void)kill(info->pid, SIGTERM);
		(void)kill(info->pid, SIGCONT);
	}
}

size_t subreaper_round(struct subreaper *s, bool kill_now)
{
	struct reap_round r = {s, kill_now, 0};

	if (!is_childless())
		proc_each(end_orphan, &r);
	return r.seen;
}

void subreaper_end(struct subreaper *s)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, s->was_subreaper);
	(void)sigaction(SIGCHLD, &s->was_sigchld, NULL);
	vec_release(&s->before);
	vec_release(&s->terminated);
}
