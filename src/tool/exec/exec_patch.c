/* A patch that arrives as a shell command is worth more as a patch: it is checked, shown and approved as
 * one, and cannot fail halfway. What is not certainly a patch runs as the command it is. */
#include "tool/exec/exec_patch.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "patch/patch_command.h"
#include "tool/patch/patch_run.h"

static char *folder_below(const char *base, struct str name)
{
	auto_free char *text = name.ptr ? str_dup(name) : xstrdup(".");
	auto_free char *joined = path_join(base, text);
	return path_normalize(joined);
}

bool exec_patch_intercept(struct tool_call *call, const char *const *argv, struct str workdir)
{
	VEC(struct str) words = {0};
	for (; *argv; argv++)
		vec_push(&words, str_of(*argv));
	struct patch_command command = patch_command_find(words.items, words.count);
	if (command.kind == PATCH_COMMAND_APPLY) {
		auto_free char *folder = folder_below(call->host->cwd, workdir);
		auto_free char *cwd = folder_below(folder, command.folder);
		patch_run_start(call, command.patch, cwd);
	} else if (command.kind == PATCH_COMMAND_BARE) {
		tool_call_finish(call, false, STR(PATCH_COMMAND_BARE_TEXT));
	}
	vec_finish(&words);
	return command.kind != PATCH_COMMAND_NONE;
}
