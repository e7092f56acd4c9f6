/* wslay is opened with the first WebSocket: 0.05 ms then instead of half of that at each start (base/library.c). */
#include "net/websocket_wslay.h"

#include "base/library.h"

static struct websocket_wslay wslay;

static const char *const names[] = {
#define WSLAY(name) "wslay_" #name,
#include "net/websocket_wslay.def"
#undef WSLAY
};

LIBRARY(libwslay, wslay, names, .file = "libwslay.so.1", .package = "libwslay1",
        .purpose = "wslay, which implements WebSocket frames");

const struct websocket_wslay *websocket_wslay_load(struct error *err)
{
	return library_load(&libwslay, err) == 0 ? &wslay : NULL;
}
