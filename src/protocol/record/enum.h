/* enum.h — a C enum and a word table for each ENUM of enum.def, app_enum.def and acp_enum.def: `enum sandbox_mode` with
 * values `sandbox_mode_read_only` …, and `enum_sandbox_mode` to parse and write the words. */
#ifndef PROTOCOL_ENUM_H
#define PROTOCOL_ENUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* The braces do not balance within one macro, which clang-format cannot handle. */
/* clang-format off */
#define ENUM(name) enum name {
#define VALUE(name, value, wire) name##_##value,
#define ALIAS(name, value, alias, wire)
#define ENUM_END(name) name##_count };
#include "protocol/record/enum.def"
#include "protocol/app/app_enum.def"
#include "protocol/acp/acp_enum.def"
#undef ENUM
#undef VALUE
#undef ALIAS
#undef ENUM_END

/* Without pointers: each would need 24 bytes more in a program that cannot pack its relocations. */
struct enum_word {
	uint16_t text; /* offset of the wire word in the text of its type */
	uint8_t value;
	bool is_alias; /* accepted, never written */
};

struct enum_type {
	const char *name; /* followed, after its NUL, by the wire words */
	const struct enum_word *words;
	size_t count;
};

/* Returns the wire word of words[i]; aliases and words of unset values ("") included. */
static inline const char *enum_word_wire(const struct enum_type *type, size_t i)
{
	return type->name + type->words[i].text;
}

/* Declares `const struct enum_type enum_<name>` for each ENUM. */
#define ENUM(name) extern const struct enum_type enum_##name;
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

/* Returns the wire word of a value; "" if the value is out of range. */
const char *enum_wire(const struct enum_type *type, int value);
/* Sets *ret to the value of a word; false if the type has no such word. */
bool enum_parse(const struct enum_type *type, struct str word, int *ret);
/* Writes "one of `a`, `b`, `c`" or "`a` or `b`" to out, truncated to size bytes; for error messages. */
void enum_expected(const struct enum_type *type, char *out, size_t size);

#endif
