#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include "src/run/run.h"

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static struct sigaction previous[COUNT(signals)];
static volatile sig_atomic_t caught;
static int ends[2] = {-1, -1};

static void on_signal(int number)
{
	int saved = errno;
	ssize_t ignored = write(ends[1], "", 1);

	(void)ignored;
	caught = number;
	errno = saved;
}

/* A signal that the caller ignores, as under nohup, stays ignored. */
static void catch_all(int flags)
{
	struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART | flags};

	for (size_t i = 0; i < COUNT(signals); i++)
		if (previous[i].sa_handler != SIG_IGN)
			(void)sigaction(signals[i], &ours, NULL);
}

int interrupt_begin(int *fd, struct error *err)
{
	caught = 0;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return error_errno(err, "cannot make a pipe");
	for (size_t i = 0; i < COUNT(signals); i++)
		(void)sigaction(signals[i], NULL, &previous[i]);
	catch_all((int)SA_RESETHAND);
	*fd = ends[0];
	return 0;
}

void interrupt_child(void)
{
	catch_all(0);
}

int interrupt_caught(void)
{
	return caught;
}

void interrupt_end(void)
{
	for (size_t i = 0; i < COUNT(signals); i++)
		(void)sigaction(signals[i], &previous[i], NULL);
	for (size_t i = 0; i < COUNT(ends); i++) {
		base_close(&ends[i]);
		ends[i] = -1;
	}
}
