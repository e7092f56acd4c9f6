/* config_shape.h — checks the values within the tables that are read only when they are used, for every command:
 * [permissions], [marketplaces] and [tui]. */
#ifndef CONFIG_CONFIG_SHAPE_H
#define CONFIG_CONFIG_SHAPE_H

#include "base/arena.h"
#include "base/error.h"
#include "config/toml/toml.h"

/* Returns an error, with file and line, for the first value of a wrong type or out of range, and for unknown words.
 * Unknown members are left alone, because another version may know them, except where codex 0.169 refuses them. */
must_check int config_shape_check(const struct toml *tree, struct error *err);
/* Makes strings of all dates and times, in the arena, because codex 0.169 takes them where it reads text. No key is a
 * date. */
void config_shape_read_dates(struct toml *tree, struct arena *arena);

#endif
