/* resp.h — the protocol of Redis (RESP2): commands out, replies in.
 *
 * A server is not trusted: a reply has at most LIMIT_REDIS_REPLY bytes and LIMIT_REDIS_DEPTH levels. Owns: nothing; a
 * reply lives in the caller's arena, its texts in the bytes that were read. Any thread.
 * Source: https://redis.io/docs/reference/protocol-spec */
#ifndef FLEET_RESP_H
#define FLEET_RESP_H

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum resp_type { RESP_nil, RESP_text, RESP_error, RESP_integer, RESP_list };

struct resp {
	enum resp_type type;
	struct str text; /* of a text, a status or an error */
	int64_t integer;
	const struct resp *items;
	size_t count; /* of a list */
};

enum resp_state { RESP_MORE, RESP_DONE, RESP_BAD };

/* Reads one reply and cuts it off *bytes. RESP_MORE: it is incomplete, and nothing was cut. RESP_BAD: the server does
 * not speak this protocol, or exceeds a limit. */
enum resp_state resp_read(struct str *bytes, struct arena *arena, struct resp *ret);

/* Items of a list; a nil for what is missing or of another type. */
const struct resp *resp_at(const struct resp *list, size_t index);
struct str resp_text(const struct resp *value); /* STR_NONE unless it is a text */
/* Converts an integer or a text that is one; 0 for anything else. */
uint64_t resp_u64(const struct resp *value);

/* Writes a command: resp_begin with the number of words, then one resp_word for each. */
void resp_begin(struct buf *out, size_t count);
void resp_word(struct buf *out, struct str word);
void resp_number(struct buf *out, uint64_t number);

#endif
