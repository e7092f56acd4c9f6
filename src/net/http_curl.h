/* http_curl.h — libcurl, loaded when it is first needed.
 *
 * Owns: the library, until the process ends. Thread: any; the first call does the work, others wait for it. */
#ifndef NET_HTTP_CURL_H
#define NET_HTTP_CURL_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

struct error;

/* curl->easy_init is curl_easy_init, and so on. */
struct http_curl {
#define CURL(name) __typeof__(&curl_##name) name;
#include "net/http_curl.def"
#undef CURL
};

/* Loads and initialises libcurl. NULL and err (ERR_unsupported) if it is missing or too old; the answer of the first
 * call is final. Blocks for some milliseconds: meant for a worker thread. */
const struct http_curl *http_curl_load(struct error *err);

#endif
