/* initialize records the client's name and capabilities. The name is sent as a header of every request to a model,
 * so it must be a valid header value. */
#include <stdio.h>

#include "app_server/app_server_priv.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_request.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config.h"
#include "net/user_agent.h"
#include "transport/pending_clients.h"

/* ---- the installation ---- */

static char *make_id(const char *path)
{
	char id[UUID_TEXT_SIZE];
	uuid_v7(id);
	/* in a folder that is not writable, each process has another id */
	best_effort(file_write_atomic(path, str_of(id), 0600, false, NULL));
	return xstrdup(id);
}

static char *read_installation_id(const char *codex_home)
{
	auto_free char *path = path_join(codex_home, "installation_id");
	auto_buf struct buf text;
	buf_init(&text, 1 * KIB);
	bool is_read = file_read_regular(path, &text, NULL) == 0;
	struct str id = str_trim(buf_str(&text));
	return is_read && uuid_is_valid(id) ? str_dup(id) : make_id(path);
}

/* Reads the id at the first request, so that a server without clients accesses no file. */
static struct str installation_id(struct app_server *server)
{
	struct server_root *root = server_root(server);
	if (!root->installation_id)
		root->installation_id = read_installation_id(config_home(server->config));
	return str_of(root->installation_id);
}

/* ---- initialize ---- */

static bool is_header_value(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		if ((c < ' ' && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

static void take_capabilities(struct connection *connection, const struct app_initialize_capabilities *capabilities)
{
	if (!capabilities)
		return;
	connection->has_experimental_api = capabilities->experimental_api;
	connection->has_outcome_events = capabilities->turn_outcome_events;
	for (size_t i = 0; i < capabilities->opt_out_notification_methods_count; i++) {
		enum app_notification_tag tag = app_notification_find(capabilities->opt_out_notification_methods[i]);
		if (tag != NOTIFY_count)
			connection_opt_out(connection, tag);
	}
}

/* Writes the user agent, from which clients read the version of the interface; some refuse older versions. */
static void write_user_agent(struct buf *out, const struct app_client_info *client)
{
	struct user_agent agent = {
		.originator = client->name,
		.version = STR("0.169.0"),
		.client = client->name,
		.client_version = client->version,
	};
	buf_init(out, 64 * KIB);
	user_agent_write(out, &agent);
}

/* Sends the configuration error to a client; every client receives it until the server restarts with valid files.
 * Threads read the files on their own. */
static void send_config_error(struct connection *connection, const char *text)
{
	struct config_mistake mistake = config_mistake_read(str_of(text));
	struct app_text_position position = {mistake.line, mistake.column};
	struct app_text_range range = {&position, &position};
	struct app_config_warning_notification warning = {
		.summary = STR("Invalid configuration; using defaults."),
		.details = str_of(text),
		.path = mistake.path,
		.range = mistake.path.ptr ? &range : NULL,
	};
	connection_notify(connection, NOTIFY_config_warning, &warning);
}

/* Sent right after the response, because not every client sends `initialized`. */
static void send_initial_state(struct connection *connection)
{
	char host[256] = "";
	size_t count;
	const char *config_error = server_root(connection->server)->config_error;
	if (config_error)
		send_config_error(connection, config_error);
	const char *const *warnings = config_warnings(connection->server->config, &count);
	for (size_t i = 0; i < count; i++) {
		struct app_config_warning_notification warning = {.summary = str_of(warnings[i])};
		connection_notify(connection, NOTIFY_config_warning, &warning);
	}
	gethostname(host, sizeof(host) - 1);
	struct app_remote_control_status_changed_notification status = {
		.server_name = str_of(host),
		.installation_id = installation_id(connection->server),
	};
	connection_notify(connection, NOTIFY_remote_control_status_changed, &status);
}

enum rpc_verdict on_rpc_initialize(struct rpc_request *request, const struct app_initialize_params *params)
{
	struct connection *connection = request->connection;
	const struct app_client_info *client = params->client_info;
	auto_buf struct buf agent = {0};
	if (connection->is_initialized)
		return rpc_fail(request, APP_INVALID_REQUEST, "Already initialized");
	if (!is_header_value(client->name))
		return rpc_fail(request, APP_INVALID_REQUEST,
		                "Invalid clientInfo.name: '%.*s'. Must be a valid HTTP header value.",
		                STR_ARG(client->name));
	connection->is_initialized = true;
	pending_client_admit(connection->pending);
	connection->client_name = str_dup(client->name);
	connection->client_version = str_dup(client->version);
	take_capabilities(connection, params->capabilities);
	write_user_agent(&agent, client);
	struct app_initialize_response response = {
		.user_agent = buf_str(&agent),
		.codex_home = str_of(config_home(request->server->config)),
		.platform_family = STR("unix"),
		.platform_os = STR("linux"),
	};
	enum rpc_verdict verdict = rpc_reply(request, &response);
	send_initial_state(connection);
	return verdict;
}

enum rpc_verdict on_rpc_mock_experimental_method(struct rpc_request *request,
                                                 const struct app_mock_experimental_method_params *params)
{
	struct app_mock_experimental_method_response response = {.echoed = params->value};
	return rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_remote_control_status_read(struct rpc_request *request, const struct app_nothing *params)
{
	char host[256] = "";
	(void)params;
	gethostname(host, sizeof(host) - 1);
	struct app_remote_control_status_read_response response = {
		.server_name = str_of(host),
		.installation_id = installation_id(request->server),
	};
	return rpc_reply(request, &response);
}
