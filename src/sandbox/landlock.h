/* landlock.h — the kernel's Landlock: permanent limits on what this process and its children can write.
 *
 * Owns nothing. Restricts the calling thread and all processes that it starts. See landlock(7). */
#ifndef SANDBOX_LANDLOCK_H
#define SANDBOX_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct error;

/* ABI 6 (Linux 6.12) is the first that confines signals and abstract sockets. */
enum { LANDLOCK_ABI_NEEDED = 6 };

/* Returns the kernel's ABI version; 0 if Landlock is missing or disabled. */
int landlock_abi(void);

/* Everything may be read and executed. Only paths below `writable` can be written, and only devices at or below
 * `devices` can be used; missing ones are skipped. Signals and ptrace cannot reach a process outside. With no_tcp,
 * TCP cannot be used either. Requires no_new_privs. */
struct landlock_rules {
	const char *const *writable; /* ends with NULL */
	const char *const *devices;  /* ends with NULL */
	bool no_tcp;
};
must_check int landlock_restrict(const struct landlock_rules *rules, struct error *err);

#endif
