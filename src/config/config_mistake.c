/* Errors about settings begin with their location, as compilers print it (toml.h, config_record.h). A struct error has
 * no field for it, so it is parsed from the text. */
#include "config/config_mistake.h"

enum { NUMBER_MAX = 9 }; /* digits */

/* Cuts "12:" off the beginning; 0 if the text begins otherwise. */
static int64_t cut_number(struct str *text)
{
	int64_t number = 0;
	size_t len = 0;
	while (len < text->len && len < NUMBER_MAX && text->ptr[len] >= '0' && text->ptr[len] <= '9')
		number = number * 10 + (text->ptr[len++] - '0');
	if (!len || len == text->len || text->ptr[len] != ':')
		return 0;
	*text = str_skip(*text, len + 1);
	return number;
}

struct config_mistake config_mistake_read(struct str text)
{
	if (!str_has_prefix(text, "/"))
		return (struct config_mistake){0};
	for (size_t i = 0; i < text.len; i++) {
		struct str rest = str_skip(text, i + 1);
		int64_t line = text.ptr[i] == ':' ? cut_number(&rest) : 0;
		if (!line)
			continue;
		int64_t column = cut_number(&rest);
		return (struct config_mistake){str_n(text.ptr, i), line, column ? column : 1};
	}
	return (struct config_mistake){0};
}
