/* patch_run.h — a patch on its way through a Task: worked out, approved, committed, told. Private to tool/.
 *
 * The disk is touched on worker threads only. A patch either takes effect whole or leaves nothing (core 4.7).
 * Owns: the patch's text and its plan. Finishes the call. */
#ifndef TOOL_PATCH_RUN_H
#define TOOL_PATCH_RUN_H

#include "tool/tool.h"

/* Begins; relative names in the patch are below cwd. a call that is given up does not interrupt
 * what is being written right then. */
void patch_run_start(struct tool_call *call, struct str text, const char *cwd);

#endif
