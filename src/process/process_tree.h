/* process_tree.h — a snapshot of the processes of this machine, and which of them belong to a command.
 *
 * Owns: the snapshot. Any thread, one at a time. A snapshot is stale as soon as it is made: process_entry_signal
 * checks the process again before it acts, and a caller that needs all processes takes snapshots until one shows
 * nothing new. */
#ifndef PROCESS_PROCESS_TREE_H
#define PROCESS_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/page_vec.h"

struct error;

/* The marks by which the members of one command's tree are recognised. */
struct process_mark {
	uint64_t id;          /* inherited by every process of the tree in its environment; never 0 */
	pid_t pid;            /* the command itself, which leads its session; 0 until it has started */
	bool is_reaped;       /* the command has been reaped: its pid may belong to another process */
	uint64_t started;     /* in clock ticks since boot */
	uint64_t alone_until; /* clock ticks; until this time no other command ran, apart from killed ones */
};

enum { PROCESS_MARK_ENV_SIZE = 40 };
#define PROCESS_MARK_NAME "CODEX_EXEC_ID"
/* The environment variable that names a command's sandbox. Only a launch sets it. */
#define SANDBOX_MARK_NAME "CODEX_SANDBOX"

struct process_entry {
	pid_t pid, parent, session;
	char state;       /* as in /proc: 'Z' is a dead process that was not reaped */
	int threads;      /* with more than one the process is alive even if its first thread is dead */
	uint64_t started; /* in clock ticks since boot; pid and start time identify a process */
	/* private */
	bool is_mark_read;
	uint64_t mark_id; /* 0: the process has none */
};

struct process_tree {
	VEC(struct process_entry) entries; /* sorted by pid; base/page_vec.h, because the supervisor has no heap */
	pid_t root;                        /* the process that adopts orphans of commands; 0: none */
};

/* Makes a mark for a command that starts now, with no other command running. */
void process_mark_init(struct process_mark *mark);
/* Records in the mark that another command starts now. */
void process_mark_join(struct process_mark *mark);
/* Writes "NAME=value" for the command's environment. */
void process_mark_env(const struct process_mark *mark, char out[PROCESS_MARK_ENV_SIZE]);
/* Returns env with these marks in place of inherited ones; sandbox_mark may be NULL. The strings are borrowed. */
const char **process_marked_env(const char *const *env, const char *mark, const char *sandbox_mark);

/* Reads /proc. root: the process that all commands are below (supervisor.h), or 0. */
must_check int process_tree_read(struct process_tree *tree, pid_t root, struct error *err);
void process_tree_finish(struct process_tree *tree);
#define auto_process_tree __attribute__((cleanup(process_tree_finish)))

/* True if entry is alive and part of the command's tree: a descendant of the command, a member of its session, a
 * process with its mark, or a descendant of one of these. An orphan without a mark is included if it started after
 * the command and no other running command can have started it. */
bool process_tree_has(struct process_tree *tree, struct process_entry *entry, const struct process_mark *mark);
/* True if the list contains this process, with the same pid and start time. */
bool process_tree_lists(const struct process_tree *list, const struct process_entry *entry);
/* True if entry is alive and is, or descends from, a process of the list. */
bool process_tree_descends(struct process_tree *tree, struct process_entry *entry, const struct process_tree *from);
/* True if entry is alive and a descendant of the root. */
bool process_tree_is_below(struct process_tree *tree, const struct process_entry *entry);

/* Sends sig if the process is still the one of the snapshot. False if it has ended or must not be signalled. */
bool process_entry_signal(const struct process_entry *entry, int sig);

#endif
