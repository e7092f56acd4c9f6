/* The answer comes from a model that has read text of an attacker, so only its form can be checked here. */
#include "engine/session/guardian_verdict.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"

const struct str guardian_verdict_schema =
	STR("{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
            "\"risk_level\":{\"type\":\"string\",\"enum\":[\"low\",\"medium\",\"high\",\"critical\"]},"
            "\"user_authorization\":{\"type\":\"string\",\"enum\":[\"unknown\",\"low\",\"medium\",\"high\"]},"
            "\"outcome\":{\"type\":\"string\",\"enum\":[\"allow\",\"deny\"]},"
            "\"rationale\":{\"type\":\"string\"}},\"required\":[\"outcome\"]}");

/* Removes the lines with ``` around the text. */
static struct str strip_code(struct str text)
{
	struct str rest = str_trim(text), line;
	if (!str_has_prefix(rest, "```"))
		return rest;
	str_next_line(&rest, &line);
	rest = str_trim_end(rest);
	if (rest.len < 3 || !str_is(str_skip(rest, rest.len - 3), "```"))
		return str_trim(text);
	rest.len -= 3;
	return rest;
}

static size_t count_members(const struct json *object, const char *key)
{
	size_t count = 0;
	json_for_each(it, object)
		count += str_is(it->key, key);
	return count;
}

/* Reads a member that may be absent; false if its word is unknown or stands there twice. */
static bool read_word(const struct json *answer, const char *key, const struct enum_type *type, int absent, int *ret)
{
	const struct json *word = json_get(answer, key);
	*ret = absent;
	if (!word)
		return true;
	return json_is(word, JSON_string) && count_members(answer, key) == 1 && enum_parse(type, word->text, ret);
}

static struct str rationale_of(const struct json *answer, bool is_allowed, struct arena *arena)
{
	struct str text = str_trim(json_get_str(answer, "rationale"));
	if (!text.len)
		return is_allowed ? STR("Auto-review returned a low-risk allow decision.")
		                  : STR("Auto-review returned a deny decision without a rationale.");
	if (text.len > LIMIT_GUARDIAN_RATIONALE)
		text.len = text_floor_boundary(text, LIMIT_GUARDIAN_RATIONALE);
	return arena_str(arena, text);
}

/* True if an answer may allow the action at this risk. */
static bool is_consistent(const struct guardian_verdict *verdict)
{
	return verdict->risk != guardian_risk_level_critical &&
	       (verdict->risk != guardian_risk_level_high ||
	        verdict->authorization >= guardian_user_authorization_medium);
}

int guardian_verdict_read(struct str answer, struct arena *arena, struct guardian_verdict *ret, struct error *err)
{
	int outcome = guardian_outcome_deny, risk, authorization;
	const struct json *root = json_parse(arena, strip_code(answer), NULL);
	if (!json_is(root, JSON_object))
		return error_set(err, ERR_invalid, "the reviewer's answer is not a JSON object");
	if (!json_get(root, "outcome") ||
	    !read_word(root, "outcome", &enum_guardian_outcome, guardian_outcome_deny, &outcome))
		return error_set(err, ERR_invalid, "the reviewer's answer has no valid `outcome`");
	bool is_allowed = outcome == guardian_outcome_allow;
	int usual = is_allowed ? guardian_risk_level_low : guardian_risk_level_high;
	if (!read_word(root, "risk_level", &enum_guardian_risk_level, usual, &risk) ||
	    !read_word(root, "user_authorization", &enum_guardian_user_authorization,
	               guardian_user_authorization_unknown, &authorization))
		return error_set(err, ERR_invalid, "the reviewer's answer has an unknown word");
	*ret = (struct guardian_verdict){
		.is_allowed = is_allowed,
		.risk = (enum guardian_risk_level)risk,
		.authorization = (enum guardian_user_authorization)authorization,
		.rationale = rationale_of(root, is_allowed, arena),
	};
	ret->is_allowed = is_allowed && is_consistent(ret);
	return 0;
}
