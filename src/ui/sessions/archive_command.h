/* archive_command.h — `codex archive`, `codex unarchive` and `codex delete`: what happens to a recorded session. */
#ifndef UI_ARCHIVE_COMMAND_H
#define UI_ARCHIVE_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command archive_command, unarchive_command, delete_command;

/* Return the exit status: 0; 1 if it failed; 2 for a wrong command line. */
int archive_main(int argc, char **argv);
int unarchive_main(int argc, char **argv);
int delete_main(int argc, char **argv);

enum session_work { SESSION_ARCHIVE, SESSION_UNARCHIVE, SESSION_DELETE };

/* Does this to the session with this id, under its lock. Blocks; any thread. */
must_check int session_do(enum session_work work, const char *home, const char *id, struct error *err);

#endif
