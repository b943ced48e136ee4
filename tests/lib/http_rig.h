/*
 * http_rig.h: a server process on loopback. It reads one request per connection, logs its text, and
 * calls a function of the test to write the answer.
 */
#ifndef DT_TESTS_HTTP_RIG_H
#define DT_TESTS_HTTP_RIG_H

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "tests/lib/unit.h"

/* Writes an answer to `fd`; `n` counts the connections from 0. The connection ends with it. */
typedef void server_play(int fd, unsigned n, struct str request);

struct server {
	pid_t pid;
	int log; /* the requests, each ended by a NUL */
	unsigned port;
	char url[64];
};
extern struct server server;
extern const char *server_reply; /* of the next server that is started */

void server_say(int fd, const char *text);

/* Waits until the other side has closed: for a server that sends nothing. */
void server_wait_closed(int fd);
void server_start(server_play *play);

/* No server: a bound socket at server.port and server.url that does not listen. The caller closes
 * it; until then no other process gets the port. */
int server_absent(void);

/* Ends it; appends all requests, one after another. */
void server_stop(struct buf *requests);
void server_plain(int fd, unsigned n, struct str request);
/* Writes server_reply. */
void server_replies(int fd, unsigned n, struct str request);
void server_silent(int fd, unsigned n, struct str request);

#endif
