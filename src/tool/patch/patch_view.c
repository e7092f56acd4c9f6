/* Updates are told as hunks with one line of context (core 4.4), files that come or go in full. */
#include "tool/patch/patch_view.h"

#include "base/buf.h"
#include "base/limits.h"
#include "patch/patch_plan.h"

enum { DIFF_CONTEXT = 1 };

static void show_update(struct patch_view *view, const struct patch_change *change, struct file_change *ret)
{
	auto_buf struct buf diff;
	buf_init(&diff, (size_t)2 * LIMIT_PATCH_FILE);
	patch_change_diff(change, DIFF_CONTEXT, &diff);
	struct file_update *update = arena_new(&view->arena, struct file_update);
	update->unified_diff = arena_str(&view->arena, buf_str(&diff));
	update->move_path = str_of(change->move_path);
	*ret = (struct file_change){.tag = file_change_update, .update = update};
}

static void show(struct patch_view *view, const struct patch_change *change, struct file_change *ret)
{
	if (change->kind == PATCH_UPDATE) {
		show_update(view, change, ret);
	} else if (change->kind == PATCH_ADD) {
		struct file_add *add = arena_new(&view->arena, struct file_add);
		add->content = patch_change_new(change);
		*ret = (struct file_change){.tag = file_change_add, .add = add};
	} else {
		struct file_delete *gone = arena_new(&view->arena, struct file_delete);
		gone->content = patch_change_old(change);
		*ret = (struct file_change){.tag = file_change_delete, .delete = gone};
	}
}

void patch_view_init(struct patch_view *view, const struct patch_plan *plan)
{
	*view = (struct patch_view){0};
	const struct patch_change *changes = patch_plan_changes(plan, &view->count);
	view->paths = arena_array(&view->arena, struct str, view->count);
	view->changes = arena_array(&view->arena, struct file_change, view->count);
	for (size_t i = 0; i < view->count; i++) {
		view->paths[i] = str_of(changes[i].path);
		show(view, &changes[i], &view->changes[i]);
	}
}

void patch_view_finish(struct patch_view *view)
{
	arena_finish(&view->arena);
}
