/* TLS: the system's CAs, a CA file, bad CA files, session resumption. The peer is `openssl s_server` with a certificate
 * of the test; skipped if openssl is not installed. */
#include "http_peer.h"

#include <spawn.h>
#include <sys/wait.h>

#include "base/nsswitch.h"
#include "base/stand_in.h"

struct tls_peer {
	char dir[32];
	char cert[64], key[64], junk[64];
	pid_t pid;
	int port;
};

/* Runs a program with its output connected to fd; arguments end with NULL. */
static pid_t spawn(int out, const char *const argv[])
{
	extern char **environ;
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
	if (posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

static bool make_certificate(struct tls_peer *tls)
{
	const char *argv[] = {
		"openssl", "req",    "-x509", "-newkey", "ec",        "-pkeyopt", "ec_paramgen_curve:prime256v1",
		"-nodes",  "-days",  "2",     "-subj",   "/CN=codex", "-addext",  "subjectAltName=IP:127.0.0.1",
		"-keyout", tls->key, "-out",  tls->cert, NULL};
	int status = -1;
	pid_t pid = spawn(1, argv);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* openssl s_server announces its port as "ACCEPT 127.0.0.1:PORT". */
static bool start_tls_server(struct tls_peer *tls)
{
	int out[2];
	const char *argv[] = {"openssl", "s_server", "-accept", "127.0.0.1:0", "-www",
	                      "-cert",   tls->cert,  "-key",    tls->key,      NULL};
	assert_int_equal(pipe(out), 0);
	tls->pid = spawn(out[1], argv);
	close(out[1]);
	char text[4096] = "";
	size_t len = 0;
	ssize_t got;
	const char *at = NULL;
	while (!at && (got = read(out[0], text + len, sizeof(text) - 1 - len)) > 0) {
		len += (size_t)got;
		text[len] = '\0';
		at = strstr(text, "ACCEPT 127.0.0.1:");
		if (at && !strchr(at, '\n'))
			at = NULL;
	}
	close(out[0]);
	return at && sscanf(at, "ACCEPT 127.0.0.1:%d", &tls->port) == 1;
}

static bool tls_peer_start(struct tls_peer *tls)
{
	*tls = (struct tls_peer){.dir = "/tmp/codex-tls-XXXXXX", .pid = -1};
	assert_non_null(mkdtemp(tls->dir));
	snprintf(tls->cert, sizeof(tls->cert), "%s/cert.pem", tls->dir);
	snprintf(tls->key, sizeof(tls->key), "%s/key.pem", tls->dir);
	snprintf(tls->junk, sizeof(tls->junk), "%s/junk.pem", tls->dir);
	FILE *junk = fopen(tls->junk, "w");
	fputs("no certificate\n", junk);
	fclose(junk);
	return make_certificate(tls) && start_tls_server(tls);
}

static void tls_peer_stop(struct tls_peer *tls)
{
	if (tls->pid > 0) {
		kill(tls->pid, SIGKILL);
		waitpid(tls->pid, NULL, 0);
	}
	unlink(tls->cert);
	unlink(tls->key);
	unlink(tls->junk);
	rmdir(tls->dir);
}

static void run_tls(struct fixture *f, const struct tls_peer *tls, const char *ca_file)
{
	char text[64];
	snprintf(text, sizeof(text), "https://127.0.0.1:%d/", tls->port);
	http_client_destroy(f->client);
	f->client = http_client_create(f->loop, &(struct http_client_options){.ca_file = ca_file});
	run(f, (struct http_request){.url = text});
}

static void check_tls(struct fixture *f, const struct tls_peer *tls)
{
	run_tls(f, tls, NULL);
	assert_err(f, ERR_config, "is not trusted: self-signed certificate");
	assert_non_null(strstr(f->answer.err.text, "CODEX_CA_CERTIFICATE"));
	run_tls(f, tls, "/nonexistent/ca.pem");
	assert_err(f, ERR_config, "cannot read the CA file /nonexistent/ca.pem: No such file");
	run_tls(f, tls, tls->junk);
	assert_err(f, ERR_config, tls->junk);
	run_tls(f, tls, tls->cert);
	assert_int_equal(f->answer.err.code, ERR_none);
	assert_int_equal(f->answer.status, 200);
	assert_true(str_find(buf_str(&f->answer.body), STR("New, TLSv1.3")) >= 0);
	/* the next connection of the same client resumes the TLS session */
	char text[64];
	snprintf(text, sizeof(text), "https://127.0.0.1:%d/", tls->port);
	run(f, (struct http_request){.url = text});
	assert_true(str_find(buf_str(&f->answer.body), STR("Reused, TLSv1.3")) >= 0);
}

static void speak_no_tls(struct fixture *f, struct peer *peer)
{
	(void)f;
	peer_say(peer, "SSH-2.0-OpenSSH_9.2\r\n");
	peer_close(peer, STREAM_FLUSH);
}

static void test_tls_towards_a_peer_without(void **state)
{
	struct fixture *f = *state;
	char text[64];
	f->on_raw = speak_no_tls;
	snprintf(text, sizeof(text), "https://127.0.0.1:%d/", f->port);
	run(f, (struct http_request){.url = text});
	assert_err(f, ERR_connect, "the TLS handshake with 127.0.0.1:");
}

static void test_tls(void **state)
{
	struct tls_peer tls;
	if (tls_peer_start(&tls))
		check_tls(*state, &tls);
	bool is_skipped = tls.port == 0;
	tls_peer_stop(&tls);
	if (is_skipped)
		skip();
}

static void say_nothing(struct fixture *f, struct peer *peer)
{
	(void)f, (void)peer;
}

static void test_handshake_that_takes_too_long(void **state)
{
	struct fixture *f = *state;
	char text[64];
	f->on_raw = say_nothing;
	snprintf(text, sizeof(text), "https://127.0.0.1:%d/", f->port);
	run(f, (struct http_request){.url = text, .connect_timeout_ms = 30});
	assert_err(f, ERR_timeout, "timeout while connecting to 127.0.0.1:");
}

int main(void)
{
	forget_proxies();
	stand_in_allow(NSSWITCH_FILE); /* as the program does; OpenSSL is started by the first connection then */
	const struct CMUnitTest tests[] = {
		CLIENT_TEST(test_tls),
		CLIENT_TEST(test_tls_towards_a_peer_without),
		CLIENT_TEST(test_handshake_that_takes_too_long),
	};
	return cmocka_run_group_tests_name("http_tls", tests, NULL, NULL);
}
