/* libcurl is opened with the first request: its 31 libraries take 4 ms and 8 MB to load (base/library.c). */
#include "net/http_curl.h"

#include "base/library.h"

static struct http_curl curl;

static const char *const names[] = {
#define CURL(name) "curl_" #name,
#include "net/http_curl.def"
#undef CURL
};

static int initialise(struct error *err)
{
	if (curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		return 0;
	return error_set(err, ERR_unsupported, "the installed libcurl cannot be initialised: reinstall libcurl4");
}

LIBRARY(libcurl, curl, names, .file = "libcurl.so.4", .package = "libcurl4",
        .purpose = "libcurl, which implements HTTP", .on_loaded = initialise);

const struct http_curl *http_curl_load(struct error *err)
{
	return library_load(&libcurl, err) == 0 ? &curl : NULL;
}
