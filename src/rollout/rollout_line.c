/* Every line is parsed whole, even where only its type matters: that is what tells a damaged line from
 * a good one, and a reader that trusted half of a line would hand the other half to the model. */
#include "rollout/rollout_line.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "rollout/rollout_item.h"

static const char *const line_names[] = {
#define LINE(name, doc) #name,
#include "rollout/rollout_line.def"
#undef LINE
};

const char *rollout_line_name(enum rollout_line_type type)
{
	return type < LINE_count ? line_names[type] : "unknown";
}

static enum rollout_line_type type_of(struct str name)
{
	for (size_t i = 0; i < countof(line_names); i++) {
		if (str_is(name, line_names[i]))
			return (enum rollout_line_type)i;
	}
	return LINE_unknown;
}

/* Before September 2025 a line was its payload: first the session's {"id","timestamp",…}, then items,
 * and between them the {"record_type":"state"} of an older engine. */
static enum rollout_line_type bare_type(const struct json *root)
{
	struct str type = json_get_str(root, "type");
	if (json_get(root, "record_type"))
		return LINE_world_state;
	if (!type.ptr && json_get_str(root, "id").ptr && json_get_str(root, "timestamp").ptr)
		return LINE_session_meta;
	return rollout_item_kind(type) == ITEM_KIND_unknown ? LINE_unknown : LINE_response_item;
}

int rollout_line_parse(struct arena *arena, struct str text, struct rollout_line *ret, struct error *err)
{
	const struct json *root = json_parse(arena, text, err);
	if (!root)
		return -ERR_invalid;
	if (!json_is(root, JSON_object))
		return error_set(err, ERR_invalid, "a line must be an object");
	struct rollout_line line = {.type = LINE_unknown, .payload = json_get(root, "payload")};
	clock_parse_rfc3339(json_get_str(root, "timestamp"), &line.at_ms);
	line.has_ordinal = json_to_u64(json_get(root, "ordinal"), &line.ordinal);
	if (line.payload) {
		line.type = type_of(json_get_str(root, "type"));
	} else {
		line.payload = root;
		line.type = bare_type(root);
	}
	if (line.type != LINE_unknown && !json_is(line.payload, JSON_object))
		return error_set(err, ERR_invalid, "the payload of a line must be an object");
	*ret = line;
	return 0;
}
