/* All of this may run in a signal handler: no allocation, no stdio. */
#include "host_crash.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host_lock.h"

enum { FRAME_SIZE = 1024, STACK_SIZE = 64 * 1024, PROBE_SIZE = 16 * 1024 * 1024 };

static size_t append(char *frame, size_t len, const char *text)
{
	while (*text)
		frame[len++] = *text++;
	return len;
}

static void write_all(const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, bytes, len);
		if (n < 0 && errno != EINTR)
			return;
		bytes += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
}

void host_fail(const char *error)
{
	char frame[FRAME_SIZE];
	size_t len = append(frame, 4, "{\"t\":\"done\",\"error\":\"");
	for (; *error && len < sizeof(frame) - 32; error++) {
		bool is_plain = *error >= ' ' && *error < 127 && *error != '"' && *error != '\\';
		frame[len++] = is_plain ? *error : '?';
	}
	len = append(frame, len, "\",\"stored\":{}}");
	for (size_t i = 0; i < 4; i++)
		frame[i] = (char)((len - 4) >> (8 * i));
	write_all(frame, len);
	_exit(1);
}

/* The engines have limits of their own, below that of the process. */
static bool is_memory_full(void)
{
	struct rusage usage;
	const void *probe = mmap(NULL, PROBE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return probe == MAP_FAILED || getrusage(RUSAGE_SELF, &usage) != 0 ||
	       usage.ru_maxrss > HOST_MEMORY_MAX / 1024 / 2;
}

static void on_crash(int number)
{
	char text[] = "The JavaScript engine has crashed with signal 00.";
	text[sizeof(text) - 4] = (char)('0' + number / 10 % 10);
	text[sizeof(text) - 3] = (char)('0' + number % 10);
	host_fail(is_memory_full() ? HOST_NO_MEMORY : text);
}

void host_crash_init(void)
{
	static char stack[STACK_SIZE];
	static const int numbers[] = {SIGABRT, SIGBUS, SIGILL, SIGSEGV, SIGTRAP};
	const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
	sigaltstack(&other, NULL);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
}
