/* doctor_command.h — `codex doctor`: does it all work here, and if not, why? */
#ifndef UI_DOCTOR_COMMAND_H
#define UI_DOCTOR_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command doctor_command;

/* Exit status: 0, also with warnings; 1 if something fails; 2 for a wrong command line. */
int doctor_main(int argc, char **argv);

#endif
