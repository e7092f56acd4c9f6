/* config_stamp.h — whether the files of a configuration have changed since.
 * Thread: any. Looks at a handful of files, without opening them. */
#ifndef CONFIG_CONFIG_STAMP_H
#define CONFIG_CONFIG_STAMP_H

#include <stdint.h>

/* The same number as long as none of the files that config_load would read for cwd has come, gone or changed. */
uint64_t config_stamp(const char *home, const char *cwd);

#endif
