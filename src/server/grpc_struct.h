/* grpc_struct.h — google.protobuf.Struct as JSON text, and the reverse.
 *
 * Numbers of a Struct are doubles; integers beyond 2^53 lose digits. Nesting is limited to LIMIT_JSON_DEPTH. Owns
 * nothing. Any thread. */
#ifndef SERVER_GRPC_STRUCT_H
#define SERVER_GRPC_STRUCT_H

#include "base/error.h"
#include "base/str.h"

struct buf;

/* Appends the JSON object that a Struct stands for. */
must_check int grpc_struct_to_json(struct str message, struct buf *out, struct error *err);
/* Appends the Struct of a JSON object. ERR_invalid if the text is no object. */
must_check int grpc_struct_from_json(struct str json, struct buf *out, struct error *err);

#endif
