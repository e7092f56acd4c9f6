/* The words come from this program alone; what the user or a file says is an argument. */
#include "ui/tui/tui_child.h"

#include <limits.h>
#include <unistd.h>

#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"
#include "ui/tui/tui_git.h"
#include "ui/tui/tui_limits.h"

struct tui_child {
	struct tui_git *run;
	char *name;
	unsigned wait_ms;
	tui_child_done_fn on_done;
	void *self;
};

static void destroy(struct tui_child *child)
{
	free(child->name);
	free(child);
}

/* A child that was killed at its limit, at the end of its time, or that could not be started, may have said nothing. */
static void on_end(struct str output, bool is_ok, void *self)
{
	struct tui_child *child = self;
	bool is_large = !is_ok && output.len > LIMIT_TUI_GIT_OUTPUT / 2;
	auto_free char *fault =
		is_large ? xasprintf("%s printed more than %d MiB", child->name, (int)(LIMIT_TUI_GIT_OUTPUT / MIB))
			 : xasprintf("%s did not end within %u s, or could not be started", child->name,
	                             child->wait_ms / 1000);
	bool has_words = is_ok || (!is_large && str_trim(output).len);
	child->on_done(has_words ? output : str_of(fault), is_ok, child->self);
	destroy(child);
}

/* After an upgrade the file of this process is gone: PATH leads to the new one. */
static const char *find_program(char path[PATH_MAX])
{
	bool is_there = host_program_path(path, PATH_MAX) && access(path, X_OK) == 0;
	return is_there ? path : "codex";
}

static struct tui_git *start(struct loop *loop, const char *cwd, struct tui_child *child,
                             const struct tui_child_call *call)
{
	char path[PATH_MAX];
	auto_free char *script = xasprintf("exec \"$2\" %s ${3:+\"$3\"}", call->words);
	struct tui_git_script what = {.text = script,
	                              .argument = find_program(path),
	                              .second = call->argument,
	                              .wait_ms = child->wait_ms,
	                              .is_strict = true};
	return tui_git_start(loop, cwd, &what, on_end, child);
}

struct tui_child *tui_child_start(struct loop *loop, const char *cwd, const struct tui_child_call *call,
                                  tui_child_done_fn on_done, void *self)
{
	struct tui_child *child = xnew(struct tui_child);
	const char *argument = call->argument ? call->argument : "";
	child->name = xasprintf("codex %s%s%s", call->words, *argument ? " " : "", argument);
	child->wait_ms = call->wait_ms ? call->wait_ms : LIMIT_TUI_GIT_MS;
	child->on_done = on_done;
	child->self = self;
	child->run = start(loop, cwd, child, call);
	return child;
}

const char *tui_child_name(const struct tui_child *child)
{
	return child->name;
}

void tui_child_cancel(struct tui_child *child)
{
	if (!child)
		return;
	tui_git_cancel(child->run);
	destroy(child);
}
