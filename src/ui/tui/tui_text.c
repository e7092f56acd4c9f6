/* Long texts on the alternate screen: the transcript, which is read from the rollout, so that no text is kept for it,
 * the changes of the work tree, and the warnings. */
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "protocol/message/message.h"
#include "term/term_tty.h"
#include "ui/tui/tui_cell_patch.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_pager.h"
#include "ui/tui/tui_priv.h"
#include "ui/tui/tui_replay.h"

enum { WARNINGS_MAX = 64 * KIB };

static void draw_pager(struct buf *out, void *self)
{
	struct tui *tui = self;
	size_t rows, columns;
	term_tty_size(tui->tty, &rows, &columns);
	tui_pager_resize(tui->pager, rows, columns > 1 ? columns - 1 : 1);
	tui_pager_draw(tui->pager, out);
}

static void open_pager(struct tui *tui, const char *title, bool is_at_end, tui_pager_fill_fn fill)
{
	tui_pager_destroy(tui->pager);
	tui->pager = tui_pager_create(title, tui->has_color, is_at_end, fill, tui);
	tui_frame_overlay(tui->frame, draw_pager);
}

bool tui_text_key(struct tui *tui, const struct term_key *key)
{
	if (!tui->pager)
		return false;
	if (!tui_pager_key(tui->pager, key)) {
		tui_pager_destroy(steal(tui->pager));
		buf_reuse(&tui->shown);
		free(steal(tui->preview));
		tui_pick_show(tui);
	}
	return true;
}

/* ---- the transcript ---- */

static void fill_transcript(struct tui_page *page, void *self)
{
	static const struct tui_look look = {"", TERM_dim, TERM_dim};
	struct tui *tui = self;
	auto_free char *path = tui->preview ? xstrdup(tui->preview) : tui_shown_path(tui);
	struct error err;
	page->cwd = tui->cwd;
	page->hides_thoughts = tui->config->hide_agent_reasoning;
	if (!path && !tui->watched && tui->resume_path)
		path = xstrdup(tui->resume_path);
	bool is_new = !tui->preview && !tui->watched && !tui->has_turn && path && access(path, F_OK) != 0;
	if (!path || is_new)
		tui_page_write(page, &look, STR("Nothing has been recorded yet."));
	else if (tui_replay(path, page, &err) != 0)
		tui_page_write(page, &look, str_of(err.text));
}

void tui_transcript_open(struct tui *tui, bool finds)
{
	open_pager(tui, "T R A N S C R I P T", true, fill_transcript);
	if (finds)
		tui_pager_ask(tui->pager);
}

void tui_preview_open(struct tui *tui, const char *path)
{
	free(tui->preview);
	tui->preview = xstrdup(path);
	open_pager(tui, "P R E V I E W", false, fill_transcript);
}

/* ---- texts ---- */

static enum term_style style_of(struct str line)
{
	char c = line.len ? line.ptr[0] : ' ';
	return c == '+' ? TERM_green : c == '-' ? TERM_red : c == '@' ? TERM_cyan : c == 'd' ? TERM_bold : TERM_plain;
}

/* With all of its control characters: a carriage return hides nothing. */
static void fill_text(struct tui_page *page, void *self)
{
	static const struct tui_look look = {"", TERM_plain, TERM_plain};
	struct tui *tui = self;
	struct term_text text;
	term_text_init(&text);
	term_text_add(&text, TERM_plain, buf_str(&tui->shown));
	tui_page_write_text(page, &look, &text);
	term_text_finish(&text);
}

static void fill_diff(struct tui_page *page, void *self)
{
	struct tui *tui = self;
	struct str rest = buf_str(&tui->shown), line;
	while (str_next_line(&rest, &line)) {
		struct tui_look look = {"", TERM_plain, style_of(line)};
		tui_page_write(page, &look, line.len ? line : STR(" "));
	}
}

static void open_text(struct tui *tui, const char *title, struct str text, tui_pager_fill_fn fill)
{
	buf_clear(&tui->shown);
	buf_append_str(&tui->shown, text);
	open_pager(tui, title, false, fill);
}

void tui_text_open(struct tui *tui, const char *title, struct str text)
{
	open_text(tui, title, text, fill_text);
}

void tui_diff_open(struct tui *tui, struct str diff)
{
	open_text(tui, "D I F F", diff, fill_diff);
}

bool tui_read_open(struct str text, const struct event *about, void *self)
{
	struct tui *tui = self;
	open_text(tui, "R E Q U E S T", text, fill_text);
	if (about && about->msg.tag == EV_apply_patch_approval_request) {
		const struct ev_patch_approval *asked = about->msg.apply_patch_approval_request;
		tui_changes_append(&tui->shown, asked->changes_keys, asked->changes, asked->changes_count);
	}
	return !tui->shown.over;
}

/* ---- warnings ---- */

void tui_warning_add(struct tui *tui, struct str text)
{
	if (tui->warnings.len + text.len + 1 > WARNINGS_MAX) /* the latest ones count */
		buf_clear(&tui->warnings);
	buf_append_str(&tui->warnings, text);
	buf_append_char(&tui->warnings, '\n');
}

static void fill_warnings(struct tui_page *page, void *self)
{
	static const struct tui_look look = {"⚠ ", TERM_yellow, TERM_plain};
	struct tui *tui = self;
	struct str rest = buf_str(&tui->warnings), line;
	if (!rest.len)
		tui_page_write(page, &(struct tui_look){""}, STR("There are no warnings."));
	while (str_next_line(&rest, &line))
		tui_page_write(page, &look, line);
}

void on_slash_warnings(struct tui *tui, struct str text)
{
	(void)text;
	open_pager(tui, "W A R N I N G S", true, fill_warnings);
}
