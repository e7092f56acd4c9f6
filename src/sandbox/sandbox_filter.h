/* sandbox_filter.h — the seccomp filter of a sandbox: which system calls its commands cannot make.
 *
 * A denied call fails with EPERM, as without a privilege. Calls that programs replace by older ones fail with ENOSYS
 * (clone3, whose flags cannot be checked). A call of a foreign architecture ends the process with SIGSYS. Owns
 * nothing. Thread: any. The calls are rows of sandbox_filter.def. */
#ifndef SANDBOX_SANDBOX_FILTER_H
#define SANDBOX_SANDBOX_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

enum sandbox_filter_net {
	SANDBOX_NET_NONE,    /* no sockets except socket pairs */
	SANDBOX_NET_PRIVATE, /* a private network: internet sockets reach no other process, but UNIX sockets would */
	SANDBOX_NET_SHARED,
};

struct sandbox_filter_spec {
	enum sandbox_filter_net net;
	bool is_bare;     /* the sandbox has no mount and IPC namespace of its own */
	bool shares_pids; /* there is no pid namespace: other processes of the user can be addressed */
};

/* Fills out and returns the number of instructions, at most SANDBOX_FILTER_MAX; 0 if the calls of this processor are
 * not known. */
enum { SANDBOX_FILTER_MAX = 512 };
size_t sandbox_filter_build(const struct sandbox_filter_spec *spec, struct sock_filter out[SANDBOX_FILTER_MAX]);

#endif
