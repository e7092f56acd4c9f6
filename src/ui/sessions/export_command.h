/* export_command.h — `codex export`: prints a recorded session for people or as JSON. */
#ifndef UI_EXPORT_COMMAND_H
#define UI_EXPORT_COMMAND_H

#include <stdbool.h>

#include "ui/cli/cli.h"

struct buf;

extern const struct cli_command export_command;
int export_main(int argc, char **argv);

/* Appends a session as Markdown or JSON. Blocks; any thread. */
must_check int export_write(const char *home, const char *path, bool is_json, struct buf *out, struct error *err);

#endif
