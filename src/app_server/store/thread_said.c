/* One definition for the search itself and for the index that saves it from reading: what the one finds the other must
 * not exclude. */
#include "app_server/store/thread_said.h"

#include "app_server/store/thread_history.h"
#include "base/error.h"
#include "rollout/rollout_reader.h"

struct str thread_said_text(const struct app_thread_item *item, size_t n)
{
	if (item->tag == app_thread_item_agent_message && n == 0)
		return item->agent_message->text;
	if (item->tag != app_thread_item_user_message || n >= item->user_message->content_count)
		return STR_NONE;
	const struct app_user_input *input = &item->user_message->content[n];
	return input->tag == app_user_input_text && input->text->text.ptr ? input->text->text : STR("");
}

static void append_item(const struct app_thread_item *item, struct buf *out)
{
	struct str text;
	for (size_t n = 0; (text = thread_said_text(item, n)).ptr; n++) {
		buf_append_str(out, text);
		buf_append_char(out, '\n');
	}
}

bool thread_said_read(const char *path, struct buf *out)
{
	auto_arena struct arena arena = {0};
	struct thread_history history;
	struct error err = {0};
	struct rollout_reader *reader = rollout_reader_create_for(path, ROLLOUT_EVENTS, &err);
	if (!reader)
		return err.code == ERR_invalid;
	thread_history_read(reader, &arena, &history);
	rollout_reader_destroy(reader);
	for (size_t i = 0; i < history.count; i++) {
		for (size_t k = 0; k < history.turns[i].items_count; k++)
			append_item(&history.turns[i].items[k], out);
	}
	return true;
}
