/* Linking libcurl costs every start of the program the 4 ms and 8 MB that its 31 libraries take to load, also
 * `--version` and each sandbox helper. So it is opened by name instead, lazily bound (RTLD_NOW costs 0.4 ms more),
 * with one table of the functions used. It is never closed: OpenSSL does not survive being unloaded. */
#include "net/http_curl.h"

#include <dlfcn.h>
#include <pthread.h>

#include "base/error.h"
#include "base/mem.h"

static struct http_curl curl;
static struct error failure;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int curl_bind(void *library)
{
	static const char *const names[] = {
#define CURL(name) "curl_" #name,
#include "net/http_curl.def"
#undef CURL
	};
	void **slots[] = {
#define CURL(name) (void **)(void *)&curl.name,
#include "net/http_curl.def"
#undef CURL
	};
	for (size_t i = 0; i < countof(names); i++) {
		*slots[i] = dlsym(library, names[i]);
		if (!*slots[i])
			return error_set(&failure, ERR_unsupported,
			                 "the installed libcurl is too old (it lacks %s): upgrade libcurl4", names[i]);
	}
	return 0;
}

static void curl_open(void)
{
	void *library = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
	if (!library) {
		error_set(&failure, ERR_unsupported,
		          "libcurl, which speaks HTTP for this program, cannot be loaded: install libcurl4 (%s)",
		          dlerror());
		return;
	}
	if (curl_bind(library) == 0 && curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		error_set(&failure, ERR_unsupported, "the installed libcurl cannot be initialised: reinstall libcurl4");
}

const struct http_curl *http_curl_load(struct error *err)
{
	pthread_once(&once, curl_open);
	if (failure.code == ERR_none)
		return &curl;
	if (err)
		*err = failure;
	return NULL;
}
