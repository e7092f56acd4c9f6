/* rpc_params.h — parameters of requests: decoding, and the checks that their records cannot express.
 *
 * Any thread. Error texts are those of codex 0.169. */
#ifndef APP_SERVER_RPC_PARAMS_H
#define APP_SERVER_RPC_PARAMS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "protocol/message/app.h"

/* Decodes params (NULL: absent) into a new struct of method->params in the arena. */
must_check int rpc_params_decode(const struct app_method *method, const struct json *params, struct arena *arena,
                                 void **ret, struct error *err);
/* The first field that a client without the experimental API may not set; NULL: none is set. */
const struct field *rpc_params_find_experimental(const struct record *record, const struct json *params);
/* A path contains a NUL byte: the system would use the part before it, another file than the client meant. */
must_check bool rpc_params_has_bad_path(const struct json *params);

enum { RPC_PARAMS_WHY = 80 };

/* Appends the decoded bytes. On failure writes the reason, and out may hold some of the bytes. out must have room for
 * three quarters of the text. */
must_check bool rpc_params_base64(struct buf *out, struct str text, char why[RPC_PARAMS_WHY]);

#endif
