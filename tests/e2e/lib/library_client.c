/* libcodex as a program: submissions as lines on standard input, events as lines on standard output, so that one runner
 * can speak to the library and to the sockets. The end of input is a shutdown, as for codex proto.
 * Usage: library_client OPTIONS (JSON, as codex_create takes them) */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <codex/codex.h>

static const char shutdown_line[] = "{\"id\":\"\",\"op\":{\"type\":\"shutdown\"}}";

/* False once there will be no more. */
static int print_events(codex_t *codex)
{
	char *event;
	int status;
	while ((status = codex_next_event(codex, 0, &event)) == CODEX_OK) {
		printf("%s\n", event);
		codex_free(event);
	}
	fflush(stdout);
	return status != CODEX_ENDED;
}

/* False at the end of input. */
static int submit_line(codex_t *codex)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t len = getline(&line, &size, stdin);
	if (len > 0 && codex_submit(codex, line, (size_t)len) == CODEX_INVALID)
		fprintf(stderr, "invalid submission: %s", line);
	free(line);
	return len > 0;
}

int main(int argc, char **argv)
{
	char *error;
	codex_t *codex = codex_create(argc > 1 ? argv[1] : NULL, &error);
	if (!codex) {
		fprintf(stderr, "%s\n", error);
		codex_free(error);
		return 1;
	}
	setvbuf(stdin, NULL, _IONBF, 0); /* what poll sees is what there is to read */
	struct pollfd fds[] = {{.fd = codex_event_fd(codex), .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
	while (poll(fds, 2, -1) > 0) {
		if (fds[0].revents && !print_events(codex))
			break;
		if (fds[1].revents && !submit_line(codex)) {
			codex_submit(codex, shutdown_line, strlen(shutdown_line));
			fds[1].fd = -1;
		}
	}
	codex_destroy(codex);
	return 0;
}
