/* The items are those of app_server/history, which the live updates are built from as well. A call has ended, so it is
 * a single tool_call with its final status. */
#include "acp/acp_replay.h"

#include "acp/acp_session.h"
#include "acp/acp_tool.h"
#include "acp/acp_wire.h"
#include "app_server/history/thread_history.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rollout/rollout_reader.h"

struct replay {
	struct buf *out;
	struct str session_id, cwd;
};

static void put(struct replay *replay, enum acp_update_tag tag, void *body)
{
	struct acp_update update = {.tag = tag, .body = body};
	acp_write_update(replay->out, replay->session_id, &update);
}

static void put_block(struct replay *replay, enum acp_update_tag tag, struct str id, struct acp_block *block)
{
	struct acp_chunk chunk = {block, id};
	put(replay, tag, &chunk);
}

static void put_text(struct replay *replay, enum acp_update_tag tag, struct str id, struct str text)
{
	struct acp_text part = {text};
	struct acp_block block = {.tag = acp_block_text, .text = &part};
	if (text.len)
		put_block(replay, tag, id, &block);
}

/* Splits data:TYPE;base64,BYTES. */
static bool split_url(struct str url, struct acp_image *ret)
{
	ptrdiff_t mark = str_find(url, STR(";base64,"));
	if (!str_cut_prefix(&url, "data:") || mark < 5)
		return false;
	ret->mime_type = str_n(url.ptr, (size_t)mark - 5);
	ret->data = str_skip(url, (size_t)mark - 5 + 8);
	return ret->mime_type.len && ret->data.len;
}

static void put_user(struct replay *replay, const struct app_item_user_message *message)
{
	for (size_t i = 0; i < message->content_count; i++) {
		const struct app_user_input *input = &message->content[i];
		struct acp_image image;
		struct acp_block block = {.tag = acp_block_image, .image = &image};
		if (input->tag == app_user_input_text)
			put_text(replay, acp_update_user_message_chunk, message->id, input->text->text);
		else if (input->tag == app_user_input_image && split_url(input->image->url, &image))
			put_block(replay, acp_update_user_message_chunk, message->id, &block);
	}
}

static void put_item(struct replay *replay, const struct app_thread_item *item)
{
	auto_arena struct arena arena = {0};
	struct acp_tool_call call;
	switch (item->tag) {
	case app_thread_item_user_message:
		put_user(replay, item->user_message);
		break;
	case app_thread_item_agent_message:
		put_text(replay, acp_update_agent_message_chunk, item->agent_message->id, item->agent_message->text);
		break;
	case app_thread_item_plan:
		put_text(replay, acp_update_agent_message_chunk, item->plan->id, item->plan->text);
		break;
	case app_thread_item_exited_review_mode:
		put_text(replay, acp_update_agent_message_chunk, item->exited_review_mode->id,
		         item->exited_review_mode->review);
		break;
	case app_thread_item_reasoning:
		for (size_t i = 0; i < item->reasoning->summary_count; i++)
			put_text(replay, acp_update_agent_thought_chunk, item->reasoning->id,
			         item->reasoning->summary[i]);
		break;
	default:
		if (acp_tool_of_item(item, replay->cwd, &arena, &call))
			put(replay, acp_update_tool_call, &call);
	}
}

static void read_usage(const struct rollout_reader *reader, struct arena *arena, struct acp_stored *ret)
{
	struct token_usage_info info = {0};
	const struct json *json = reader->token_info.ptr ? json_parse(arena, reader->token_info, NULL) : NULL;
	if (!json || record_decode(&record_token_usage_info, json, arena, &info, NULL) != 0)
		return;
	ret->usage = *info.total_token_usage;
	if (info.has_model_context_window)
		ret->context =
			(struct acp_context_usage){info.last_token_usage->total_tokens, info.model_context_window};
}

static int put_history(const struct thread_history *history, struct replay *replay, struct error *err)
{
	for (size_t i = 0; i < history->count && !replay->out->over; i++) {
		for (size_t n = 0; n < history->turns[i].items_count; n++)
			put_item(replay, &history->turns[i].items[n]);
	}
	if (replay->out->over)
		return error_set(err, ERR_limit, "the history is larger than %d MiB: use session/resume",
		                 LIMIT_RPC_LIST / MIB);
	return 0;
}

int acp_replay_read(const char *path, struct str session_id, struct buf *out, struct acp_stored *ret, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct thread_history history = {0};
	struct rollout_reader *reader = rollout_reader_create_for(path, ROLLOUT_EVENTS, err);
	*ret = (struct acp_stored){0};
	if (!reader)
		return -(int)err->code;
	struct replay replay = {out, session_id, reader->meta.cwd};
	thread_history_read(reader, &arena, &history);
	read_usage(reader, &arena, ret);
	struct str title = acp_title_of(history.preview);
	ret->title = title.len ? str_dup(title) : NULL;
	int status = out ? put_history(&history, &replay, err) : 0;
	rollout_reader_destroy(reader);
	return status;
}
