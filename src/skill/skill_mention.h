/* skill_mention.h — finds the skills that a text mentions: $name, or [$name](path of its SKILL.md).
 *
 * Owns: nothing. Any thread. */
#ifndef SKILL_SKILL_MENTION_H
#define SKILL_SKILL_MENTION_H

#include "protocol/record/types.h"

typedef void (*skill_mention_fn)(const struct skill_metadata *skill, void *self);

/* Calls on_mention for each mention of an enabled skill, in order. An ambiguous name is ignored, and so are environment
 * variables of shells such as $PATH. */
void skill_mention_each(const struct skills_list_entry *entry, struct str text, skill_mention_fn on_mention,
                        void *self);

#endif
