/* tool_image.h — what kind of image a file is, told from its first bytes and not from its name. */
#ifndef TOOL_TOOL_IMAGE_H
#define TOOL_TOOL_IMAGE_H

#include "base/str.h"

/* "image/png", … ; NULL for bytes that are none of the kinds a model takes. */
const char *image_mime(struct str bytes);

#endif
