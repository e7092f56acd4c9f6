/* landlock.h — the kernel's Landlock: what this process and its children may write, for good.
 *
 * Owns nothing. Thread: restricts the calling one and what it starts. Source: core 16, and landlock(7). */
#ifndef SANDBOX_LANDLOCK_H
#define SANDBOX_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>

struct error;

/* What is needed here: ABI 6 is the first that keeps signals and abstract sockets inside (Linux 6.12). */
enum { LANDLOCK_ABI_NEEDED = 6 };

/* The version that the kernel speaks; 0 if it has none, or it is switched off. */
int landlock_abi(void);

/* Everything can still be read and executed. Written can be what lies below the paths; devices can be used below
 * `devices` (files or folders; those that are missing are passed over). No signal and no ptrace reaches a process
 * outside; no_tcp: TCP is of no use either. Needs no_new_privs. */
struct landlock_rules {
	const char *const *writable; /* ends with NULL */
	const char *const *devices;  /* ends with NULL */
	bool no_tcp;
};
int landlock_restrict(const struct landlock_rules *rules, struct error *err);

#endif
