/* A model may call a tool that it knows from earlier requests while the server is starting again. */
#include "tool/mcp/mcp_await.h"

#include "base/mem.h"
#include "tool/tool.h"

struct waiting {
	struct mcp_await wait;
	struct tool_call *call;
	void (*go)(struct tool_call *call);
};

static void stop(struct tool_call *call)
{
	struct waiting *waiting = call->state;
	list_remove(&waiting->wait.link);
	free(waiting);
	call->state = NULL;
	call->stop = NULL;
}

static void on_ready(struct mcp_await *wait)
{
	struct waiting *waiting = container_of(wait, struct waiting, wait);
	struct tool_call *call = waiting->call;
	void (*go)(struct tool_call *) = waiting->go;
	stop(call);
	go(call);
}

bool mcp_await_begin(struct tool_call *call, struct str server, void (*go)(struct tool_call *call))
{
	struct tool_host *host = call->host;
	struct waiting *waiting = xnew(struct waiting);
	*waiting = (struct waiting){.wait = {.server = server, .on_ready = on_ready}, .call = call, .go = go};
	list_init(&waiting->wait.link);
	if (!host->await_mcp || !host->await_mcp(host, &waiting->wait)) {
		free(waiting);
		return false;
	}
	call->state = waiting;
	call->stop = stop;
	return true;
}

static void ask_again(struct tool_call *call)
{
	tool_call_finishf(
		call, false,
		"unsupported call: %.*s. MCP servers were still starting when it was made; call the tool again "
		"if it is listed now",
		STR_ARG(call->name));
}

static void start(struct tool_call *call)
{
	if (!mcp_await_begin(call, STR_NONE, ask_again))
		ask_again(call);
}

void mcp_await_bind(struct tool_call *call)
{
	call->mcp.start = start;
	call->mcp.is_parallel = true;
}
