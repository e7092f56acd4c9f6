/* skill_scan.h — finds the skills that are available in a working folder, and those that a text mentions.
 *
 * Searches breadth first, at most LIMIT_SKILL_DEPTH levels and LIMIT_SKILL_FOLDERS folders per root. Links to folders
 * are followed (except in system folders); each folder is visited once, so that cyclic links end. An invalid file is an
 * error of its own and does not hide other skills.
 *
 * Owns: nothing; results live in the caller's arena. Blocks for file access: use it on a worker, or where a few
 * milliseconds do not matter. Any thread. */
#ifndef SKILL_SKILL_SCAN_H
#define SKILL_SKILL_SCAN_H

#include "base/arena.h"
#include "protocol/record/types.h"
#include "skill/skill_places.h"

struct loop;
struct skill_scan_job;

/* Lists the skills, sorted by scope (repo, user, system, admin), name and path. cwd is copied as given. */
struct skills_list_entry skill_scan(const struct skill_places *places, struct str cwd, struct arena *arena);
/* Returns the skill with that path (links resolved) if it is enabled, otherwise NULL. */
const struct skill_metadata *skill_find(const struct skills_list_entry *entry, struct str path);

/* ---- mentions: $name, or [$name](path of its SKILL.md) ---- */

typedef void (*skill_mention_fn)(const struct skill_metadata *skill, void *self);

/* Calls on_mention for each mention of an enabled skill, in order. An ambiguous name is ignored, and so are environment
 * variables of shells such as $PATH. */
void skill_mention_each(const struct skills_list_entry *entry, struct str text, skill_mention_fn on_mention,
                        void *self);

/* ---- scans on a worker ---- */

/* entries: one for each folder, in the order of the request, borrowed during the call. This is the last call of the
 * job. */
typedef void (*skill_scan_done_fn)(struct skills_list_entry *entries, size_t count, void *self);
/* Scans several folders on a worker thread; places and cwds are copied. on_done is called on the loop's thread, never
 * inside a call of this module. A scan does not fail: an unreadable folder is an error in its entry. Loop thread. */
struct skill_scan_job *skill_scan_start(struct loop *loop, const struct skill_places *places, const struct str *cwds,
                                        size_t count, skill_scan_done_fn on_done, void *self);
/* Cancels the job: on_done will not be called. NULL is fine. */
void skill_scan_cancel(struct skill_scan_job *job);

#endif
