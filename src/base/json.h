/* json.h — JSON as the wire needs it: exact numbers, embedded NUL, source spans, a streaming writer.
 *
 * Reading: json_parse builds a tree in the caller's arena. Strings without escapes and numbers are
 * slices of the input text, so the text must live as long as the tree (json_parse_copy copies first).
 * Strict RFC 8259: valid UTF-8, paired surrogates, no trailing commas, depth at most LIMIT_JSON_DEPTH.
 * Duplicate keys: the last one is found. Numbers keep their spelling (json_span) and convert on request.
 *
 * Writing: a json_writer appends compact JSON to a buf. It writes the commas; the caller balances the brackets. Strings
 * may hold any bytes: invalid UTF-8 becomes U+FFFD. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

enum json_type { JSON_null, JSON_bool, JSON_number, JSON_string, JSON_array, JSON_object };

struct json {
	/* read-only */
	enum json_type type;
	bool boolean;             /* JSON_bool */
	size_t count;             /* children of an array or object */
	struct str key;           /* decoded name, if the parent is an object */
	struct str text;          /* JSON_string: decoded bytes; JSON_number: its spelling */
	struct str span;          /* the value's text in the input, quotes and braces included */
	const struct json *child; /* first child */
	const struct json *next;  /* next sibling */
};

/* Parses exactly one JSON value, which blanks may surround; otherwise NULL and err ("line L column C: what is
 * wrong"). `text` must outlive the tree. */
must_check const struct json *json_parse(struct arena *arena, struct str text, struct error *err);
/* As json_parse, on a copy of text that is made in the arena. */
must_check const struct json *json_parse_copy(struct arena *arena, struct str text, struct error *err);

/* As json_parse, for the first value of a list: cuts the value, and a comma after it, off *rest. */
must_check const struct json *json_parse_next(struct arena *arena, struct str *rest, struct error *err);

#define json_for_each(it, parent) for (const struct json *it = (parent) ? (parent)->child : NULL; it; it = it->next)

/* Member of an object; NULL if parent is NULL, not an object, or lacks the member (a null value is returned as
 * such). */
const struct json *json_get(const struct json *parent, const char *key);
/* Finds several members in one pass: ret[i] is what json_get returns for names[i]. */
void json_pick(const struct json *parent, const struct str *names, size_t count, const struct json **ret);
/* Follows a dotted path of members: json_path(root, "response.usage.input_tokens"). */
const struct json *json_path(const struct json *root, const char *path);
const struct json *json_at(const struct json *array, size_t index);

/* These convert a value; false (*ret is unchanged) if node is NULL, of another type or out of range. */
bool json_to_str(const struct json *node, struct str *ret);
bool json_to_bool(const struct json *node, bool *ret);
bool json_to_i64(const struct json *node, int64_t *ret); /* 3, 3.0 and 3e0 are integers */
bool json_to_u64(const struct json *node, uint64_t *ret);
bool json_to_double(const struct json *node, double *ret);

/* These return a member's value, or the fallback if it is absent, null or of another type. */
struct str json_get_str(const struct json *parent, const char *key); /* the fallback is STR_NONE */
int64_t json_get_i64(const struct json *parent, const char *key, int64_t fallback);
bool json_get_bool(const struct json *parent, const char *key, bool fallback);

static inline bool json_is(const struct json *node, enum json_type type)
{
	return node && node->type == type;
}

/* "null", "boolean", "number", "string", "array", "object" */
const char *json_type_name(enum json_type type);

/* Equal as values: object members in any order, numbers by spelling or by double value. */
bool json_equal(const struct json *a, const struct json *b);

/* The first string of LIMIT_SHARED_TEXT or more that needs no escaping: a writer leaves it out, so that it can be
 * written from where it is. */
struct json_aside {
	struct str text; /* STR_NONE: nothing was left out */
	size_t at;       /* where the text belongs in the output */
};

struct json_writer {
	/* private */
	struct buf *out;
	bool comma;               /* the next value needs a comma before it */
	struct json_aside *aside; /* NULL: nothing is left out */
};

static inline struct json_writer json_writer(struct buf *out)
{
	return (struct json_writer){.out = out};
}

/* As json_writer, but leaves a large string out. */
static inline struct json_writer json_writer_aside(struct buf *out, struct json_aside *aside)
{
	*aside = (struct json_aside){0};
	return (struct json_writer){.out = out, .aside = aside};
}

void jw_object(struct json_writer *w);               /* { */
void jw_object_end(struct json_writer *w);           /* } */
void jw_array(struct json_writer *w);                /* [ */
void jw_array_end(struct json_writer *w);            /* ] */
void jw_key(struct json_writer *w, const char *key); /* key must need no escaping */
void jw_key_str(struct json_writer *w, struct str key);
void jw_str(struct json_writer *w, struct str text);   /* STR_NONE writes null */
void jw_cstr(struct json_writer *w, const char *text); /* NULL writes null */
void jw_strf(struct json_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void jw_i64(struct json_writer *w, int64_t value);
void jw_u64(struct json_writer *w, uint64_t value);
/* the shortest form that reads back exactly; NaN and infinity become null */
void jw_double(struct json_writer *w, double value);
void jw_bool(struct json_writer *w, bool value);
void jw_null(struct json_writer *w);
/* One complete JSON value, copied verbatim. */
void jw_raw(struct json_writer *w, struct str json);
void jw_value(struct json_writer *w, const struct json *node); /* copies the text of a parsed value */

/* These write a key and its value. */
void jw_member_str(struct json_writer *w, const char *key, struct str text);
void jw_member_cstr(struct json_writer *w, const char *key, const char *text);
void jw_member_i64(struct json_writer *w, const char *key, int64_t value);
void jw_member_bool(struct json_writer *w, const char *key, bool value);
void jw_member_raw(struct json_writer *w, const char *key, struct str json);

/* Appends a complete JSON value in a readable form: one member or item per line, two spaces per level. */
void json_indent(struct buf *out, struct str json);

/* Appends text as a JSON string, quotes included, to out. */
void json_quote(struct buf *out, struct str text);

#endif
