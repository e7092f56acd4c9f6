/* The diff of a Task counts what patches did, not what commands did: it comes from what was written, and the files are
 * not read again (core 5). It is told after each patch and at the end of each Turn, so that a client that came late has
 * it, too. */
#include "engine/task/task.h"

#include "base/limits.h"
#include "engine/session/session.h"
#include "patch/patch_plan.h"

void task_emit_diff(struct task *task)
{
	auto_buf struct buf text;
	buf_init(&text, (size_t)8 * LIMIT_GIT_DIFF);
	git_diff_write(&task->diff, task->settings->cwd, &text);
	struct ev_turn_diff event = {.unified_diff = buf_str(&text)};
	if (text.len && !text.over)
		session_emit(task->session, task->id, EV_turn_diff, &event);
}

void task_note_patch(struct task *task, const struct patch_plan *plan)
{
	size_t count;
	const struct patch_change *changes = patch_plan_changes(plan, &count);
	for (size_t i = 0; i < count; i++) {
		struct str old = patch_change_old(&changes[i]);
		bool is_large = old.len > LIMIT_GIT_DIFF_FILE; /* left out anyway: its new text need not be made */
		struct git_diff_change change = {
			.path = changes[i].path,
			.move_path = changes[i].move_path,
			.old = old,
			.now = is_large ? old : patch_change_new(&changes[i]),
			.is_executable = patch_change_is_executable(&changes[i]),
			.overwritten = patch_change_overwritten(&changes[i]),
			.was_executable = patch_change_was_executable(&changes[i]),
		};
		git_diff_note(&task->diff, &change);
	}
	task_emit_diff(task);
}
