/* feature.h — the names of features: those of this program (feature.def) and those of codex 0.169 (feature_stage.def).
 *
 * All data is constant. Any thread. */
#ifndef CONFIG_FEATURE_H
#define CONFIG_FEATURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct config;

/* Returns the name at an index, or NULL after the last. The order is unspecified. */
const char *feature_name_at(size_t index);
bool feature_is_known(struct str name);
/* Returns "stable", "experimental", "under development", "deprecated" or "removed". The name must be known. */
const char *feature_stage(struct str name);
/* Returns what an experimental feature that has an effect in this version does; NULL for the others. */
const char *feature_about(struct str name);
/* True if the feature has an effect in this version and is on. */
bool feature_is_on(const struct config *config, struct str name);
/* True if this value of a known feature has no effect in this version, although a user could expect one. */
bool feature_is_idle(struct str name, bool value);

#endif
