/* Decodes parameters (rpc_params.h). The position of a mistake in base64 is searched only after base/text.h has failed
 * to decode the text. */
#include "app_server/rpc/rpc_params.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

int rpc_params_decode(const struct app_method *method, const struct json *params, struct arena *arena, void **ret,
                      struct error *err)
{
	*ret = arena_alloc(arena, method->params->size);
	if (params && params->type != JSON_null)
		return record_decode(method->params, params, arena, *ret, err);
	if (method->flags & PARAMS_OPTIONAL)
		return 0;
	return error_set(err, ERR_invalid, "missing field `params`");
}

const struct field *rpc_params_find_experimental(const struct record *record, const struct json *params)
{
	char name[FIELD_NAME_SIZE];
	record_for_each(field, record) {
		if (!(field->presence & EXPERIMENTAL))
			continue;
		const struct json *member = json_get(params, field_wire_name(record, field, name));
		if (member && member->type != JSON_null && !(member->type == JSON_bool && !member->boolean))
			return field;
	}
	return NULL;
}

/* ---- paths ---- */

static bool holds_nul(const struct json *value)
{
	struct str text;
	return json_to_str(value, &text) && str_find_char(text, '\0') >= 0;
}

bool rpc_params_has_bad_path(const struct json *params)
{
	static const char *const members[] = {"cwd", "path", "roots"};
	bool is_bad = false;
	for (size_t i = 0; i < countof(members); i++) {
		const struct json *member = json_get(params, members[i]);
		is_bad |= holds_nul(member);
		if (!json_is(member, JSON_array))
			continue;
		json_for_each(it, member)
			is_bad |= holds_nul(it);
	}
	return is_bad;
}

/* ---- base64 ---- */

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int digit_value(char c)
{
	const char *at = c ? strchr(base64_digits, c) : NULL;
	return at ? (int)(at - base64_digits) : -1;
}

/* True if the last digit before the padding sets bits beyond the last byte, which is invalid. */
static bool has_loose_bits(struct str digits_only)
{
	int last = digits_only.len ? digit_value(digits_only.ptr[digits_only.len - 1]) : 0;
	switch (digits_only.len % 4) {
	case 2:
		return last & 15;
	case 3:
		return last & 3;
	default:
		return false;
	}
}

static void find_fault(struct str text, struct str body, char why[RPC_PARAMS_WHY])
{
	for (size_t i = 0; i < body.len; i++) {
		if (digit_value(body.ptr[i]) < 0) {
			snprintf(why, RPC_PARAMS_WHY, "Invalid symbol %d, offset %zu.", (unsigned char)body.ptr[i], i);
			return;
		}
	}
	if (body.len % 4 == 1)
		snprintf(why, RPC_PARAMS_WHY, "Invalid input length: %zu", text.len);
	else if (has_loose_bits(body))
		snprintf(why, RPC_PARAMS_WHY, "Invalid last symbol %d, offset %zu.",
		         (unsigned char)body.ptr[body.len - 1], body.len - 1);
	else
		snprintf(why, RPC_PARAMS_WHY, "Invalid padding");
}

bool rpc_params_base64(struct buf *out, struct str text, char why[RPC_PARAMS_WHY])
{
	struct str body = text;
	while (body.len && text.len - body.len < 2 && body.ptr[body.len - 1] == '=')
		body.len--;
	if (!has_loose_bits(body) && text_base64_decode(out, text))
		return true;
	find_fault(text, body, why);
	return false;
}
