/* record.h — descriptions of records, and the decoding, encoding and copying that they drive.
 *
 * A record is a C struct whose fields are rows in a .def file (types.def documents the notation). A union is a tag and
 * a pointer to the record of that tag. Decoded values live in an arena and refer to nothing outside of it. An all-zero
 * struct is a valid value with all optional fields absent.
 *
 * Decoding follows serde: unknown fields are ignored, absent and null are equivalent for optional fields, and errors
 * read "missing field `x`", "unknown variant `x`, …".
 *
 * Two families use this: Ops and Events write field names as in the rows; the app-server writes them in camelCase
 * (field_wire_name). Error messages of the app-server are exactly serde's, because its clients compare them. */
#ifndef PROTOCOL_RECORD_H
#define PROTOCOL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

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
	FIELD_json,    /* struct str: any JSON value as text */
	FIELD_record,  /* struct NAME * */
	FIELD_union,   /* struct NAME * */
	FIELD_strs,    /* struct str *, and NAME_count */
	FIELD_paths,   /* as FIELD_strs, for absolute paths */
	FIELD_enums,   /* int-sized enum *, and NAME_count */
	FIELD_ints,    /* int64_t *, and NAME_count */
	FIELD_records, /* struct NAME *, and NAME_count */
	FIELD_unions,  /* struct NAME *, and NAME_count */
	FIELD_map,     /* struct NAME * (a union) with struct str *NAME_keys, and NAME_count; FIELD_records with keys
	                * are maps, too */
	FIELD_jsons,   /* a list of any JSON values; only in published types */
};

enum presence {
	REQ, /* required; always written */
	DEF, /* zero value when absent; always written */
	OPT, /* omitted when absent */
	NUL, /* written as null when absent; a list is absent if its pointer is NULL */
	PRESENCE_MASK = 3,
	EXPERIMENTAL = 4, /* a flag: only for clients that opted in to unstable fields */
	ALIAS_NAME = 16,  /* a flag: another name of the field at this offset, accepted but never written */
	NULL_COUNTS = 8,  /* a flag for an OPT_INT with OPT: null means FIELD_NULL, not absence */
};

#define FIELD_NULL INT64_MIN

/* Kept at 8 bytes: there are thousands of fields, of which a third has a type. */
struct field {
	unsigned text : 16; /* offset of field_name: in the text of its record, or in field_names without has_docs */
	enum field_kind kind : 5;
	unsigned presence : 5;
	unsigned is_map : 1; /* NAME_keys precedes NAME in the struct */
	/* The published kind of a field that the code keeps as text or JSON; FIELD_str: `kind`. */
	enum field_kind shown_kind : 5;
	unsigned offset : 15;
	unsigned is_shown_map : 1;
	unsigned aux : 15; /* offset of has_NAME, plus one, or offset of NAME_count; 0: neither exists */
	unsigned has_type : 1;
};

/* The rows of a record: each field, followed by its type if it has one. */
union field_word {
	struct field field;
	const void *type; /* an enum_type, record or union_type */
};
_Static_assert(sizeof(union field_word) == sizeof(struct field), "fields are packed");

/* Returns the field's enum_type, record or union_type, or NULL. The field must be one of a record, not a copy. */
static inline const void *field_type(const struct field *field)
{
	return field->has_type ? ((const union field_word *)(const void *)field)[1].type : NULL;
}

/* Returns the offset of a map's NAME_keys. */
static inline size_t field_keys(const struct field *field)
{
	return field->offset - sizeof(struct str *);
}

enum record_family {
	RECORD_SNAKE, /* Ops, Events and arguments of tools */
	RECORD_CAMEL, /* types of the app-server */
};

struct record {
	/* followed, with has_docs, after its NUL, by the documentation: record_doc; then by name and documentation of
	 * each field */
	const char *name;
	union {
		const union field_word *words;  /* word_count of them */
		const struct union_type *shown; /* of an open record: the union that is published instead, or NULL */
	};
	uint16_t size;
	uint16_t word_count; /* 0: the record has no fields */
	enum record_family family : 8;
	bool is_open;  /* the struct is a single struct str: any object, as text */
	bool has_docs; /* the rows of the record have documentation in the program */
};

/* The names of all fields of records without has_docs, each ended by a NUL; one that ends another is not repeated. */
extern const char field_names[];

/* Returns the first field, or NULL for a record without fields, or no record. */
static inline const struct field *record_first(const struct record *record)
{
	return record && record->word_count ? &record->words->field : NULL;
}

static inline const struct field *record_end(const struct record *record, const struct field *first)
{
	return first ? first + record->word_count : NULL;
}

static inline const struct field *field_next(const struct field *field)
{
	return field + 1 + field->has_type;
}

/* Declares `field` as each field of the record in turn. */
#define record_for_each(field, record)                                                                   \
	for (const struct field *field = record_first(record), *field##_end = record_end(record, field); \
	     field < field##_end; field = field_next(field))

static inline const char *record_doc(const struct record *record)
{
	return record->has_docs ? record->name + strlen(record->name) + 1 : "";
}

static inline const char *field_name(const struct record *record, const struct field *field)
{
	return (record->has_docs ? record->name : field_names) + field->text;
}

static inline const char *field_doc(const struct record *record, const struct field *field)
{
	const char *name = field_name(record, field);
	return record->has_docs ? name + strlen(name) + 1 : "";
}

/* Returns the union that is published in place of an open record, or NULL. */
static inline const struct union_type *record_shown(const struct record *record)
{
	return record->is_open ? record->shown : NULL;
}

struct variant {
	const char *wire;          /* followed, after its NUL, by the documentation: variant_doc */
	const struct record *body; /* NULL: the variant consists of its tag only */
	int tag;
	bool is_alias; /* accepted, never written */
	bool is_value; /* encoded as {"x":v}, where v is the value of the body's only field */
	bool is_named; /* TypeScript gives the body a name */
};

static inline const char *variant_doc(const struct variant *variant)
{
	return variant->wire + strlen(variant->wire) + 1;
}

enum union_style {
	UNION_INTERNAL, /* {"type":"x", …fields} */
	UNION_EXTERNAL, /* {"x":{…}} or, without a body, "x" */
	UNION_UNTAGGED, /* the body alone; decoding uses the first variant that accepts it */
};

struct union_type {
	const char *name;
	enum union_style style;
	const char *key;     /* the member that holds an internal tag */
	const char *alt_key; /* another accepted name of that member, or NULL */
	const struct variant *variants;
	size_t count;
	const char *doc;
};

/* The common beginning of all union structs. */
struct union_head {
	int tag;
	void *body;
};

enum { FIELD_NAME_SIZE = 64 };
/* Returns the field's name on the wire. In camelCase "_x" becomes "X", "__" becomes "_", and a trailing underscore
 * (of a name that is a C keyword) is removed. */
const char *field_wire_name(const struct record *record, const struct field *field, char buffer[FIELD_NAME_SIZE]);
/* Returns the record's name on the wire; in the app-server's family "ThreadStartParams" for app_thread_start_params. */
const char *record_wire_name(const struct record *record, char buffer[FIELD_NAME_SIZE]);
/* How a field appears in the published types. */
struct field_shape {
	enum field_kind kind;
	bool is_map;
};
struct field_shape field_as_shown(const struct field *field);
/* Returns NULL if no field has that name. */
const struct field *record_find_field(const struct record *record, const char *name);

/* Decodes an object into *out (record->size bytes, zeroed); text is copied into the arena. */
must_check int record_decode(const struct record *record, const struct json *json, struct arena *arena, void *out,
                             struct error *err);
must_check int union_decode(const struct union_type *type, const struct json *json, struct arena *arena, void *out,
                            struct error *err);

/* Writes the object. Unions inside use their declared style. */
void record_encode(const struct record *record, const void *value, struct json_writer *w);
void union_encode(const struct union_type *type, const void *value, struct json_writer *w);

/* The differences of an older protocol version: fields that it lacks, unions that it tags externally, and variants
 * of these that it writes as a single word. */
struct record_dialect {
	bool (*omits)(const struct record *record, const struct field *field, const void *self);
	bool (*is_external)(const struct union_type *type, const void *self);
	bool (*is_bare)(const struct variant *variant, const void *self);
	const void *self;
};
/* As union_encode, in a dialect; NULL: the current version. */
void union_encode_as(const struct union_type *type, const void *value, const struct record_dialect *dialect,
                     struct json_writer *w);

/* Deep copy into the arena. */
void record_copy(const struct record *record, const void *from, struct arena *arena, void *out);
void union_copy(const struct union_type *type, const void *from, struct arena *arena, void *out);

/* Returns the variant of a tag (never an alias), or NULL if the tag is unknown. */
const struct variant *union_find_tag(const struct union_type *type, int tag);
/* Returns the variant of a wire word, including aliases, or NULL if the word is unknown. */
const struct variant *union_find_wire(const struct union_type *type, struct str wire);

#endif
