/* config_key.h — the names of keys in [tui.keymap], like "ctrl-t" or "page-up". */
#ifndef CONFIG_CONFIG_KEY_H
#define CONFIG_CONFIG_KEY_H

#include <stdbool.h>

#include "base/str.h"

enum { CONFIG_KEY_ctrl = 1, CONFIG_KEY_alt = 2, CONFIG_KEY_shift = 4, CONFIG_KEY_super = 8 };

struct config_key {
	unsigned mods;
	char name[12]; /* a character, or a name in small letters without hyphens: "pageup" */
};

/* Reads the name of a key. False: the key is unknown. Capital letters, hyphens and underscores do not matter, except
 * for a single character. */
bool config_key_read(struct str text, struct config_key *ret);

#endif
