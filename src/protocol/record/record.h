/* record.h — the machinery behind the tables: one description of a record, from which decoding,
 * encoding and copying follow.
 *
 * A record is a C struct whose fields are rows in a .def file (types.def says how to write one).
 * A union is a tag and a pointer to the record of that tag. Decoded values live in an arena and
 * borrow from nothing else; they are never freed singly. An all-zero struct is a valid value with
 * every optional field absent.
 * Decoding follows serde (protocol-v1 section 1): unknown fields are ignored, absent and null are
 * the same for optional fields, messages read "missing field `x`", "unknown variant `x`, …".
 *
 * Two families share this: that of Ops and Events writes field names as they stand in the rows, that of the
 * app-server in camelCase (field_wire_name says how), and its messages are nothing but serde's words, which its
 * clients compare. */
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
	FIELD_path,    /* struct str: an absolute path */
	FIELD_bool,    /* bool */
	FIELD_i64,     /* int64_t */
	FIELD_f64,     /* double */
	FIELD_enum,    /* int-sized enum */
	FIELD_json,    /* struct str: any JSON value, as text */
	FIELD_record,  /* struct NAME * */
	FIELD_union,   /* struct NAME * */
	FIELD_strs,    /* struct str *, and NAME_count */
	FIELD_paths,   /* the same, absolute paths */
	FIELD_enums,   /* int-sized enum *, and NAME_count */
	FIELD_ints,    /* int64_t *, and NAME_count */
	FIELD_records, /* struct NAME *, and NAME_count */
	FIELD_unions,  /* struct NAME *, and NAME_count */
	FIELD_map,     /* struct NAME * (a union) with struct str *NAME_keys, and NAME_count; FIELD_records may have
	                * keys as well, and is a map then */
	FIELD_jsons,   /* only as shown: a list of any JSON */
};

enum presence {
	REQ, /* must be there; always written */
	DEF, /* zero value when absent; always written */
	OPT, /* left out when absent */
	NUL, /* written as null when absent; a list is absent while it has no pointer */
	PRESENCE_MASK = 3,
	EXPERIMENTAL = 4, /* with one of the others: only for clients that asked for what may still change */
	ALIAS_NAME = 16,  /* another name of the field at this offset: read, never written */
	NULL_COUNTS = 8,  /* with OPT, of an OPT_INT: null is no absence, but the value FIELD_NULL */
};

/* What a field of text or JSON is in the published types, where code takes it as it comes and does not decode it. */
struct shown {
	bool is_set;
	bool is_map;
	uint8_t kind; /* enum field_kind */
};

#define FIELD_NULL INT64_MIN

struct field {
	const char *name;
	enum field_kind kind;
	unsigned presence;
	uint32_t offset;
	uint32_t aux;  /* offset of has_NAME, plus one, or of NAME_count; 0: none */
	uint32_t keys; /* offset of NAME_keys, plus one; 0: none */
	const void *type; /* enum_type, record or union_type */
	const char *doc;
	struct shown shown;
};

enum record_family {
	RECORD_SNAKE, /* Ops, Events, tools' arguments */
	RECORD_CAMEL, /* the app-server's */
};

struct record {
	const char *name;
	const char *doc;
	size_t size;
	const struct field *(*fields)(size_t *ret_count); /* NULL: no fields */
	enum record_family family;
	bool is_open; /* the struct is one struct str: whatever object came, as text */
	const struct union_type *shown; /* of an open one, the union that is published in its place, or NULL */
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
	UNION_UNTAGGED, /* the body alone; what comes is of the first variant that takes it */
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

enum { FIELD_NAME_SIZE = 64 };
/* The field's name on the wire; in camelCase by the rules: "_x" becomes "X", "__" stays as "_", an underscore at the
 * end (of a name that C keeps for itself) goes. */
const char *field_wire_name(const struct record *record, const struct field *field, char buffer[FIELD_NAME_SIZE]);
/* The record's name on the wire: of the app-server's family "ThreadStartParams" for app_thread_start_params. */
const char *record_wire_name(const struct record *record, char buffer[FIELD_NAME_SIZE]);
/* The field as it is in the published types. */
struct field field_as_shown(const struct field *field);
/* NULL if it has no field of that name (the row's). */
const struct field *record_find_field(const struct record *record, const char *name);

/* Fills *out (of record->size bytes, zeroed) from an object; text is copied into the arena. */
int record_decode(const struct record *record, const struct json *json, struct arena *arena, void *out,
                  struct error *err);
int union_decode(const struct union_type *type, const struct json *json, struct arena *arena, void *out,
                 struct error *err);

/* Writes the object. Unions inside use their declared style. */
void record_encode(const struct record *record, const void *value, struct json_writer *w);
void union_encode(const struct union_type *type, const void *value, struct json_writer *w);

/* How another date wrote the same: which fields it did not know, which unions it tagged externally, and which of
 * those variants were but their word. */
struct record_dialect {
	bool (*omits)(const struct record *record, const struct field *field, const void *self);
	bool (*is_external)(const struct union_type *type, const void *self);
	bool (*is_bare)(const struct variant *variant, const void *self);
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
