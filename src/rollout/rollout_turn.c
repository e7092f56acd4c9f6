/* The five members that every version requires are always written; a resume compares them with the
 * settings of the day to see what the model must be told anew. */
#include "rollout/rollout_turn.h"

void rollout_turn_encode(const struct rollout_turn *turn, struct json_writer *w)
{
	jw_object(w);
	if (turn->turn_id.ptr)
		jw_member_str(w, "turn_id", turn->turn_id);
	jw_member_str(w, "cwd", turn->cwd);
	jw_member_raw(w, "approval_policy", turn->approval_policy);
	jw_member_raw(w, "sandbox_policy", turn->sandbox_policy);
	jw_member_str(w, "model", turn->model);
	if (turn->personality.ptr)
		jw_member_str(w, "personality", turn->personality);
	if (turn->collaboration_mode.ptr)
		jw_member_raw(w, "collaboration_mode", turn->collaboration_mode);
	if (turn->effort.ptr)
		jw_member_str(w, "effort", turn->effort);
	jw_member_str(w, "summary", turn->summary);
	jw_object_end(w);
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

/* A word, or an object with the granular kind. */
static struct str policy_of(const struct json *payload, struct arena *arena)
{
	const struct json *value = json_get(payload, "approval_policy");
	bool is_known = json_is(value, JSON_object) || json_is(value, JSON_string);
	return is_known ? arena_str(arena, value->span) : STR_NONE;
}

struct rollout_turn rollout_turn_decode(const struct json *payload, struct arena *arena)
{
	return (struct rollout_turn){
		.turn_id = text_of(payload, "turn_id", arena),
		.cwd = text_of(payload, "cwd", arena),
		.model = text_of(payload, "model", arena),
		.approval_policy = policy_of(payload, arena),
		.sandbox_policy = object_of(payload, "sandbox_policy", arena),
		.effort = text_of(payload, "effort", arena),
		.summary = text_of(payload, "summary", arena),
		.personality = text_of(payload, "personality", arena),
		.collaboration_mode = object_of(payload, "collaboration_mode", arena),
	};
}
