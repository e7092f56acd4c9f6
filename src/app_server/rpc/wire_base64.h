/* wire_base64.h — decodes base64 parameters, with the error texts of codex 0.169.
 *
 * Thread: any. */
#ifndef APP_SERVER_WIRE_BASE64_H
#define APP_SERVER_WIRE_BASE64_H

#include <stdbool.h>

#include "base/buf.h"

enum { WIRE_BASE64_WHY = 80 };

/* Appends the decoded bytes. On failure writes the reason, and out may hold some of the bytes. out must have room for
 * three quarters of the text. */
bool wire_base64_decode(struct buf *out, struct str text, char why[WIRE_BASE64_WHY]);

#endif
