/* The receiver of a request: certificates, addresses, invalid URLs. */
#include <fcntl.h>
#include "tests/lib/http_rig.h"
#include "tests/lib/scratch.h"
#include "src/sys/http.h"
#include "src/sys/process.h"

static struct error err;

static const char certify[] =
	"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 "
	"-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem";

/* Starts a server and waits until it accepts connections. */
static pid_t tls_start(unsigned port)
{
	static FILE *log;
	char accept[16], line[256];
	int ends[2];
	pid_t pid;

	snprintf(accept, sizeof(accept), "%u", port);
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(null, 0);
		dup2(ends[1], 1);
		dup2(null, 2);
		close(ends[0]);
		execlp("openssl", "openssl", "s_server", "-accept", accept, "-key", "key.pem",
			"-cert", "cert.pem", "-www", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	log = fdopen(ends[0], "r"); /* open while the server runs, which writes into it */
	do
		assert_non_null(fgets(line, sizeof(line), log));
	while (strcmp(line, "ACCEPT\n") != 0);
	return pid;
}

UNIT_TEST(certificates_are_checked, scratch_enter, scratch_leave)
{
	const char *argv[] = {"sh", "-c", certify, NULL};
	CLEANUP(buf_release) struct buf said = BUF_INIT;
	struct process p = {.argv = argv, .output = -1, .out = &said, .out_max = 4096};
	struct process_end end;
	struct http_request r = {.method = "GET"};
	struct http_answer a;
	char url[80];
	pid_t pid;

	assert_int_equal(process_run(&p, &end, &err), 0);
	if (end.status != 0)
		fail_msg("openssl: %s", said.s);
	server_start(server_plain);
	server_stop(NULL); /* its port is free now */
	pid = tls_start(server.port);
	snprintf(url, sizeof(url), "https://127.0.0.1:%u/", server.port);
	r.url = url;
	assert_int_equal(http_send(&r, &a, &err), 0);
	assert_int_equal(a.outcome, HTTP_UNREACHABLE);
	assert_int_equal(a.status, 0);
	setenv("SSL_CERT_FILE", "cert.pem", 1);
	assert_int_equal(http_send(&r, &a, &err), 0);
	assert_int_equal(a.outcome, HTTP_ANSWERED);
	assert_int_equal(a.status, 200);
	buf_release(&a.body);
	snprintf(url, sizeof(url), "https://localhost:%u/", server.port); /* not its name */
	assert_int_equal(http_send(&r, &a, &err), 0);
	assert_int_equal(a.outcome, HTTP_UNREACHABLE);
	unsetenv("SSL_CERT_FILE");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(what_is_no_request_is_refused_without_its_secrets)
{
	static const char *const split[] = {"X: secret-1\r\nY: z", NULL};
	static const struct {
		const char *url;
		const char *const *headers;
		const char *text;
	} rows[] = {
		{"", NULL, "URL begins with neither http:// nor https://"},
		{"file:///etc/passwd", NULL, "URL begins with neither http:// nor https://"},
		{"HTTP://x/", NULL, "URL begins with neither http:// nor https://"},
		{"http://secret-1:p@h/", NULL, "URL has a user or a password in it"},
		{"http:///x", NULL, "URL names no host"},
		{"http://h/secret-1 x", NULL,
			"URL has a blank, a backslash or a control character in it"},
		{"http://h\\@g/", NULL, "URL has a user or a password in it"},
		{"http://h/\n", NULL, "URL has a blank, a backslash or a control character in it"},
		{"http://h:1/?key=secret-1", split, "line break in a header for 'http://h:1'"},
		{"http://h:99999999/?key=secret-1", NULL,
			"request to 'http://h:99999999' failed: URL using bad/illegal format or "
			"missing URL"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct http_request r = {
			.method = "GET", .url = rows[i].url, .headers = rows[i].headers};
		struct http_answer a;

		assert_int_equal(http_send(&r, &a, &err), -1);
		assert_string_equal(err.text, rows[i].text);
	}
}

/* Before anything else here, so that there is no library yet. */
TEST(a_first_url_that_is_none_is_refused)
{
	static const char *const urls[] = {"ftp://x", "", " ", "http://", "https://",
		"127.0.0.1:1/v1", "file:///x", "https://u:p@h/v1", "HTTP://h/v1", "http://a b"};

	for (size_t i = 0; i < COUNT(urls); i++) {
		struct http_request r = {.method = "GET", .url = urls[i]};
		struct http_answer a;

		assert_fails(http_send(&r, &a, &err), err, ERR_INPUT);
	}
}

TEST(this_machine_is_told_from_others)
{
	static const struct {
		const char *url;
		bool is;
	} rows[] = {{"http://127.0.0.1", true}, {"http://127.9.8.7:80/v1", true},
		{"http://localhost:1", true}, {"http://LOCALHOST/x?y", true},
		{"http://[::1]:443/", true}, {"https://[::1]", true},
		{"http://localhost.evil.example", false}, {"http://127.0.0.1.evil.example", false},
		{"http://127.evil.example:80", false}, {"http://126.0.0.1", false},
		{"http://[::1].evil.example", false}, {"http://[::2]", false},
		{"http://127.0.0.1@h/", false}, {"http://127.0.0.1%2eh", false}, {"http://", false},
		{"http://:80", false}, {"", false}, {"localhost", false}};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (http_loopback(rows[i].url) != rows[i].is)
			fail_msg("'%s'", rows[i].url);
}
