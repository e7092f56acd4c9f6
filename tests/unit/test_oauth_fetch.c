/* Requests of a login to a server that misbehaves. */
#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/mem.h"
#include "oauth/oauth_fetch.h"

/* Answers one connection with a byte every few milliseconds, until the client has had enough. */
static void *drip(void *self)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n";
	int *listener = self, fd = accept(*listener, NULL, NULL);
	ssize_t sent = send(fd, head, sizeof(head) - 1, MSG_NOSIGNAL);
	while (sent > 0) {
		usleep(5000);
		sent = send(fd, " ", 1, MSG_NOSIGNAL);
	}
	close(fd);
	return NULL;
}

static void an_answer_that_drips_is_bounded_as_a_whole(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct oauth_fetcher fetcher = {0};
	struct oauth_reply reply;
	struct error err = {0};
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	pthread_t thread;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(pthread_create(&thread, NULL, drip, &listener), 0);
	assert_int_equal(oauth_fetcher_init(&fetcher, &arena, &err), 0);
	fetcher.whole_ms = 400;
	const char *const headers[] = {NULL};
	const char *url = arena_printf(&arena, "http://127.0.0.1:%d/prm", ntohs(address.sin_port));
	assert_int_equal(oauth_fetch(&fetcher, url, headers, NULL, &reply, &err), -ERR_timeout);
	assert_string_equal(err.text, "the server did not complete its answer in 0.4 seconds");
	oauth_fetcher_finish(&fetcher);
	pthread_join(thread, NULL);
	close(listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_that_drips_is_bounded_as_a_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
