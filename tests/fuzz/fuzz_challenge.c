/* The values that are read from a WWW-Authenticate header can be written as a header again, and are then read the
 * same. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/limits.h"
#include "oauth/oauth_challenge.h"

static void write_value(struct buf *out, const char *name, struct str value)
{
	if (!value.ptr)
		return;
	buf_printf(out, " %s=\"", name);
	for (size_t i = 0; i < value.len; i++) {
		if (value.ptr[i] == '"' || value.ptr[i] == '\\')
			buf_append_char(out, '\\');
		buf_append_char(out, value.ptr[i]);
	}
	buf_append_c(out, "\",");
}

static void check_equal(struct str a, struct str b)
{
	fuzz_check(!a.ptr == !b.ptr && (!a.ptr || str_eq(a, b)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_arena struct arena arena = {0};
	struct oauth_challenge first, second;
	auto_buf struct buf text;
	buf_init(&text, 4 * size + KIB);
	if (!oauth_challenge_read(str_n((const char *)data, size), &arena, &first))
		return 0;
	buf_append_c(&text, "Bearer");
	write_value(&text, "resource_metadata", first.resource_metadata);
	write_value(&text, "scope", first.scope);
	write_value(&text, "error", first.error);
	fuzz_check(oauth_challenge_read(buf_str(&text), &arena, &second));
	check_equal(first.resource_metadata, second.resource_metadata);
	check_equal(first.scope, second.scope);
	check_equal(first.error, second.error);
	return 0;
}
