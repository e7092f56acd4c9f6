/* vec.h — a typed growing array: VEC(struct str) lines = {0}; vec_push(&lines, s); vec_finish(&lines);
 * Owns: its storage, not what the items point to. Pushing may move the items. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>

#include "base/mem.h"

#define VEC(type)             \
	struct {              \
		type *items;  \
		size_t count; \
		size_t cap;   \
	}

#define vec_push(vec, ...)                                    \
	do {                                                  \
		mem_items_reserve(vec);                       \
		(vec)->items[(vec)->count++] = (__VA_ARGS__); \
	} while (0)

#define vec_finish(vec) mem_items_release(vec)

/* Iterates over the items. `it &&` avoids arithmetic on the NULL of an empty vec. */
#define vec_for_each(it, vec) \
	for (__typeof__(*(vec)->items) *it = (vec)->items; it && it < (vec)->items + (vec)->count; it++)

#endif
