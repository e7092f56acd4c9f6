/* hook_set.h — the usable hooks of a configuration, with their matchers compiled.
 *
 * Immutable after its creation, reference-counted: a running hook holds a reference. Loop thread only. */
#ifndef HOOK_HOOK_SET_H
#define HOOK_HOOK_SET_H

#include <stdbool.h>

#include "config/hook_config.h"

struct config;
struct hook_set;

/* Never NULL. */
struct hook_set *hook_set_create(const struct config *config);
struct hook_set *hook_set_ref(struct hook_set *set);
void hook_set_unref(struct hook_set *set); /* NULL is fine */

/* True if a hook of this event runs on any occurrence of it. */
bool hook_set_has(const struct hook_set *set, enum hook_event event);

/* The texts that a matcher is compared with; one match is enough. Both may be NULL. */
struct hook_subject {
	const char *name;
	const char *const *aliases; /* ends with NULL */
};

/* Returns the next hook after `last` (NULL: the first) that runs on this occurrence; NULL after the last one. */
const struct hook *hook_set_next(const struct hook_set *set, enum hook_event event, const struct hook_subject *subject,
                                 const struct hook *last);

/* The problems of the configuration and of the matchers, and every hook with its state. */
const struct hook_config *hook_set_config(const struct hook_set *set);

#endif
