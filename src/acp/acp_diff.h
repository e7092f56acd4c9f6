/* acp_diff.h — the text of a file before and after a change, from its unified diff and the text that the file has now,
 * which may be either of the two.
 *
 * Owns: nothing; results live in the arena. Any thread. */
#ifndef ACP_ACP_DIFF_H
#define ACP_ACP_DIFF_H

#include "base/str.h"

struct acp_tool_content;
struct app_item_file_change;
struct arena;

/* Returns a diff for each file of a patch. Reads the files that were updated, up to LIMIT_ACP_DIFF_FILE each and
 * LIMIT_ACP_DIFFS together; blocks. If that fails, or the hunks fit in neither direction, the sides are the lines of
 * the hunks alone. */
struct acp_tool_content *acp_diff_of_patch(const struct app_item_file_change *patch, struct str cwd,
                                           struct arena *arena);

/* Returns the text of a file; STR_NONE if it is larger than LIMIT_ACP_DIFF_FILE, not text, or does not exist. Blocks.
 */
struct str acp_diff_read(const char *path, struct arena *arena);

#endif
