/* config_mistake.h — the location in an error about the configuration, for clients that show it in an editor.
 *
 * Owns: nothing; borrows the text. Any thread. */
#ifndef CONFIG_CONFIG_MISTAKE_H
#define CONFIG_CONFIG_MISTAKE_H

#include <stdint.h>

#include "base/str.h"

struct config_mistake {
	struct str path;      /* STR_NONE: the error is not about a file */
	int64_t line, column; /* from 1; column 1 where only the line is known */
};

/* text: of an error of config_load, which begins with FILE:LINE: or FILE:LINE:COLUMN: if it is about a file. */
struct config_mistake config_mistake_read(struct str text);

#endif
