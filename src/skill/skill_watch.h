/* skill_watch.h — tells when the skills of a folder may have changed, so that whoever showed a list shows it again.
 *
 * Watched are the folders that hold skills, each skill's own, and where such a folder is not there yet, the one that it
 * would appear in. Changes are gathered for LIMIT_SKILL_HOLD_MS. A hint: who gets it looks anew. Beyond
 * LIMIT_SKILL_WATCHES folders, and where the system has no watches left, changes go unnoticed.
 * Owns: the watches. Borrows: the loop. Loop thread only; on_change never runs inside a call to this module. */
#ifndef SKILL_SKILL_WATCH_H
#define SKILL_SKILL_WATCH_H

#include "protocol/record/types.h"
#include "skill/skill_places.h"

struct loop;
struct skill_watch;

typedef void (*skill_watch_change_fn)(void *self);

/* entry: as it was found; borrowed during the call. */
struct skill_watch *skill_watch_create(struct loop *loop, const struct skill_places *places,
                                       const struct skills_list_entry *entry, skill_watch_change_fn on_change,
                                       void *self);
void skill_watch_destroy(struct skill_watch *watch); /* NULL is fine */

#endif
