/* market_command.h — the part of `codex plugin` that concerns marketplaces, in codex-fleet; its command line is that of
 * ui/tools/plugin_command.h. */
#ifndef UI_MARKET_COMMAND_H
#define UI_MARKET_COMMAND_H

int market_main(int argc, char **argv);

#endif
