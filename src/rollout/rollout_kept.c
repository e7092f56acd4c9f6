/* Used where a compaction is made and where one of before 2026, which recorded only its summary, is read:
 * both must come to the same history. */
#include "rollout/rollout_kept.h"

#include "base/limits.h"
#include "base/text.h"
#include "rollout/rollout_item.h"

void rollout_write_user(struct buf *out, struct str text)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_cstr(&w, "type", "message");
	jw_member_cstr(&w, "role", "user");
	jw_key(&w, "content");
	jw_array(&w);
	jw_object(&w);
	jw_member_cstr(&w, "type", "input_text");
	jw_member_str(&w, "text", text);
	jw_object_end(&w);
	jw_array_end(&w);
	jw_object_end(&w);
}

/* The texts of a message, a line each; true if that is all there is to it. */
static bool collect_words(const struct json *item, struct buf *out)
{
	bool is_all = true;
	json_for_each(part, json_get(item, "content")) {
		struct str text = json_get_str(part, "text");
		is_all &= text.ptr != NULL;
		if (out->len && text.ptr)
			buf_append_char(out, '\n');
		buf_append_str(out, text);
	}
	return is_all;
}

struct str rollout_kept_item(const struct json *item, size_t *tokens_left, struct buf *spare)
{
	auto_buf struct buf words, cut;
	buf_init(&words, LIMIT_ROLLOUT_LINE);
	buf_init(&cut, LIMIT_ROLLOUT_LINE);
	if (*tokens_left == 0 || !rollout_item_is_user_message(item))
		return STR_NONE;
	bool is_all = collect_words(item, &words);
	size_t tokens = text_tokens(words.len);
	if (words.len == 0)
		return STR_NONE;
	if (tokens <= *tokens_left && is_all) {
		*tokens_left -= tokens;
		return item->span;
	}
	text_append_middle(&cut, buf_str(&words), (struct text_budget){TEXT_TOKENS, *tokens_left});
	*tokens_left -= tokens < *tokens_left ? tokens : *tokens_left;
	rollout_write_user(spare, buf_str(&cut));
	return buf_str(spare);
}
