/* codex-code-mode-host — runs scripts for the engine (docs/code-mode.md). Frames on standard input and output: four
 * bytes with the length, the lowest first, then JSON. A frame of the type start has a script.
 *
 * If the JavaScript engine can be forked, this process prepares it once and runs each script in a child, one after the
 * other: a fork costs a fraction of a start, and a script still has a process, limits and a filter of its own. The
 * child inherits the pipes. Otherwise the process runs one script and ends with it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "host_crash.h"
#include "host_js.h"
#include "host_lock.h"
#include "host_source.h" /* made from the .js files */

enum {
	FRAME_MAX = 64 * 1024 * 1024,
	EXIT_NO_ENGINE = 3, /* the engine of codex knows these two */
	EXIT_NO_LOCK = 4,
	PATH_SIZE = 4096,
};

#define READY "\1" /* the engine knows this, too */

static const struct host_js *const engines[] = {
#ifdef WITH_QUICKJS
	&host_quickjs,
#endif
	&host_jsc,
};

void host_exit(void)
{
	_exit(0);
}

static void write_all(const void *bytes, size_t len)
{
	const char *at = bytes;
	while (len) {
		ssize_t n = write(STDOUT_FILENO, at, len);
		if (n < 0 && errno != EINTR)
			_exit(1);
		at += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
}

void host_send(const char *text, size_t len)
{
	unsigned char head[4] = {(unsigned char)len, (unsigned char)(len >> 8), (unsigned char)(len >> 16),
	                         (unsigned char)(len >> 24)};
	if (len > FRAME_MAX)
		host_fail("RangeError: a message to the engine has more than 64 MB");
	write_all(head, sizeof(head));
	write_all(text, len);
}

double host_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Reads exactly len bytes; the end of the input ends the process. */
static void read_all(char *to, size_t len)
{
	while (len) {
		ssize_t n = read(STDIN_FILENO, to, len);
		if (n == 0 || (n < 0 && errno != EINTR))
			_exit(0);
		to += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
}

/* Returns the next frame, owned, with NUL after it. */
static char *read_frame(size_t *ret_len)
{
	unsigned char head[4];
	read_all((char *)head, sizeof(head));
	size_t len = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
	char *text = len <= FRAME_MAX ? malloc(len + 1) : NULL;
	if (!text)
		host_fail(HOST_NO_MEMORY);
	read_all(text, len);
	text[len] = '\0';
	*ret_len = len;
	return text;
}

static void serve(const struct host_js *js) __attribute__((noreturn));
static void serve(const struct host_js *js)
{
	for (;;) {
		struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
		double wait = js->tick();
		int timeout = wait < 0 ? -1 : wait > 3600e3 ? 3600000 : (int)(wait + 0.999);
		if (poll(&input, 1, timeout) <= 0)
			continue;
		size_t len;
		char *text = read_frame(&len);
		js->frame(text, len);
		free(text);
	}
}

/* By standard error the engine learns that it can send another script: the process of a script must not have it. */
static void drop_stderr(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
		_exit(EXIT_NO_LOCK);
	close(fd);
}

/* Runs the script of the frame, which is freed, until it ends. */
static void run_script(const struct host_js *js, char *frame, size_t len) __attribute__((noreturn));
static void run_script(const struct host_js *js, char *frame, size_t len)
{
	host_crash_init();
	drop_stderr();
	if (!host_lock())
		_exit(EXIT_NO_LOCK);
	js->start(frame, len);
	free(frame);
	serve(js);
}

/* Drops what the script has not read: in the rest of a frame, a text could pass for a frame of its own. */
static void drop_input(void)
{
	char bytes[PATH_SIZE];
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	while (poll(&input, 1, 0) > 0 && read(STDIN_FILENO, bytes, sizeof(bytes)) > 0)
		;
}

/* Waits for the child of a script. If a crash or a signal ends the child, this process ends in the same way, because a
 * frame may be half read or half written. */
static void wait_for(pid_t child)
{
	int status = 0;
	pid_t ended;
	while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR)
		;
	if (ended > 0 && WIFSIGNALED(status))
		raise(WTERMSIG(status));
	if (ended < 0 || status != 0)
		_exit(ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1);
	fcntl(STDIN_FILENO, F_SETFL, 0); /* the flags are those of the child as well: no O_NONBLOCK */
	fcntl(STDOUT_FILENO, F_SETFL, 0);
	drop_input();
	if (write(STDERR_FILENO, READY, 1) != 1)
		_exit(1);
}

/* Other frames are results that the script before did not wait for. */
static bool is_start(const char *frame)
{
	static const char head[] = "{\"t\":\"start\"";
	return strncmp(frame, head, sizeof(head) - 1) == 0;
}

/* Takes the frame. */
static void fork_script(const struct host_js *js, char *frame, size_t len)
{
	pid_t self = getpid(), child = fork();
	if (child < 0)
		host_fail("the system has no room for another process");
	if (child > 0) {
		free(frame);
		wait_for(child);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != self)
		_exit(1);
	run_script(js, frame, len);
}

static void fork_scripts(const struct host_js *js) __attribute__((noreturn));
static void fork_scripts(const struct host_js *js)
{
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_DUMPABLE, 0);
	for (;;) {
		size_t len;
		char *frame = read_frame(&len);
		if (is_start(frame))
			fork_script(js, frame, len);
		else
			free(frame);
	}
}

/* Node cannot lock itself: it loads a library beside this program, which does. */
static void run_node(const char *program)
{
	char lock[PATH_SIZE];
	ssize_t len = readlink("/proc/self/exe", lock, sizeof(lock) - 64);
	if (len < 0)
		return;
	lock[len] = '\0';
	strcpy(strrchr(lock, '/') + 1, "codex-code-mode-lock.so");
	if (access(lock, R_OK) != 0)
		return;
	fcntl(STDERR_FILENO, F_SETFD, FD_CLOEXEC); /* node opens /dev/null in its place */
	execlp(program, program, "--experimental-vm-modules", "--no-warnings", "--max-old-space-size=192", "-e",
	       host_source_node_main.ptr, host_source_glue.ptr, lock, (char *)NULL);
}

static const struct host_js *open_engine(const char *wanted)
{
	const char *why;
	for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++) {
		if (wanted && strcmp(wanted, engines[i]->name) != 0)
			continue;
		if (engines[i]->open(host_source_glue.ptr, host_source_glue.len, &why))
			return engines[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *wanted = getenv("CODEX_CODE_MODE_ENGINE");
	(void)argc;
	(void)argv;
	if (isatty(STDIN_FILENO)) {
		fputs("codex-code-mode-host: codex starts this program; see docs/code-mode.md\n", stderr);
		return 2;
	}
	syscall(SYS_close_range, 3, ~0U, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	host_lock_limits();
	const struct host_js *js = open_engine(wanted);
	if (!js) {
		if (!wanted || strcmp(wanted, "node") == 0)
			run_node("node");
		fputs("no JavaScript engine: install libjavascriptcoregtk-4.1-0 or nodejs\n", stderr);
		return EXIT_NO_ENGINE;
	}
	if (js->can_fork)
		fork_scripts(js);
	size_t len;
	char *frame = read_frame(&len);
	run_script(js, frame, len);
}
