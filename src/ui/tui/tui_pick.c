/* Another recorded session takes the place of the running one: chosen from a list, or a copy of the running one. Both
 * read files, so a worker does it. */
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "loop/loop.h"
#include "rollout/rollout_fork.h"
#include "rollout/rollout_path.h"
#include "term/term_tty.h"
#include "ui/exec/exec_resume.h"
#include "ui/sessions/archive_command.h"
#include "ui/sessions/session_pick.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_picker.h"
#include "ui/tui/tui_priv.h"

enum { LISTED_MAX = 2000 };

struct tui_picking {
	struct tui *tui; /* NULL: the terminal was left meanwhile */
	char *home, *cwd, *provider, *originator;
	struct picker_filter filter;
	bool is_first;   /* at the start: Esc begins a new session */
	char *fork_path; /* the session to copy; NULL: list the sessions */
	char *moved;     /* the path of one to move to the archive, or back, first; or NULL */
	struct session_rows rows;
	char *copy;
	struct error err;
	int status;
};

static void destroy(struct tui_picking *picking)
{
	session_rows_finish(&picking->rows);
	free(picking->home);
	free(picking->cwd);
	free(picking->provider);
	free(picking->originator);
	free(picking->fork_path);
	free(picking->moved);
	free(picking->copy);
	free(picking);
}

/* ---- the worker ---- */

static int move_session(struct tui_picking *picking)
{
	struct rollout_file_name name;
	if (!picking->moved || !rollout_path_parse(path_name(picking->moved), &name))
		return 0;
	auto_free char *id = str_dup(name.thread_id);
	return session_do(picking->filter.archived ? SESSION_UNARCHIVE : SESSION_ARCHIVE, picking->home, id,
	                  &picking->err);
}

static void on_work(void *self)
{
	struct tui_picking *picking = self;
	struct session_pick pick = {
		.home = picking->home,
		.cwd = picking->filter.all ? NULL : picking->cwd,
		.archived = picking->filter.archived,
		.by_start = picking->filter.by_start,
		.provider = picking->provider,
		.verb = "resume",
	};
	if (!picking->fork_path) {
		int moved = move_session(picking);
		struct error err;
		picking->status = session_list(&pick, LISTED_MAX, &picking->rows, moved == 0 ? &picking->err : &err);
		picking->status = moved == 0 ? picking->status : moved;
		return;
	}
	picking->copy = rollout_fork_whole(picking->home, picking->fork_path, picking->originator, &picking->err);
	picking->status = picking->copy ? 0 : -(int)picking->err.code;
}

/* The work that is started. */
struct job {
	struct str fork_path; /* of the session to copy, or STR_NONE to list sessions */
	const char *moved;    /* or NULL */
	struct picker_filter filter;
	bool is_first;
};

static void start(struct tui *tui, const struct job *job);
static void open_picker(struct tui *tui, bool is_first);

/* ---- the list ---- */

/* A turn may have begun while the files were read: it is not ended for this. */
static bool is_busy(struct tui *tui)
{
	if (tui->is_running)
		tui_cells_fail(tui->cells, STR("a turn is running: the session was not changed"));
	return tui->is_running;
}

static void open_path(struct tui *tui, const char *path, bool is_first)
{
	struct job job = {.fork_path = str_of(path), .is_first = true};
	if (is_busy(tui))
		return;
	const char *own = tui_engine_path(tui);
	struct error err;
	if (tui->options.run.forks && is_first) {
		start(tui, &job);
	} else if ((!own || strcmp(own, path) != 0) && exec_resume_check(path, &err) != 0) {
		tui_cells_fail(tui->cells, str_of(err.text));
		if (is_first)
			open_picker(tui, true);
	} else {
		tui_restart_with(tui, path, true);
	}
}

static void draw_picker(struct buf *out, void *self)
{
	struct tui *tui = self;
	size_t rows, columns;
	term_tty_size(tui->tty, &rows, &columns);
	tui_picker_draw(tui->picker, rows, columns > 1 ? columns - 1 : 1, out);
}

void tui_pick_show(struct tui *tui)
{
	tui_frame_overlay(tui->frame, tui->picker ? draw_picker : NULL);
}

static void close_picker(struct tui *tui)
{
	tui_picker_destroy(steal(tui->picker));
	tui_pick_show(tui);
}

static void open_picker(struct tui *tui, bool is_first)
{
	struct job job = {.filter.all = is_first && tui->options.run.all, .is_first = is_first};
	if (tui->picker || tui->picking)
		return;
	tui->picks_first = is_first;
	tui->picker = tui_picker_create(is_first && tui->options.run.forks ? "Fork a previous session"
	                                                                   : "Resume a previous session",
	                                is_first ? "new session" : "back", tui->has_color, job.filter);
	tui_pick_show(tui);
	start(tui, &job);
}

static void take(struct tui *tui)
{
	auto_free char *path = xstrdup(tui_picker_path(tui->picker));
	close_picker(tui);
	open_path(tui, path, tui->picks_first);
}

/* Reads the list again; is_moved: moves the chosen session first. */
static void list_again(struct tui *tui, bool is_moved)
{
	struct job job = {.filter = tui_picker_filter(tui->picker),
	                  .moved = is_moved ? tui_picker_path(tui->picker) : NULL,
	                  .is_first = tui->picks_first};
	if (tui->picking) { /* the one that runs is for another filter */
		tui->picking->tui = NULL;
		tui->picking = NULL;
	}
	start(tui, &job);
}

bool tui_pick_key(struct tui *tui, const struct term_key *key)
{
	if (!tui->picker)
		return false;
	switch (tui_picker_key(tui->picker, key)) {
	case PICKER_TAKES:
		take(tui);
		break;
	case PICKER_ESCAPES:
		close_picker(tui);
		if (tui->picks_first)
			tui_restart_with(tui, NULL, true);
		break;
	case PICKER_QUITS:
		close_picker(tui);
		if (tui->picks_first)
			tui_quit(tui);
		break;
	case PICKER_RELOADS:
		list_again(tui, false);
		break;
	case PICKER_MOVES:
		list_again(tui, true);
		break;
	case PICKER_PREVIEWS:
		tui_preview_open(tui, tui_picker_path(tui->picker));
		break;
	case PICKER_STAYS:
		break;
	}
	return true;
}

static void fill_picker(struct tui *tui, struct tui_picking *picking)
{
	tui_picker_fill(tui->picker, &picking->rows);
	tui_frame_change(tui->frame);
}

/* The session is still the old one: the copy is opened by the loop. */
static void note_fork(struct tui *tui)
{
	char note[64];
	snprintf(note, sizeof(note), "Thread forked from %s", tui->session_id ? tui->session_id : "the record");
	tui_cells_note(tui->cells, str_of(note));
}

static void on_done(void *self)
{
	struct tui_picking *picking = self;
	struct tui *tui = picking->tui;
	if (tui)
		tui->picking = NULL;
	if (tui && picking->status != 0)
		tui_cells_fail(tui->cells, str_of(picking->err.text));
	if (tui && tui->picker && !picking->fork_path)
		fill_picker(tui, picking);
	if (tui && picking->fork_path && (picking->copy || picking->is_first) && !is_busy(tui))
		tui_restart_with(tui, picking->copy, picking->is_first);
	if (tui && picking->copy && !picking->is_first)
		note_fork(tui);
	destroy(picking);
}

/* One list or copy is made at a time. */
static void start(struct tui *tui, const struct job *job)
{
	struct tui_picking *picking;
	if (tui->picking)
		return;
	picking = tui->picking = xnew(struct tui_picking);
	picking->tui = tui;
	picking->home = xstrdup(config_home(tui->config));
	picking->cwd = xstrdup(tui->cwd);
	picking->provider = xstrdup(tui->config->model_provider);
	picking->originator = xstrdup(services_originator(tui->services));
	picking->filter = job->filter;
	picking->is_first = job->is_first;
	picking->moved = job->moved ? xstrdup(job->moved) : NULL;
	picking->fork_path = job->fork_path.ptr ? str_dup(job->fork_path) : NULL;
	worker_run(tui->loop, on_work, on_done, picking);
}

/* ---- the commands ---- */

void tui_pick_first(struct tui *tui)
{
	open_picker(tui, true);
}

void on_slash_resume(struct tui *tui, struct str text)
{
	(void)text;
	if (!tui_attach_refuses(tui))
		open_picker(tui, false);
}

void on_slash_fork(struct tui *tui, struct str text)
{
	const char *path = tui_engine_path(tui);
	struct job job = {.fork_path = str_of(path)};
	(void)text;
	if (tui_attach_refuses(tui))
		return;
	if (path && tui->has_turn)
		start(tui, &job);
	else
		tui_cells_fail(tui->cells, STR("there is nothing recorded to fork yet"));
}

/* A worker that still runs ends with on_done, which frees its data. */
void tui_pick_leave(struct tui *tui)
{
	struct tui_picking *picking = steal(tui->picking);
	if (picking)
		picking->tui = NULL;
	tui_picker_destroy(steal(tui->picker));
}
