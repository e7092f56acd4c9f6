/* acp_method.h — the handlers of what a client sends: on_acp_<tag> for each row of acp_method.def.
 *
 * By file: acp_server.c (initialize), acp_account.c (authenticate, logout), acp_open.c (sessions that are opened),
 * acp_store.c (list and delete), acp_prompt.c (prompts, modes and options). A handler answers the request, or keeps it
 * and answers later. Loop thread only. */
#ifndef ACP_ACP_METHOD_H
#define ACP_ACP_METHOD_H

#include "protocol/message/acp.h"

struct acp_request;
struct acp_server;

#define METHOD(tag, wire, params_, result, doc) \
	void on_acp_##tag(struct acp_server *server, struct acp_request *request, const struct params_ *params);
#define NOTE(tag, wire, params_, doc) \
	void on_acp_##tag(struct acp_server *server, struct acp_request *request, const struct params_ *params);
#include "protocol/acp/acp_method.def"
#undef METHOD
#undef NOTE

#endif
