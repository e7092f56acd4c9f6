/* plugin_files.h — names of plugins, and the removal of folders of any depth. */
#ifndef CONFIG_PLUGIN_FILES_H
#define CONFIG_PLUGIN_FILES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/* True for 1 to LIMIT_PLUGIN_NAME letters, digits, `-`, `_` and `.`, the first one a letter or digit. */
bool plugin_is_name(struct str name);
/* True for the URL of a git repository; anything else is a folder. */
bool plugin_is_url(const char *source);
/* Removes the folder, without following links. */
must_check int plugin_remove_tree(const char *path, struct error *err);

#endif
