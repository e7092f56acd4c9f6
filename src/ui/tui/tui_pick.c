/* Another recorded session takes the place of the running one: chosen from a list, or a copy of the running one. Both
 * read files, so a worker does it. */
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "loop/loop.h"
#include "rollout/rollout_fork.h"
#include "ui/sessions/session_pick.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_priv.h"

enum { LISTED_MAX = CHOICES_MAX - 1 };

struct tui_picking {
	struct tui *tui; /* NULL: the terminal was left meanwhile */
	char *home, *cwd, *provider, *originator;
	bool all;        /* sessions of all folders */
	bool is_listed;  /* the list is open; the worker has ended */
	bool is_first;   /* at the start: Esc begins a new session */
	char *fork_path; /* the session to copy; NULL: list the sessions */
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
	free(picking->copy);
	free(picking);
}

/* ---- the worker ---- */

static void on_work(void *self)
{
	struct tui_picking *picking = self;
	struct session_pick pick = {
		.home = picking->home,
		.cwd = picking->all ? NULL : picking->cwd,
		.provider = picking->provider,
		.verb = "resume",
	};
	if (!picking->fork_path) {
		picking->status = session_list(&pick, LISTED_MAX, &picking->rows, &picking->err);
		return;
	}
	picking->copy = rollout_fork_whole(picking->home, picking->fork_path, picking->originator, &picking->err);
	picking->status = picking->copy ? 0 : -(int)picking->err.code;
}

static void start(struct tui *tui, struct str fork_path, bool all, bool is_first);

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
	if (is_busy(tui))
		return;
	if (tui->options.run.forks && is_first) {
		start(tui, str_of(path), false, true);
		return;
	}
	tui_restart_with(tui, path, true);
}

static void on_chosen(const struct tui_chosen *chosen, void *self)
{
	struct tui *tui = self;
	struct tui_picking *picking = steal(tui->picking);
	if (chosen->at >= 0 && (size_t)chosen->at < picking->rows.items.count)
		open_path(tui, picking->rows.items.items[chosen->at].path, picking->is_first);
	else if (chosen->at >= 0)
		start(tui, STR_NONE, true, picking->is_first);
	else if (picking->is_first)
		tui_restart_with(tui, NULL, true);
	destroy(picking);
}

static void open_list(struct tui *tui, const struct tui_picking *picking)
{
	size_t count = picking->rows.items.count;
	auto_free struct tui_choice *items = xcalloc(count + 1, sizeof(*items));
	for (size_t i = 0; i < count; i++)
		items[i].label = picking->rows.items.items[i].text;
	items[count].label = "Sessions of all folders …";
	struct tui_choices what = {.title = picking->is_first && tui->options.run.forks
	                                            ? STR("Fork a previous session\n")
	                                            : STR("Resume a previous session\n"),
	                           .items = items,
	                           .count = count + !picking->all,
	                           .hint = picking->is_first ? "  type to search · enter select · esc new session"
	                                                     : "  type to search · enter select · esc back",
	                           .is_searched = true,
	                           .on_chosen = on_chosen,
	                           .self = tui};
	tui_ask_add(tui->ask, tui_choice_create(&what, STR_NONE, NULL));
}

static void on_done(void *self)
{
	struct tui_picking *picking = self;
	struct tui *tui = picking->tui;
	if (tui)
		tui->picking = NULL;
	if (tui && picking->status == 0 && !picking->fork_path) {
		tui->picking = picking; /* its paths belong to the list */
		picking->is_listed = true;
		open_list(tui, picking);
		tui_frame_change(tui->frame);
		return;
	}
	if (tui && picking->status != 0)
		tui_cells_fail(tui->cells, str_of(picking->err.text));
	if (tui && picking->copy && !picking->is_first)
		tui_cells_note(tui->cells, STR("Thread forked"));
	if (tui && (picking->copy || picking->is_first) && !is_busy(tui))
		tui_restart_with(tui, picking->copy, picking->is_first);
	destroy(picking);
}

/* fork_path: of the session to copy, or STR_NONE to list sessions. One list or copy is made at a time. */
static void start(struct tui *tui, struct str fork_path, bool all, bool is_first)
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
	picking->all = all;
	picking->is_first = is_first;
	picking->fork_path = fork_path.ptr ? str_dup(fork_path) : NULL;
	worker_run(tui->loop, on_work, on_done, picking);
}

/* ---- the commands ---- */

void tui_pick_first(struct tui *tui)
{
	start(tui, STR_NONE, tui->options.run.all, true);
}

void on_slash_resume(struct tui *tui, struct str text)
{
	(void)text;
	if (!tui_attach_refuses(tui))
		start(tui, STR_NONE, false, false);
}

void on_slash_fork(struct tui *tui, struct str text)
{
	const char *path = tui_engine_path(tui);
	(void)text;
	if (tui_attach_refuses(tui))
		return;
	if (path && tui->has_turn)
		start(tui, str_of(path), false, false);
	else
		tui_cells_fail(tui->cells, STR("there is nothing recorded to fork yet"));
}

/* A worker that still runs ends with on_done, which frees its data. */
void tui_pick_leave(struct tui *tui)
{
	struct tui_picking *picking = steal(tui->picking);
	if (picking && picking->is_listed)
		destroy(picking);
	else if (picking)
		picking->tui = NULL;
}
