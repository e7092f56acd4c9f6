/* plugin_command.h — `codex plugin`: adds, lists and removes the folders that config/plugin.h uses. Those of
 * marketplaces are the matter of codex-fleet, which gets the same words (ui/market). */
#ifndef UI_PLUGIN_COMMAND_H
#define UI_PLUGIN_COMMAND_H

#include "ui/cli/cli.h"

struct arena;
struct json_writer;
struct plugin;

struct plugin_options {
	struct cli_list overrides; /* accepted without effect */
	struct cli_list sparse;
	const char *ref, *market;
	bool is_json, lists_available, is_rpc;
};

extern const struct cli_command plugin_command;
int plugin_main(int argc, char **argv);
/* Writes a plugin that belongs to no marketplace, as `codex plugin list --json` shows it. */
void plugin_write_linked(const struct plugin *plugin, struct arena *arena, struct json_writer *w);

#endif
