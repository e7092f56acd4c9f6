/* Expands enum.def, app_enum.def and acp_enum.def four times: to a struct whose offsets locate the words, the text of
 * the words, the words, and the types. */
#include "protocol/record/enum.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* The braces do not balance within one macro, which clang-format cannot handle. */
/* clang-format off */
#define ENUM(name) struct name##_layout { char type_name[sizeof(#name)];
#define VALUE(name, value, wire) char value##_[sizeof(wire)];
#define ALIAS(name, value, alias, wire) char alias##_[sizeof(wire)];
#define ENUM_END(name) };
#include "protocol/record/enum.def"
#include "protocol/app/app_enum.def"
#include "protocol/acp/acp_enum.def"
#undef ENUM
#undef VALUE
#undef ALIAS
#undef ENUM_END

#define ENUM(name) static const char name##_wires[] = #name "\0"
#define VALUE(name, value, wire) wire "\0"
#define ALIAS(name, value, alias, wire) wire "\0"
#define ENUM_END(name) ;
#include "protocol/record/enum.def"
#include "protocol/app/app_enum.def"
#include "protocol/acp/acp_enum.def"
#undef ENUM
#undef VALUE
#undef ALIAS
#undef ENUM_END

#define ENUM(name) static const struct enum_word name##_words[] = {
#define VALUE(name, value, wire) {offsetof(struct name##_layout, value##_), name##_##value, false},
#define ALIAS(name, value, alias, wire) {offsetof(struct name##_layout, alias##_), name##_##value, true},
#define ENUM_END(name) }; _Static_assert(name##_count <= UINT8_MAX, "a value fits its field");
#include "protocol/record/enum.def"
#include "protocol/app/app_enum.def"
#include "protocol/acp/acp_enum.def"
#undef ENUM
#undef VALUE
#undef ALIAS
#undef ENUM_END

#define ENUM(name) const struct enum_type enum_##name = {name##_wires, name##_words, countof(name##_words)};
#define VALUE(name, value, wire)
#define ALIAS(name, value, alias, wire)
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
			return enum_word_wire(type, i);
	}
	return "";
}

bool enum_parse(const struct enum_type *type, struct str word, int *ret)
{
	for (size_t i = 0; i < type->count; i++) {
		if (str_is(word, enum_word_wire(type, i))) {
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
		words += !type->words[i].is_alias && enum_word_wire(type, i)[0];
	if (size)
		out[0] = '\0';
	for (size_t i = 0; i < type->count && len < size; i++) {
		if (type->words[i].is_alias || !enum_word_wire(type, i)[0])
			continue;
		const char *before = written == 0 ? (words > 2 ? "one of " : "") : words == 2 ? " or " : ", ";
		len += (size_t)snprintf(out + len, size - len, "%s`%s`", before, enum_word_wire(type, i));
		written++;
	}
}
