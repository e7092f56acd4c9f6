/* Items are kept as the bytes that were received: the engine can send them again without understanding them, so items
 * of future kinds survive a resume. The few properties that the engine needs are rows of rollout_item.def. Private
 * members are removed in place, because a history is as large as its file and must not be copied. */
#include "rollout/rollout_item.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

static const struct {
	const char *wire;
	bool is_sent;
} kinds[] = {
#define KEEP true
#define DROP false
#define ITEM(wire, fate) {#wire, fate},
#define PRIVATE(member)
#define CONTEXT(prefix)
#include "rollout/rollout_item.def"
#undef ITEM
#undef PRIVATE
#undef CONTEXT
#undef KEEP
#undef DROP
};

static const char *const private_members[] = {
#define ITEM(wire, fate)
#define PRIVATE(member) #member,
#define CONTEXT(prefix)
#include "rollout/rollout_item.def"
#undef ITEM
#undef PRIVATE
#undef CONTEXT
};

static const char *const context_prefixes[] = {
#define ITEM(wire, fate)
#define PRIVATE(member)
#define CONTEXT(prefix) prefix,
#include "rollout/rollout_item.def"
#undef ITEM
#undef PRIVATE
#undef CONTEXT
};

enum rollout_item_kind rollout_item_kind(struct str type)
{
	for (size_t i = 0; i < countof(kinds); i++) {
		if (str_is(type, kinds[i].wire))
			return (enum rollout_item_kind)i;
	}
	return ITEM_KIND_unknown;
}

bool rollout_item_is_checklist(struct str item)
{
	if (str_has_prefix(item, "{\"type\":\"function_call_output\","))
		return str_find(item, STR("\"output\":\"Plan updated\"")) >= 0 ||
		       str_find(item, STR("\"output\":\"{\\\"answers\\\":")) >= 0;
	return str_has_prefix(item, "{\"type\":\"function_call\",") &&
	       (str_find(item, STR("\"update_plan\"")) >= 0 || str_find(item, STR("\"request_user_input\"")) >= 0);
}

bool rollout_item_is_sent(enum rollout_item_kind kind)
{
	return kind < ITEM_KIND_count && kinds[kind].is_sent;
}

enum rollout_call rollout_item_call(const struct json *item)
{
	struct str type = json_get_str(item, "type");
	if (!json_get_str(item, "call_id").len)
		return ROLLOUT_NO_CALL;
	if (str_has_suffix(type, "_call"))
		return ROLLOUT_CALL;
	return str_has_suffix(type, "_output") ? ROLLOUT_CALL_OUTPUT : ROLLOUT_NO_CALL;
}

static bool is_context_text(struct str text)
{
	text = str_trim_start(text);
	for (size_t i = 0; i < countof(context_prefixes); i++) {
		if (str_has_prefix(text, context_prefixes[i]))
			return true;
	}
	return false;
}

/* Collects the kinds that codex 0.169 records for each part: "user.text", "environments.environment_context", …. */
static bool find_kinds(const struct json *item, bool *ret_is_user)
{
	const struct json *list = json_path(item, "internal_chat_message_metadata_passthrough.content_item_kinds");
	struct str kind;
	bool is_user = false;
	json_for_each(it, list) {
		if (json_to_str(it, &kind) && (str_has_prefix(kind, "user.") || str_is(kind, "unknown")))
			is_user = true;
	}
	*ret_is_user = is_user;
	return json_is(list, JSON_array) && list->count > 0;
}

static bool has_context_text(const struct json *item)
{
	json_for_each(part, json_get(item, "content")) {
		if (is_context_text(json_get_str(part, "text")))
			return true;
	}
	return false;
}

bool rollout_item_is_user_message(const struct json *item)
{
	if (rollout_item_kind(json_get_str(item, "type")) != ITEM_KIND_message ||
	    !str_is(json_get_str(item, "role"), "user"))
		return false;
	bool is_user;
	return find_kinds(item, &is_user) ? is_user : !has_context_text(item);
}

bool rollout_item_is_context(const struct json *item)
{
	struct str role = json_get_str(item, "role");
	if (rollout_item_kind(json_get_str(item, "type")) != ITEM_KIND_message)
		return false;
	return str_is(role, "developer") || (str_is(role, "user") && !rollout_item_is_user_message(item));
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Returns the opening quote of the member's name; NULL if the name is written with escapes. */
static const char *member_start(struct str object, const struct json *member)
{
	const char *at = member->span.ptr;
	size_t len = member->key.len;
	while (at > object.ptr && (is_blank(at[-1]) || at[-1] == ':'))
		at--;
	if ((size_t)(at - object.ptr) < len + 3 || at[-1] != '"' || memcmp(at - 1 - len, member->key.ptr, len) != 0)
		return NULL;
	return at - len - 2;
}

/* Removes the member and an adjacent comma from the object's bytes. The freed bytes at the end become blanks, so that
 * the surrounding text stays valid JSON. */
static struct str cut_member(struct str object, const struct json *member)
{
	const char *from = member_start(object, member), *to = member->span.ptr + member->span.len;
	const char *end = object.ptr + object.len;
	if (!from)
		return object;
	while (is_blank(*to))
		to++;
	if (*to == ',') {
		to++;
	} else {
		while (is_blank(from[-1]))
			from--;
		from -= from[-1] == ',';
	}
	char *into = (char *)(uintptr_t)from;
	memmove(into, to, (size_t)(end - to));
	memset(into + (end - to), ' ', (size_t)(to - from));
	object.len -= (size_t)(to - from);
	return object;
}

static bool is_private(struct str key)
{
	for (size_t i = 0; i < countof(private_members); i++) {
		if (str_is(key, private_members[i]))
			return true;
	}
	return false;
}

/* Returns the last private member before `limit`. */
static const struct json *find_private(const struct json *item, const char *limit)
{
	const struct json *found = NULL;
	json_for_each(it, item) {
		if (it->span.ptr < limit && is_private(it->key))
			found = it;
	}
	return found;
}

/* Works backwards, so that a removal moves no member that is still to be examined. */
struct str rollout_item_strip(const struct json *item)
{
	struct str left = item->span;
	const struct json *member = find_private(item, item->span.ptr + item->span.len);
	while (member) {
		left = cut_member(left, member);
		member = find_private(item, member->span.ptr);
	}
	return left;
}

/* ---- compaction ---- */

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

/* Collects the texts of a message, one per line; false if the message contains other parts. */
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
