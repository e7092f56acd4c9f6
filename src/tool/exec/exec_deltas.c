/* The first bytes are emitted at once, so that a prompt is visible when it is printed. Bytes that follow within
 * EXEC_PACE_MS are collected into one event: one event for each line of a command would have more overhead than output.
 *
 * The size of an event is that of the larger of its two forms: base64 in the event protocol, text in the app-server's,
 * where a control character takes six bytes. */
#include "tool/exec/exec_deltas.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/text.h"
#include "loop/loop.h"
#include "tool/tool_host.h"

enum { EXEC_PACE_MS = 20, ENVELOPE = 320 };

void exec_deltas_init(struct exec_deltas *deltas, struct tool_host *host, struct str call_id, struct str turn_id)
{
	*deltas = (struct exec_deltas){.host = host, .call_id = call_id, .turn_id = turn_id};
	buf_init(&deltas->waiting, LIMIT_EXEC_CHUNK);
}

void exec_deltas_finish(struct exec_deltas *deltas)
{
	loop_timer_destroy(deltas->pace);
	deltas->pace = NULL;
	buf_finish(&deltas->waiting);
}

static size_t cost_as_text(struct str chunk)
{
	size_t cost = 0;
	for (size_t i = 0; i < chunk.len; i++) {
		unsigned char c = (unsigned char)chunk.ptr[i];
		bool is_short = c >= ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f';
		if (c >= 0x80) /* counted as U+FFFD, because it may be ill-formed */
			cost += 3;
		else
			cost += !is_short ? 6 : c < ' ' || c == '"' || c == '\\' ? 2 : 1;
	}
	return cost;
}

static size_t cost_of(const struct exec_deltas *deltas, struct str chunk)
{
	size_t text = cost_as_text(chunk), coded = (chunk.len + 2) / 3 * 4;
	return ENVELOPE + deltas->call_id.len + (text > coded ? text : coded);
}

static void emit(struct exec_deltas *deltas, struct str chunk)
{
	auto_buf struct buf coded;
	buf_init(&coded, LIMIT_EXEC_CHUNK * 2);
	text_base64(&coded, chunk.ptr, chunk.len);
	struct ev_exec_output event = {.call_id = deltas->call_id, .stream = deltas->stream, .chunk = buf_str(&coded)};
	deltas->host->emit(deltas->host, deltas->turn_id, EV_exec_command_output_delta, &event);
}

static void elide(struct exec_deltas *deltas)
{
	if (!deltas->is_over)
		emit(deltas, STR("\n[output goes on, and is left out from here]\n")); /* words: quoted */
	deltas->is_over = true;
}

void exec_deltas_flush(struct exec_deltas *deltas)
{
	struct str chunk = buf_str(&deltas->waiting);
	size_t cost = cost_of(deltas, chunk);
	if (chunk.len == 0)
		return;
	if (deltas->count + 1 < LIMIT_EXEC_DELTAS && deltas->bytes + cost <= LIMIT_EXEC_DELTA_BYTES) {
		deltas->count++;
		deltas->bytes += cost;
		emit(deltas, chunk);
	} else {
		elide(deltas);
		deltas->elided += chunk.len;
	}
	buf_clear(&deltas->waiting);
}

static void on_pace(void *self)
{
	struct exec_deltas *deltas = self;
	if (deltas->waiting.len == 0)
		return;
	exec_deltas_flush(deltas);
	loop_timer_start(deltas->pace, EXEC_PACE_MS);
}

static void add_waiting(struct exec_deltas *deltas, struct str bytes)
{
	while (bytes.len && !deltas->is_over) {
		size_t room = LIMIT_EXEC_CHUNK - deltas->waiting.len, len = bytes.len < room ? bytes.len : room;
		buf_append(&deltas->waiting, bytes.ptr, len);
		bytes = str_skip(bytes, len);
		if (deltas->waiting.len == LIMIT_EXEC_CHUNK)
			exec_deltas_flush(deltas);
	}
	deltas->elided += bytes.len;
}

void exec_deltas_add(struct exec_deltas *deltas, enum exec_stream stream, struct str bytes)
{
	if (deltas->host->mutes_output)
		return;
	if (stream != deltas->stream)
		exec_deltas_flush(deltas);
	deltas->stream = stream;
	add_waiting(deltas, bytes);
	if (deltas->is_over)
		return;
	if (!deltas->pace)
		deltas->pace = loop_timer_create(deltas->host->loop, on_pace, deltas);
	if (loop_timer_is_active(deltas->pace))
		return;
	exec_deltas_flush(deltas);
	loop_timer_start(deltas->pace, EXEC_PACE_MS);
}

void exec_deltas_skip(struct exec_deltas *deltas, uint64_t count)
{
	if (deltas->host->mutes_output)
		return;
	exec_deltas_flush(deltas);
	elide(deltas);
	deltas->elided += count;
}

void exec_deltas_end(struct exec_deltas *deltas)
{
	char note[64];
	exec_deltas_flush(deltas);
	if (deltas->elided) {
		snprintf(note, sizeof(note), "\n[%" PRIu64 " bytes of output left out here]\n", deltas->elided);
		emit(deltas, str_of(note));
	}
	deltas->elided = 0;
	if (deltas->pace)
		loop_timer_stop(deltas->pace);
}
