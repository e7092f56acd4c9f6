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

/* Sorted by scope (repo, user, system, admin), name and path. cwd is echoed as given. */
struct skills_list_entry skill_scan(const struct skill_places *places, struct str cwd, struct arena *arena);
/* The skill of that path, links resolved, if it is enabled; else NULL. */
const struct skill_metadata *skill_find(const struct skills_list_entry *entry, struct str path);

#endif
