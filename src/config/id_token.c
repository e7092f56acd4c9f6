/* Older tokens have the email address in a profile, and the user under another name. */
#include "config/id_token.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"

static const struct json *read_payload(struct arena *arena, struct str token)
{
	struct str header, payload;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_AUTH_FILE);
	if (!str_next_part(&token, '.', &header) || !str_next_part(&token, '.', &payload) || !token.ptr)
		return NULL;
	if (!text_base64url_decode(&text, payload) || text.over)
		return NULL;
	const struct json *json = json_parse_copy(arena, buf_str(&text), NULL);
	return json_is(json, JSON_object) ? json : NULL;
}

bool id_token_read(struct arena *arena, struct str token, struct id_claims *ret)
{
	const struct json *root = read_payload(arena, token);
	const struct json *auth = json_get(root, "https://api.openai.com/auth");
	const struct json *profile = json_get(root, "https://api.openai.com/profile");
	*ret = (struct id_claims){
		.email = json_get_str(root, "email"),
		.plan = json_get_str(auth, "chatgpt_plan_type"),
		.account_id = json_get_str(auth, "chatgpt_account_id"),
		.user_id = json_get_str(auth, "chatgpt_user_id"),
		.organization_id = json_get_str(auth, "organization_id"),
		.project_id = json_get_str(auth, "project_id"),
		.has_onboarded = json_get_bool(auth, "completed_platform_onboarding", false),
		.is_owner = json_get_bool(auth, "is_org_owner", false),
	};
	if (!ret->email.ptr)
		ret->email = json_get_str(profile, "email");
	if (!ret->user_id.ptr)
		ret->user_id = json_get_str(auth, "user_id");
	return root;
}

int64_t id_token_expiry(struct str token)
{
	auto_arena struct arena arena = {0};
	return json_get_i64(read_payload(&arena, token), "exp", -1);
}
