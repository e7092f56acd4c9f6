/* toml_priv.h — the reader, shared by the files of the parser. */
#ifndef CONFIG_TOML_PRIV_H
#define CONFIG_TOML_PRIV_H

#include "config/toml/toml.h"

/* How a table or array was defined, which decides what may still be added to it. */
enum toml_state {
	TOML_OPEN,     /* implied by a longer [header]; its own header may follow */
	TOML_HEADER,   /* a [header], or an element of [[header]]: defined once */
	TOML_DOTTED,   /* defined by a dotted key: grows by dotted keys only */
	TOML_SEALED,   /* written inline: complete */
	TOML_ELEMENTS, /* an array of tables: grows by [[header]] */
};

struct toml_reader {
	struct arena *arena;
	const char *source;
	const char *start;
	const char *at;
	const char *end;
	const char *line_start;
	unsigned line;
	struct error *err;
};

/* Sets the error "SOURCE:LINE:COLUMN: …" for the reader's position. Always returns false. */
bool toml_fail(struct toml_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline bool toml_at(const struct toml_reader *r, char c)
{
	return r->at < r->end && *r->at == c;
}

/* Returns the reader's offset; 32 bits suffice because files are limited to far less than 4 GiB. */
static inline uint32_t toml_offset(const struct toml_reader *r)
{
	return (uint32_t)(r->at - r->start);
}

static inline struct str toml_rest(const struct toml_reader *r)
{
	return str_n(r->at, (size_t)(r->end - r->at));
}

/* These skip blanks on the line; and blanks, comments and line ends (toml_parse.c). */
void toml_skip_blanks(struct toml_reader *r);
void toml_skip_lines(struct toml_reader *r);
/* Skips a line end of one or two bytes; false without one. */
bool toml_skip_newline(struct toml_reader *r);

/* Reads "key = value" into table. */
bool toml_read_pair(struct toml_reader *r, struct toml *table);
/* Returns a new node of this kind, to be added by the caller. Fails if it would be nested too deeply below parent. */
struct toml *toml_read_new(struct toml_reader *r, const struct toml *parent, enum toml_kind kind);

/* Reads a string; the reader is at its quote (toml_string.c). */
bool toml_read_string(struct toml_reader *r, struct str *ret);
bool toml_read_short_string(struct toml_reader *r, struct str *ret); /* for strings in single quotes, not """ or ''' */

/* Reads any value into node, which is already in the tree (toml_value.c). */
bool toml_read_value(struct toml_reader *r, struct toml *node);

/* Read a number (toml_number.c), and a date or time (toml_time.c). */
bool toml_read_number(struct toml_reader *r, struct toml *node);
bool toml_is_time(struct str text);
bool toml_read_time(struct toml_reader *r, struct toml *node);

#endif
