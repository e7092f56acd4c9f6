/* inherited_socket.h — a listening socket that systemd has opened and passes on (sd_listen_fds(3)).
 *
 * The caller reads the environment and owns the descriptor. Any thread. Errors: ERR_usage if this process was not
 * started with exactly one socket, or if the socket has the wrong kind. */
#ifndef TRANSPORT_INHERITED_SOCKET_H
#define TRANSPORT_INHERITED_SOCKET_H

#include "base/error.h"

/* Checks the values of LISTEN_PID and LISTEN_FDS; either may be NULL. Returns the descriptor, or -1 and err. */
must_check int inherited_socket_find(const char *pid, const char *count, struct error *err);
/* Checks that fd is a listening stream socket: a Unix one with a file, IPv4 or IPv6. Sets O_NONBLOCK and FD_CLOEXEC.
 * Returns its address, unix://PATH or ws://IP:PORT, owned by the caller; or NULL and err. */
must_check char *inherited_socket_open(int fd, struct error *err);

#endif
