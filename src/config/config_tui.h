/* config_tui.h — [tui] of config.toml: the types, words and ranges of its keys, and their values. Loop thread only;
 * keeps nothing. */
#ifndef CONFIG_CONFIG_TUI_H
#define CONFIG_CONFIG_TUI_H

#include <stdbool.h>

#include "base/error.h"

struct toml;

/* Refuses a value of the wrong type or out of range, and an unknown word (ERR_config); the error names its file and
 * line. tui: the table, or NULL. */
must_check int config_tui_check(const struct toml *tui, struct error *err);
/* Returns whether a value is there and is this one. */
bool config_tui_is(const struct toml *value, bool expected);
bool config_tui_is_word(const struct toml *value, const char *word);
/* Returns whether tui.notifications, true if it is not there, names this kind. */
bool config_tui_wants(const struct toml *notifications, const char *kind);

#endif
