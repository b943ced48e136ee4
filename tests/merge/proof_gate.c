/* Many processes at one gate; some of them are killed or stopped while they hold it, or wait. */
#include "tests/lib/gate_rig.h"

enum { WAITING = 20, ROUNDS = 50, KILLED = 10 };

/* A lock of the kernel on `mark` shows an overlap also when its holder is killed. */
static void enter_and_leave(int ready, void *data)
{
	const struct gate_ask ask = {.who = "user", .wait_ms = 600000};
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	unsigned number = (unsigned)(uintptr_t)data;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct gate *g;
		int fd;

		if (gate_take(&arena, &pool, &ask, &g, &err) < 0)
			_exit(1);
		fd = open(at("mark"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		if (fd < 0 || fcntl(fd, F_OFD_SETLK, &whole) < 0)
			_exit(2);
		if (number < KILLED && i == number)
			(void)raise(number % 2 ? SIGKILL : SIGSTOP);
		close(fd);
		gate_drop(&g);
	}
	send_ready(ready);
}

GATE_TEST(a_thousand_holds_never_overlap)
{
	struct other users[WAITING];
	unsigned killed = 0, stopped = 0, ended = 0;
	int status;

	for (size_t i = 0; i < WAITING; i++)
		users[i] = other(enter_and_leave, (void *)(uintptr_t)i);
	while (killed + ended < WAITING) {
		pid_t pid = waitpid(-1, &status, WUNTRACED);

		assert_true(pid > 0);
		if (WIFSTOPPED(status)) {
			assert_true(gate_is_held());
			stopped++;
			(void)kill(pid, SIGCONT);
		} else if (WIFSIGNALED(status)) {
			assert_int_equal(WTERMSIG(status), SIGKILL);
			killed++;
		} else {
			assert_int_equal(WEXITSTATUS(status), 0);
			ended++;
		}
	}
	assert_int_equal(killed, KILLED / 2);
	assert_int_equal(stopped, KILLED / 2);
	for (size_t i = 0; i < WAITING; i++)
		close(users[i].ready);
	gate_drop(&(struct gate *){gate_now(0)});
}

/* Each notes its letter once it is inside. */
static void note_turn(int ready, void *data)
{
	const struct gate_ask ask = {.who = "user", .wait_ms = 600000};
	CLEANUP(base_close) int fd = open(at("turns"), O_WRONLY | O_CREAT | O_APPEND, 0600);
	char letter = (char)('a' + (uintptr_t)data);
	struct gate *g;

	(void)ready;
	if (gate_take(&arena, &pool, &ask, &g, &err) < 0 || write(fd, &letter, 1) != 1)
		_exit(1);
	gate_drop(&g);
}

/* Some are killed while they wait: their places are gone, and the others keep theirs. */
GATE_TEST(twenty_waiters_are_served_in_the_order_in_which_they_came)
{
	struct gate *g = gate_now(0);
	struct other users[WAITING];
	char turns[WAITING + 1] = "";
	struct gate_holder h;
	int64_t fence;

	for (size_t i = 0; i < WAITING; i++) {
		users[i] = other(note_turn, (void *)(uintptr_t)i);
		while (gate_length(&h, &fence) < i + 2)
			(void)poll(NULL, 0, 1);
	}
	for (size_t i = 0; i < WAITING; i++)
		if (i % 5 == 2)
			kill_holder(&users[i]);
		else
			turns[strlen(turns)] = (char)('a' + i);
	gate_drop(&g);
	for (size_t i = 0; i < WAITING; i++)
		if (i % 5 != 2)
			assert_int_equal(exit_status(&users[i]), 0);
	assert_string_equal(scratch_read("turns"), turns);
}
