/* Prompts of earlier sessions are read on a worker, from the end of history.jsonl, while the terminal is already in
 * use. */
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "loop/loop.h"
#include "rollout/prompt_history.h"
#include "ui/tui/tui_priv.h"

/* The start reads HISTORY_TAIL; a text above HISTORY_TEXT would push all others out of it, so it is not written. */
enum { HISTORY_TAIL = 1 * MIB, HISTORY_TEXT = 64 * KIB };

struct tui_history {
	struct tui *tui; /* NULL: the terminal was left meanwhile */
	char *home;
	VEC(char *) texts;
};

static void on_text(struct str text, void *self)
{
	struct tui_history *history = self;
	vec_push(&history->texts, str_dup(text));
}

static void on_work(void *self)
{
	struct tui_history *history = self;
	prompt_history_tail(history->home, HISTORY_TAIL, on_text, history);
}

static void destroy(struct tui_history *history)
{
	vec_for_each(text, &history->texts)
		free(*text);
	vec_finish(&history->texts);
	free(history->home);
	free(history);
}

static void on_read(void *self)
{
	struct tui_history *history = self;
	if (history->tui) {
		history->tui->loading = NULL;
		composer_add_older(&history->tui->composer, history->texts.items, history->texts.count);
		history->texts.count = 0;
	}
	destroy(history);
}

void tui_history_load(struct tui *tui)
{
	struct tui_history *history = xnew(struct tui_history);
	history->tui = tui;
	history->home = xstrdup(config_home(tui->config));
	tui->loading = history;
	worker_run(tui->loop, on_work, on_read, history);
}

void tui_history_leave(struct tui *tui)
{
	if (tui->loading)
		tui->loading->tui = NULL;
	tui->loading = NULL;
}

/* ---- what is added ---- */

void tui_history_add(struct tui *tui, struct str text)
{
	struct op_add_to_history op = {.text = text};
	if (tui->is_configured && text.len && text.len <= HISTORY_TEXT)
		tui_submit(tui, OP_add_to_history, &op);
}

void tui_history_clear_draft(struct tui *tui)
{
	auto_buf struct buf dropped;
	buf_init(&dropped, LIMIT_PROMPT * 2);
	composer_take(&tui->composer, &dropped, NULL);
	tui_history_add(tui, buf_str(&dropped));
}
