/* command_wrapper.h — finds the program that a plain command runs: after sudo, env, nohup and similar programs, and in
 * the script of a nested shell.
 *
 * Only for the search for destructive commands: a wrapper that is not known hides its command, so this never shows
 * that a command is safe.
 *
 * Owns nothing. Thread: any. */
#ifndef COMMAND_COMMAND_WRAPPER_H
#define COMMAND_COMMAND_WRAPPER_H

#include "command/command_parse.h"

/* "git" or "rm" if the word is or could become the name of that program, else NULL. */
const char *command_judged_program(const struct command_word *word);

/* Skips wrappers, their options and assignments, up to the program that they run; none may be left (count 0). */
void command_skip_wrappers(struct plain_command *command);

/* The script of a shell, or NULL: the first word after the options if -c is among them. An option word with a pattern
 * counts as -c; -o and -O, alone or joined to others, take the next word. */
const char *command_nested_script(const struct plain_command *command);

#endif
