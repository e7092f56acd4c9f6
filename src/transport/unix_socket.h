/* unix_socket.h — Unix sockets: listen and connect, with paths of any length.
 *
 * Descriptors are owned by the caller; they are non-blocking and close-on-exec. Any thread. */
#ifndef TRANSPORT_UNIX_SOCKET_H
#define TRANSPORT_UNIX_SOCKET_H

#include <sys/stat.h>

#include "base/error.h"

/* Returns a listening socket, or -1 and err. Its file has mode 0600 from the start. A stale file is replaced; one in
 * use is an error. Concurrent callers must hold a lock. */
must_check int unix_socket_listen(const char *path, int backlog, struct error *err);
/* Removes a socket's file unless it has been replaced. own: the result of lstat after the file was created. */
void unix_socket_remove(const char *path, const struct stat *own);
/* Returns a connected socket, or -1 and err: ERR_connect if no process listens, ERR_timeout if one listens that has
 * accepted no connection in wait_ms (0: does not block). */
must_check int unix_socket_connect(const char *path, unsigned wait_ms, struct error *err);

#endif
