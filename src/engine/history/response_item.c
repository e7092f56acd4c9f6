/* With store=false a provider knows none of its ids again, so they are left out; everything else goes
 * back byte for byte, fields we have never heard of included. */
#include "engine/history/response_item.h"

#include "base/json.h"

static bool goes_back(const struct json *item, const struct json *member)
{
	if (member->type == JSON_null)
		return false;
	if (str_is(member->key, "status"))
		return str_is(json_get_str(item, "type"), "local_shell_call") ||
		       str_is(json_get_str(item, "type"), "web_search_call");
	return !str_is(member->key, "id");
}

void response_item_write(struct buf *out, const struct json *item)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	json_for_each(member, item) {
		if (!goes_back(item, member))
			continue;
		jw_key_str(&w, member->key);
		jw_value(&w, member);
	}
	jw_object_end(&w);
}

static struct str part_text(const struct json *part)
{
	struct str text = json_get_str(part, "text");
	return text.ptr && !str_is(json_get_str(part, "type"), "refusal") ? text : json_get_str(part, "refusal");
}

struct str response_item_text(struct buf *spare, const struct json *message)
{
	const struct json *parts = json_get(message, "content");
	if (json_is(parts, JSON_array) && parts->count == 1) {
		struct str text = part_text(parts->child);
		return text.ptr ? text : STR("");
	}
	json_for_each(part, parts)
		buf_append_str(spare, part_text(part));
	return buf_str(spare);
}
