/* skill_look.h — skills of several folders, looked for by a worker.
 *
 * Owns: copies of what is asked, and what was found. Loop thread only; on_done never runs inside a call to this module.
 * Nothing fails: what cannot be read is an error in its entry. */
#ifndef SKILL_SKILL_LOOK_H
#define SKILL_SKILL_LOOK_H

#include "protocol/record/types.h"
#include "skill/skill_places.h"

struct loop;
struct skill_look;

/* One entry a folder, in the order asked; borrowed during the call. The look ends with it. */
typedef void (*skill_look_done_fn)(struct skills_list_entry *entries, size_t count, void *self);

struct skill_look *skill_look_start(struct loop *loop, const struct skill_places *places, const struct str *cwds,
                                    size_t count, skill_look_done_fn on_done, void *self);
/* on_done will not be called. NULL is fine. */
void skill_look_cancel(struct skill_look *look);

#endif
