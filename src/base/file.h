/* file.h — paths and whole files. Paths are bytes; the process's cwd matters only if a relative path is passed in.
 * Returned strings are owned by the caller. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* base + "/" + name; name alone if it is absolute. */
char *path_join(const char *base, const char *name);
/* Removes ".", "..", and double slashes without consulting the file system. path must be absolute. */
char *path_normalize(const char *path);
/* Slices of path: everything before the last slash ("/" or "." if none), and after it. */
struct str path_dir(const char *path);
struct str path_name(const char *path);
/* True if path is dir or below it; both normalised and absolute. */
bool path_is_inside(const char *path, const char *dir);

/* Appends the file's bytes to out; ERR_limit if it has more than out's room. */
must_check int file_read(const char *path, struct buf *out, struct error *err);
/* The same for an untrusted name: rejects anything but a regular file, and does not block. */
must_check int file_read_regular(const char *path, struct buf *out, struct error *err);
/* Creates or replaces path atomically (temporary file beside it, then rename); fsync first if durable. */
must_check int file_write_atomic(const char *path, struct str bytes, mode_t mode, bool durable, struct error *err);
/* Creates the folder and its parents; an existing folder is fine. */
must_check int dir_make(const char *path, mode_t mode, struct error *err);
bool file_exists(const char *path);
bool file_is_regular(const char *path); /* links followed; reading anything else may block */
bool dir_exists(const char *path);
/* An empty folder of this mode stands where commands must not take a name (process/placeholder.h). It says
 * nothing of the folder that it lies in: marker_exists is file_exists without it. */
enum { DIR_PLACEHOLDER_MODE = 01700 };
bool marker_exists(const char *path);
/* Appends the rest of fd; ERR_limit if it exceeds out's room. Errors name it `what`. Blocks, also on a non-blocking
 * descriptor. */
must_check int fd_read_all(int fd, struct buf *out, const char *what, struct error *err);
/* Writes all bytes. Blocks, also on a non-blocking descriptor. */
must_check int fd_write_all(int fd, const void *bytes, size_t len, struct error *err);
/* Whether the file's last line lacks its end, as a disk that was full leaves it. The descriptor can be read. */
bool fd_breaks_off(int fd);

#endif
