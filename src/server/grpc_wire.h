/* grpc_wire.h — the bytes of gRPC: messages of Protocol Buffers, their frames, status texts and timeouts.
 *
 * Only what codex.proto needs: integers, texts and nested messages; unknown fields are skipped. Owns nothing; slices
 * are borrowed from the message. Any thread. */
#ifndef SERVER_GRPC_WIRE_H
#define SERVER_GRPC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum grpc_status {
	GRPC_OK = 0,
	GRPC_INVALID_ARGUMENT = 3,
	GRPC_DEADLINE_EXCEEDED = 4,
	GRPC_NOT_FOUND = 5,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_FAILED_PRECONDITION = 9,
	GRPC_OUT_OF_RANGE = 11,
	GRPC_UNIMPLEMENTED = 12,
	GRPC_INTERNAL = 13,
	GRPC_UNAVAILABLE = 14,
	GRPC_UNAUTHENTICATED = 16,
};

enum { GRPC_FRAME_HEAD = 5 }; /* bytes */

/* ---- reading ---- */

enum grpc_kind { GRPC_TEXT, GRPC_NUMBER, GRPC_MESSAGE };

/* A field that a reader wants: target is a struct str for GRPC_TEXT and GRPC_MESSAGE, a uint64_t for GRPC_NUMBER. The
 * target of an absent field keeps its value. */
struct grpc_field {
	uint32_t number;
	enum grpc_kind kind;
	void *target;
};

/* Returns GRPC_OK; GRPC_INTERNAL if the bytes are not a message, GRPC_INVALID_ARGUMENT if a text is not UTF-8. */
enum grpc_status grpc_read(struct str message, const struct grpc_field *fields, size_t count);

enum grpc_type { GRPC_VARINT = 0, GRPC_FIXED64 = 1, GRPC_BYTES = 2, GRPC_FIXED32 = 5 };

/* A field as it stands in a message. */
struct grpc_value {
	uint32_t number;
	enum grpc_type type;
	uint64_t varint;
	struct str bytes; /* of any other type */
};

/* Cuts the next field off *rest, which is not empty. False if the bytes are not a field. */
bool grpc_next(struct str *rest, struct grpc_value *ret);

/* Parses the value of grpc-timeout. False if it is malformed. */
bool grpc_read_timeout(struct str text, uint64_t *ret_ms);

/* ---- writing ---- */

/* Begins a message with its frame; returns a mark for grpc_end. */
size_t grpc_begin(struct buf *out);
void grpc_end(struct buf *out, size_t mark);
/* Zero and empty values are omitted. */
void grpc_put_number(struct buf *out, uint32_t field, uint64_t value);
void grpc_put_text(struct buf *out, uint32_t field, struct str text);
/* As grpc_put_text, of any bytes, which may be empty. */
void grpc_put_bytes(struct buf *out, uint32_t field, struct str bytes);
/* Writes the number 0 to a field for which 0 is not the same as absence. */
void grpc_put_zero(struct buf *out, uint32_t field);
/* Appends "grpc-message: TEXT" with the escapes that headers need. */
void grpc_put_status_text(struct buf *out, const char *text);

#endif
