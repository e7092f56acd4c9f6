/* mcp_serve_thread.h — one thread of the MCP server: an engine, and the call of a tool that runs in it. */
#ifndef SERVER_MCP_SERVE_THREAD_H
#define SERVER_MCP_SERVE_THREAD_H

#include <stdint.h>

#include "base/list.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "server/mcp/mcp_serve_options.h"
#include "server/mcp/mcp_serve_tools.h"
#include "server/wire_profile.h"

struct mcp_thread;

/* The connection that a thread reports to; its owner embeds it (mcp_serve.c). */
struct mcp_thread_host {
	const struct mcp_serve_options *options;
	bool can_elicit; /* the client can ask its user */
	/* Sends one message, without its newline. */
	void (*send)(struct mcp_thread_host *host, struct str json);
	/* Returns the id of a new request to the client about an approval. */
	int64_t (*take_id)(struct mcp_thread_host *host);
};

struct mcp_thread {
	struct list link; /* for the owner */
	struct mcp_thread_host *host;
	/* read-only */
	struct str id;      /* thread id, owned; STR_NONE until the session is configured */
	struct str request; /* the running call's JSON-RPC id as JSON, owned; STR_NONE: idle */
	struct codex *codex;
	/* private */
	struct str prompt;  /* submitted when the session is configured, owned */
	struct str failure; /* the latest error of the running call, owned */
	struct wire_style style;
	struct list asks; /* requests for approval that wait for the client */
	struct loop_deferred deny;
	bool is_cancelled; /* the client does not want the result any more */
	bool is_running;   /* the engine works on the call */
	bool has_failed;   /* there is no session */
	int64_t turn_count;
};

/* Opens a thread and starts the call. request: the JSON-RPC id. NULL and err: a wrong setting. */
must_check struct mcp_thread *mcp_thread_create(struct mcp_thread_host *host, struct str request,
                                                const struct mcp_serve_arguments *arguments, struct error *err);
void mcp_thread_destroy(struct mcp_thread *thread);

/* Starts another call. The thread must be idle. */
must_check int mcp_thread_prompt(struct mcp_thread *thread, struct str request, struct str prompt, struct error *err);
/* Interrupts the running call, which then has no result. */
void mcp_thread_cancel(struct mcp_thread *thread);
/* Passes on the client's answer to the request with this id; result: NULL if the client failed. False: the thread has
 * not asked that. */
bool mcp_thread_answer(struct mcp_thread *thread, int64_t id, const struct json *result);

/* Sends the result of a call: an error of the tool, with this text. */
void mcp_thread_send_failure(struct mcp_thread_host *host, struct str request, struct str text);

#endif
