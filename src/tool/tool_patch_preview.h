/* tool_patch_preview.h — what a patch changes as far as the model has written it. No file is read. */
#ifndef TOOL_TOOL_PATCH_PREVIEW_H
#define TOOL_TOOL_PATCH_PREVIEW_H

#include <stddef.h>

#include "base/arena.h"
#include "protocol/record/types.h"

/* Sets the changes, with texts in the arena, and returns the bytes of the text that they cover; 0 if nothing can be
 * shown yet. */
size_t tool_patch_preview(struct str text, struct arena *arena, struct ev_patch_updated *ret);

#endif
