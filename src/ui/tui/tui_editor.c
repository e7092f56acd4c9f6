/* The text goes to a temporary file that only the user can read; the editor gets the terminal as the shell left it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "loop/child.h"
#include "term/term_tty.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_priv.h"

extern char **environ;

enum { EDITED_MAX = 1 * MIB };

struct tui_editor {
	struct child *child;
	char *path;
};

static void fail(struct tui *tui, const char *what, const char *why)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	buf_printf(&text, "%s: %s", what, why);
	tui_cells_fail(tui->cells, buf_str(&text));
}

static void take_text(struct tui *tui)
{
	auto_buf struct buf text;
	struct error err;
	buf_init(&text, EDITED_MAX);
	if (file_read_regular(tui->editor->path, &text, &err) != 0)
		fail(tui, "The editor's text was not read, so the draft is unchanged", err.text);
	else
		composer_set(&tui->composer, str_trim_end(buf_str(&text)));
}

void tui_editor_finish(struct tui *tui)
{
	if (!tui->editor)
		return;
	best_effort(unlink(tui->editor->path));
	child_destroy(tui->editor->child);
	free(tui->editor->path);
	free(tui->editor);
	tui->editor = NULL;
}

static void on_exit_of_editor(int wait_status, void *self)
{
	struct tui *tui = self;
	if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0)
		take_text(tui);
	else
		fail(tui, "The editor failed, so the draft is unchanged", "set $VISUAL or $EDITOR to another one");
	tui_editor_finish(tui);
	tui_frame_pause(tui->frame, false);
	term_tty_reclaim(tui->tty);
}

/* Returns the path of a new file with the draft; NULL and err. */
static char *write_draft(const struct tui *tui, struct error *err)
{
	const char *folder = config_env("TMPDIR");
	auto_free char *path = xasprintf("%s/codex-draft-XXXXXX.md", folder && *folder ? folder : "/tmp");
	struct str text = composer_text(&tui->composer);
	auto_close int fd = mkstemps(path, 3);
	if (fd < 0) {
		error_sys(err, errno, "a file for the editor cannot be created as %s", path);
		return NULL;
	}
	if ((tui->composer.is_shell && fd_write_all(fd, "!", 1, err) != 0) ||
	    fd_write_all(fd, text.ptr, text.len, err) != 0) {
		best_effort(unlink(path));
		return NULL;
	}
	return steal(path);
}

/* The editor may be a command with options, so a shell reads it. Its signals have their default actions. */
static int spawn(const char *editor, const char *path, pid_t *ret_pid)
{
	auto_free char *script = xasprintf("%s \"$1\"", editor);
	const char *argv[] = {"sh", "-c", script, "sh", path, NULL};
	posix_spawnattr_t attributes;
	sigset_t all, none;
	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	int sys = posix_spawnp(ret_pid, "sh", NULL, &attributes, (char *const *)argv, environ);
	posix_spawnattr_destroy(&attributes);
	return sys;
}

static const char *wished_editor(void)
{
	const char *visual = config_env("VISUAL"), *editor = config_env("EDITOR");
	return visual && *visual ? visual : editor && *editor ? editor : NULL;
}

void tui_editor_open(struct tui *tui)
{
	struct error err;
	pid_t pid = 0;
	const char *editor = wished_editor();
	if (!editor) {
		tui_cells_fail(tui->cells, STR("no editor is set: set $VISUAL or $EDITOR"));
		return;
	}
	if (tui->editor)
		return;
	char *path = write_draft(tui, &err);
	if (!path) {
		fail(tui, "The editor was not started", err.text);
		return;
	}
	tui->editor = xnew(struct tui_editor);
	tui->editor->path = path;
	tui_frame_leave(tui->frame);
	tui_frame_pause(tui->frame, true);
	term_tty_lend(tui->tty);
	int sys = spawn(editor, path, &pid);
	tui->editor->child = sys == 0 ? child_create(tui->loop, pid, on_exit_of_editor, tui, &err) : NULL;
	if (tui->editor->child)
		return;
	fail(tui, "The editor was not started", sys ? strerror(sys) : err.text);
	tui_editor_finish(tui);
	tui_frame_pause(tui->frame, false);
	term_tty_reclaim(tui->tty);
}
