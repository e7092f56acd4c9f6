/* plugin_files.h — names of plugins, and folders of them that are cloned and removed. Blocks: for commands. */
#ifndef CONFIG_PLUGIN_FILES_H
#define CONFIG_PLUGIN_FILES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/* True for 1 to LIMIT_PLUGIN_NAME letters, digits, `-`, `_` and `.`, the first one a letter or digit. */
bool plugin_is_name(struct str name);
/* True for the URL of a git repository; anything else is a folder. */
bool plugin_is_url(const char *source);
/* Runs git in a folder (NULL: the current one) with these words, which end with NULL, without hooks, and with the
 * protocols of git and ssh alone. git prints its errors. */
must_check int plugin_git(const char *folder, const char *const *words, struct error *err);
/* Checks out the head of a clone, whose attributes name no filters of the user's git configuration. */
must_check int plugin_checkout(const char *folder, struct error *err);
/* Clones the last commit of a branch or tag, or of the default branch if ref is NULL. git prints its errors. */
must_check int plugin_clone(const char *url, const char *ref, const char *folder, struct error *err);
/* Removes the folder, without following links. */
must_check int plugin_remove_tree(const char *path, struct error *err);

#endif
