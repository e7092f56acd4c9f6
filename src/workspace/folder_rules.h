/* folder_rules.h — what the ignore files of a folder, and of those above it, exclude.
 *
 * Immutable once made. Thread: any. No function fails: files that cannot be read have no rules. */
#ifndef WORKSPACE_FOLDER_RULES_H
#define WORKSPACE_FOLDER_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum rules_file { RULES_ignore, RULES_gitignore, RULES_exclude, RULES_FILES };

struct folder_rules;

/* Reads the files of the open folder that `files` names (a bit for each). `above` is borrowed. at: where paths relative
 * to the folder start in the paths that are matched. NULL if none of the files exists. on_open: a file was opened. */
struct folder_rules *folder_rules_read(int folder, unsigned files, const struct folder_rules *above, size_t at,
                                       void (*on_open)(int fd, void *self), void *self);
void folder_rules_destroy(struct folder_rules *rules); /* NULL is fine */

/* Returns the file of that name, or RULES_FILES. */
enum rules_file folder_rules_find(const char *name);
/* The path of such a file below its folder. */
const char *folder_rules_name(enum rules_file file);

/* The deepest folder that says something about the path decides. For *steps see ignore_rules_match. */
bool folder_rules_ignore(const struct folder_rules *rules, struct str path, bool is_folder, size_t *steps);

#endif
