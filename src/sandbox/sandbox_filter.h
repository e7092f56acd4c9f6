/* sandbox_filter.h — the seccomp filter of a sandbox: which system calls its commands may not make.
 *
 * A denied call fails with EPERM, as it would for want of a privilege. What programs are known to fall back from gets
 * ENOSYS (clone3: its flags cannot be looked at). A call of a foreign architecture ends the process with SIGSYS.
 * Owns nothing. Thread: any. Source: core 16; the calls are rows of sandbox_filter.def. */
#ifndef SANDBOX_SANDBOX_FILTER_H
#define SANDBOX_SANDBOX_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

enum sandbox_filter_net {
	SANDBOX_NET_NONE,    /* no sockets at all but pairs */
	SANDBOX_NET_PRIVATE, /* a network of its own: internet sockets reach nobody else, UNIX sockets would */
	SANDBOX_NET_SHARED,
};

struct sandbox_filter_spec {
	enum sandbox_filter_net net;
	bool is_bare;     /* no mount and IPC name space of its own */
	bool shares_pids; /* no pid name space of its own: the user's other processes can be named */
};

/* Fills out and returns the number of instructions; at most SANDBOX_FILTER_MAX. 0: this processor's calls are not
 * known here. */
enum { SANDBOX_FILTER_MAX = 512 };
size_t sandbox_filter_build(const struct sandbox_filter_spec *spec, struct sock_filter out[SANDBOX_FILTER_MAX]);

#endif
