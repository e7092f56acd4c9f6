/* The line is drawn by a timer and never by an event, so that a burst of events causes no drawing. It is cut to the
 * terminal's width, which is queried each time, because a line that wraps could not be erased. */
#include "ui/cli/status_line.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "loop/loop.h"
#include "ui/cli/cli_limits.h"
#include "ui/cli/terminal.h"

enum { TICK_MS = 200, TEXT_MIN_COLUMNS = 12 };

struct status_line {
	struct loop_timer *tick; /* NULL: the line is never drawn */
	bool has_color;
	bool is_drawn;
	uint64_t started_ms;
	unsigned frame;
	struct buf text;
};

static void draw(struct status_line *status)
{
	static const char *const frames[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
	char hint[64];
	unsigned seconds = (unsigned)((clock_now_ms() - status->started_ms) / 1000);
	size_t hint_len = (size_t)snprintf(hint, sizeof(hint), " (%us, Ctrl-C to interrupt)", seconds);
	size_t columns = terminal_columns(STDERR_FILENO);
	columns = columns > 4 ? columns - 4 : 0; /* room for the frame, a blank and the last column */
	bool has_room = columns >= hint_len + TEXT_MIN_COLUMNS;
	struct str text = terminal_text_cut(buf_str(&status->text), has_room ? columns - hint_len : columns);
	auto_buf struct buf line;
	buf_init(&line, LIMIT_STATUS_LINE);
	buf_printf(&line, "\r\x1b[K%s%s%s %.*s%s", terminal_style(status->has_color, STYLE_cyan),
	           frames[status->frame % countof(frames)], terminal_style(status->has_color, STYLE_plain),
	           STR_ARG(text), has_room ? hint : "");
	best_effort(fd_write_all(STDERR_FILENO, line.data, line.len, NULL));
	status->is_drawn = true;
}

static void on_tick(void *self)
{
	struct status_line *status = self;
	status->frame++;
	draw(status);
	loop_timer_start(status->tick, TICK_MS);
}

static bool can_draw(void)
{
	const char *term = config_env("TERM");
	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

struct status_line *status_line_create(struct loop *loop, bool has_color)
{
	struct status_line *status = xnew(struct status_line);
	status->has_color = has_color;
	buf_init(&status->text, LIMIT_STATUS_TEXT * 4);
	if (can_draw())
		status->tick = loop_timer_create(loop, on_tick, status);
	return status;
}

void status_line_destroy(struct status_line *status)
{
	if (!status)
		return;
	status_line_erase(status);
	loop_timer_destroy(status->tick);
	buf_finish(&status->text);
	free(status);
}

void status_line_start(struct status_line *status)
{
	status->started_ms = clock_now_ms();
	if (status->tick)
		loop_timer_start(status->tick, TICK_MS);
}

void status_line_stop(struct status_line *status)
{
	if (status->tick)
		loop_timer_stop(status->tick);
}

void status_line_set(struct status_line *status, const char *what, struct str detail)
{
	ptrdiff_t line_end = str_find_char(detail, '\n');
	if (line_end >= 0)
		detail.len = (size_t)line_end;
	detail = terminal_text_cut(detail, LIMIT_STATUS_TEXT);
	buf_clear(&status->text);
	buf_append_c(&status->text, what);
	terminal_text_append(&status->text, detail);
	for (size_t i = 0; i < status->text.len; i++) { /* the width of a tab depends on its column */
		if (status->text.data[i] == '\t')
			status->text.data[i] = ' ';
	}
}

void status_line_erase(struct status_line *status)
{
	if (status->is_drawn)
		best_effort(fd_write_all(STDERR_FILENO, "\r\x1b[K", 4, NULL));
	status->is_drawn = false;
}
