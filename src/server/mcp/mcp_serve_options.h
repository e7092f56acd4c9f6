/* mcp_serve_options.h — the options of mcp_serve_create, which its threads use, too. */
#ifndef SERVER_MCP_SERVE_OPTIONS_H
#define SERVER_MCP_SERVE_OPTIONS_H

#include <stddef.h>

#include "base/str.h"

struct loop;
struct services;

struct mcp_serve_options {
	struct loop *loop;
	struct services *services;
	const struct str *overrides; /* "key=value" texts for each thread, borrowed */
	size_t override_count;
	const char *cwd;            /* the working folder of threads that name none, borrowed */
	int in, out;                /* the client's descriptors; the server takes ownership */
	void (*on_end)(void *self); /* called once, at the end of the input; destroy the server then */
	void *self;
};

#endif
