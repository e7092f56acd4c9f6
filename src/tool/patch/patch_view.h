/* patch_view.h — a patch's changes as events show them: path to add, delete or update. Private to tool/.
 * Owns: the diffs. Borrows: the plan, whose contents the view points into. */
#ifndef TOOL_PATCH_VIEW_H
#define TOOL_PATCH_VIEW_H

#include "base/arena.h"
#include "protocol/record/types.h"

struct patch_plan;

struct patch_view {
	/* read-only */
	struct str *paths;
	struct file_change *changes;
	size_t count;
	/* private */
	struct arena arena;
};

void patch_view_init(struct patch_view *view, const struct patch_plan *plan);
void patch_view_finish(struct patch_view *view);

#endif
