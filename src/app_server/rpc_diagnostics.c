/* server/diagnostics, and methods that exist for Windows only. */
#include <stdio.h>
#include <unistd.h>

#include "app_server/app_server_priv.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"

/* Counts requests: one that waits for the answer to an earlier one is queued; all others are in flight. */
static void count_requests(const struct app_server *server, int64_t *ret_running, int64_t *ret_queued)
{
	struct connection *connection;
	struct rpc_request *request;
	*ret_running = *ret_queued = 0;
	list_for_each(connection, &server->connections, link) {
		list_for_each(request, &connection->requests, link) {
			if (list_empty(&request->entry.link))
				(*ret_running)++;
			else
				(*ret_queued)++;
		}
	}
}

static void count_threads(const struct app_server *server, int64_t *ret_threads, int64_t *ret_turns)
{
	struct thread *it;
	*ret_threads = *ret_turns = 0;
	list_for_each(it, &server->threads->all, link) {
		(*ret_threads)++;
		*ret_turns += it->turn != NULL;
	}
}

enum rpc_verdict on_rpc_server_diagnostics(struct rpc_request *request,
                                           const struct app_server_diagnostics_params *params)
{
	struct app_server_diagnostics_process process = {.id = getpid()};
	struct app_server_diagnostics_gauge gauges[] = {
		{.name = STR("app.requests.in_flight")},
		{.name = STR("app.requests.queued")},
		{.name = STR("core.threads.live")},
		{.name = STR("core.turns.active")},
	};
	(void)params;
	count_requests(request->server, &gauges[0].value, &gauges[1].value);
	count_threads(request->server, &gauges[2].value, &gauges[3].value);
	process.has_resident_memory_bytes = host_memory(&process.resident_memory_bytes);
	struct app_server_diagnostics_response response = {&process, gauges, countof(gauges)};
	return rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_windows_sandbox_setup_start(struct rpc_request *request,
                                                    const struct app_windows_sandbox_setup_start_params *params)
{
	char text[96];
	struct app_windows_sandbox_setup_start_response response = {true};
	struct app_windows_sandbox_setup_completed_notification completed = {.mode = params->mode};
	struct app_server *server = request->server;
	snprintf(text, sizeof(text), "%s Windows sandbox setup is only supported on Windows",
	         enum_wire(&enum_app_windows_sandbox_setup_mode, (int)params->mode));
	completed.error = str_of(text);
	enum rpc_verdict verdict = rpc_reply(request, &response);
	app_server_notify(server, NOTIFY_windows_sandbox_setup_completed, &completed);
	return verdict;
}
