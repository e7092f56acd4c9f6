/* The supervisor is a fork of the engine that executes no program, so an application that embeds the
 * engine needs no helper program. Memory stays shared with the engine while neither writes to it, so the
 * supervisor allocates nothing while it waits, and each request has a mapping that is freed with it. It never uses
 * the heap: another thread of the engine may have held the allocator's lock during the fork, and not every allocator
 * (older musl, AddressSanitizer) makes its locks usable in the child. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "process/supervisor_priv.h"
#include "process/placeholder.h"
#include "process/spawn.h"
#include "process/tree_kill.h"

enum { REQUESTS = 3, EXITS, CHILDREN, UNUSED }; /* the supervisor's descriptors */

static pid_t commands[LIMIT_COMMANDS]; /* pids; 0: the slot is free */
static uint32_t ids[LIMIT_COMMANDS];   /* the ids of these commands */

/* The memory that a start needs until its exec, in one mapping: this struct, the lists, the texts and the stack. */
struct start_memory {
	struct spawn_plan plan;
	const char *slots[];
};

/* A command that has not executed its file yet. A slow file system can delay that, so starts are watched while other
 * commands run. */
static struct start {
	pid_t pid;
	uint32_t id;
	int report;      /* as returned by spawn_begin; -1: the outcome is known, but the process has not ended yet */
	uint64_t due_ms; /* the deadline for the exec */
	bool is_late;    /* the missed deadline has been reported */
	struct spawn_failure failure;
	struct start_memory *memory; /* memory that the process uses */
	size_t size;
} starts[LIMIT_STARTS];
static size_t start_count;

/* Reports that have not been sent: those of requests that came at once wake the engine once. One write of them is
 * atomic (PIPE_BUF). Waking it costs more than a report, and many commands end soon, so a few reports of starts wait up
 * to HOLD_MS for an end. */
enum { HOLD_MS = 5, HELD_STARTS = LIMIT_SUPERVISOR_REQUESTS / 2 };
static struct supervisor_report held[LIMIT_SUPERVISOR_REQUESTS * 4];
static size_t held_count;
static uint64_t held_until_ms;

/* ---- setup ---- */

/* Leaves the terminal, whose Ctrl-C only the engine handles, and closes all descriptors of the engine: readers must
 * see the end when the engine closes its ends, and ports must become free. */
static void leave_engine(int requests, int exits)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int high[2] = {fcntl(requests, F_DUPFD, UNUSED), fcntl(exits, F_DUPFD, UNUSED)};
	for (int i = 0; i < REQUESTS; i++)
		dup2(null, i);
	dup2(high[0], REQUESTS);
	dup2(high[1], EXITS);
	setsid();
	if (syscall(SYS_close_range, CHILDREN, ~0u, 0) != 0) {
		for (long fd = CHILDREN, end = sysconf(_SC_OPEN_MAX); fd < end; fd++)
			close((int)fd);
	}
	fcntl(REQUESTS, F_SETFD, FD_CLOEXEC);
	fcntl(EXITS, F_SETFD, FD_CLOEXEC);
	prctl(PR_SET_NAME, "codex-supervisor");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Sets up SIGCHLD to be read from a descriptor. All signals have been blocked since before the fork. */
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

static void send_reports(void)
{
	while (held_count && write(EXITS, held, held_count * sizeof(held[0])) < 0 && errno == EINTR)
		continue;
	held_count = 0;
}

static void report(uint32_t id, enum supervisor_event event, int value, int sys)
{
	if (held_count == 0)
		held_until_ms = clock_now_ms() + HOLD_MS;
	held[held_count++] = (struct supervisor_report){id, event, value, sys};
	if (event != SUPERVISOR_STARTED || held_count == HELD_STARTS)
		held_until_ms = 0;
	bool is_reaped = event == SUPERVISOR_ENDED || (event == SUPERVISOR_FAILED && value != SPAWN_late);
	for (size_t i = 0; is_reaped && i < held_count; i++) {
		if (held[i].id == id && held[i].event == SUPERVISOR_STARTED)
			held[i].sys = 1;
	}
	if (held_count == countof(held))
		send_reports();
}

static struct start *find_start(pid_t pid)
{
	for (size_t i = 0; i < start_count; i++) {
		if (starts[i].pid == pid)
			return &starts[i];
	}
	return NULL;
}

/* Frees a start; the last one moves to its slot. */
static void start_release(struct start *start)
{
	mem_close_slot(&start->report);
	munmap(start->memory, start->size);
	*start = starts[--start_count];
}

/* True if the program was executed and the start was removed. */
static bool start_look(struct start *start)
{
	struct spawn_failure failure;
	enum spawn_state state = start->report < 0 ? SPAWN_STARTS : spawn_poll(start->report, &failure);
	if (state == SPAWN_STARTS)
		return false;
	close(start->report);
	start->report = -1;
	if (state == SPAWN_FAILED)
		start->failure = failure;
	if (state == SPAWN_FAILED || start->is_late)
		return false;
	if (start->memory->plan.reports_run)
		report(start->id, SUPERVISOR_RUNS, 0, 0);
	start_release(start);
	return true;
}

/* Called after the process of a start was reaped. */
static void start_ended(struct start *start, int wait_status)
{
	uint32_t id = start->id;
	if (start_look(start)) {
		report(id, SUPERVISOR_ENDED, wait_status, 0);
		return;
	}
	struct start it = *start;
	start_release(start);
	if (it.is_late)
		return;
	if (it.failure.step)
		report(id, SUPERVISOR_FAILED, it.failure.step, it.failure.sys);
	else
		report(id, SUPERVISOR_ENDED, wait_status, 0);
}

/* Kills and reports starts that have passed their deadline, and checks the others. Returns the time until the next
 * deadline, or -1. */
static int look_at_starts(void)
{
	uint64_t now = start_count ? clock_now_ms() : 0, next = UINT64_MAX;
	for (size_t i = start_count; i-- > 0;) {
		struct start *start = &starts[i];
		if (start->is_late || start_look(start))
			continue;
		if (start->due_ms <= now && !start->failure.step) {
			start->is_late = true;
			kill(start->pid, SIGKILL);
			report(start->id, SUPERVISOR_FAILED, SPAWN_late, 0);
		} else if (start->due_ms < next && start->report >= 0) {
			next = start->due_ms;
		}
	}
	return next == UINT64_MAX ? -1 : (int)(next - now);
}

static void ended(pid_t pid, int wait_status)
{
	pid_t *command = find_command(pid);
	struct start *start = find_start(pid);
	if (command)
		*command = 0;
	if (start)
		start_ended(start, wait_status);
	else if (command)
		report(ids[command - commands], SUPERVISOR_ENDED, wait_status, 0);
}

/* Reaps ended children; false if no child is left, alive or dead. */
static bool reap(void)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		ended(pid, status);
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

/* Receives len bytes and discards them. */
static bool receive_nothing(size_t len)
{
	static char unused[4096];
	while (len > 0) {
		size_t part = len < sizeof(unused) ? len : sizeof(unused);
		if (!receive(unused, part))
			return false;
		len -= part;
	}
	return true;
}

static void close_all(const int fds[SUPERVISOR_FDS])
{
	for (int i = 0; i < SUPERVISOR_FDS; i++) {
		if (fds[i])
			close(fds[i]);
	}
}

/* Receives the head of a request and its descriptors, 0 for absent ones. False if the engine has ended. *ret_is_cut: a
 * descriptor is missing, because this process may not open more. */
static bool receive_head(struct supervisor_request *request, int fds[SUPERVISOR_FDS], bool *ret_is_cut)
{
	union supervisor_control control;
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
	size_t least = request->is_placeholder ? 1 : SUPERVISOR_FDS - 1;
	*ret_is_cut = got == sizeof(*request) && (message.msg_flags & MSG_CTRUNC);
	if (head && head->cmsg_len <= CMSG_LEN(SUPERVISOR_FDS * sizeof(int)))
		memcpy(fds, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
	return *ret_is_cut || (head && head->cmsg_len >= CMSG_LEN(least * sizeof(int)) &&
	                       head->cmsg_len <= CMSG_LEN(SUPERVISOR_FDS * sizeof(int)));
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

static size_t up_to_16(size_t size)
{
	return (size + 15) & ~(size_t)15;
}

static size_t texts_at(const struct supervisor_request *request)
{
	size_t slots = (size_t)request->path_count + request->wanted_count + request->argc + request->envc + 4;
	return sizeof(struct start_memory) + slots * sizeof(char *);
}

static void fill_plan(const struct supervisor_request *request, const int fds[SUPERVISOR_FDS],
                      struct start_memory *memory)
{
	struct spawn_plan *plan = &memory->plan;
	char *at = (char *)memory + texts_at(request);
	const char **slots = memory->slots;
	plan->cwd = request->has_cwd ? next_text(&at) : NULL;
	plan->paths = take_list(&at, &slots, request->path_count);
	const char *const *wanted = take_list(&at, &slots, request->wanted_count);
	plan->wanted = request->has_wanted ? wanted : NULL;
	plan->argv = take_list(&at, &slots, request->argc);
	plan->env = take_list(&at, &slots, request->envc);
	memcpy(plan->fds, fds, sizeof(plan->fds));
	plan->extra_fd = fds[SUPERVISOR_FDS - 1];
	plan->has_terminal = request->has_terminal;
	plan->reports_run = request->reports_run;
	plan->adopts_orphans = true;
}

/* Returns SPAWN_fork if the command may start: after that only the fork can fail. */
static enum spawn_step refusal_of(const struct supervisor_request *request, bool has_room)
{
	if (request->not_after_ms < clock_now_ms())
		return SPAWN_expired;
	return has_room ? SPAWN_fork : SPAWN_busy;
}

/* Takes ownership of the memory. */
static void start(const struct supervisor_request *request, struct start_memory *memory, size_t size)
{
	pid_t *command = find_command(0);
	struct start it = {.pid = -1, .id = request->id, .report = -1, .memory = memory, .size = size};
	it.due_ms = clock_now_ms() + request->timeout_ms;
	enum spawn_step refusal = refusal_of(request, command != NULL && start_count < LIMIT_STARTS);
	if (refusal == SPAWN_fork)
		it.pid = spawn_begin(&memory->plan, (char *)memory + size - SPAWN_STACK, &it.report);
	if (it.pid < 0) {
		report(request->id, SUPERVISOR_FAILED, refusal, refusal == SPAWN_fork ? errno : 0);
		munmap(memory, size);
		return;
	}
	*command = it.pid;
	ids[command - commands] = it.id;
	starts[start_count++] = it;
	report(it.id, SUPERVISOR_STARTED, it.pid, 0);
}

/* Returns false if the engine has ended. */
static bool take_placeholder(const struct supervisor_request *request, int fd)
{
	char path[PATH_MAX];
	if (request->len > sizeof(path) || !receive(path, request->len))
		return false;
	placeholder_take(path, fd);
	return true;
}

/* Returns false if the engine has ended. If there is no memory, only this command fails. */
static bool start_request(const struct supervisor_request *request, const int fds[SUPERVISOR_FDS])
{
	size_t texts = texts_at(request), size = up_to_16(texts + request->len) + SPAWN_STACK;
	struct start_memory *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		report(request->id, SUPERVISOR_FAILED, SPAWN_fork, errno);
		return receive_nothing(request->len);
	}
	if (!receive((char *)memory + texts, request->len))
		return false;
	fill_plan(request, fds, memory);
	start(request, memory, size);
	return true;
}

/* Returns false if the engine has ended. */
static bool serve_command(const struct supervisor_request *request, const int fds[SUPERVISOR_FDS])
{
	bool is_there = start_request(request, fds);
	close_all(fds);
	return is_there;
}

/* Only this request fails; placeholders are not answered. Returns false if the engine has ended. */
static bool refuse_cut(const struct supervisor_request *request, const int fds[SUPERVISOR_FDS])
{
	close_all(fds);
	if (!request->is_placeholder)
		report(request->id, SUPERVISOR_FAILED, SPAWN_fork, EMFILE);
	return receive_nothing(request->len);
}

/* Handles one request; false if the engine has ended. */
static bool serve(void)
{
	struct supervisor_request request = {0};
	int fds[SUPERVISOR_FDS] = {0};
	bool is_cut;
	if (!receive_head(&request, fds, &is_cut))
		return false;
	if (is_cut)
		return refuse_cut(&request, fds);
	return request.is_placeholder ? take_placeholder(&request, fds[0]) : serve_command(&request, fds);
}

/* ---- main loop and end ---- */

/* Waits for all children; true when none is left. */
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

/* Terminates all commands and returns how many processes are left. */
static size_t end_all(void)
{
	auto_process_tree struct process_tree known = {0};
	if (!reap())
		return 0;
	tree_signal(getpid(), NULL, &known, SIGTERM);
	if (reap_within(LIMIT_KILL_GRACE_MS))
		return 0;
	/* orphans of a killed parent appear in the next round */
	for (int round = 0; round < LIMIT_KILL_ROUNDS; round++) {
		tree_kill(getpid(), NULL, &known);
		if (reap_within(LIMIT_KILL_GRACE_MS / LIMIT_KILL_ROUNDS))
			return 0;
	}
	return tree_signal(getpid(), NULL, &known, 0);
}

/* Sends the reports before it waits for longer; a start may pass its deadline by HOLD_MS. Returns the result of poll.
 */
static int wait_for_event(struct pollfd *wakes, size_t count, int timeout_ms)
{
	uint64_t now = clock_now_ms();
	int ready = held_count ? poll(wakes, count, held_until_ms > now ? (int)(held_until_ms - now) : 0) : 0;
	if (ready)
		return ready;
	send_reports();
	return poll(wakes, count, timeout_ms);
}

/* Waits for an event. True if a request came or the engine has ended. While LIMIT_STARTS starts are pending, further
 * requests stay in the socket. */
static bool wait_for_request(void)
{
	static struct pollfd wakes[2 + LIMIT_STARTS] = {{.fd = REQUESTS}, {.fd = CHILDREN, .events = POLLIN}};
	int timeout_ms = look_at_starts();
	wakes[0].events = start_count < LIMIT_STARTS ? POLLIN : 0;
	for (size_t i = 0; i < start_count; i++)
		wakes[2 + i] = (struct pollfd){.fd = starts[i].report, .events = POLLIN};
	if (wait_for_event(wakes, 2 + start_count, timeout_ms) < 0)
		return false;
	if (wakes[1].revents) {
		forget_signals();
		reap();
	}
	return wakes[0].revents != 0;
}

void supervisor_main(int requests, int exits)
{
	leave_engine(requests, exits);
	placeholders_forget();
	watch_children();
	for (bool is_running = true; is_running;)
		is_running = !wait_for_request() || serve();
	dup2(0, EXITS); /* reports go to /dev/null: the engine does not read them any more */
	size_t left = end_all();
	placeholders_release();
	_exit(left < 255 ? (int)left : 255);
}
