/* page_trust.h — which requests of browsers are served: Host, Origin and Fetch Metadata.
 *
 * A page of another site, or of another port of this machine, must not reach the server, not even with a name of its
 * own that resolves to this machine (DNS rebinding). Owns nothing. Any thread. */
#ifndef SERVER_PAGE_TRUST_H
#define SERVER_PAGE_TRUST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct http_head;

struct page_trust {
	bool is_tls;
	struct str address;       /* IP:PORT that the server listens on */
	const char *const *names; /* more hosts, NAME (any port) or NAME:PORT */
	size_t name_count;
};

/* Returns 0, or the status to refuse the request with, and the reason. */
int page_trust_check(const struct page_trust *trust, const struct http_head *head, const char **ret_reason);

#endif
