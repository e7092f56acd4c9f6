/* tool_image.h — detects the type of an image by its first bytes, not by its name. */
#ifndef TOOL_TOOL_IMAGE_H
#define TOOL_TOOL_IMAGE_H

#include "base/str.h"

/* Returns "image/png", …; NULL if models do not accept the format. */
const char *image_mime(struct str bytes);

#endif
