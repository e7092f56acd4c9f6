/* Runs in a fork of the engine that executes nothing: so it needs no program of its own to be found, in an application
 * that embeds the engine as little as anywhere. What is shared with the engine stays shared only as long as
 * nobody writes to it; so while it waits the keeper allocates nothing, and a request lives in a mapping that goes with
 * it. At the end it may allocate as everybody does: glibc sees to that in a fork, threads or no threads. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "process/keeper_priv.h"
#include "sandbox/sandbox_placeholder.h"
#include "process/spawn.h"
#include "process/tree_kill.h"

enum { REQUESTS = 3, EXITS, CHILDREN, UNUSED }; /* its descriptors */

static pid_t commands[LIMIT_COMMANDS]; /* 0: free */

/* ---- place ---- */

/* Away from the terminal, whose Ctrl-C is the engine's to read, and from all that the engine has open: its readers must
 * see it end, its listeners be free. */
static void leave_engine(int requests, int exits)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int high[2] = {fcntl(requests, F_DUPFD, UNUSED), fcntl(exits, F_DUPFD, UNUSED)};
	for (int i = 0; i < REQUESTS; i++)
		dup2(null, i);
	dup2(high[0], REQUESTS);
	dup2(high[1], EXITS);
	setsid();
	if (close_range(CHILDREN, ~0u, 0) != 0) {
		for (long fd = CHILDREN, end = sysconf(_SC_OPEN_MAX); fd < end; fd++)
			close((int)fd);
	}
	fcntl(REQUESTS, F_SETFD, FD_CLOEXEC);
	fcntl(EXITS, F_SETFD, FD_CLOEXEC);
	prctl(PR_SET_NAME, "codex-keeper");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* All signals are blocked since before the fork; SIGCHLD comes as something to read, and no other one matters. */
static void watch_children(void)
{
	sigset_t child;
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	int fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd != CHILDREN)
		_exit(1);
}

/* ---- children ---- */

static pid_t *find_command(pid_t pid)
{
	for (size_t i = 0; i < countof(commands); i++) {
		if (commands[i] == pid)
			return &commands[i];
	}
	return NULL;
}

static void tell(pid_t pid, int wait_status)
{
	struct keeper_exit exit = {pid, wait_status};
	while (write(EXITS, &exit, sizeof(exit)) < 0 && errno == EINTR)
		continue;
}

/* False if there is no child any more, dead or alive. */
static bool reap(void)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		pid_t *command = find_command(pid);
		if (!command)
			continue;
		*command = 0;
		tell(pid, status);
	}
	return pid == 0;
}

static void forget_signals(void)
{
	struct signalfd_siginfo info;
	while (read(CHILDREN, &info, sizeof(info)) > 0)
		continue;
}

/* ---- requests ---- */

static bool receive(void *to, size_t len)
{
	ssize_t got;
	do {
		got = recv(REQUESTS, to, len, MSG_WAITALL);
	} while (got < 0 && errno == EINTR);
	return got >= 0 && (size_t)got == len;
}

/* The head of a request and its descriptors, 0 for those that do not come; false: the engine is gone. */
static bool receive_head(struct keeper_request *request, int fds[KEEPER_FDS])
{
	union keeper_control control;
	struct iovec part = {request, sizeof(*request)};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t got;
	do {
		got = recvmsg(REQUESTS, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
	} while (got < 0 && errno == EINTR);
	struct cmsghdr *head = got == sizeof(*request) ? CMSG_FIRSTHDR(&message) : NULL;
	size_t least = request->is_placeholder ? 1 : KEEPER_FDS - 1;
	if (!head || head->cmsg_len < CMSG_LEN(least * sizeof(int)) ||
	    head->cmsg_len > CMSG_LEN(KEEPER_FDS * sizeof(int)))
		return false;
	memcpy(fds, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
	return true;
}

static char *next_text(char **at)
{
	char *text = *at;
	*at += strlen(text) + 1;
	return text;
}

static const char *const *take_list(char **at, const char ***slots, uint32_t count)
{
	const char **list = *slots;
	for (uint32_t i = 0; i < count; i++)
		list[i] = next_text(at);
	list[count] = NULL;
	*slots += count + 1;
	return list;
}

/* memory: room for both lists, then the texts. */
static void start(const struct keeper_request *request, struct spawn_plan *plan, void *memory, size_t lists,
                  struct keeper_reply *reply)
{
	char *at = (char *)memory + lists;
	const char **slots = memory;
	plan->path = next_text(&at);
	plan->cwd = request->has_cwd ? next_text(&at) : NULL;
	plan->argv = take_list(&at, &slots, request->argc);
	plan->env = take_list(&at, &slots, request->envc);
	pid_t *command = find_command(0);
	if (!command)
		error_set(&reply->err, ERR_busy, "cannot run %s: too many commands run", plan->argv[0]);
	else if (spawn_start(plan, &reply->pid, &reply->err) == 0)
		*command = reply->pid;
	else
		reply->pid = 0;
}

/* False: the engine is gone. */
static bool take_placeholder(const struct keeper_request *request, int fd)
{
	char path[PATH_MAX];
	if (request->len > sizeof(path) || !receive(path, request->len))
		return false;
	sandbox_placeholder_take(path, fd);
	return true;
}

/* The same. */
static bool serve_command(const struct keeper_request *request, const int fds[KEEPER_FDS])
{
	struct keeper_reply reply = {0};
	struct spawn_plan plan = {.adopts_orphans = true, .extra_fd = fds[KEEPER_FDS - 1]};
	memcpy(plan.fds, fds, sizeof(plan.fds));
	plan.has_terminal = request->has_terminal;
	size_t lists = ((size_t)request->argc + request->envc + 2) * sizeof(char *), size = lists + request->len;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || !receive(memory + lists, request->len))
		return false;
	start(request, &plan, memory, lists, &reply);
	munmap(memory, size);
	for (int i = 0; i < 3; i++)
		close(plan.fds[i]);
	if (plan.extra_fd)
		close(plan.extra_fd);
	return send(REQUESTS, &reply, sizeof(reply), MSG_NOSIGNAL) == sizeof(reply);
}

/* The same. */
static bool serve(void)
{
	struct keeper_request request = {0};
	int fds[KEEPER_FDS] = {0};
	if (!receive_head(&request, fds))
		return false;
	return request.is_placeholder ? take_placeholder(&request, fds[0]) : serve_command(&request, fds);
}

/* ---- life and end ---- */

/* True once all children are gone. */
static bool reap_within(uint64_t time_ms)
{
	struct pollfd deaths = {.fd = CHILDREN, .events = POLLIN};
	for (uint64_t start = clock_now_ms(), spent = 0; spent < time_ms; spent = clock_now_ms() - start) {
		if (!reap())
			return true;
		poll(&deaths, 1, (int)(time_ms - spent));
		forget_signals();
	}
	return !reap();
}

/* Returns how many are left. */
static size_t end_all(void)
{
	auto_process_tree struct process_tree known = {0};
	if (!reap())
		return 0;
	tree_signal(getpid(), NULL, &known, SIGTERM);
	if (reap_within(LIMIT_KILL_GRACE_MS))
		return 0;
	/* Whoever a dead parent leaves to us shows up in the next round. */
	for (int round = 0; round < LIMIT_KILL_ROUNDS; round++) {
		tree_kill(getpid(), NULL, &known);
		if (reap_within(LIMIT_KILL_GRACE_MS / LIMIT_KILL_ROUNDS))
			return 0;
	}
	return tree_signal(getpid(), NULL, &known, 0);
}

void keeper_main(int requests, int exits)
{
	struct pollfd wakes[] = {{.fd = REQUESTS, .events = POLLIN}, {.fd = CHILDREN, .events = POLLIN}};
	leave_engine(requests, exits);
	sandbox_placeholders_forget();
	watch_children();
	for (bool goes_on = true; goes_on;) {
		if (poll(wakes, countof(wakes), -1) < 0)
			continue;
		if (wakes[1].revents) {
			forget_signals();
			reap();
		}
		if (wakes[0].revents)
			goes_on = serve();
	}
	close(EXITS); /* nobody is told any more */
	memset(commands, 0, sizeof(commands));
	size_t left = end_all();
	sandbox_placeholders_release();
	_exit(left < 255 ? (int)left : 255);
}
