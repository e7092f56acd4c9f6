/* plugin_command.h — `codex plugin`: adds, lists and removes the folders that config/plugin.h uses. Those of
 * marketplaces are the matter of codex-fleet, which gets the same words (ui/market). */
#ifndef UI_PLUGIN_COMMAND_H
#define UI_PLUGIN_COMMAND_H

#include "ui/cli/cli.h"

struct json_writer;
struct plugin;

struct plugin_options {
	struct cli_list overrides; /* accepted without effect */
	const char *ref;
	bool is_json, lists_available;
};

extern const struct cli_command plugin_command;
int plugin_main(int argc, char **argv);
/* Writes the array of plugins that `codex plugin list --json` prints. */
void plugin_write_installed(const struct plugin *list, size_t count, struct json_writer *w);

#endif
