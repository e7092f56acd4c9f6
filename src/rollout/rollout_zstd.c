/* Archives are few and libzstd is not small: it is opened by name with the first of them, as libcurl is
 * (net/http_curl.c). */
#include "rollout/rollout_zstd.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

#include "base/mem.h"

static struct rollout_zstd zstd;
static bool has_zstd;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
	static const char *const names[] = {
#define ZSTD(name) "ZSTD_" #name,
#include "rollout/rollout_zstd.def"
#undef ZSTD
	};
	void **slots[] = {
#define ZSTD(name) (void **)(void *)&zstd.name,
#include "rollout/rollout_zstd.def"
#undef ZSTD
	};
	void *library = dlopen("libzstd.so.1", RTLD_LAZY | RTLD_LOCAL);
	has_zstd = library;
	for (size_t i = 0; i < countof(names) && has_zstd; i++)
		has_zstd = (*slots[i] = dlsym(library, names[i]));
}

const struct rollout_zstd *rollout_zstd_find(void)
{
	pthread_once(&once, load);
	return has_zstd ? &zstd : NULL;
}
