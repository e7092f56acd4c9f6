/* libzstd is opened with the first packed file (base/library.c). */
#include "rollout/rollout_zstd.h"

#include "base/library.h"

static struct rollout_zstd zstd;

static const char *const names[] = {
#define ZSTD(name) "ZSTD_" #name,
#include "rollout/rollout_zstd.def"
#undef ZSTD
};

LIBRARY(libzstd, zstd, names, .file = "libzstd.so.1", .package = "libzstd1",
        .purpose = "libzstd, which reads and writes packed sessions");

const struct rollout_zstd *rollout_zstd_find(void)
{
	return library_load(&libzstd, NULL) == 0 ? &zstd : NULL;
}
