/* skill_file.h — one SKILL.md, and what agents/openai.yaml beside it adds for lists.
 *
 * Owns: nothing; what is read lives in the caller's arena. Blocks: files are read. Any thread.
 * Errors: the words that lists show to the user ("missing YAML frontmatter delimited by ---", …). Source: core 7. */
#ifndef SKILL_SKILL_FILE_H
#define SKILL_SKILL_FILE_H

#include "base/arena.h"
#include "base/error.h"
#include "protocol/record/types.h"

/* path: absolute. Fills everything but `enabled`. What is wrong with agents/openai.yaml is left out in silence: a list
 * can do without it. */
must_check int skill_file_read(const char *path, enum skill_scope scope, struct arena *arena,
                               struct skill_metadata *ret, struct error *err);

#endif
