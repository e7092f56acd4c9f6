/* rollout_zstd.h — libzstd, loaded when the first packed file is read or made.
 *
 * Owns: nothing that ends. Any thread. Errors: none; NULL where there is no libzstd. */
#ifndef ROLLOUT_ROLLOUT_ZSTD_H
#define ROLLOUT_ROLLOUT_ZSTD_H

#include <zstd.h>

struct rollout_zstd {
#define ZSTD(name) __typeof__(&ZSTD_##name) name;
#include "rollout/rollout_zstd.def"
#undef ZSTD
};

const struct rollout_zstd *rollout_zstd_find(void);

#endif
