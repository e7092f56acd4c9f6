/* A turn that runs is encoded twice: on the worker as the file has it, and on the loop as its thread has it when the
 * response is sent. Notifications that were sent before the response are thereby part of it. */
#include "app_server/history/history_json.h"

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"

static void write_turn(struct buf *text, const struct app_turn *turn)
{
	struct json_writer w = json_writer(text);
	record_encode(&record_app_turn, turn, &w);
}

void history_json_write(const struct thread_history *history, struct arena *arena, struct history_json *ret)
{
	buf_init(&ret->text, LIMIT_RPC_LIST);
	ret->ends = arena_array(arena, size_t, history->count);
	ret->count = history->count;
	for (size_t i = 0; i < history->count && !ret->text.over; i++) {
		if (i)
			buf_append_char(&ret->text, ',');
		write_turn(&ret->text, &history->turns[i]);
		ret->ends[i] = ret->text.len;
	}
}

int history_json_check(const struct history_json *json, struct error *err)
{
	if (!json->text.over)
		return 0;
	return error_set(
		err, ERR_limit,
		"the turns of this thread are larger than %d MiB: leave them out of the response and read them "
		"with thread/turns/list",
		LIMIT_RPC_LIST / MIB);
}

void history_json_replace(struct history_json *json, size_t index, const struct app_turn *turn)
{
	struct buf *text = &json->text;
	if (text->over || index >= json->count)
		return;
	size_t start = index ? json->ends[index - 1] + 1 : 0, end = json->ends[index];
	struct str rest = str_skip(buf_str(text), end);
	auto_free char *later = rest.len ? str_dup(rest) : NULL;
	buf_truncate(text, start);
	write_turn(text, turn);
	buf_append(text, later, rest.len);
	for (size_t i = index; i < json->count; i++)
		json->ends[i] += text->len - rest.len - end;
}

void history_json_finish(struct history_json *json)
{
	buf_finish(&json->text);
}
