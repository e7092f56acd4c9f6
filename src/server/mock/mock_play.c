/* A reply may consist of a hundred thousand events, so it is generated on demand: a cursor walks the steps and appends
 * events to the caller's buffer until it has enough for one write. A larger step is interrupted (`phase`) and continued
 * by the next call. */
#include "server/mock/mock_play.h"

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "server/mock/mock_limits.h"
#include "server/mock/mock_match.h"
#include "server/mock/mock_script.h"

/* Results of a step besides acts: done, or to be called again. */
enum { ACT_NEXT = -1, ACT_AGAIN = -2 };

typedef int (*step_play_fn)(struct mock_play *play, const struct mock_step *step, struct buf *out);

int mock_play_init(struct mock_play *play, const struct mock_reply *reply, const struct mock_request *request,
                   uint64_t number, struct error *err)
{
	*play = (struct mock_play){
		.reply = reply, .api = request->api, .number = number, .request_size = request->body.len};
	buf_init(&play->made, LIMIT_MOCK_TEXT);
	buf_init(&play->open, LIMIT_MOCK_TEXT);
	buf_init(&play->call_id, LIMIT_MOCK_TEXT);
	return mock_vars_take(&play->vars, &reply->take, request, err);
}

void mock_play_finish(struct mock_play *play)
{
	mock_vars_finish(&play->vars);
	buf_finish(&play->made);
	buf_finish(&play->open);
	buf_finish(&play->call_id);
	vec_finish(&play->cuts);
}

/* Returns the final text of a step: a slice of the script if it needs no substitution and no concatenation. */
static struct str compose(struct mock_play *play, const struct mock_texts *texts)
{
	play->cuts.count = 0;
	buf_clear(&play->made);
	if (texts->count == 1 && mock_text_is_plain(texts->items, &play->vars))
		return texts->items->text;
	for (size_t i = 0; i < texts->count; i++) {
		mock_text_append(&play->made, &texts->items[i], &play->vars);
		vec_push(&play->cuts, play->made.len);
	}
	return buf_str(&play->made);
}

static void begin_item(struct mock_play *play, const struct mock_step *step)
{
	buf_clear(&play->call_id);
	mock_vars_append(&play->call_id, step->call_id, &play->vars);
	play->item = (struct mock_item){
		.api = play->api,
		.step = step,
		.call_id = buf_str(&play->call_id),
		.request = play->number,
		.index = play->item_count++,
		.has_pieces = step->chunks || step->texts.count > 1,
	};
	play->has_calls |= step->kind == MOCK_STEP_call || step->kind == MOCK_STEP_custom;
}

static void start_stream(struct mock_play *play, struct buf *out)
{
	if (!play->has_started)
		mock_event_created(out, play->api, play->number);
	play->has_started = true;
}

static void close_open_message(struct mock_play *play, struct buf *out)
{
	if (!play->has_open)
		return;
	mock_event_item_done(out, &play->item, buf_str(&play->open), STR_NONE);
	play->has_open = false;
	buf_clear(&play->open);
}

/* Returns the number of deltas of an item's text, which precede the complete item. */
static uint64_t piece_count(const struct mock_play *play, const struct mock_step *step)
{
	bool is_call = step->kind == MOCK_STEP_call || step->kind == MOCK_STEP_custom;
	if (step->texts.count > 1)
		return play->cuts.count;
	return step->chunks ? step->chunks : !is_call;
}

static size_t piece_end(const struct mock_play *play, uint64_t piece, uint64_t count)
{
	if (piece == 0)
		return 0;
	if (play->cuts.count > 1)
		return play->cuts.items[piece - 1];
	return text_floor_boundary(play->text, (size_t)(play->text.len * piece / count));
}

static void send_piece(struct mock_play *play, uint64_t piece, uint64_t count, struct buf *out)
{
	size_t from = piece_end(play, piece - 1, count), to = piece_end(play, piece, count);
	if (from < to)
		mock_event_item_delta(out, &play->item, str_n(play->text.ptr + from, to - from));
}

static void finish_item(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	struct str content = STR_NONE;
	auto_buf struct buf made;
	buf_init(&made, LIMIT_MOCK_TEXT);
	for (size_t i = 0; i < step->content.count; i++)
		mock_text_append(&made, &step->content.items[i], &play->vars);
	if (step->content.count > 0)
		content = buf_str(&made);
	if (content.ptr)
		mock_event_content_delta(out, &play->item, content);
	mock_event_item_done(out, &play->item, play->text, content);
	play->said += play->text.len + content.len;
}

/* Plays an item: in phase 0 output_item.added, in phases 1 to count a delta each, and then output_item.done. */
static int play_item(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	uint64_t phase = play->phase++;
	if (phase == 0) {
		close_open_message(play, out);
		begin_item(play, step);
		play->text = step->texts.count ? compose(play, &step->texts) : STR("");
		mock_event_item_added(out, &play->item);
		return ACT_AGAIN;
	}
	uint64_t count = piece_count(play, step);
	if (phase <= count) {
		send_piece(play, phase, count, out);
		return ACT_AGAIN;
	}
	finish_item(play, step, out);
	return ACT_NEXT;
}

#define on_step_message play_item
#define on_step_reasoning play_item
#define on_step_call play_item
#define on_step_custom play_item

static int on_step_start(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	(void)play, (void)step, (void)out; /* start_stream has done the work */
	return MOCK_ACT_HEAD;
}

static int on_step_delta(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	if (!play->has_open) {
		begin_item(play, step);
		mock_event_item_added(out, &play->item);
		play->has_open = true;
	}
	for (size_t i = 0; i < step->texts.count; i++) {
		size_t from = play->open.len;
		mock_text_append(&play->open, &step->texts.items[i], &play->vars);
		struct str delta = str_n(play->open.data + from, play->open.len - from);
		mock_event_item_delta(out, &play->item, delta);
		play->said += delta.len;
	}
	return ACT_NEXT;
}

static int on_step_item(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	close_open_message(play, out);
	buf_clear(&play->made);
	mock_vars_append(&play->made, step->json->span, &play->vars);
	mock_event_item_verbatim(out, play->item_count++, buf_str(&play->made));
	return ACT_NEXT;
}

static int on_step_usage(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	(void)out;
	play->usage = step->json;
	return ACT_NEXT;
}

/* Records script events that replace the generated first and last event. */
static void note_event(struct mock_play *play, struct str type)
{
	static const struct {
		struct str type;
		bool is_end;
	} rows[] = {
		{{"response.created", 16}, false},
		{{"response.completed", 18}, true},
		{{"response.failed", 15}, true},
		{{"response.incomplete", 19}, true},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		if (!str_eq(type, rows[i].type))
			continue;
		play->has_started = true;
		play->has_completed |= rows[i].is_end;
	}
}

static bool is_one_line(struct str text)
{
	return str_find_char(text, '\n') < 0 && str_find_char(text, '\r') < 0;
}

static int on_step_event(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	struct str type = json_get_str(step->json, "type");
	note_event(play, type);
	if (play->has_completed)
		close_open_message(play, out);
	buf_clear(&play->made);
	mock_vars_append(&play->made, step->json->span, &play->vars);
	mock_event_verbatim(out, is_one_line(type) ? type : STR_NONE, buf_str(&play->made));
	return ACT_NEXT;
}

static int on_step_raw(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	for (size_t i = 0; i < step->texts.count; i++)
		mock_text_append(out, &step->texts.items[i], &play->vars);
	return ACT_NEXT;
}

#define on_step_wire on_step_raw

static int on_step_raw_base64(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	(void)play;
	buf_append_str(out, step->texts.items->text);
	return ACT_NEXT;
}

/* phase counts the generated bytes. */
static int on_step_fill(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	uint64_t left = step->count - play->phase;
	uint64_t size = left < LIMIT_MOCK_BATCH ? left : LIMIT_MOCK_BATCH;
	mock_fill_append(out, step->texts.items->text, play->phase, size);
	play->phase += size;
	return play->phase < step->count ? ACT_AGAIN : ACT_NEXT;
}

static int on_step_delay_ms(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	(void)out;
	play->wait_ms = step->count;
	return MOCK_ACT_WAIT;
}

static int on_step_gate(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	(void)out;
	play->gate = step->name;
	return MOCK_ACT_GATE;
}

/* Never called, because the cursor enters a repeat. */
static int on_step_repeat(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	(void)play, (void)step, (void)out;
	return ACT_NEXT;
}

static int on_step_status(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	play->status = step;
	on_step_raw(play, step, out);
	return step->texts.count > 0 ? MOCK_ACT_END : MOCK_ACT_HEAD;
}

static int on_step_drop(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	(void)play, (void)out;
	return step->is_reset ? MOCK_ACT_RESET : MOCK_ACT_DROP;
}

static int on_step_eof(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	(void)play, (void)step, (void)out;
	return MOCK_ACT_END;
}

static int on_step_hang(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	(void)play, (void)step, (void)out;
	return MOCK_ACT_HANG;
}

static const step_play_fn handlers[] = {
#define STEP(name, kind, field, max, members, flags) on_step_##name,
#include "server/mock/mock_script.def"
};

/* Returns the current step, inside a repeat if one is active; NULL after the last. */
static const struct mock_step *current_step(struct mock_play *play)
{
	const struct mock_steps *steps = &play->reply->reply;
	for (; play->step < steps->count; play->step++) {
		const struct mock_step *step = &steps->items[play->step];
		if (step->kind != MOCK_STEP_repeat)
			return step;
		if (play->vars.round == 0)
			play->vars.round = 1;
		if (play->vars.round <= step->count && step->steps.count > 0)
			return &step->steps.items[play->inner];
		play->vars.round = 0;
	}
	return NULL;
}

static void advance(struct mock_play *play)
{
	const struct mock_step *step = &play->reply->reply.items[play->step];
	play->phase = 0;
	if (step->kind != MOCK_STEP_repeat) {
		play->step++;
	} else if (++play->inner == step->steps.count) {
		play->inner = 0;
		play->vars.round++;
	}
}

/* Completes a stream that began with response.created. */
static enum mock_act finish_stream(struct mock_play *play, struct buf *out)
{
	const struct json *usage = play->usage;
	struct mock_counts counts = {
		.input = usage ? json_get_i64(usage, "input_tokens", 0) : (int64_t)text_tokens(play->request_size),
		.cached = json_get_i64(usage, "cached_tokens", 0),
		.output = usage ? json_get_i64(usage, "output_tokens", 0) : (int64_t)text_tokens(play->said),
		.reasoning = json_get_i64(usage, "reasoning_tokens", 0),
	};
	close_open_message(play, out);
	if (play->has_started && !play->has_completed)
		mock_event_completed(out, play->api, play->number, play->has_calls, &counts);
	play->has_completed = true;
	return MOCK_ACT_END;
}

static int play_step(struct mock_play *play, const struct mock_step *step, struct buf *out)
{
	if (mock_step_is_start(step->kind))
		start_stream(play, out);
	int act = handlers[step->kind](play, step, out);
	if (out->over || play->made.over || play->open.over)
		return MOCK_ACT_LIMIT;
	if (act != ACT_AGAIN)
		advance(play);
	return act;
}

enum mock_act mock_play_next(struct mock_play *play, struct buf *out)
{
	while (out->len < LIMIT_MOCK_BATCH) {
		const struct mock_step *step = current_step(play);
		if (!step)
			return finish_stream(play, out);
		int act = play_step(play, step, out);
		if (act >= 0)
			return (enum mock_act)act;
	}
	return MOCK_ACT_MORE;
}
