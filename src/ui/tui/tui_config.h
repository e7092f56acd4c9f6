/* tui_config.h — [tui] of config.toml: the types of its keys, and their values. Loop thread only; keeps nothing. */
#ifndef UI_TUI_CONFIG_H
#define UI_TUI_CONFIG_H

#include <stdbool.h>

#include "base/error.h"

struct config;

/* Refuses a value of the wrong type (ERR_config); the error names its file and line. */
must_check int tui_config_check(const struct config *config, struct error *err);
/* Returns whether the key has this value; without the key false. Keys are such as "tui.animations". */
bool tui_config_is(const struct config *config, const char *key, bool value);
bool tui_config_is_word(const struct config *config, const char *key, const char *word);
/* Returns whether tui.notifications, true by default, names this kind. */
bool tui_config_wants(const struct config *config, const char *kind);

#endif
