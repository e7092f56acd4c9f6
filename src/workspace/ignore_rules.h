/* ignore_rules.h — one .gitignore file: what it says of a path.
 *
 * Owns: its patterns. Thread: any. Nothing here fails: a line that means nothing is passed over.
 * Source: gitignore(5). */
#ifndef WORKSPACE_IGNORE_RULES_H
#define WORKSPACE_IGNORE_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum ignore_verdict { IGNORE_SILENT, IGNORE_SKIP, IGNORE_KEEP };

struct ignore_rules;

struct ignore_rules *ignore_rules_create(struct str text);
void ignore_rules_destroy(struct ignore_rules *rules); /* NULL is fine */

/* path: relative to the folder of the file, without slashes at its ends. *steps is what matching may still cost, about
 * a step a character that is compared; at 0 nothing fits any more, and the file is silent. */
enum ignore_verdict ignore_rules_match(const struct ignore_rules *rules, struct str path, bool is_folder,
                                       size_t *steps);

#endif
