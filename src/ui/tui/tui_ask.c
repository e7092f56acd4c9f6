/* The rest timer decides when a request appears, and the time of its first frame when keys count. */
#include "ui/tui/tui_ask.h"

#include "attach/attach_frame.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "ui/tui/tui_sheet.h"

struct tui_ask {
	VEC(struct tui_panel *) panels; /* the first is the current one */
	struct loop_timer *rest;
	void (*on_change)(void *self);
	void *self;
	uint64_t key_ms, drawn_ms; /* the last key, the first frame; 0: none */
	uint64_t seq, answers;     /* of the requests that come next; of the one that is reported */
	bool is_shown;
};

static void on_rest(void *self)
{
	struct tui_ask *ask = self;
	ask->is_shown = ask->panels.count > 0;
	ask->drawn_ms = 0;
	ask->on_change(ask->self);
}

struct tui_ask *tui_ask_create(struct loop *loop, void (*on_change)(void *self), void *self)
{
	struct tui_ask *ask = xnew(struct tui_ask);
	ask->rest = loop_timer_create(loop, on_rest, ask);
	ask->on_change = on_change;
	ask->self = self;
	return ask;
}

static void panel_destroy(struct tui_panel *panel)
{
	free(panel->id);
	free(panel->task);
	panel->class->destroy(panel);
}

void tui_ask_destroy(struct tui_ask *ask)
{
	if (!ask)
		return;
	vec_for_each(panel, &ask->panels)
		panel_destroy(*panel);
	vec_finish(&ask->panels);
	loop_timer_destroy(ask->rest);
	free(ask);
}

static bool needs_rest(const struct tui_panel *panel)
{
	return panel->is_request || panel->is_late;
}

/* Waits until the user has stopped typing before a request is shown. */
static void show_next(struct tui_ask *ask)
{
	uint64_t since = clock_now_ms() - ask->key_ms;
	ask->is_shown = ask->panels.count && !needs_rest(ask->panels.items[0]);
	ask->drawn_ms = 0;
	loop_timer_stop(ask->rest);
	if (ask->panels.count && !ask->is_shown)
		loop_timer_start(ask->rest, ask->key_ms && since < ASK_REST_MS ? ASK_REST_MS - since : 0);
	ask->on_change(ask->self);
}

static void insert_at(struct tui_ask *ask, size_t at, struct tui_panel *panel)
{
	vec_push(&ask->panels, panel);
	memmove(&ask->panels.items[at + 1], &ask->panels.items[at],
	        (ask->panels.count - 1 - at) * sizeof(struct tui_panel *));
	ask->panels.items[at] = panel;
	if (at == 0)
		show_next(ask);
}

void tui_ask_add(struct tui_ask *ask, struct tui_panel *panel)
{
	panel->seq = panel->is_request ? ask->seq : 0;
	insert_at(ask, panel->is_request || ask->is_shown ? ask->panels.count : 0, panel);
}

static struct tui_panel *take_at(struct tui_ask *ask, size_t at)
{
	struct tui_panel *panel = ask->panels.items[at];
	ask->panels.count--;
	memmove(&ask->panels.items[at], &ask->panels.items[at + 1],
	        (ask->panels.count - at) * sizeof(struct tui_panel *));
	if (at == 0)
		show_next(ask);
	return panel;
}

void tui_ask_number(struct tui_ask *ask, uint64_t seq)
{
	ask->seq = seq;
}

uint64_t tui_ask_answers(const struct tui_ask *ask)
{
	return ask->answers;
}

static bool is_request(const struct tui_panel *panel, const struct attach_answered *request)
{
	if (request->seq && panel->seq)
		return panel->seq == request->seq;
	return panel->id && str_is(request->request, panel->id) &&
	       (!request->task.ptr || !panel->task || str_is(request->task, panel->task));
}

void tui_ask_withdraw(struct tui_ask *ask, const struct attach_answered *request)
{
	for (size_t i = ask->panels.count; i-- > 0;) {
		const struct tui_panel *panel = ask->panels.items[i];
		if (panel->is_request && is_request(panel, request))
			panel_destroy(take_at(ask, i));
	}
}

void tui_ask_end_turn(struct tui_ask *ask, struct str turn)
{
	for (size_t i = ask->panels.count; i-- > 0;) {
		const struct tui_panel *panel = ask->panels.items[i];
		if (panel->is_request && (!turn.ptr || !panel->task || !*panel->task || str_is(turn, panel->task)))
			panel_destroy(take_at(ask, i));
	}
}

bool tui_ask_is_shown(const struct tui_ask *ask)
{
	return ask->is_shown;
}

enum tui_letters tui_ask_letters(const struct tui_ask *ask)
{
	return ask->panels.count ? ask->panels.items[0]->letters : LETTERS_text;
}

bool tui_ask_has_request(const struct tui_ask *ask)
{
	vec_for_each(panel, &ask->panels) {
		if ((*panel)->is_request)
			return true;
	}
	return false;
}

/* The request about a call of an MCP server has its id as JSON. */
bool tui_ask_has_approval(const struct tui_ask *ask, struct str call_id, struct str task)
{
	auto_buf struct buf quoted;
	bool found = false;
	buf_init(&quoted, LIMIT_CALL_ID * 8);
	if (ask->panels.count)
		json_quote(&quoted, call_id);
	vec_for_each(it, &ask->panels) {
		bool is_its = (*it)->is_request && (!(*it)->task || !*(*it)->task || str_is(task, (*it)->task));
		const char *id = is_its ? (*it)->id : NULL;
		found |= id && (str_is(call_id, id) || str_is(buf_str(&quoted), id));
	}
	return found;
}

void tui_ask_typed(struct tui_ask *ask)
{
	ask->key_ms = clock_now_ms();
	if (loop_timer_is_active(ask->rest))
		loop_timer_start(ask->rest, ASK_REST_MS);
}

/* The panel is removed before the answer is reported, which may add another. */
static void answer(struct tui_ask *ask)
{
	struct tui_panel *panel = ask->panels.items[0];
	ask->key_ms = needs_rest(panel) ? 0 : clock_now_ms(); /* the key was an answer, not text */
	take_at(ask, 0);
	ask->answers = panel->seq;
	panel->class->report(panel);
	ask->answers = 0;
	panel_destroy(panel);
}

void tui_ask_key(struct tui_ask *ask, const struct term_key *key)
{
	struct tui_panel *panel = ask->panels.items[0];
	bool is_early = !ask->drawn_ms || clock_now_ms() - ask->drawn_ms < ASK_READ_MS;
	if (needs_rest(panel) && is_early)
		return;
	if (panel->class->key(panel, key))
		answer(ask);
	else
		ask->on_change(ask->self);
}

void tui_ask_draw(struct tui_ask *ask, struct tui_sheet *sheet)
{
	ask->panels.items[0]->class->draw(ask->panels.items[0], sheet);
	ask->drawn_ms = ask->drawn_ms ? ask->drawn_ms : clock_now_ms();
}
