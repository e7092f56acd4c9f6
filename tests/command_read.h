/* command_read.h — shell text and argument vectors as the engine reads and judges them: through the functions that
 * tool/exec/exec_gate.c calls, without a repository and without rules. */
#ifndef TESTS_COMMAND_READ_H
#define TESTS_COMMAND_READ_H

#include "command/command_safety.h"

/* True if script consists of plain commands. */
static inline bool script_read(const char *script, struct arena *arena, struct command_list *ret)
{
	return command_parse_argv((const char *[]){"bash", "-lc", script, NULL}, arena, ret);
}

/* True if all commands are safe; a git after a change of the folder is not. */
static inline bool argv_is_safe(const char *const *argv)
{
	auto_arena struct arena arena = {0};
	struct command_list list;
	bool is_safe = command_parse_argv(argv, &arena, &list), has_moved = false;
	for (size_t i = 0; is_safe && i < list.count; i++) {
		const struct plain_command *command = &list.commands[i];
		is_safe = plain_command_is_safe(command) && !(has_moved && plain_command_is_git(command));
		has_moved = has_moved || plain_command_moves(command);
	}
	return is_safe;
}

#endif
