/* record.h — the machinery behind the tables: one description of a record, from which decoding,
 * encoding and copying follow.
 *
 * A record is a C struct whose fields are rows in a .def file (types.def says how to write one).
 * A union is a tag and a pointer to the record of that tag. Decoded values live in an arena and
 * borrow from nothing else; they are never freed singly. An all-zero struct is a valid value with
 * every optional field absent.
 * Decoding follows serde (protocol-v1 section 1): unknown fields are ignored, absent and null are
 * the same for optional fields, messages read "missing field `x`", "unknown variant `x`, …". */
#ifndef PROTOCOL_RECORD_H
#define PROTOCOL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"

struct error;
struct enum_type;
struct record;
struct union_type;

enum field_kind {
	FIELD_str,     /* struct str */
	FIELD_bool,    /* bool */
	FIELD_i64,     /* int64_t */
	FIELD_f64,     /* double */
	FIELD_enum,    /* int-sized enum */
	FIELD_json,    /* struct str: any JSON value, as text */
	FIELD_record,  /* struct NAME * */
	FIELD_union,   /* struct NAME * */
	FIELD_strs,    /* struct str *, and NAME_count */
	FIELD_records, /* struct NAME *, and NAME_count */
	FIELD_unions,  /* struct NAME *, and NAME_count */
	FIELD_map,     /* struct NAME * (a union) with struct str *NAME_keys, and NAME_count */
};

enum presence {
	REQ, /* must be there; always written */
	DEF, /* zero value when absent; always written */
	OPT, /* left out when absent */
	NUL, /* written as null when absent */
};

struct field {
	const char *name;
	enum field_kind kind;
	enum presence presence;
	size_t offset;
	size_t aux;  /* offset of has_NAME or NAME_count; 0: none */
	size_t keys; /* offset of NAME_keys; 0: none */
	const void *type; /* enum_type, record or union_type */
	const char *doc;
};

struct record {
	const char *name;
	const char *doc;
	size_t size;
	const struct field *(*fields)(size_t *ret_count); /* NULL: no fields */
};

struct variant {
	const char *wire;
	int tag;
	bool is_alias;              /* accepted, never written */
	bool is_value;              /* {"x":v}: the body's one field is written as itself */
	const struct record *body;  /* NULL: nothing but the tag */
	const char *doc;
};

enum union_style {
	UNION_INTERNAL, /* {"type":"x", …fields} */
	UNION_EXTERNAL, /* {"x":{…}} or, without a body, "x" */
};

struct union_type {
	const char *name;
	enum union_style style;
	const char *key;     /* of an internal tag */
	const char *alt_key; /* also accepted, or NULL */
	const struct variant *variants;
	size_t count;
	const char *doc;
};

/* Every union struct starts like this, whatever typed names its body has. */
struct union_head {
	int tag;
	void *body;
};

/* Fills *out (of record->size bytes, zeroed) from an object; text is copied into the arena. */
int record_decode(const struct record *record, const struct json *json, struct arena *arena, void *out,
                  struct error *err);
int union_decode(const struct union_type *type, const struct json *json, struct arena *arena, void *out,
                 struct error *err);

/* Writes the object. Unions inside use their declared style. */
void record_encode(const struct record *record, const void *value, struct json_writer *w);
void union_encode(const struct union_type *type, const void *value, struct json_writer *w);

/* How another date wrote the same: which fields it did not know, and which unions it tagged externally. */
struct record_dialect {
	bool (*omits)(const struct record *record, const struct field *field, const void *self);
	bool (*is_external)(const struct union_type *type, const void *self);
	const void *self;
};
/* The same in a dialect; NULL: none. */
void union_encode_as(const struct union_type *type, const void *value, const struct record_dialect *dialect,
                     struct json_writer *w);

/* Deep copy into the arena. */
void record_copy(const struct record *record, const void *from, struct arena *arena, void *out);
void union_copy(const struct union_type *type, const void *from, struct arena *arena, void *out);

/* The variant of a tag (never an alias), NULL if there is none. */
const struct variant *union_find_tag(const struct union_type *type, int tag);
/* The variant of a wire word, aliases included, NULL if there is none. */
const struct variant *union_find_wire(const struct union_type *type, struct str wire);

#endif
