/* wire_base64.h — bytes that came in base64, and what is wrong with those that are none.
 *
 * Thread: any. The complaint is in the words that clients know from the reference. */
#ifndef APP_SERVER_WIRE_BASE64_H
#define APP_SERVER_WIRE_BASE64_H

#include <stdbool.h>

#include "base/buf.h"

enum { WIRE_BASE64_WHY = 80 };

/* Appends the bytes, or says why not; then out holds some of them. It must have room for three quarters of the text. */
bool wire_base64_decode(struct buf *out, struct str text, char why[WIRE_BASE64_WHY]);

#endif
