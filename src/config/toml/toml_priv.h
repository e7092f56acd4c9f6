/* toml_priv.h — the reader, shared by the files of the parser. */
#ifndef CONFIG_TOML_PRIV_H
#define CONFIG_TOML_PRIV_H

#include "config/toml/toml.h"

/* How a table or array was defined, which decides what may still be added to it. */
enum toml_state {
	TOML_OPEN,     /* implied by a longer [header]; its own header may follow */
	TOML_HEADER,   /* [header] or [[header]] element: defined once */
	TOML_DOTTED,   /* by a dotted key: grows by dotted keys only */
	TOML_SEALED,   /* written inline: complete */
	TOML_ELEMENTS, /* array of tables: grows by [[header]] */
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

/* Sets "SOURCE:LINE:COLUMN: …" for the reader's position. Always false. */
bool toml_fail(struct toml_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline bool toml_at(const struct toml_reader *r, char c)
{
	return r->at < r->end && *r->at == c;
}

/* The reader's offset; files are limited to far less than 4 GiB. */
static inline uint32_t toml_offset(const struct toml_reader *r)
{
	return (uint32_t)(r->at - r->start);
}

static inline struct str toml_rest(const struct toml_reader *r)
{
	return str_n(r->at, (size_t)(r->end - r->at));
}

/* toml_parse.c: blanks on the line; and blanks, comments and line ends. */
void toml_skip_blanks(struct toml_reader *r);
void toml_skip_lines(struct toml_reader *r);
/* Skips a line end of one or two bytes; false without one. */
bool toml_skip_newline(struct toml_reader *r);

/* key = value, into table. */
bool toml_read_pair(struct toml_reader *r, struct toml *table);
/* A new node of this kind; checks its depth below parent. The caller adds it. */
struct toml *toml_read_new(struct toml_reader *r, const struct toml *parent, enum toml_kind kind);

/* toml_string.c: the reader is at the quote. */
bool toml_read_string(struct toml_reader *r, struct str *ret);
bool toml_read_short_string(struct toml_reader *r, struct str *ret); /* not """ or ''' */

/* toml_value.c: reads any value into node, which is already in the tree. */
bool toml_read_value(struct toml_reader *r, struct toml *node);

/* toml_number.c, toml_time.c */
bool toml_read_number(struct toml_reader *r, struct toml *node);
bool toml_is_time(struct str text);
bool toml_read_time(struct toml_reader *r, struct toml *node);

#endif
