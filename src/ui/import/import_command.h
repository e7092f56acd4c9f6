/* import_command.h — runs `codex import`, in codex-fleet; its command line is in ui/fleet/fleet_options.h. */
#ifndef UI_IMPORT_COMMAND_H
#define UI_IMPORT_COMMAND_H

int import_main(int argc, char **argv);

#endif
