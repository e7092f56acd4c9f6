/* debug_peer.h — the engine that codex debug-client talks to: at a socket, or as a child process.
 *
 * Owns: the transport, and the child, which does not receive Ctrl-C. Loop thread only. */
#ifndef UI_DEBUG_PEER_H
#define UI_DEBUG_PEER_H

#include <sys/types.h>

#include "base/error.h"
#include "transport/transport.h"

struct child;
struct loop;

struct debug_peer {
	struct transport *transport; /* NULL until it was opened */
	/* private */
	struct child *child;
	pid_t pid; /* 0: no child is running */
};

/* Connects to unix://PATH or tcp://HOST:PORT. */
must_check int debug_peer_connect(struct debug_peer *peer, struct loop *loop, const char *address,
                                  const struct transport_events *events, void *self, struct error *err);
/* Starts a program. argv ends with NULL; with a NULL path, argv[0] is looked up in PATH. */
must_check int debug_peer_spawn(struct debug_peer *peer, struct loop *loop, const char *path, const char *const *argv,
                                const struct transport_events *events, void *self, struct error *err);
void debug_peer_finish(struct debug_peer *peer); /* ends the child; an all-zero struct is fine */

#endif
