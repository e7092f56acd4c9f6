/* config_inert.h — keys of config.toml that have no effect: unknown ones, and those that this version only accepts.
 * Errors: ERR_config. */
#ifndef CONFIG_CONFIG_INERT_H
#define CONFIG_CONFIG_INERT_H

#include <stdbool.h>

#include "config/config_layer.h"
#include "config/config_record.h"

struct buf;

/* Takes what codex 0.169 knows off the list of unknown keys. */
void config_unknown_sort(struct config_binder *binder);
/* Adds the features that are set to a value without effect to the keys without effect. */
void config_inert_features(struct config_binder *binder, const struct toml *features);
/* Names the first unknown key in an error; 0: none. For --strict-config. */
must_check int config_unknown_refuse(const struct config_binder *binder, struct error *err);
/* Adds a warning for each source with unknown keys. */
void config_unknown_warn(const struct config_binder *binder, struct config_layers *layers);

/* Appends a sentence that names those of the keys (config_inert) that were not named before, and remembers them in
 * HOME/inert_keys. False: all were named, or they cannot be remembered. Blocks for one small file. */
bool config_inert_report(const char *home, const char *const *keys, size_t count, struct buf *out);

#endif
