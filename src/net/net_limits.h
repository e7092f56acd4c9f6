/* net_limits.h — the limits of connections. Sizes in bytes, times in milliseconds. */
#ifndef NET_NET_LIMITS_H
#define NET_NET_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_LOGIN_PAGE_TEXT = 2000, /* the part of an error that the page of a login shows */
	LIMIT_LOGIN_PAGE_MS = 200,    /* for that page to leave before its server ends */
};

#endif
