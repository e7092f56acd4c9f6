/* config_stamp.h — detects changes of the files of a configuration.
 * Thread: any. Calls stat on a few files and opens none. */
#ifndef CONFIG_CONFIG_STAMP_H
#define CONFIG_CONFIG_STAMP_H

#include <stdint.h>

/* A number that changes when a file that config_load would read for cwd is added, removed or modified. */
uint64_t config_stamp(const char *home, const char *cwd);

#endif
