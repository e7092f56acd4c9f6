/* unix_socket.h — Unix sockets: listen and connect, with paths of any length.
 *
 * Descriptors are owned by the caller; they are non-blocking and close-on-exec. Any thread. */
#ifndef TRANSPORT_UNIX_SOCKET_H
#define TRANSPORT_UNIX_SOCKET_H

#include <sys/stat.h>

#include "base/error.h"

/* A listening socket; its file has mode 0600 from the start. A stale file is replaced; one in use is an error.
 * Concurrent callers must lock. -1 and err on failure. */
must_check int unix_socket_listen(const char *path, int backlog, struct error *err);
/* Removes the file of a socket unless it has been replaced. own: its lstat. */
void unix_socket_remove(const char *path, const struct stat *own);
/* Connects without blocking. -1 and err (ERR_connect) without a listener. */
must_check int unix_socket_connect(const char *path, struct error *err);

#endif
