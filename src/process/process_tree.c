/* /proc is used because process groups are not enough: `setsid`, a double fork or a terminal of its own takes a
 * process out of its group and session, and the death of its parent separates it from its ancestors. Two facts
 * remain: the nearest subreaper, which is the supervisor, adopts it, and it inherited an environment. A daemon that
 * clears its environment is still below the supervisor and ends with the engine.
 *
 * A pid alone does not identify a process, because the number can be reused between a snapshot and a signal. The pid
 * and the start time do, and a pidfd refers to the process while the signal is sent. */
#include "process/process_tree.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"

enum { STAT_MAX = 1024, DEPTH_MAX = 4096, LIST_SIZE = 16384, WINDOW_SIZE = 4096 };

static uint64_t ticks_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);
	return (uint64_t)now.tv_sec * per_second + (uint64_t)now.tv_nsec * per_second / 1000000000u;
}

/* The first id is random and the next ones count up: they are unique in this engine and practically unique on this
 * machine. */
void process_mark_init(struct process_mark *mark)
{
	static _Thread_local uint64_t last_id;
	while (last_id == 0)
		host_random(&last_id, sizeof(last_id));
	*mark = (struct process_mark){.id = last_id++, .started = ticks_now(), .alone_until = UINT64_MAX};
}

void process_mark_join(struct process_mark *mark)
{
	uint64_t now = ticks_now();
	if (now < mark->alone_until)
		mark->alone_until = now;
}

void process_mark_env(const struct process_mark *mark, char out[PROCESS_MARK_ENV_SIZE])
{
	snprintf(out, PROCESS_MARK_ENV_SIZE, PROCESS_MARK_NAME "=%016" PRIx64, mark->id);
}

const char **process_marked_env(const char *const *env, const char *mark, const char *sandbox_mark)
{
	VEC(const char *) vars = {0};
	vec_push(&vars, mark);
	if (sandbox_mark)
		vec_push(&vars, sandbox_mark);
	for (size_t i = 0; env && env[i]; i++) {
		if (!str_has_prefix(str_of(env[i]), PROCESS_MARK_NAME "=") &&
		    !str_has_prefix(str_of(env[i]), SANDBOX_MARK_NAME "="))
			vec_push(&vars, env[i]);
	}
	vec_push(&vars, NULL);
	return vars.items;
}

/* Parses "PID (any bytes) STATE PPID PGRP SESSION … STARTTIME", where STARTTIME is field 22. The name may contain
 * blanks and brackets. */
static bool parse_stat(const char *text, struct process_entry *entry)
{
	const char *end = strrchr(text, ')');
	int parent, session;
	unsigned long long started;
	if (!end || sscanf(end + 1, " %c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d %*d %llu",
	                   &entry->state, &parent, &session, &entry->threads, &started) != 5)
		return false;
	entry->parent = parent;
	entry->session = session;
	entry->started = started;
	return true;
}

static bool read_entry(pid_t pid, struct process_entry *entry)
{
	char path[64], text[STAT_MAX];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t got = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	*entry = (struct process_entry){.pid = pid};
	return parse_stat(text, entry);
}

/* Returns the pid that a folder in /proc is named after, or 0. */
static pid_t pid_of_name(const char *name)
{
	uint64_t pid;
	return str_to_u64(str_of(name), &pid) && pid <= INT32_MAX ? (pid_t)pid : 0;
}

/* The kernel lists processes by pid, so the loop has nothing to move; it only makes sure that find() can rely on it. */
static void insert(struct process_tree *tree, struct process_entry entry)
{
	page_vec_push(&tree->entries, entry);
	struct process_entry *at = &tree->entries.items[tree->entries.count - 1];
	for (; at > tree->entries.items && at[-1].pid > entry.pid; at--)
		*at = at[-1];
	*at = entry;
}

/* As in getdents64(2); no header declares it. */
struct listed {
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

static void insert_listed(struct process_tree *tree, const char *list, size_t len)
{
	for (size_t at = 0; at < len; at += ((const struct listed *)(const void *)(list + at))->size) {
		const struct listed *listed = (const void *)(list + at);
		struct process_entry entry;
		pid_t pid = pid_of_name(listed->name);
		if (pid && read_entry(pid, &entry))
			insert(tree, entry);
	}
}

int process_tree_read(struct process_tree *tree, pid_t root, struct error *err)
{
	alignas(struct listed) char list[LIST_SIZE];
	long got;
	*tree = (struct process_tree){.root = root};
	auto_close int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return error_set(err, ERR_unsupported, "cannot look for processes: /proc is not mounted");
	while ((got = syscall(SYS_getdents64, proc, list, sizeof(list))) > 0)
		insert_listed(tree, list, (size_t)got);
	return 0;
}

void process_tree_finish(struct process_tree *tree)
{
	page_vec_finish(&tree->entries);
}

static struct process_entry *find(struct process_tree *tree, pid_t pid)
{
	size_t low = 0, high = tree->entries.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (tree->entries.items[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < tree->entries.count && tree->entries.items[low].pid == pid ? &tree->entries.items[low] : NULL;
}

static bool is_alive(const struct process_entry *entry)
{
	return (entry->state != 'Z' && entry->state != 'X') || entry->threads > 1;
}

/* Looks for the variable in text that precedes a NUL. *ret_at: the offset of its value. */
static bool find_mark(const char *text, size_t len, size_t *ret_at)
{
	static const char needle[] = "\0" PROCESS_MARK_NAME "=";
	ptrdiff_t at = str_find(str_n(text, len), str_n(needle, sizeof(needle) - 1));
	*ret_at = (size_t)at + sizeof(needle) - 1;
	return at >= 0;
}

/* Reads the file through a window that keeps the longest variable of ours from the part before. */
static uint64_t read_mark(int fd)
{
	char window[WINDOW_SIZE + 1] = {0}; /* a NUL precedes the first variable, too */
	size_t len = 1, total = 0, at;
	ssize_t got;
	do {
		if (len > PROCESS_MARK_ENV_SIZE) {
			memmove(window, window + len - PROCESS_MARK_ENV_SIZE, PROCESS_MARK_ENV_SIZE);
			len = PROCESS_MARK_ENV_SIZE;
		}
		got = read(fd, window + len, WINDOW_SIZE - len);
		len += got > 0 ? (size_t)got : 0;
		total += got > 0 ? (size_t)got : 0;
		window[len] = '\0';
		/* a value at the end of the window may be incomplete, and is then found again after the next read */
		if (find_mark(window, len, &at) && (got <= 0 || memchr(window + at, '\0', len - at)))
			return strtoull(window + at, NULL, 16);
	} while (got > 0 && total < LIMIT_ENVIRONMENT);
	return 0;
}

/* Returns the mark in the environment that the process was started with, or 0. */
static uint64_t mark_of(struct process_entry *entry)
{
	if (entry->is_mark_read)
		return entry->mark_id;
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)entry->pid);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	entry->mark_id = fd < 0 ? 0 : read_mark(fd);
	entry->is_mark_read = true;
	return entry->mark_id;
}

/* True if the process itself belongs to the command, regardless of its parents. */
static bool is_rooted(struct process_tree *tree, struct process_entry *entry, const struct process_mark *mark)
{
	if (entry->started < mark->started)
		return false;
	if (entry->pid == mark->pid && !mark->is_reaped)
		return true;
	bool same_session = mark->pid && entry->session == mark->pid;
	if (same_session && !mark->is_reaped)
		return true;
	/* A session's number can be reused after its leader has ended, but not by a process below the supervisor
	 * without a mark: everything that the supervisor starts has one. */
	uint64_t id = mark_of(entry);
	return id == mark->id || (id == 0 && same_session && tree->root);
}

/* True for an orphan, or a descendant of one, that has no mark of any command and started while only this command
 * ran. */
static bool is_stray_of(struct process_tree *tree, struct process_entry *orphan, const struct process_mark *mark)
{
	return tree->root && orphan->pid != mark->pid && orphan->started >= mark->started &&
	       orphan->started < mark->alone_until && mark_of(orphan) == 0;
}

bool process_tree_has(struct process_tree *tree, struct process_entry *entry, const struct process_mark *mark)
{
	struct process_entry *at = entry, *top = entry;
	if (entry->pid == getpid() || !is_alive(entry) || (tree->root && !process_tree_is_below(tree, entry)))
		return false;
	for (int depth = 0; at && at->pid != tree->root && depth < DEPTH_MAX; depth++) {
		if (is_rooted(tree, at, mark))
			return true;
		top = at;
		at = find(tree, at->parent);
	}
	return is_stray_of(tree, top, mark);
}

bool process_tree_lists(const struct process_tree *list, const struct process_entry *entry)
{
	vec_for_each(it, &list->entries) {
		if (it->pid == entry->pid && it->started == entry->started)
			return true;
	}
	return false;
}

bool process_tree_descends(struct process_tree *tree, struct process_entry *entry, const struct process_tree *from)
{
	struct process_entry *at = is_alive(entry) ? entry : NULL;
	for (int depth = 0; at && at->pid != tree->root && depth < DEPTH_MAX; depth++) {
		if (process_tree_lists(from, at))
			return true;
		at = find(tree, at->parent);
	}
	return false;
}

bool process_tree_is_below(struct process_tree *tree, const struct process_entry *entry)
{
	if (!is_alive(entry))
		return false;
	for (int depth = 0; entry && depth < DEPTH_MAX; depth++) {
		if (entry->parent == tree->root)
			return true;
		entry = find(tree, entry->parent);
	}
	return false;
}

bool process_entry_signal(const struct process_entry *entry, int sig)
{
	int pidfd = (int)syscall(SYS_pidfd_open, entry->pid, 0);
	if (pidfd < 0)
		return false;
	struct process_entry now;
	bool is_same = read_entry(entry->pid, &now) && now.started == entry->started;
	bool is_sent = is_same && syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0) == 0;
	close(pidfd);
	return is_sent;
}
