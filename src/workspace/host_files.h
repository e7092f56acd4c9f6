/* host_files.h — the file operations that clients of the app-server can request.
 *
 * All of them block: for a worker. Links are followed where the system follows them; removing or copying a tree never
 * leaves it through a link. A stop flag, set from any thread, ends long operations with ERR_cancelled. Owns: nothing.
 * Errors: err->sys if the system refused, else err->text. */
#ifndef WORKSPACE_HOST_FILES_H
#define WORKSPACE_HOST_FILES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/arena.h"
#include "base/buf.h"

struct error;

struct host_info {
	bool is_folder, is_file; /* of the link's target; a dangling link is neither */
	bool is_link;
	int64_t created_ms, changed_ms; /* Unix time; 0: unknown */
};

struct host_entry {
	struct str name; /* UTF-8; ill-formed bytes of the name are replaced */
	bool is_folder, is_file;
};

/* Appends the bytes of a regular file. */
must_check int host_file_read(const char *path, struct buf *out, struct error *err);
/* Creates or overwrites a regular file. */
must_check int host_file_write(const char *path, struct str bytes, struct error *err);
must_check int host_folder_make(const char *path, bool recursive, struct error *err);
must_check int host_info_read(const char *path, struct host_info *ret, struct error *err);
/* Lists a folder, sorted by name; the array and the names live in the arena. */
must_check int host_folder_list(const char *path, struct arena *arena, struct host_entry **ret, size_t *ret_count,
                                struct error *err);
/* Removes a file or folder. With force it is not an error if the path does not exist. Folders that are not empty
 * need recursive. */
must_check int host_remove(const char *path, bool recursive, bool force, const atomic_bool *stop, struct error *err);
/* Copies a file or, with recursive, a folder. Files keep their permissions, links stay links, existing files are
 * overwritten. */
must_check int host_copy(const char *from, const char *to, bool recursive, const atomic_bool *stop, struct error *err);

#endif
