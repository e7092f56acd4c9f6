/* command_action.h — what a command is about, for people who watch: it reads a file, lists files, searches, or does
 * something else. Only a description: nothing is decided by it.
 *
 * Thread: any. Ownership: the actions' texts live in the arena or are the argv's. Source: protocol-v1 (parsed_cmd),
 * app-server-wire 5 (commandActions); what counts as what was observed on 0.169.0. */
#ifndef COMMAND_COMMAND_ACTION_H
#define COMMAND_COMMAND_ACTION_H

#include <stddef.h>

#include "base/arena.h"

enum command_action_kind { ACTION_unknown, ACTION_read, ACTION_list_files, ACTION_search };

struct command_action {
	enum command_action_kind kind;
	struct str command; /* as one would type it */
	struct str name;    /* read: the file's, for display */
	struct str path;    /* read: the file, from the command's folder; else for display, may be absent */
	struct str query;   /* search: may be absent */
};

/* Returns how many; none for a command that only changes its folder. One thing unknown makes the whole unknown. */
size_t command_actions(const char *const *argv, struct arena *arena, struct command_action **ret);

#endif
