/* command_wrapper.h — finds the command that a plain command runs: after sudo, env, timeout, xargs and similar
 * programs, and in the script of a nested shell.
 *
 * Only for the search for destructive or forbidden commands: a wrapper that is not known hides its command, so this
 * never shows that a command is safe. wrappers in command_wrapper.c lists those that are known.
 *
 * Owns nothing. Thread: any. */
#ifndef COMMAND_COMMAND_WRAPPER_H
#define COMMAND_COMMAND_WRAPPER_H

#include "command/command_parse.h"

/* Returns "git" or "rm" if the word is or could become the name of that program, else NULL. */
const char *command_judged_program(const struct command_word *word);

/* Skips one wrapper with its options, assignments and operands, or, once *is_searched is set (by sudo and the like,
 * whose options are not all known), one word that is no known program. False: there is nothing to skip or nothing
 * left. If the wrapper runs shell text (eval, env -S), *ret_script is that text, in the arena, else NULL. */
bool command_unwrap(struct plain_command *command, bool *is_searched, struct arena *arena, const char **ret_script);

/* Returns the script that a shell runs: the first word after the options if -c is among them, else NULL. An option
 * word with a pattern counts as -c; -o and -O, alone or joined to others, take the next word. */
const char *command_nested_script(const struct plain_command *command);

#endif
