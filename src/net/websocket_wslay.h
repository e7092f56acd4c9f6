/* websocket_wslay.h — wslay, which reads and writes the frames of RFC 6455, loaded when it is first needed.
 *
 * Owns: the library, until the process ends. Thread: any; the first call does the work, others wait for it. */
#ifndef NET_WEBSOCKET_WSLAY_H
#define NET_WEBSOCKET_WSLAY_H

#include <wslay/wslay.h>

struct error;

/* wslay->frame_recv is wslay_frame_recv, and so on. */
struct websocket_wslay {
#define WSLAY(name) __typeof__(&wslay_##name) name;
#include "net/websocket_wslay.def"
#undef WSLAY
};

/* NULL and err (ERR_unsupported) if it is not installed; the answer of the first call is final. */
const struct websocket_wslay *websocket_wslay_load(struct error *err);

#endif
