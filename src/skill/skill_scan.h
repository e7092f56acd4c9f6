/* skill_scan.h — the skills that somebody who works in a folder has.
 *
 * Looks into folders breadth first, at most LIMIT_SKILL_DEPTH deep and into LIMIT_SKILL_FOLDERS of each root; links to
 * folders are followed (not among the system's), a folder is looked into once, so that no ring of links is walked
 * twice. A file that is no skill is an error of its own and hides none of the others.
 *
 * Owns: nothing; what is found lives in the caller's arena. Blocks: for a worker, or for who can wait a few
 * milliseconds. Any thread. Source: core 7, plan-skills-questions 4. */
#ifndef SKILL_SKILL_SCAN_H
#define SKILL_SKILL_SCAN_H

#include "base/arena.h"
#include "protocol/record/types.h"
#include "skill/skill_places.h"

struct loop;
struct skill_scan_job;

/* Sorted by scope (repo, user, system, admin), name and path. cwd is echoed as given. */
struct skills_list_entry skill_scan(const struct skill_places *places, struct str cwd, struct arena *arena);
/* The skill of that path, links resolved, if it is enabled; else NULL. */
const struct skill_metadata *skill_find(const struct skills_list_entry *entry, struct str path);

/* One entry for each folder, in the order of the request; borrowed during the call, which is the last of the job. */
typedef void (*skill_scan_done_fn)(struct skills_list_entry *entries, size_t count, void *self);
/* Scans for several folders on a worker thread; places and cwds are copied. on_done is called on the loop's thread,
 * never inside a call of this module. A scan does not fail: what cannot be read is an error in its entry. Loop thread.
 */
struct skill_scan_job *skill_scan_start(struct loop *loop, const struct skill_places *places, const struct str *cwds,
                                        size_t count, skill_scan_done_fn on_done, void *self);
/* on_done will not be called. NULL is fine. */
void skill_scan_cancel(struct skill_scan_job *job);

#endif
