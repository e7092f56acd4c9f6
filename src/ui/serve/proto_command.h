/* proto_command.h — `codex proto`: the event protocol on standard streams, or for many clients with --listen. */
#ifndef UI_PROTO_COMMAND_H
#define UI_PROTO_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command proto_command;

int proto_main(int argc, char **argv);
/* In codex-fleet: serves HTTP. */
int proto_http_main(int argc, char **argv);

#endif
