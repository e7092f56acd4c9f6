/* A frame is made in a deferred call, so that all keys and events of one iteration of the loop share it. */
#include "ui/tui/tui_frame.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "term/term_paint.h"
#include "term/term_tty.h"

enum { FRAME_MS = 33, RESIZE_MS = 80, FRAME_MAX = 128 * MIB };

struct tui_frame {
	struct term_tty *tty;
	struct term_paint *paint;
	struct loop_timer *timer, *resize;
	struct loop_deferred soon;
	tui_draw_fn draw;
	tui_overlay_fn overlay; /* NULL: the main screen is shown */
	tui_overlay_fn covered; /* the overlay of a frame that was left */
	bool is_resized;        /* while the alternate screen was shown */
	void *self;
	struct buf out;
	uint64_t last_ms; /* time of the last frame */
	bool is_due;      /* a change waits for the terminal */
	bool is_paused;
	bool is_left; /* the live rows were erased; none are drawn before tui_frame_restart */
};

static void send_frame(struct tui_frame *frame)
{
	if (frame->out.len)
		term_tty_write(frame->tty, buf_str(&frame->out));
	buf_reuse(&frame->out);
}

static void make(void *self)
{
	struct tui_frame *frame = self;
	frame->is_due = frame->is_paused || frame->is_left || !term_tty_is_drained(frame->tty) ||
	                loop_timer_is_active(frame->resize);
	if (frame->is_due)
		return;
	loop_timer_stop(frame->timer);
	frame->last_ms = clock_now_ms();
	if (frame->overlay) {
		frame->overlay(&frame->out, frame->self);
	} else {
		frame->draw(frame->paint, frame->self);
		term_paint_frame(frame->paint, &frame->out);
	}
	send_frame(frame);
}

static void on_resize_end(void *self)
{
	struct tui_frame *frame = self;
	size_t rows, columns;
	term_tty_size(frame->tty, &rows, &columns);
	frame->is_resized = frame->overlay != NULL;
	if (!frame->overlay)
		term_paint_resize(frame->paint, columns);
	make(frame);
}

void tui_frame_overlay(struct tui_frame *frame, tui_overlay_fn draw)
{
	size_t rows, columns;
	term_tty_alternate(frame->tty, draw != NULL);
	frame->overlay = draw;
	term_tty_size(frame->tty, &rows, &columns);
	if (!draw && frame->is_resized)
		term_paint_resize(frame->paint, columns);
	frame->is_resized = false;
	tui_frame_echo(frame);
}

struct tui_frame *tui_frame_create(struct loop *loop, struct term_tty *tty, tui_draw_fn draw, void *self)
{
	struct tui_frame *frame = xnew(struct tui_frame);
	frame->tty = tty;
	frame->draw = draw;
	frame->self = self;
	frame->paint = term_paint_create();
	frame->timer = loop_timer_create(loop, make, frame);
	frame->resize = loop_timer_create(loop, on_resize_end, frame);
	loop_deferred_init(&frame->soon, loop, make, frame);
	buf_init(&frame->out, FRAME_MAX);
	return frame;
}

void tui_frame_destroy(struct tui_frame *frame)
{
	tui_frame_leave(frame);
	loop_timer_destroy(frame->timer);
	loop_timer_destroy(frame->resize);
	loop_deferred_finish(&frame->soon);
	term_paint_destroy(frame->paint);
	buf_finish(&frame->out);
	free(frame);
}

struct term_paint *tui_frame_paint(struct tui_frame *frame)
{
	return frame->paint;
}

void tui_frame_echo(struct tui_frame *frame)
{
	loop_defer(&frame->soon);
}

void tui_frame_change(struct tui_frame *frame)
{
	uint64_t since = clock_now_ms() - frame->last_ms;
	if (since >= FRAME_MS)
		loop_defer(&frame->soon);
	else if (!loop_timer_is_active(frame->timer))
		loop_timer_start(frame->timer, FRAME_MS - since);
}

void tui_frame_drained(struct tui_frame *frame)
{
	if (frame->is_due)
		tui_frame_change(frame);
}

void tui_frame_resized(struct tui_frame *frame)
{
	loop_timer_start(frame->resize, RESIZE_MS);
}

void tui_frame_pause(struct tui_frame *frame, bool is_paused)
{
	frame->is_paused = is_paused;
}

void tui_frame_leave(struct tui_frame *frame)
{
	frame->covered = frame->overlay;
	if (frame->overlay)
		tui_frame_overlay(frame, NULL);
	term_paint_leave(frame->paint, &frame->out);
	send_frame(frame);
	frame->is_left = true;
}

void tui_frame_restart(struct tui_frame *frame)
{
	frame->is_left = false;
	term_paint_forget(frame->paint);
	if (frame->covered)
		tui_frame_overlay(frame, steal(frame->covered));
	tui_frame_echo(frame);
}

/* As many line feeds as bring the cursor from the first row to the last one scroll away just the rows above it. Some
 * terminals drop what CSI 2 J clears. */
void tui_frame_clear(struct tui_frame *frame)
{
	size_t rows, columns;
	tui_frame_leave(frame);
	for (term_tty_size(frame->tty, &rows, &columns); rows > 1; rows--)
		buf_append_char(&frame->out, '\n');
	buf_append_c(&frame->out, "\x1b[H\x1b[J");
	send_frame(frame);
	tui_frame_restart(frame);
}
