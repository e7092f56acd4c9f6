/* skill_mention.h — which skills a text names: $name, or [$name](path of its SKILL.md).
 *
 * Owns: nothing. Any thread. Source: core 7, plan-skills-questions 5. */
#ifndef SKILL_SKILL_MENTION_H
#define SKILL_SKILL_MENTION_H

#include "protocol/record/types.h"

typedef void (*skill_mention_fn)(const struct skill_metadata *skill, void *self);

/* Calls on_mention for each enabled skill that the text names, in its order, repetitions included. A name that two
 * enabled skills have names none; words like $PATH are the shell's, whatever skills are called. */
void skill_mention_each(const struct skills_list_entry *entry, struct str text, skill_mention_fn on_mention,
                        void *self);

#endif
