/* mcp_words.h — the commands below `codex mcp`, and what they share. */
#ifndef UI_MCP_WORDS_H
#define UI_MCP_WORDS_H

#include "config/mcp_server.h"
#include "oauth/oauth_login.h"
#include "ui/cli/cli.h"

extern const struct cli_command mcp_list_command, mcp_get_command, mcp_add_command, mcp_remove_command,
	mcp_login_command, mcp_logout_command;

/* Each returns an exit status as mcp_main does. argv[0] is the command's word. */
int mcp_list_main(int argc, char **argv);
int mcp_get_main(int argc, char **argv);
int mcp_add_main(int argc, char **argv);
int mcp_remove_main(int argc, char **argv);
int mcp_login_main(int argc, char **argv);
int mcp_logout_main(int argc, char **argv);

/* The option -c of a command whose options struct has the list at this offset. */
#define MCP_CONFIG_OPTION(offset_)                                                                          \
	{                                                                                                   \
		.name = "config", .letter = 'c', .kind = CLI_LIST, .offset = offset_, .value = "key=value", \
		.doc = "Set a configuration value (TOML); repeatable"                                       \
	}

/* Loads the configuration with these values of -c; NULL and err. */
must_check struct config *mcp_config_load(const struct cli_list *overrides, struct error *err);
/* Prints an error; returns the exit status. */
int mcp_print_error(const struct error *err);
/* Prints that a positional is missing, or too many are given; returns the exit status. */
int mcp_print_usage(const struct cli_command *command, const char *text);

#define MCP_REGISTRATION_MISTAKE "--oauth-client-registration: expected auto, cimd or dcr"

/* Reads the value of --oauth-client-registration; NULL is auto. False for any other word. */
bool mcp_registration_find(const char *text, enum oauth_registration *ret);

/* Starts the login to a server that was added, if the server offers one; else prints why not. Returns the exit
 * status. */
int mcp_login_added(const struct cli_list *overrides, const char *name, enum oauth_registration kind);

#endif
