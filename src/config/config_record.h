/* config_record.h — config.def as C: a struct and a row table for each RECORD, and the conversion of a TOML table to
 * such a struct.
 *
 * Every struct has `is_set`, a flag for each key that was given. The data of a bound struct is valid as long as the
 * binder's arena and tree. Nothing here reads a file or the environment. Errors: "FILE:LINE: `key` must be …"
 * (ERR_config). */
#ifndef CONFIG_CONFIG_RECORD_H
#define CONFIG_CONFIG_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "config/toml/toml.h"
#include "protocol/record/types.h"

/* Strings in the order of the file. Every text of a bound struct is also NUL-terminated. */
struct config_strings {
	const struct str *items;
	size_t count;
};

struct config_pair {
	struct str key;
	struct str value;
};

struct config_pairs {
	const struct config_pair *items;
	size_t count;
};

/* Declares struct config_sandbox_set { bool writable_roots; … } for each record. */
#define RECORD(record) struct record##_set {
#define KEY(record, key, c_type, kind, doc, ...) bool key;
#define RECORD_END(record) \
	}                  \
	;
#include "config/config.def"

/* Declares struct config_sandbox { struct config_sandbox_set is_set; struct config_strings writable_roots; … }. */
#define RECORD(record)  \
	struct record { \
		struct record##_set is_set;
#define KEY(record, key, c_type, kind, doc, ...) c_type key;
#define RECORD_END(record) \
	}                  \
	;
#include "config/config.def"

enum config_kind {
	CONFIG_bool,
	CONFIG_int,
	CONFIG_number,
	CONFIG_string,
	CONFIG_path,
	CONFIG_choice,
	CONFIG_one_of,
	CONFIG_strings,
	CONFIG_paths,
	CONFIG_pairs,
	CONFIG_switch,
	CONFIG_section,
	CONFIG_named,
	CONFIG_list,
	CONFIG_any,
	CONFIG_inert,
	CONFIG_kind_count
};

struct config_int_range {
	int64_t value, low, high; /* the default and its bounds */
};

struct config_number_range {
	double value, low, high;
};

/* Kept at 24 bytes: there are hundreds of rows. */
struct config_row {
	const char *key;
	enum config_kind kind : 8;
	int toml_kind : 8;   /* for kind inert: an enum toml_kind, or -1 for any */
	uint16_t offset;     /* where the value is in its struct */
	uint16_t set_offset; /* where the flag is_set.KEY is in its struct */
	/* default of kinds bool, choice and switch; for kind strings: one string is accepted, too */
	int16_t number;
	union {
		const struct config_int_range *integers; /* of kind int */
		const struct config_number_range *reals; /* of kind number */
		const char *text;                        /* default of kinds string and strings, or NULL */
		const struct enum_type *words;           /* of kind choice */
		const struct union_type *variants;       /* of kind one_of; the first is the default */
		const struct config_record *inner;       /* of kinds section, named and list */
	};
};
_Static_assert(sizeof(struct config_row) == 24, "rows are packed");

/* Returns the record of tables below the key, or NULL. */
static inline const struct config_record *config_row_inner(const struct config_row *row)
{
	bool has_inner = row->kind == CONFIG_section || row->kind == CONFIG_named || row->kind == CONFIG_list;
	return has_inner ? row->inner : NULL;
}

/* Returns the default of kinds string and strings, or NULL. */
static inline const char *config_row_text(const struct config_row *row)
{
	return row->kind == CONFIG_string || row->kind == CONFIG_strings ? row->text : NULL;
}

struct config_record {
	const char *name;
	const struct config_row *rows;
	size_t count;
	size_t size;
};

/* Declares config_sandbox_keys and so on. */
#define RECORD(record) extern const struct config_record record##_keys;
#include "config/config.def"

/* A key in a file that config.def does not have. */
struct config_unknown {
	const struct toml *node;
	const char *path; /* dotted key */
};

struct config_keys {
	struct config_unknown *items;
	size_t count, cap;
};

struct config_binder {
	struct arena *arena;
	const char *home;           /* the folder that "~" stands for; may be NULL */
	const char *cwd;            /* the base of relative paths in options */
	bool is_quiet;              /* true: unknown keys are not collected */
	struct config_keys unknown; /* freed by the caller with vec_finish */
	bool notes_inert;           /* collect the keys without effect as well */
	struct config_keys inert;   /* likewise */
};

/* Fills `into`, of record->size bytes, with defaults and then from table, which may be NULL. name is the dotted key
 * of the table for messages, "" for the whole file. */
must_check int config_bind(struct config_binder *binder, const struct config_record *record, const struct toml *table,
                           const char *name, void *into, struct error *err);

/* Writes "FILE:LINE" or "-c" to out, for messages. */
enum { CONFIG_PLACE_SIZE = 512 };
const char *config_place(const struct toml *node, char out[CONFIG_PLACE_SIZE]);

#endif
