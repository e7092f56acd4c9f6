/* rpc_params.h — decodes parameters of requests, and makes the checks that their records cannot express.
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
/* Returns the first field that is set but requires the experimental API; NULL if there is no such field. */
const struct field *rpc_params_find_experimental(const struct record *record, const struct json *params);
/* True if a path contains a NUL byte: the system would use only the part before it, which is another file. */
must_check bool rpc_params_has_bad_path(const struct json *params);

enum { RPC_PARAMS_WHY = 80 };

/* Appends the decoded bytes. On failure writes the reason, and out may contain some of the bytes. out must have room
 * for three quarters of the text. */
must_check bool rpc_params_base64(struct buf *out, struct str text, char why[RPC_PARAMS_WHY]);

#endif
