/* Recorded sessions: the one that is resumed, and the transcript of the running one, which is read from its rollout, so
 * that no text is kept for it. */
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "term/term_tty.h"
#include "ui/exec/exec_resume.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_pager.h"
#include "ui/tui/tui_priv.h"
#include "ui/tui/tui_replay.h"

int tui_session_find(struct tui *tui, struct error *err)
{
	const struct exec_options *run = &tui->options.run;
	struct exec_resume resume = {.options = run, .config = tui->config, .cwd = tui->cwd};
	if (run->picks) /* the user chooses once the terminal is open */
		return 0;
	int status = exec_resume_find(&resume, err);
	bool is_absent = status != 0 && run->resume_id && err->code == ERR_not_found;
	if (status == 0)
		status = exec_resume_fork(&resume, "codex_cli_rs", err);
	tui->resume_path = resume.path;
	if (is_absent)
		return error_set(err, ERR_not_found, "No saved session found with ID %s", run->resume_id);
	return status;
}

void tui_session_replay(struct tui *tui)
{
	struct error err;
	if (tui->resume_path &&
	    tui_replay_end(tui->resume_path, LIMIT_ROLLOUT_FILE, tui_cells_begin(tui->cells), &err) != 0)
		tui_cells_fail(tui->cells, str_of(err.text));
}

void tui_session_note_crash(const struct tui *tui)
{
	char note[160];
	int len = snprintf(note, sizeof(note), "codex crashed. To continue this session, run:\r\n  codex resume %s\r\n",
	                   tui->session_id);
	term_tty_note_crash(str_n(note, tui->options.run.ephemeral ? 0 : (size_t)len));
}

/* ---- the transcript ---- */

static void fill_transcript(struct tui_page *page, void *self)
{
	static const struct tui_look look = {"", TERM_dim, TERM_dim};
	struct tui *tui = self;
	const char *path = tui_engine_path(tui);
	struct error err;
	page->cwd = tui->cwd;
	path = path ? path : tui->resume_path;
	if (!path)
		tui_page_write(page, &look, STR("Nothing has been recorded yet."));
	else if (tui_replay(path, page, &err) != 0)
		tui_page_write(page, &look, str_of(err.text));
}

static void draw_pager(struct buf *out, void *self)
{
	struct tui *tui = self;
	size_t rows, columns;
	term_tty_size(tui->tty, &rows, &columns);
	tui_pager_resize(tui->pager, rows, columns > 1 ? columns - 1 : 1);
	tui_pager_draw(tui->pager, out);
}

void tui_pager_open(struct tui *tui, const char *title, void (*fill)(struct tui_page *page, void *self))
{
	tui->pager = tui_pager_create(title, tui->has_color, fill, tui);
	tui_frame_overlay(tui->frame, draw_pager);
}

void tui_transcript_open(struct tui *tui)
{
	tui_pager_open(tui, "T R A N S C R I P T", fill_transcript);
}

bool tui_transcript_key(struct tui *tui, const struct term_key *key)
{
	if (!tui->pager)
		return false;
	if (!tui_pager_key(tui->pager, key)) {
		tui_pager_destroy(steal(tui->pager));
		tui_frame_overlay(tui->frame, NULL);
	}
	return true;
}
