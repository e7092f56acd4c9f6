/* tool_image.h — the type of an image, from its first bytes, not from its name. */
#ifndef TOOL_TOOL_IMAGE_H
#define TOOL_TOOL_IMAGE_H

#include "base/str.h"

/* "image/png", … ; NULL if models do not accept this format. */
const char *image_mime(struct str bytes);

#endif
