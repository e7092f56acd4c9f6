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
/* As file_read, for an untrusted path: rejects anything but a regular file, and never blocks. */
must_check int file_read_regular(const char *path, struct buf *out, struct error *err);
/* Creates or replaces path atomically (temporary file beside it, then rename); fsync first if durable. */
must_check int file_write_atomic(const char *path, struct str bytes, mode_t mode, bool durable, struct error *err);
/* Creates the folder and its missing parents; it is not an error if the folder exists. */
must_check int dir_make(const char *path, mode_t mode, struct error *err);
bool file_exists(const char *path);
/* Follows symbolic links. Check before reading a user's path: reading a FIFO or a device may block. */
bool file_is_regular(const char *path);
bool dir_exists(const char *path);
/* The mode of the empty folders that prevent commands from creating a protected name such as .git
 * (process/placeholder.h). marker_exists is file_exists, except that it ignores these folders: they do not mark a
 * project. */
enum { DIR_PLACEHOLDER_MODE = 01700 };
bool marker_exists(const char *path);
/* Appends the bytes of fd up to its end to out; ERR_limit if they exceed out's room. `what` names the input in
 * errors. Blocks even if the descriptor is non-blocking. */
must_check int fd_read_all(int fd, struct buf *out, const char *what, struct error *err);
/* Writes all bytes. Blocks even if the descriptor is non-blocking. */
must_check int fd_write_all(int fd, const void *bytes, size_t len, struct error *err);
/* True if the file's last line has no newline, for example because the disk was full when it was written. fd must be
 * readable. */
bool fd_breaks_off(int fd);

#endif
