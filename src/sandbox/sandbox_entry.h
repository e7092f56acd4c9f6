/* sandbox_entry.h — the way into a sandbox: the program between the engine and a command that Landlock sandboxes in.
 *
 * The engine starts its own executable again with a hidden first argument; main() hands over before anything else
 * is done. The entry gives up what the command may not have, step by step, and then becomes the command: no process
 * stays between. Its own failures are told on standard error, exit status SANDBOX_ENTRY_FAILED.
 * An edge: it prints and exits. Source: core 16. */
#ifndef SANDBOX_SANDBOX_ENTRY_H
#define SANDBOX_SANDBOX_ENTRY_H

#include <stdbool.h>

#include "base/arena.h"

struct sandbox_plan;

enum { SANDBOX_ENTRY_FAILED = 125 };

/* The ways to keep a plan. */
struct sandbox_entry_how {
	bool has_mounts;         /* its own mount and IPC name spaces; without them the plan must be empty */
	bool has_user_namespace; /* which it takes unless one is privileged already */
	bool is_trial;           /* ends well instead of becoming a command */
};

/* True if this command line is the entry's. */
bool sandbox_entry_wants(int argc, char **argv);
void sandbox_entry_main(int argc, char **argv) __attribute__((noreturn));

/* A program whose main() asks sandbox_entry_wants says so once; others cannot be started again. */
void sandbox_entry_offer(void);
bool sandbox_entry_is_offered(void);

/* The command line that runs argv (NULL for a trial) as the plan says; in the arena. */
const char *const *sandbox_entry_argv(const struct sandbox_entry_how *how, const struct sandbox_plan *plan,
                                      const char *const *argv, struct arena *arena);
/* A word that sets a variable for the command, to be put after the first SANDBOX_ENTRY_ENV_AT of that line. */
enum { SANDBOX_ENTRY_ENV_AT = 3 };
const char *sandbox_entry_env(const char *name, const char *value, struct arena *arena);

#endif
