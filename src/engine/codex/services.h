/* services.h — what all Codexes of a process share. Private to engine/; codex.h hands it out. */
#ifndef ENGINE_SERVICES_H
#define ENGINE_SERVICES_H

#include <stdint.h>

#include "base/str.h"
#include "engine/session/session_env.h"

struct http_client;
struct loop;

struct services {
	struct loop *loop;
	struct http_client *http; /* connections to models, made at the first request */
	char *originator;         /* "codex_exec", … : who drives us (core 1.1) */
	struct skill_roots skill_roots;
};

#endif
