/* A session moves to another folder between turns; its files, skills and mentions are those of the new one. /worktree
 * makes that folder, as `codex --worktree` does. */
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "ui/exec/exec_worktree.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_git.h"
#include "ui/tui/tui_priv.h"

void on_slash_pwd(struct tui *tui, struct str text)
{
	(void)text;
	tui_cells_note(tui->cells, str_of(tui->cwd));
}

static void go_to(struct tui *tui, const char *path)
{
	struct op_override_turn_context op = {.cwd = str_of(path)};
	tui_submit(tui, OP_override_turn_context, &op);
	tui_complete_finish(tui); /* its files are those of the old folder */
	tui_cells_set_folder(tui->cells, path);
	free(tui->cwd);
	tui->cwd = xstrdup(path);
	tui_ask_skills(tui, true);
}

char *tui_expand_home(struct str path)
{
	const char *home = config_env("HOME");
	bool is_home = home && (str_is(path, "~") || str_has_prefix(path, "~/"));
	return is_home ? xasprintf("%s%.*s", home, STR_ARG(str_skip(path, 1))) : str_dup(path);
}

void on_slash_cd(struct tui *tui, struct str text)
{
	auto_free char *name = tui_expand_home(text.len ? text : STR("."));
	auto_free char *joined = path_join(tui->cwd, name);
	auto_free char *path = realpath(joined, NULL);
	if (!path || !dir_exists(path)) {
		auto_buf struct buf fault;
		buf_init(&fault, LIMIT_PROMPT);
		buf_printf(&fault, "/cd: there is no folder %s", joined);
		tui_cells_fail(tui->cells, fault.over ? STR("/cd: there is no such folder") : buf_str(&fault));
		return;
	}
	go_to(tui, path);
	on_slash_pwd(tui, STR(""));
}

/* ---- a checkout ---- */

enum { CHECKOUT_WAIT_MS = 10 * 60 * 1000 };

struct checkout {
	struct tui *tui;
	struct tui_git *git;
	char *root, *folder; /* of the repository, and of the work tree; owned */
};

static void finish(struct checkout *checkout)
{
	checkout->tui->checkout = NULL;
	free(checkout->root);
	free(checkout->folder);
	free(checkout);
}

/* The session is where it was when the checkout began, or in a folder that /cd has chosen since. */
static void enter(struct checkout *checkout, struct buf *note)
{
	struct tui *tui = checkout->tui;
	bool is_there = path_is_inside(tui->cwd, checkout->root);
	auto_free char *inside =
		is_there ? exec_worktree_inside(tui->cwd, checkout->root, checkout->folder) : xstrdup(checkout->folder);
	go_to(tui, inside);
	buf_printf(note,
	           "%s\nA checkout of HEAD; the files of %s stay as they are. To remove it: git worktree remove %s",
	           inside, checkout->root, checkout->folder);
	tui_cells_note(tui->cells, buf_str(note));
}

static void on_made(struct str output, bool is_ok, void *self)
{
	struct checkout *checkout = self;
	struct tui *tui = checkout->tui;
	auto_buf struct buf note;
	buf_init(&note, LIMIT_LINE);
	if (is_ok) {
		enter(checkout, &note);
	} else {
		struct str words = str_trim(output.len < ERROR_TEXT_MAX ? output : str_n(output.ptr, ERROR_TEXT_MAX));
		buf_printf(&note, "/worktree: git could not make %s: %.*s", checkout->folder,
		           STR_ARG(words.len ? words : STR("it did not end in 10 minutes, or is not installed")));
		tui_cells_fail(tui->cells, buf_str(&note));
	}
	finish(checkout);
	tui_frame_change(tui->frame);
}

/* Ends with 2 where git ends with 1, which is a success for tui_git.h. */
static void make(struct tui *tui, char *root, char *folder)
{
	const struct tui_git_script script = {
		.text = "$GIT -c core.hooksPath=/dev/null worktree add --quiet --detach \"$2\" HEAD 2>&1 || exit 2",
		.argument = folder,
		.wait_ms = CHECKOUT_WAIT_MS,
	};
	struct checkout *checkout = xnew(struct checkout);
	*checkout = (struct checkout){.tui = tui, .root = root, .folder = folder};
	checkout->git = tui_git_start(tui->loop, root, &script, on_made, checkout);
	tui->checkout = checkout;
	tui_cells_note(tui->cells, STR("Checking out HEAD…"));
}

void on_slash_worktree(struct tui *tui, struct str text)
{
	struct error err;
	char *root, *folder;
	(void)text;
	if (tui_attach_refuses(tui))
		return;
	if (tui->checkout) {
		tui_cells_fail(tui->cells, STR("/worktree: a checkout is being made"));
		return;
	}
	folder = exec_worktree_choose(tui->cwd, &root, &err);
	if (folder)
		make(tui, root, folder);
	else
		tui_cells_fail(tui->cells, str_of(err.text));
}

void tui_folder_leave(struct tui *tui)
{
	if (!tui->checkout)
		return;
	tui_git_cancel(tui->checkout->git);
	finish(tui->checkout);
}
