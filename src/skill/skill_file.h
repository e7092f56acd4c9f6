/* skill_file.h — reads a SKILL.md and its agents/openai.yaml, which has further data for lists.
 *
 * Owns: nothing; results live in the caller's arena. Blocks: files are read. Any thread. Errors: texts that lists show
 * ("missing YAML frontmatter delimited by ---", …). */
#ifndef SKILL_SKILL_FILE_H
#define SKILL_SKILL_FILE_H

#include "base/arena.h"
#include "base/error.h"
#include "protocol/record/types.h"

/* Fills all fields but `enabled`; path must be absolute. Errors in agents/openai.yaml are ignored, since a list does
 * not need it. */
must_check int skill_file_read(const char *path, enum skill_scope scope, struct arena *arena,
                               struct skill_metadata *ret, struct error *err);

#endif
