/* Magic numbers as rows. A wrong extension then cannot make a provider answer with an HTTP 400. */
#include "tool/tool_image.h"

#include <stddef.h>

#include "base/mem.h"

static const struct {
	const char *mime;
	struct str magic;
	size_t also_at; /* offset of a second mark, 0: none */
	struct str also;
} kinds[] = {
	{"image/png", {"\x89PNG\r\n\x1a\n", 8}, 0, {NULL, 0}},
	{"image/jpeg", {"\xff\xd8\xff", 3}, 0, {NULL, 0}},
	{"image/gif", {"GIF87a", 6}, 0, {NULL, 0}},
	{"image/gif", {"GIF89a", 6}, 0, {NULL, 0}},
	{"image/webp", {"RIFF", 4}, 8, {"WEBP", 4}},
};

static bool has_at(struct str bytes, size_t at, struct str mark)
{
	return bytes.len >= at + mark.len && memcmp(bytes.ptr + at, mark.ptr, mark.len) == 0;
}

const char *image_mime(struct str bytes)
{
	for (size_t i = 0; i < countof(kinds); i++) {
		if (has_at(bytes, 0, kinds[i].magic) &&
		    (!kinds[i].also_at || has_at(bytes, kinds[i].also_at, kinds[i].also)))
			return kinds[i].mime;
	}
	return NULL;
}
