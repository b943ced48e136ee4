/*
 * limits.c: what a command may use, as the policy says: processor time, memory, files, processes.
 */
#include <sys/resource.h>
#include "src/sandbox/sandbox_internal.h"

static void set_limits(const struct policy_limits *l)
{
	const struct {
		int which;
		uint64_t value; /* 0: none */
	} all[] = {{RLIMIT_CPU, l->cpu_s}, {RLIMIT_DATA, l->memory}, {RLIMIT_FSIZE, l->file_size},
		{RLIMIT_NPROC, l->processes}, {RLIMIT_NOFILE, l->open_files}};
	struct rlimit limit = {0, 0};

	(void)setrlimit(RLIMIT_CORE, &limit);
	for (size_t i = 0; i < COUNT(all); i++) {
		if (!all[i].value || getrlimit(all[i].which, &limit) < 0)
			continue;
		limit.rlim_cur = all[i].value < limit.rlim_max ? all[i].value : limit.rlim_max;
		limit.rlim_max = limit.rlim_cur;
		(void)setrlimit(all[i].which, &limit);
	}
}

bool sandbox_take_limits(struct str *plan)
{
	struct policy_limits l;

	if (plan->n < sizeof(l))
		return false;
	memcpy(&l, plan->p, sizeof(l));
	*plan = str_sub(*plan, sizeof(l), plan->n);
	set_limits(&l);
	return true;
}
