/* /proc is used because process groups are not enough: `setsid`, a double fork or a terminal of its own takes a
 * process out of its group and session, and the death of its parent separates it from its ancestors. Two facts
 * remain: the nearest subreaper, which is the supervisor, adopts it, and it inherited an environment. A daemon that
 * clears its environment is still below the supervisor and ends with the engine.
 *
 * A pid alone does not identify a process, because the number can be reused between a snapshot and a signal. The pid
 * and the start time do, and a pidfd refers to the process while the signal is sent. */
#include "process/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/host.h"
#include "base/limits.h"
#include "base/str.h"

enum { STAT_MAX = 1024, DEPTH_MAX = 4096 };

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

static int compare_pids(const void *a, const void *b)
{
	const struct process_entry *left = a, *right = b;
	return (left->pid > right->pid) - (left->pid < right->pid);
}

int process_tree_read(struct process_tree *tree, pid_t root, struct error *err)
{
	*tree = (struct process_tree){.root = root};
	DIR *proc = opendir("/proc");
	if (!proc)
		return error_set(err, ERR_unsupported, "cannot look for processes: /proc is not mounted");
	struct dirent *dirent;
	while ((dirent = readdir(proc))) {
		struct process_entry entry;
		pid_t pid = pid_of_name(dirent->d_name);
		if (pid && read_entry(pid, &entry))
			vec_push(&tree->entries, entry);
	}
	closedir(proc);
	if (tree->entries.count)
		qsort(tree->entries.items, tree->entries.count, sizeof(*tree->entries.items), compare_pids);
	return 0;
}

void process_tree_finish(struct process_tree *tree)
{
	vec_finish(&tree->entries);
}

static struct process_entry *find(struct process_tree *tree, pid_t pid)
{
	struct process_entry key = {.pid = pid};
	if (!tree->entries.count)
		return NULL;
	return bsearch(&key, tree->entries.items, tree->entries.count, sizeof(key), compare_pids);
}

static bool is_alive(const struct process_entry *entry)
{
	return (entry->state != 'Z' && entry->state != 'X') || entry->threads > 1;
}

static uint64_t find_mark(struct str environment)
{
	static const char needle[] = "\0" PROCESS_MARK_NAME "=";
	ptrdiff_t at = str_find(environment, str_n(needle, sizeof(needle) - 1));
	return at < 0 ? 0 : strtoull(environment.ptr + at + sizeof(needle) - 1, NULL, 16);
}

/* Returns the mark in the environment that the process was started with, or 0. */
static uint64_t mark_of(struct process_entry *entry)
{
	if (entry->is_mark_read)
		return entry->mark_id;
	char path[64];
	auto_buf struct buf text;
	buf_init(&text, LIMIT_ENVIRONMENT);
	buf_append_char(&text, '\0'); /* a NUL precedes the first variable, too */
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)entry->pid);
	best_effort(file_read(path, &text, NULL));
	entry->mark_id = find_mark(buf_str(&text));
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
