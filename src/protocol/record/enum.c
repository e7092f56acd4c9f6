/* Includes enum.def, app_enum.def and acp_enum.def twice: first to define the words, then the types. */
#include "protocol/record/enum.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* The braces do not balance within one macro, which clang-format cannot handle. */
/* clang-format off */
#define ENUM(name) static const struct enum_word name##_words[] = {
#define VALUE(name, value, wire) {wire, name##_##value, false},
#define ALIAS(name, value, wire) {wire, name##_##value, true},
#define ENUM_END(name) };
#include "protocol/record/enum.def"
#include "protocol/app/app_enum.def"
#include "protocol/acp/acp_enum.def"
#undef ENUM
#undef VALUE
#undef ALIAS
#undef ENUM_END

#define ENUM(name) const struct enum_type enum_##name = {#name, name##_words, countof(name##_words)};
#define VALUE(name, value, wire)
#define ALIAS(name, value, wire)
#define ENUM_END(name)
#include "protocol/record/enum.def"
#include "protocol/app/app_enum.def"
#include "protocol/acp/acp_enum.def"
#undef ENUM
#undef VALUE
#undef ALIAS
#undef ENUM_END
/* clang-format on */

const char *enum_wire(const struct enum_type *type, int value)
{
	for (size_t i = 0; i < type->count; i++) {
		if (type->words[i].value == value && !type->words[i].is_alias)
			return type->words[i].wire;
	}
	return "";
}

bool enum_parse(const struct enum_type *type, struct str word, int *ret)
{
	for (size_t i = 0; i < type->count; i++) {
		if (str_is(word, type->words[i].wire)) {
			*ret = type->words[i].value;
			return true;
		}
	}
	return false;
}

void enum_expected(const struct enum_type *type, char *out, size_t size)
{
	size_t len = 0, written = 0, words = 0;
	for (size_t i = 0; i < type->count; i++)
		words += !type->words[i].is_alias && type->words[i].wire[0];
	if (size)
		out[0] = '\0';
	for (size_t i = 0; i < type->count && len < size; i++) {
		if (type->words[i].is_alias || !type->words[i].wire[0])
			continue;
		const char *before = written == 0 ? (words > 2 ? "one of " : "") : words == 2 ? " or " : ", ";
		len += (size_t)snprintf(out + len, size - len, "%s`%s`", before, type->words[i].wire);
		written++;
	}
}
