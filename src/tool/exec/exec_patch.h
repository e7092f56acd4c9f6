/* exec_patch.h — shell calls that are patches in disguise: `apply_patch <<'EOF' …` (core 4.7). Private to tool/. */
#ifndef TOOL_EXEC_PATCH_H
#define TOOL_EXEC_PATCH_H

#include "tool/tool.h"

/* True if argv is such a call: it is being handled as a patch, or was refused, and the tool must not run it.
 * workdir may be absent and is taken below the host's folder. */
bool exec_patch_intercept(struct tool_call *call, const char *const *argv, struct str workdir);

#endif
