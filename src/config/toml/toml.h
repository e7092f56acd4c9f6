/* toml.h — TOML 1.0 as a tree.
 *
 * toml_parse builds the tree in the caller's arena. Keys and strings without escapes are slices of the input, so text
 * and `source` must live as long as the arena. Every node keeps its source and line in a toml_merge, so that every
 * error about a value can name its location. Tables keep the order of their keys. Parsed nodes also record their byte
 * range, for toml_edit.h.
 *
 * Errors are "SOURCE:LINE:COLUMN: what is wrong" (ERR_config). At most LIMIT_TOML_DEPTH levels. Source of the rules:
 * the TOML 1.0.0 specification. */
#ifndef CONFIG_TOML_H
#define CONFIG_TOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct json;
struct toml_index;

enum toml_kind {
	TOML_table,
	TOML_array,
	TOML_string,
	TOML_integer,
	TOML_float,
	TOML_bool,
	TOML_datetime,       /* date and time with an offset from UTC */
	TOML_datetime_local, /* date and time without an offset */
	TOML_date_local,
	TOML_time_local,
	TOML_kind_count
};

/* Fields that the kind lacks are 0. */
struct toml_time {
	uint16_t year;
	uint8_t month, day, hour, minute, second;
	int16_t offset_minutes; /* for TOML_datetime, positive east of UTC */
	uint32_t nanosecond;    /* further digits are discarded */
};

struct toml {
	/* read-only */
	enum toml_kind kind;
	unsigned line;      /* counted from 1 */
	const char *source; /* the name of the text, as given to the parser */
	struct str key;     /* decoded name, if the parent is a table */
	union {
		bool boolean;
		int64_t integer;
		double number; /* for TOML_float */
		struct str text;
		struct toml_time time;
		size_t count; /* children of a table or array */
	};
	struct toml *child; /* first child */
	struct toml *next;  /* next sibling */
	/* private */
	struct toml *last;
	struct toml_index *index; /* NULL unless the table has many keys */
	uint32_t hash;            /* hash of key */
	uint16_t depth;           /* nesting level; 0 is the root */
	uint8_t state;            /* an enum toml_state */
	bool is_whole;            /* toml_merge replaces another table by this one */
	uint32_t key_from;        /* where the key of "key = value" begins in the text */
	/* the value's byte range; for a [header] its section, to the line end of its last pair */
	uint32_t from, to;
};

/* Parses a document. Returns the root table, or NULL and err. */
must_check struct toml *toml_parse(struct arena *arena, struct str text, const char *source, struct error *err);
/* Parses a single value, which blanks may surround, as after "key =". */
must_check struct toml *toml_parse_value(struct arena *arena, struct str text, const char *source, struct error *err);
/* Returns a root table with value at a dotted key ("a.\"b c\".d"), or NULL for an invalid key. value becomes part of
 * the tree. */
must_check struct toml *toml_parse_key(struct arena *arena, struct str key, struct toml *value, struct error *err);

#define toml_for_each(it, parent) for (const struct toml *it = (parent) ? (parent)->child : NULL; it; it = it->next)

/* Returns a member of the table; NULL if it does not exist, or table is NULL or not a table. */
struct toml *toml_find(const struct toml *table, struct str key);
struct toml *toml_get(const struct toml *table, const char *key);
static inline bool toml_is(const struct toml *node, enum toml_kind kind)
{
	return node && node->kind == kind;
}
/* Adds node under key, which the table must not contain yet. */
void toml_add(struct arena *arena, struct toml *table, struct str key, struct toml *node);
void toml_append(struct toml *array, struct toml *node);
struct toml *toml_new(struct arena *arena, enum toml_kind kind, const char *source, unsigned line);

/* Copies a JSON object into the arena as a table, without members that are null. NULL and err for anything else. */
must_check struct toml *toml_from_json(struct arena *arena, const struct json *json, const char *source,
                                       struct error *err);

/* Merges `from` into `into`: tables member by member; other values are replaced, as are tables by one that is_whole.
 * `from` is not changed; arrays and texts are shared between the two. */
void toml_merge(struct arena *arena, struct toml *into, const struct toml *from);
/* Removes a member from a table and returns it; NULL if it does not exist. Takes linear time. */
struct toml *toml_remove(struct toml *table, struct str key);

/* The size of a key in a message: it is truncated, and control characters become '?'. */
enum { TOML_KEY_SHOWN = 64 };
const char *toml_key_shown(struct str key, char out[TOML_KEY_SHOWN]);

/* Returns "a table", "an integer", … for messages. */
const char *toml_kind_name(enum toml_kind kind);

#endif
