/* toml.h — TOML 1.0 as a tree.
 *
 * toml_parse builds the tree in the caller's arena. Keys and strings without escapes are slices of the input, so text
 * and `source` must live as long as the arena. Every node has its source and line, also after toml_merge, so that every
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
#include "base/str.h"

struct error;
struct json;
struct toml_index;

enum toml_kind {
	TOML_table,
	TOML_array,
	TOML_string,
	TOML_integer,
	TOML_float,
	TOML_bool,
	TOML_datetime,       /* with an offset from UTC */
	TOML_datetime_local, /* date and time without offset */
	TOML_date_local,
	TOML_time_local,
	TOML_kind_count
};

/* Fields that the kind lacks are 0. */
struct toml_time {
	uint16_t year;
	uint8_t month, day, hour, minute, second;
	int16_t offset_minutes; /* TOML_datetime: east of UTC */
	uint32_t nanosecond;    /* further digits are dropped */
};

struct toml {
	/* read-only */
	enum toml_kind kind;
	unsigned line;      /* from 1 */
	const char *source; /* as given to the parser */
	struct str key;     /* decoded name, if the parent is a table */
	union {
		bool boolean;
		int64_t integer;
		double number; /* TOML_float */
		struct str text;
		struct toml_time time;
		size_t count; /* children of a table or array */
	};
	struct toml *child; /* first child */
	struct toml *next;  /* next sibling */
	/* private */
	struct toml *last;
	struct toml_index *index; /* of a table with many keys */
	uint32_t hash;            /* of key */
	uint16_t depth;           /* the root's is 0 */
	uint8_t state;            /* enum toml_state */
	uint32_t key_from;        /* of "key = value": where the key begins in the text */
	uint32_t from, to;        /* the value's bytes; of a [header]: its section, up to its last pair's line end */
};

/* The document's root table, or NULL. */
struct toml *toml_parse(struct arena *arena, struct str text, const char *source, struct error *err);
/* One value, optionally with blanks around it, as after "key =". */
struct toml *toml_parse_value(struct arena *arena, struct str text, const char *source, struct error *err);
/* A root with value at a dotted key ("a.\"b c\".d"), or NULL for an invalid key; value joins the tree. */
struct toml *toml_parse_key(struct arena *arena, struct str key, struct toml *value, struct error *err);

#define toml_for_each(it, parent) for (const struct toml *it = (parent) ? (parent)->child : NULL; it; it = it->next)

/* A table's member; NULL if it does not exist, or table is NULL or not a table. */
struct toml *toml_find(const struct toml *table, struct str key);
static inline struct toml *toml_get(const struct toml *table, const char *key)
{
	return toml_find(table, str_of(key));
}
static inline bool toml_is(const struct toml *node, enum toml_kind kind)
{
	return node && node->kind == kind;
}
/* Adds node under key; the table must not have it yet. */
void toml_add(struct arena *arena, struct toml *table, struct str key, struct toml *node);
void toml_append(struct toml *array, struct toml *node);
struct toml *toml_new(struct arena *arena, enum toml_kind kind, const char *source, unsigned line);

/* A JSON object as a table, copied into the arena; members that are null are left out. NULL and err for anything else.
 */
struct toml *toml_from_json(struct arena *arena, const struct json *json, const char *source, struct error *err);

/* Merges `from` into `into`: tables member by member, other values are replaced. `from` is not changed; arrays and
 * texts are shared between the two. */
void toml_merge(struct arena *arena, struct toml *into, const struct toml *from);
/* Removes a member from a table and returns it; NULL if it does not exist. Linear. */
struct toml *toml_remove(struct toml *table, struct str key);

/* A key for a message: truncated, with control characters as '?'. */
enum { TOML_KEY_SHOWN = 64 };
const char *toml_key_shown(struct str key, char out[TOML_KEY_SHOWN]);

/* "a table", "an integer", … for messages. */
const char *toml_kind_name(enum toml_kind kind);

#endif
