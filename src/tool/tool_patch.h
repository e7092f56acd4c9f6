/* tool_patch.h — applies a patch for a call: planned, approved, committed, reported. Private to tool/.
 *
 * Only worker threads read and write files. A patch that fails is undone; an undo that fails is reported.
 * Owns: the patch's text and its plan. Finishes the call. */
#ifndef TOOL_TOOL_PATCH_H
#define TOOL_TOOL_PATCH_H

#include "tool/tool.h"

/* True if argv is a patch, such as `apply_patch <<'EOF' …`: it was then applied as a patch, or the call was refused,
 * and the tool must not run it. workdir may be STR_NONE; a relative one is resolved against the host's folder. */
bool tool_patch_intercept(struct tool_call *call, const char *const *argv, struct str workdir);

#endif
