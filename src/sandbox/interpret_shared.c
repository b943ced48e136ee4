#include <sys/mman.h>
#include "src/sandbox/interpret_internal.h"

enum { BEING_WRITTEN = 1, COMPLETE = 2 };

struct shared *shared_make(void)
{
	void *p = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void shared_drop(struct shared **s)
{
	if (*s)
		(void)munmap(*s, sizeof(**s));
	*s = NULL;
}

static size_t put(char *to, struct str text)
{
	size_t n = text.n < SHARED_TEXT ? text.n : SHARED_TEXT;

	if (n)
		memcpy(to, text.p, n);
	return n;
}

void shared_deny(struct shared *s, int alarm, const struct verdict *v)
{
	int none = 0;

	if (!atomic_compare_exchange_strong(&s->denied, &none, BEING_WRITTEN))
		return;
	s->rule = (int)v->rule;
	s->at = v->at;
	s->has_word = v->word.p;
	s->has_path = v->path.p;
	s->word_n = put(s->word, v->word);
	s->path_n = put(s->path, v->path);
	memcpy(s->reason, v->reason, sizeof(s->reason));
	atomic_store(&s->denied, COMPLETE);
	if (alarm >= 0) {
		ssize_t ignored = write(alarm, "", 1);

		(void)ignored;
	}
}

bool shared_denied(const struct shared *s)
{
	return atomic_load(&s->denied) != 0;
}

bool shared_leave_job(struct shared *s, pid_t pid)
{
	unsigned i = atomic_fetch_add(&s->n_jobs, 1);

	if (i < SHARED_JOBS)
		s->jobs[i] = pid;
	return i < SHARED_JOBS;
}

/* What comes from the other side of a process boundary is measured, not believed. */
static struct str take(struct arena *a, const char *text, size_t n)
{
	return arena_str(a, (struct str){text, n < SHARED_TEXT ? n : SHARED_TEXT});
}

void shared_verdict(struct arena *a, const struct shared *s, struct verdict *out)
{
	*out = (struct verdict){0};
	if (!shared_denied(s))
		return;
	if (atomic_load(&s->denied) != COMPLETE || s->rule < 0 || s->rule >= RULES) {
		(void)deny(out, RULE_INTERNAL, (struct span){0, 0},
			"the process that denied was ended before it could say why");
		return;
	}
	out->denied = true;
	out->rule = (enum rule)s->rule;
	out->at = s->at;
	if (s->has_word)
		out->word = take(a, s->word, s->word_n);
	if (s->has_path)
		out->path = take(a, s->path, s->path_n);
	memcpy(out->reason, s->reason, sizeof(out->reason));
	out->reason[sizeof(out->reason) - 1] = '\0';
}
