/* config_shape.h — checks the types within the tables that are read only when they are used: [permissions],
 * [marketplaces] and [tui.presets]. */
#ifndef CONFIG_CONFIG_SHAPE_H
#define CONFIG_CONFIG_SHAPE_H

#include "base/error.h"
#include "config/toml/toml.h"

/* Returns an error, with file and line, for the first value of a wrong type. Unknown members are left to those who use
 * the table. */
must_check int config_shape_check(const struct toml *tree, struct error *err);

#endif
