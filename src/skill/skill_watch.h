/* skill_watch.h — reports that the skills of a folder may have changed, so that lists can be refreshed.
 *
 * It watches the folders that contain skills, the folders of the skills, and the parents of missing ones. Changes
 * are collected for LIMIT_SKILL_HOLD_MS; a change in a parent is reported if the missing folder exists by then. A
 * report is a hint; the receiver scans again. Changes are missed in folders beyond LIMIT_SKILL_WATCHES, and if the
 * system has no watches left. Owns: the watches. Borrows: the loop. Loop thread only; on_change never runs inside a
 * call to this module. */
#ifndef SKILL_SKILL_WATCH_H
#define SKILL_SKILL_WATCH_H

#include "protocol/record/types.h"
#include "skill/skill_places.h"

struct loop;
struct skill_watch;

typedef void (*skill_watch_change_fn)(void *self);

/* entry: the result of the last scan; borrowed during the call. */
struct skill_watch *skill_watch_create(struct loop *loop, const struct skill_places *places,
                                       const struct skills_list_entry *entry, skill_watch_change_fn on_change,
                                       void *self);
void skill_watch_destroy(struct skill_watch *watch); /* NULL is a no-op */

#endif
