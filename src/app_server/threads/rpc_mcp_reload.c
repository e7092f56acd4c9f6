/* config/mcpServer/reload and reloadUserConfig of config/batchWrite: each loaded thread gets the servers of the files
 * as they are now, with those of its own options, and with the latter their hooks. */
#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "app_server/settings/config_view.h"
#include "app_server/settings/config_write.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "config/config.h"
#include "config/toml/toml_text.h"
#include "engine/codex/codex.h"

/* Merges the servers of the thread's own options, which no file contains, into the table. */
static void add_own(struct toml *servers, const struct thread *thread, struct arena *arena)
{
	size_t count = 0;
	const struct config_layer *layers = config_layers(thread->config, &count);
	for (size_t i = 0; i < count; i++) {
		const struct toml *own = toml_get(layers[i].root, "mcp_servers");
		if (own && (layers[i].kind == CONFIG_LAYER_option || layers[i].kind == CONFIG_LAYER_flag))
			toml_merge(arena, servers, own);
	}
}

/* Appends the servers of a thread as JSON. */
static int read_servers(struct app_server *server, const struct thread *thread, struct buf *out, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct config *config = config_view_load(server, arena_cstr(&arena, thread->settings->cwd), NULL, err);
	if (!config)
		return -(int)err->code;
	struct toml *servers = toml_new(&arena, TOML_table, "mcp_servers", 0);
	if (config->mcp_servers)
		toml_merge(&arena, servers, config->mcp_servers);
	add_own(servers, thread, &arena);
	struct json_writer w = json_writer(out);
	toml_to_json(&w, servers);
	config_unref(config);
	return out->over ? error_set(err, ERR_limit, "mcp_servers is too large") : 0;
}

static int reload(struct app_server *server, struct thread *thread, struct error *err)
{
	auto_buf struct buf servers;
	buf_init(&servers, LIMIT_CONFIG_JSON);
	if (read_servers(server, thread, &servers, err) != 0)
		return -(int)err->code;
	struct config *config = config_with_servers(thread->config, buf_str(&servers), err);
	if (!config)
		return -(int)err->code;
	struct mcp_refresh_config refresh = {buf_str(&servers), STR("\"auto\"")};
	struct op_refresh_mcp_servers body = {&refresh};
	const struct op op = {.tag = OP_refresh_mcp_servers, .refresh_mcp_servers = &body};
	int status = codex_submit_op(thread->codex, STR("mcp"), &op, err);
	if (status == 0) {
		config_unref(thread->config);
		thread->config = config_ref(config);
	}
	config_unref(config);
	return status;
}

enum rpc_verdict on_rpc_config_mcp_server_reload(struct rpc_request *request, const struct app_nothing *params)
{
	struct app_server *server = request->server;
	struct app_mcp_server_refresh_response response = {0};
	struct error err;
	struct thread *it;
	(void)params;
	struct config *config = config_view_load(server, server->cwd, NULL, &err);
	if (!config)
		return rpc_fail(request, APP_INTERNAL_ERROR, "failed to reload config: %s", err.text);
	config_unref(server->config);
	server->config = config;
	list_for_each(it, &server->threads->all, link) {
		if (it->settings && it->codex && !it->is_dead && reload(server, it, &err) != 0)
			return rpc_fail(request, APP_INTERNAL_ERROR, "failed to reload the MCP servers of %s: %s",
			                it->id, err.text);
	}
	return rpc_reply(request, &response);
}

/* ---- config/batchWrite ---- */

/* The change is on disk. A thread whose folder has an invalid configuration keeps what it has. */
static void reload_user_config(struct app_server *server)
{
	struct thread *it;
	struct error ignored;
	list_for_each(it, &server->threads->all, link) {
		if (!it->settings || !it->codex || it->is_dead)
			continue;
		auto_arena struct arena arena = {0};
		const char *cwd = arena_cstr(&arena, it->settings->cwd);
		struct config *config = config_view_load(server, cwd, NULL, &ignored);
		if (!config)
			continue;
		codex_renew_hooks(it->codex, config);
		config_unref(config);
		best_effort(reload(server, it, &ignored));
	}
}

static void reply_and_reload(struct config_write *write, struct rpc_request *request, const struct config *config)
{
	const struct app_config_batch_write_params *params = request->params;
	struct app_server *server = request->server;
	bool reloads = params->reload_user_config; /* read now, because the response frees the parameters */
	config_write_reply(write, request, config);
	if (reloads)
		reload_user_config(server);
}

enum rpc_verdict on_rpc_config_batch_write(struct rpc_request *request,
                                           const struct app_config_batch_write_params *params)
{
	struct config_write *write = config_write_create(request);
	int status = config_write_open(write, params->file_path, params->expected_version);
	for (size_t i = 0; i < params->edits_count && status == 0; i++) {
		const struct app_config_edit *edit = &params->edits[i];
		status = config_write_edit(write, edit->key_path, edit->value,
		                           edit->merge_strategy == app_merge_strategy_upsert);
	}
	return status == 0 ? config_write_commit(write, reply_and_reload) : config_write_refuse(write);
}
