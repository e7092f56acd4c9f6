/* unix_socket.h — sockets that have a file: made to listen, or dialled. Both ends know paths of any length.
 *
 * Descriptors are the caller's; they do not block and are closed in commands. Any thread. */
#ifndef TRANSPORT_UNIX_SOCKET_H
#define TRANSPORT_UNIX_SOCKET_H

#include <sys/stat.h>

struct error;

/* A listening socket, its file with mode 0600 from the first moment on. A file that nobody listens at any more is
 * replaced; one that is in use is an error. Two that do this at once must lock. -1 and err if it cannot be. */
int unix_socket_listen(const char *path, int backlog, struct error *err);
/* Removes the file of a socket unless somebody has put another one in its place. own: what lstat said of it. */
void unix_socket_remove(const char *path, const struct stat *own);
/* Connects, without waiting for anybody. -1 and err (ERR_connect) if nobody listens there. */
int unix_socket_connect(const char *path, struct error *err);

#endif
