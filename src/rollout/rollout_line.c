/* Every line is parsed completely, even where only its type is needed: a damaged line must be detected before any part
 * of it reaches the model. */
#include "rollout/rollout_line.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
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

/* Returns the type of a line without an envelope. Before September 2025 a line was its payload: first the session's
 * {"id","timestamp",…}, then items and {"record_type":"state"} lines of an older engine. */
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

/* Cuts "ordinal":N, off, which a line may lack. */
static bool cut_ordinal(struct str *rest, struct rollout_line *line)
{
	struct str number;
	if (!str_cut_prefix(rest, "\"ordinal\":"))
		return true;
	line->has_ordinal = true;
	return str_next_part(rest, ',', &number) && str_to_u64(number, &line->ordinal);
}

bool rollout_line_peek_event(struct str text, struct rollout_line *ret, struct str *ret_event)
{
	struct str rest = text, time;
	struct rollout_line line = {.type = LINE_event_msg};
	if (!str_cut_prefix(&rest, "{\"timestamp\":\"") || !str_has_suffix(text, "}}") ||
	    !str_next_part(&rest, '"', &time) || !str_cut_prefix(&rest, ",") || !cut_ordinal(&rest, &line) ||
	    !str_cut_prefix(&rest, "\"type\":\"event_msg\",\"payload\":{\"type\":\"") ||
	    !str_next_part(&rest, '"', ret_event))
		return false;
	clock_parse_rfc3339(time, &line.at_ms);
	*ret = line;
	return true;
}

/* ---- turn_context ---- */

void rollout_turn_encode(const struct rollout_turn *turn, struct json_writer *w)
{
	jw_object(w);
	if (turn->turn_id.ptr)
		jw_member_str(w, "turn_id", turn->turn_id);
	jw_member_str(w, "cwd", turn->cwd);
	jw_member_raw(w, "approval_policy", turn->approval_policy);
	if (turn->approvals_reviewer.ptr)
		jw_member_str(w, "approvals_reviewer", turn->approvals_reviewer);
	jw_member_raw(w, "sandbox_policy", turn->sandbox_policy);
	jw_member_str(w, "model", turn->model);
	if (turn->personality.ptr)
		jw_member_str(w, "personality", turn->personality);
	if (turn->collaboration_mode.ptr)
		jw_member_raw(w, "collaboration_mode", turn->collaboration_mode);
	if (turn->effort.ptr)
		jw_member_str(w, "effort", turn->effort);
	jw_member_str(w, "summary", turn->summary);
	if (turn->environment.ptr)
		jw_member_raw(w, "command_environment", turn->environment);
	jw_object_end(w);
}

void rollout_environment_encode(const struct rollout_environment *environment, struct json_writer *w)
{
	jw_object(w);
	jw_member_str(w, "id", environment->id);
	jw_member_str(w, "cwd", environment->cwd);
	if (environment->is_pending)
		jw_member_bool(w, "is_pending", true);
	if (environment->further_count) {
		jw_key(w, "further");
		jw_array(w);
		for (size_t i = 0; i < environment->further_count; i++) {
			jw_object(w);
			jw_member_str(w, "id", environment->further[i].id);
			jw_member_str(w, "cwd", environment->further[i].cwd);
			jw_object_end(w);
		}
		jw_array_end(w);
	}
	jw_object_end(w);
}

static bool is_place(struct str id, struct str cwd)
{
	return id.len && id.len <= LIMIT_ENVIRONMENT_TEXT && str_has_prefix(cwd, "/") && str_find_char(cwd, '\0') < 0;
}

int rollout_environment_decode(struct str text, struct arena *arena, struct rollout_environment *ret, struct error *err)
{
	const struct json *json = json_parse_copy(arena, text, NULL);
	*ret = (struct rollout_environment){json_get_str(json, "id"), json_get_str(json, "cwd"),
	                                    json_get(json, "is_pending") != NULL};
	bool is_good = is_place(ret->id, ret->cwd);
	json_for_each(it, json_get(json, "further")) {
		struct str id = json_get_str(it, "id"), cwd = json_get_str(it, "cwd");
		is_good = is_good && is_place(id, cwd) && ret->further_count < countof(ret->further);
		if (!is_good)
			break;
		ret->further[ret->further_count].id = id;
		ret->further[ret->further_count++].cwd = cwd;
	}
	if (is_good)
		return 0;
	return error_set(err, ERR_invalid,
	                 "the rollout does not say in which environment the session's commands run: its "
	                 "`command_environment` has no id with an absolute cwd");
}

static struct str text_of(const struct json *payload, const char *key, struct arena *arena)
{
	return arena_str(arena, json_get_str(payload, key));
}

static struct str object_of(const struct json *payload, const char *key, struct arena *arena)
{
	const struct json *value = json_get(payload, key);
	return json_is(value, JSON_object) ? arena_str(arena, value->span) : STR_NONE;
}

/* Returns the policy as text: a string, or the JSON object of a granular policy. */
static struct str policy_of(const struct json *payload, struct arena *arena)
{
	const struct json *value = json_get(payload, "approval_policy");
	bool is_known = json_is(value, JSON_object) || json_is(value, JSON_string);
	return is_known ? arena_str(arena, value->span) : STR_NONE;
}

struct rollout_turn rollout_turn_decode(const struct json *payload, struct arena *arena)
{
	const struct json *place = json_get(payload, "command_environment");
	return (struct rollout_turn){
		.turn_id = text_of(payload, "turn_id", arena),
		.cwd = text_of(payload, "cwd", arena),
		.model = text_of(payload, "model", arena),
		.approval_policy = policy_of(payload, arena),
		.approvals_reviewer = text_of(payload, "approvals_reviewer", arena),
		.sandbox_policy = object_of(payload, "sandbox_policy", arena),
		.effort = text_of(payload, "effort", arena),
		.summary = text_of(payload, "summary", arena),
		.personality = text_of(payload, "personality", arena),
		.collaboration_mode = object_of(payload, "collaboration_mode", arena),
		.environment = place ? arena_str(arena, place->span) : STR_NONE,
	};
}

/* ---- the order of lines ---- */

static int by_ordinal(const void *a, const void *b)
{
	const struct rollout_place *x = a, *y = b;
	if (x->ordinal != y->ordinal)
		return x->ordinal < y->ordinal ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* True if the line repeats the one before. Their bytes may differ, because private members may have been removed
 * from one of them. */
static bool is_repeated(const struct rollout_place *before, const struct rollout_place *it)
{
	return before->has_ordinal && it->has_ordinal && before->ordinal == it->ordinal && before->type == it->type &&
	       before->at_ms == it->at_ms;
}

static void drop_repeated(struct rollout_order *order)
{
	size_t kept = 0;
	vec_for_each(it, &order->lines) {
		if (kept && is_repeated(&order->lines.items[kept - 1], it))
			order->repeated++;
		else
			order->lines.items[kept++] = *it;
	}
	order->lines.count = kept;
}

void rollout_order_init(struct rollout_order *order, struct str bytes)
{
	struct str text;
	uint64_t ordinal = 0;
	*order = (struct rollout_order){0};
	while (str_next_line(&bytes, &text)) {
		auto_arena struct arena arena = {0};
		struct rollout_line line = {.type = LINE_unknown};
		if (rollout_line_parse(&arena, text, &line, NULL) == 0 && line.has_ordinal)
			ordinal = line.ordinal;
		vec_push(&order->lines, (struct rollout_place){
						.ordinal = ordinal,
						.seq = order->lines.count,
						.text = text,
						.has_ordinal = line.has_ordinal,
						.type = line.type,
						.at_ms = line.at_ms,
					});
	}
	if (order->lines.count)
		qsort(order->lines.items, order->lines.count, sizeof(*order->lines.items), by_ordinal);
	drop_repeated(order);
}

void rollout_order_finish(struct rollout_order *order)
{
	vec_finish(&order->lines);
}
