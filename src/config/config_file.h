/* config_file.h — changes of $CODEX_HOME/config.toml by this program: comments and order are kept, the result is
 * checked as the next start would check it, and two processes do not overwrite each other's changes. */
#ifndef CONFIG_CONFIG_FILE_H
#define CONFIG_CONFIG_FILE_H

#include "base/error.h"

struct toml_edit;

/* Makes the changes; an error abandons them. */
typedef int (*config_file_change_fn)(struct toml_edit *edit, void *self, struct error *err);

/* Reads the file of this CODEX_HOME, changes it, checks it and replaces it atomically, with the folder locked. An
 * unchanged text is not written. Blocks for up to LIMIT_CONFIG_LOCK_MS while another process holds the lock: for
 * commands and worker threads. */
must_check int config_file_change(const char *home, config_file_change_fn change, void *self, struct error *err);

/* Locks the folder of the file against other processes that change it. Returns a descriptor to close, or a negative
 * error. Blocks as above. On a file system without locks it succeeds. */
must_check int config_file_lock(const char *folder, struct error *err);

#endif
