/* services.h — what all Codexes of a process share. Private to engine/; codex.h hands it out. */
#ifndef ENGINE_SERVICES_H
#define ENGINE_SERVICES_H

#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

struct http_client;
struct loop;

struct services {
	struct loop *loop;
	struct http_client *http; /* connections to models, made at the first request */
	char *originator;         /* "codex_exec", … : who drives us (core 1.1) */
	VEC(struct str) skill_roots;    /* beside the configured ones; owned */
	uint64_t skill_roots_generation; /* another one when they change */
};

#endif
