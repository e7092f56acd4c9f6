/* server_limits.h — the limits of codex proto and codex serve. Sizes in bytes, times in milliseconds. */
#ifndef SERVER_SERVER_LIMITS_H
#define SERVER_SERVER_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_TOKEN_REFUSE_MS = 1000,       /* delay between a wrong token and the error */
	LIMIT_PROTO_CLIENTS = 1024,         /* clients of one codex proto --listen */
	LIMIT_KEPT_SESSIONS = 256,          /* open sessions of one codex proto --listen http:// */
	LIMIT_KEPT_BYTES = 16 * MIB,        /* events of one such session that are kept */
	LIMIT_KEPT_IDS = 10 * 1000,         /* submission ids that such a session remembers */
	LIMIT_KEPT_PENDING = 1024,          /* submissions that such a session has not started */
	LIMIT_KEPT_IDLE_MS = 3600 * 1000,   /* time after which such a session ends if no client uses it */
	LIMIT_PAGE_CODES = 8,               /* codes of codex serve that were not used yet */
	LIMIT_PAGE_CODE_MS = 600 * 1000,    /* time in which a code can be used */
	LIMIT_PAGE_DEVICES = 64,            /* devices that are signed in; the one idle longest makes room */
	LIMIT_PAGE_NAME = 64,               /* bytes of a device's name */
	LIMIT_PAGE_ATTEMPTS = 10,           /* wrong codes and tokens … */
	LIMIT_PAGE_ATTEMPTS_MS = 60 * 1000, /* … in this time, before further ones are refused */
	LIMIT_PAGE_LOGIN = 4 * KIB,         /* the body of a request that needs no token */
	LIMIT_PAGE_FILE = 64 * KIB,         /* a file of the page */
	LIMIT_PAGE_GATHER_MS = 50,          /* delay of the list of sessions after a change */
	LIMIT_PAGE_PULSE_MS = 15 * 1000,    /* silence after which a watching page gets an empty line */
	LIMIT_PAGE_LIST = 8 * MIB,          /* the list of sessions */
	LIMIT_PAGE_THREADS = 100,           /* stored sessions in one answer */
	LIMIT_MCP_SERVE_THREADS = 64, /* sessions of codex mcp-server; the one idle longest is closed for another */
	LIMIT_MCP_SERVE_ID = 1024,    /* a JSON-RPC id */
	LIMIT_MCP_SERVE_SHOWN = 128,  /* part of a method, tool or id that an error shows */
};

#endif
