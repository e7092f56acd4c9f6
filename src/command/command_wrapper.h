/* command_wrapper.h — finds the program that a plain command runs: after sudo, env, nohup and similar programs, and
 * in the script of a nested shell.
 *
 * Used only to find destructive commands: an unknown wrapper hides its command, so this cannot prove that a command
 * is safe.
 *
 * Owns nothing. Thread: any. */
#ifndef COMMAND_COMMAND_WRAPPER_H
#define COMMAND_COMMAND_WRAPPER_H

#include "command/command_parse.h"

/* Returns "git" or "rm" if the word is or could become the name of that program, else NULL. */
const char *command_judged_program(const struct command_word *word);

/* Skips wrappers, with their options and assignments, up to the program that they run. Without a program the count
 * becomes 0. */
void command_skip_wrappers(struct plain_command *command);

/* Returns the script that a shell runs: the first word after the options if -c is among them, else NULL. An option
 * word with a pattern counts as -c; -o and -O, alone or joined to others, take the next word. */
const char *command_nested_script(const struct plain_command *command);

#endif
