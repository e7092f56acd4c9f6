/* fleet_options.h — the command lines of `codex worker`, `codex fleet` and `codex import`, and the execution of
 * codex-fleet. The
 * program codex has the tables of its commands, for help and completion; codex-fleet has the rest. */
#ifndef UI_FLEET_OPTIONS_H
#define UI_FLEET_OPTIONS_H

#include "ui/cli/cli.h"

struct fleet_options {
	const char *redis, *namespace;
	/* of a worker */
	struct cli_list overrides;
	const char *wire_profile, *name, *max_sessions, *lease_ms, *idle_ms, *drain_ms, *max_crashes, *events_kept,
		*admin, *token_file;
	/* of a client */
	const char *session, *id, *op, *after, *task;
};

struct import_options {
	struct cli_list overrides; /* accepted without effect */
	const char *folder;
	bool applies;
	bool is_rpc; /* for the app-server */
};

extern const struct cli_command worker_command, fleet_command, import_command;

/* A line of the help of its commands. */
#define FLEET_DETAILS "This command is in the program codex-fleet (docs/install.md).\n"

/* The name by which codex calls codex-fleet. One of another version refuses, because the two speak of the same files.
 */
#define FLEET_PROGRAM "codex-fleet-" CODEX_VERSION

/* Executes codex-fleet with these words, the first of which names one of its commands. Returns an exit status if it
 * cannot be executed. It is beside the program, where a build puts it, in ../libexec/codex, where an installation does,
 * or in the folder that $CODEX_LIBEXEC names. */
int fleet_exec(const struct cli_command *command, int argc, char **argv);
/* The same, but the command's help is printed without codex-fleet. */
int fleet_run(const struct cli_command *command, int argc, char **argv);

#endif
