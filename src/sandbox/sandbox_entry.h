/* sandbox_entry.h — the program that sets up a Landlock sandbox and then becomes the command.
 *
 * The engine starts its own executable again with a hidden first argument, and main() calls sandbox_entry_main
 * before anything else. The entry gives up privileges step by step and then executes the command, so no process
 * remains between engine and command. It reports its own failures on standard error and exits with
 * SANDBOX_ENTRY_FAILED. */
#ifndef SANDBOX_SANDBOX_ENTRY_H
#define SANDBOX_SANDBOX_ENTRY_H

#include <stdbool.h>

#include "base/arena.h"

struct sandbox_plan;

enum { SANDBOX_ENTRY_FAILED = 125 };

/* How a plan is enforced. */
struct sandbox_entry_how {
	bool has_mounts;         /* use mount and IPC namespaces; without them the plan must be empty */
	bool has_user_namespace; /* create a user namespace unless the process is privileged */
	bool is_trial;           /* exit with 0 instead of executing a command */
};

/* True if this is the command line of the entry. */
bool sandbox_entry_wants(int argc, char **argv);
void sandbox_entry_main(int argc, char **argv) __attribute__((noreturn));

/* To be called once by programs whose main() checks sandbox_entry_wants; the entry cannot be used with other
 * programs. */
void sandbox_entry_offer(void);
bool sandbox_entry_is_offered(void);

/* Returns the command line that runs argv (NULL for a trial) under the plan; allocated in the arena. */
const char *const *sandbox_entry_argv(const struct sandbox_entry_how *how, const struct sandbox_plan *plan,
                                      const char *const *argv, struct arena *arena);
/* Returns a word that sets a variable for the command. Insert it after the first SANDBOX_ENTRY_ENV_AT words of the
 * command line. */
enum { SANDBOX_ENTRY_ENV_AT = 3 };
const char *sandbox_entry_env(const char *name, const char *value, struct arena *arena);

#endif
