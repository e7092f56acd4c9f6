/* command_action.h — describes a command for display: it reads a file, lists files, searches, or does something else.
 * No decision depends on it.
 *
 * Thread: any. Ownership: the actions' texts live in the arena or are those of argv. The categories are those that
 * codex 0.169 shows. */
#ifndef COMMAND_COMMAND_ACTION_H
#define COMMAND_COMMAND_ACTION_H

#include <stddef.h>

#include "base/arena.h"

enum command_action_kind { ACTION_unknown, ACTION_read, ACTION_list_files, ACTION_search };

struct command_action {
	enum command_action_kind kind;
	struct str command; /* as a user would type it */
	struct str name;    /* read: the file's name, for display */
	struct str path;    /* read: the file, relative to the command's folder; else for display, may be absent */
	struct str query;   /* search: the pattern, may be absent */
};

/* Returns the number of actions: 0 for a command that only changes its folder, and one unknown action if any part is
 * unknown. */
size_t command_actions(const char *const *argv, struct arena *arena, struct command_action **ret);

#endif
