/* host_files.h — what a client of the app-server may do to files of this machine.
 *
 * All of it blocks: to be called on a worker. Links are followed where the system follows them; a tree that is removed
 * or copied is never left through a link. A stop flag, set from any thread, ends long work with ERR_cancelled.
 * Owns: nothing. Errors: err->sys where the system refused, else err->text is what to tell.
 * Source: app-server-wire 16. */
#ifndef WORKSPACE_HOST_FILES_H
#define WORKSPACE_HOST_FILES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

struct error;

struct host_info {
	bool is_folder, is_file; /* links followed; a link that leads nowhere is neither */
	bool is_link;
	int64_t created_ms, changed_ms; /* since 1970; 0: unknown */
};

struct host_entry {
	struct str name; /* UTF-8; what was none in the name is replaced */
	bool is_folder, is_file;
};

/* Appends the bytes of a regular file. */
int host_file_read(const char *path, struct buf *out, struct error *err);
/* Creates or overwrites a regular file. */
int host_file_write(const char *path, struct str bytes, struct error *err);
int host_folder_make(const char *path, bool recursive, struct error *err);
int host_info_read(const char *path, struct host_info *ret, struct error *err);
/* Sorted by name; the array and the names live in the arena. */
int host_folder_list(const char *path, struct arena *arena, struct host_entry **ret, size_t *ret_count,
                     struct error *err);
/* force: fine if nothing is there. Folders that are not empty need recursive. */
int host_remove(const char *path, bool recursive, bool force, const atomic_bool *stop, struct error *err);
/* Folders need recursive. Files keep their permissions, links stay links, existing files are overwritten. */
int host_copy(const char *from, const char *to, bool recursive, const atomic_bool *stop, struct error *err);

#endif
