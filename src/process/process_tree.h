/* process_tree.h — a snapshot of the processes of this machine, and who of them belongs to a command.
 *
 * Owns: the snapshot. Thread: any one. A snapshot is old as soon as it is made; process_entry_signal
 * therefore looks again before it acts, and who must be complete takes another until nothing is new.
 * Source: core 2.5, and the promise that no process is left behind. */
#ifndef PROCESS_PROCESS_TREE_H
#define PROCESS_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct error;

/* How the members of one command's tree are told from everybody else. */
struct process_mark {
	uint64_t id;          /* every process of the tree inherits it in the environment; never 0 */
	pid_t pid;            /* the command itself, leader of its session; 0 until there is one */
	bool is_reaped;       /* the command is gone: its pid may be somebody else's by now */
	uint64_t started;     /* clock ticks since boot */
	uint64_t alone_until; /* the same: until then no other command that shall live ran beside it */
};

enum { PROCESS_MARK_ENV_SIZE = 40 };
#define PROCESS_MARK_NAME "CODEX_EXEC_ID"

struct process_entry {
	pid_t pid, parent, session;
	char state;       /* as in /proc: 'Z' is dead and waits for its parent */
	int threads;      /* more than one: alive even if the first thread is dead */
	uint64_t started; /* clock ticks since boot; with pid, names one process for good */
	/* private */
	bool is_mark_read;
	uint64_t mark_id; /* 0: it carries none */
};

struct process_tree {
	VEC(struct process_entry) entries; /* by pid */
	pid_t root;                        /* orphans of commands become its children; 0: there is none */
};

/* A new mark, for a command that starts now and alone. */
void process_mark_init(struct process_mark *mark);
/* Another command starts beside it. */
void process_mark_join(struct process_mark *mark);
/* "NAME=value" for the command's environment. */
void process_mark_env(const struct process_mark *mark, char out[PROCESS_MARK_ENV_SIZE]);

/* Everything in /proc. root: the process that all commands are below (supervisor.h), or 0. */
int process_tree_read(struct process_tree *tree, pid_t root, struct error *err);
void process_tree_finish(struct process_tree *tree);
#define auto_process_tree __attribute__((cleanup(process_tree_finish)))

/* True if entry is alive and part of the command's tree: a descendant of it, a member of its session, or one that
 * carries its mark, or a descendant of such. An orphan without any trace is counted in if it began
 * after the command did and while no other command that shall live can have made it. */
bool process_tree_has(struct process_tree *tree, struct process_entry *entry, const struct process_mark *mark);
/* True if that process, and none that got its number later, is in the list. */
bool process_tree_lists(const struct process_tree *list, const struct process_entry *entry);
/* True if entry is alive and one of these, or below one. */
bool process_tree_descends(struct process_tree *tree, struct process_entry *entry, const struct process_tree *from);
/* True if entry is alive and below the root. */
bool process_tree_is_below(struct process_tree *tree, const struct process_entry *entry);

/* Sends sig if the process is still the one of the snapshot. False if it is gone or may not be signalled. */
bool process_entry_signal(const struct process_entry *entry, int sig);

#endif
