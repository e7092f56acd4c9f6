/* sandbox_entry.h — the program that sets up a Landlock sandbox and then becomes the command.
 *
 * The engine starts its own executable again with a hidden first argument, and main() calls sandbox_entry_main before
 * anything else. The entry gives up privileges step by step and then executes the command, so no process stays
 * between. It reports its own failures on standard error with exit status SANDBOX_ENTRY_FAILED. It is an edge: it
 * prints and exits. */
#ifndef SANDBOX_SANDBOX_ENTRY_H
#define SANDBOX_SANDBOX_ENTRY_H

#include <stdbool.h>

#include "base/arena.h"

struct sandbox_plan;

enum { SANDBOX_ENTRY_FAILED = 125 };

/* The means by which a plan is enforced. */
struct sandbox_entry_how {
	bool has_mounts;         /* mount and IPC name spaces; without them the plan must be empty */
	bool has_user_namespace; /* created unless the process is privileged */
	bool is_trial;           /* exits with 0 instead of executing a command */
};

/* True if this is the command line of the entry. */
bool sandbox_entry_wants(int argc, char **argv);
void sandbox_entry_main(int argc, char **argv) __attribute__((noreturn));

/* A program whose main() checks sandbox_entry_wants calls this once; other programs cannot be started again. */
void sandbox_entry_offer(void);
bool sandbox_entry_is_offered(void);

/* The command line that runs argv (NULL for a trial) under the plan; in the arena. */
const char *const *sandbox_entry_argv(const struct sandbox_entry_how *how, const struct sandbox_plan *plan,
                                      const char *const *argv, struct arena *arena);
/* A word that sets a variable for the command. Insert it after the first SANDBOX_ENTRY_ENV_AT words of that line. */
enum { SANDBOX_ENTRY_ENV_AT = 3 };
const char *sandbox_entry_env(const char *name, const char *value, struct arena *arena);

#endif
