/* base/text.h decodes; this file finds the position of the mistake in the rare text that fails. */
#include "app_server/rpc/wire_base64.h"

#include <stdio.h>

#include "base/text.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int digit_value(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* The last digit before the padding must not set bits beyond the last byte. */
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

static void find_fault(struct str text, struct str body, char why[WIRE_BASE64_WHY])
{
	for (size_t i = 0; i < body.len; i++) {
		if (digit_value(body.ptr[i]) < 0) {
			snprintf(why, WIRE_BASE64_WHY, "Invalid symbol %d, offset %zu.", (unsigned char)body.ptr[i], i);
			return;
		}
	}
	if (body.len % 4 == 1)
		snprintf(why, WIRE_BASE64_WHY, "Invalid input length: %zu", text.len);
	else if (has_loose_bits(body))
		snprintf(why, WIRE_BASE64_WHY, "Invalid last symbol %d, offset %zu.",
		         (unsigned char)body.ptr[body.len - 1], body.len - 1);
	else
		snprintf(why, WIRE_BASE64_WHY, "Invalid padding");
}

bool wire_base64_decode(struct buf *out, struct str text, char why[WIRE_BASE64_WHY])
{
	struct str body = text;
	while (body.len && text.len - body.len < 2 && body.ptr[body.len - 1] == '=')
		body.len--;
	if (!has_loose_bits(body) && text_base64_decode(out, text))
		return true;
	find_fault(text, body, why);
	return false;
}
