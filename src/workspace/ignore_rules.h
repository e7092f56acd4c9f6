/* ignore_rules.h — parses and matches the patterns of one .gitignore file, as gitignore(5) describes them.
 *
 * Owns: its patterns. Thread: any. No function fails: invalid lines are skipped. */
#ifndef WORKSPACE_IGNORE_RULES_H
#define WORKSPACE_IGNORE_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum ignore_verdict { IGNORE_SILENT, IGNORE_SKIP, IGNORE_KEEP };

struct ignore_rules;

struct ignore_rules *ignore_rules_create(struct str text);
void ignore_rules_destroy(struct ignore_rules *rules); /* NULL is fine */

/* path: relative to the folder of the file, without leading and trailing slashes. *steps is the budget, about one
 * step per compared character; at 0 no pattern matches any more. */
enum ignore_verdict ignore_rules_match(const struct ignore_rules *rules, struct str path, bool is_folder,
                                       size_t *steps);

#endif
