/* skill_brief.h — writes the part of the preamble that lists the skills: names, descriptions, files, instructions.
 *
 * The list has at most LIMIT_SKILL_LIST bytes: descriptions are shortened first, then skills are counted instead of
 * listed. The same skills yield the same text, so that the provider's prompt cache hits. Owns: nothing. Any thread. */
#ifndef SKILL_SKILL_BRIEF_H
#define SKILL_SKILL_BRIEF_H

#include "base/buf.h"
#include "protocol/record/types.h"

/* Counts of what the list omits. */
struct skill_brief_cut {
	size_t shortened; /* number of shortened descriptions */
	size_t left_out;  /* number of omitted skills */
};

/* Writes the list; nothing if no skill is enabled. */
struct skill_brief_cut skill_brief_write(const struct skills_list_entry *entry, struct buf *out);
/* Appends the message for a skill that was chosen: its unchanged file. */
void skill_brief_write_file(const struct skill_metadata *skill, struct str content, struct buf *out);

#endif
