/* Only who serves or dials WebSockets needs the library, so only then is it opened, the same way as libcurl
 * (http_curl.c): 0.05 ms. Linked, it would cost every start half of that, and keep all commands from running where it
 * is not installed. */
#include "net/websocket_wslay.h"

#include <dlfcn.h>
#include <pthread.h>

#include "base/error.h"
#include "base/mem.h"

static struct websocket_wslay wslay;
static struct error failure;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void wslay_bind(void *library)
{
	static const char *const names[] = {
#define WSLAY(name) "wslay_" #name,
#include "net/websocket_wslay.def"
#undef WSLAY
	};
	void **slots[] = {
#define WSLAY(name) (void **)(void *)&wslay.name,
#include "net/websocket_wslay.def"
#undef WSLAY
	};
	for (size_t i = 0; i < countof(names); i++) {
		*slots[i] = dlsym(library, names[i]);
		if (!*slots[i])
			error_set(&failure, ERR_unsupported, "the installed wslay lacks %s: upgrade libwslay1",
			          names[i]);
	}
}

static void wslay_open(void)
{
	void *library = dlopen("libwslay.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (library)
		wslay_bind(library);
	else
		error_set(&failure, ERR_unsupported,
		          "wslay, which WebSockets need, cannot be loaded: install libwslay1 (%s)", dlerror());
}

const struct websocket_wslay *websocket_wslay_load(struct error *err)
{
	pthread_once(&once, wslay_open);
	if (failure.code == ERR_none)
		return &wslay;
	if (err)
		*err = failure;
	return NULL;
}
