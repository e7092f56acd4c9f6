/* skill_brief.h — what the model is told of the skills there are: names, descriptions, files, how to use them.
 *
 * Never more than LIMIT_SKILL_LIST of list: descriptions are shortened first, then skills are counted instead of
 * listed. The same skills give the same text, so that a provider's cache keeps it.
 * Owns: nothing. Any thread. Source: core 7. */
#ifndef SKILL_SKILL_BRIEF_H
#define SKILL_SKILL_BRIEF_H

#include "base/buf.h"
#include "protocol/record/types.h"

/* What the list had no room for. */
struct skill_brief_cut {
	size_t shortened; /* descriptions */
	size_t left_out;  /* skills */
};

/* Appends nothing if no skill is enabled. */
struct skill_brief_cut skill_brief_write(const struct skills_list_entry *entry, struct buf *out);
/* What the model is given of a skill that was chosen: its file as it is. */
void skill_brief_write_file(const struct skill_metadata *skill, struct str content, struct buf *out);

#endif
