/* Commands about the recorded session as a whole: it is exported, archived or deleted. The last two begin a new
 * session first, because a session that runs is locked. The work is done by a worker. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "loop/loop.h"
#include "ui/sessions/archive_command.h"
#include "ui/sessions/export_command.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_priv.h"

struct managing {
	struct tui *tui; /* NULL: the terminal was left meanwhile */
	enum tui_fate fate;
	char *home, *subject; /* the id of the session; for an export the path of its rollout */
	char *file;           /* of an export */
	struct error err;
	int status;
};

/* A file of that name may be the user's own work. */
static int write_new(const char *path, struct str text, struct error *err)
{
	auto_close int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST)
		return error_set(err, ERR_exists, "%s exists: name another file, as in /export FILE", path);
	if (fd < 0)
		return error_sys(err, errno, "cannot create %s", path);
	int status = fd_write_all(fd, text.ptr, text.len, err);
	if (status == 0)
		return 0;
	unlink(path);
	return error_wrap(err, "cannot write %s", path);
}

static int export(struct managing *managing)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_ROLLOUT_FILE);
	int status = export_write(managing->home, managing->subject, false, &out, &managing->err);
	return status == 0 ? write_new(managing->file, buf_str(&out), &managing->err) : status;
}

static void on_work(void *self)
{
	struct managing *managing = self;
	managing->status = managing->fate == FATE_exported
	                           ? export(managing)
	                           : session_do(managing->fate == FATE_archived ? SESSION_ARCHIVE : SESSION_DELETE,
	                                        managing->home, managing->subject, &managing->err);
}

static void report(struct tui *tui, const struct managing *managing)
{
	static const char *const done[] = {
		[FATE_exported] = "Exported to ", [FATE_archived] = "Archived ", [FATE_deleted] = "Deleted "};
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	buf_printf(&text, "%s%s", done[managing->fate], managing->file ? managing->file : managing->subject);
	if (managing->status != 0)
		tui_cells_fail(tui->cells, str_of(managing->err.text));
	else
		tui_cells_note(tui->cells, buf_str(&text));
	tui_frame_change(tui->frame);
}

static void on_done(void *self)
{
	struct managing *managing = self;
	if (managing->tui) {
		managing->tui->managing = NULL;
		report(managing->tui, managing);
	}
	free(managing->home);
	free(managing->subject);
	free(managing->file);
	free(managing);
}

/* Takes over the texts. */
static void start(struct tui *tui, enum tui_fate fate, char *subject, char *file)
{
	struct managing *managing = xnew(struct managing);
	tui_manage_leave(tui); /* an earlier one reports nothing any more */
	managing->tui = tui;
	managing->fate = fate;
	managing->home = xstrdup(config_home(tui->config));
	managing->subject = subject;
	managing->file = file;
	tui->managing = managing;
	worker_run(tui->loop, on_work, on_done, managing);
}

void tui_manage_leave(struct tui *tui)
{
	if (tui->managing)
		tui->managing->tui = NULL;
	tui->managing = NULL;
}

void tui_manage_old(struct tui *tui)
{
	char *id = steal(tui->doomed);
	if (id)
		start(tui, tui->fate, id, NULL);
}

/* ---- the commands ---- */

static bool is_recorded(struct tui *tui)
{
	bool is = tui_engine_path(tui) && tui->has_turn;
	if (!is)
		tui_cells_fail(tui->cells, STR("nothing of this session is recorded yet"));
	return is;
}

void on_slash_export(struct tui *tui, struct str text)
{
	auto_free char *name = text.len ? str_dup(text) : xasprintf("codex-%s.md", tui->session_id);
	if (is_recorded(tui))
		start(tui, FATE_exported, xstrdup(tui_engine_path(tui)), path_join(tui->cwd, name));
}

static void end_session(struct tui *tui, enum tui_fate fate)
{
	free(tui->doomed);
	tui->doomed = xstrdup(tui->session_id);
	tui->fate = fate;
	tui_restart_with(tui, NULL, false);
}

void on_slash_archive(struct tui *tui, struct str text)
{
	(void)text;
	if (!tui_attach_refuses(tui) && is_recorded(tui))
		end_session(tui, FATE_archived);
}

static void on_delete_chosen(const struct tui_chosen *chosen, void *self)
{
	if (chosen->at == 0)
		end_session(self, FATE_deleted);
}

void on_slash_delete(struct tui *tui, struct str text)
{
	static const struct tui_choice items[] = {{"Yes, delete it", NULL, 'y'}, {"Cancel", NULL, 'n'}};
	struct tui_choices what = {.title =
	                                   STR("Delete this session?\nIts files are removed. This cannot be undone.\n"),
	                           .items = items,
	                           .count = countof(items),
	                           .current = 1,
	                           .hint = "  enter select · esc back",
	                           .on_chosen = on_delete_chosen,
	                           .self = tui};
	(void)text;
	if (!tui_attach_refuses(tui) && is_recorded(tui))
		tui_ask_add(tui->ask, tui_choice_create(&what, STR_NONE, NULL));
}
