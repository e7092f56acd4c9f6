/* Dispatches requests to their handlers; initialize.
 *
 * A client that reads slowly holds the Codex of every session. At the end of its input everything that it started ends.
 */
#include "acp/acp_server.h"

#include <string.h>

#include "acp/acp_account.h"
#include "acp/acp_job.h"
#include "acp/acp_method.h"
#include "acp/acp_session.h"
#include "acp/acp_store.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/codex.h"

enum { VERSION = 1 };

/* ---- dispatch ---- */

typedef void (*method_fn)(struct acp_server *server, struct acp_request *request);

/* The table has a single type of function, but each handler takes the record of its row. */
#define METHOD(tag, wire, params_, result, doc)                                        \
	static void call_##tag(struct acp_server *server, struct acp_request *request) \
	{                                                                              \
		on_acp_##tag(server, request, request->params);                        \
	}
#define NOTE(tag, wire, params_, doc) METHOD(tag, wire, params_, acp_nothing, doc)
#include "protocol/acp/acp_method.def"
#undef METHOD
#undef NOTE

static const method_fn handlers[ACP_METHOD_count] = {
#define METHOD(tag, ...) [ACP_METHOD_##tag] = call_##tag,
#define NOTE(tag, ...) [ACP_METHOD_##tag] = call_##tag,
#include "protocol/acp/acp_method.def"
#undef METHOD
#undef NOTE
};

static void on_request(struct acp_request *request, void *self)
{
	handlers[request->method - acp_methods](self, request);
}

static void on_pace(bool is_slow, void *self)
{
	struct acp_server *server = self;
	struct acp_session *it;
	list_for_each(it, &server->sessions, link) {
		if (it->codex)
			(is_slow ? codex_hold : codex_release)(it->codex);
	}
}

static void on_wire_end(void *self)
{
	struct acp_server *server = self;
	loop_defer(&server->ended);
}

/* ---- initialize ---- */

static bool is_object(struct str json)
{
	return json.len && json.ptr[0] == '{';
}

static void take_capabilities(struct acp_client *client, const struct acp_client_capabilities *from)
{
	auto_arena struct arena arena = {0};
	*client = (struct acp_client){0};
	if (!from)
		return;
	const struct json *meta = from->_meta.ptr ? json_parse(&arena, from->_meta, NULL) : NULL;
	*client = (struct acp_client){
		.reads_files = from->fs && from->fs->read_text_file,
		.writes_files = from->fs && from->fs->write_text_file,
		.fills_terminals = json_get_bool(meta, "terminal_output", false),
		.has_forms = from->elicitation && is_object(from->elicitation->form),
		.opens_urls = from->elicitation && is_object(from->elicitation->url),
	};
}

/* Providers get both in a header. */
static bool fits_header(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] < ' ' || text.ptr[i] > '~')
			return false;
	}
	return text.len > 0 && text.len <= 256;
}

static void take_client(struct acp_server *server, const struct acp_implementation *info)
{
	free(server->client_name);
	free(server->client_version);
	server->client_name = server->client_version = NULL;
	if (!info || !fits_header(info->name))
		return;
	server->client_name = str_dup(info->name);
	if (fits_header(info->version))
		server->client_version = str_dup(info->version);
}

void on_acp_initialize(struct acp_server *server, struct acp_request *request,
                       const struct acp_initialize_params *params)
{
	struct acp_nothing nothing = {0};
	struct acp_implementation agent = {STR("codex"), STR("Codex"), STR(CODEX_VERSION)};
	struct acp_auth_capabilities auth = {&nothing};
	struct acp_prompt_capabilities prompt = {.embedded_context = true, .image = true};
	struct acp_session_capabilities session = {&nothing, &nothing, &nothing, &nothing, &nothing, &nothing};
	struct acp_mcp_capabilities mcp = {.http = true};
	struct acp_agent_capabilities capabilities = {&auth, true, &prompt, &session, &mcp};
	struct acp_auth_method method = {
		STR("api-key"), STR("API key"),
		STR("The key of CODEX_API_KEY or OPENAI_API_KEY, or one stored by `codex login`")};
	struct acp_initialize_result result = {VERSION, &agent, &capabilities,
	                                       &method, 1,      STR("{\"steering\":{\"supported\":true}}")};
	take_capabilities(&server->client, params->client_capabilities);
	take_client(server, params->client_info);
	server->wire.is_initialized = true;
	acp_reply(request, &result);
}

/* ---- life ---- */

static void on_sweep(void *self)
{
	struct acp_server *server = self;
	struct acp_session *it;
	list_for_each(it, &server->sessions, link) {
		if (it->is_dead)
			acp_session_destroy(it);
	}
}

static void on_ended(void *self)
{
	struct acp_server *server = self;
	server->on_end(server->self);
}

struct acp_server *acp_server_create(const struct acp_options *options, struct error *err)
{
	static const struct acp_wire_owner owner = {on_request, on_pace, on_wire_end};
	struct acp_server *server = xnew(struct acp_server);
	server->loop = options->loop;
	server->services = options->services;
	server->config = config_ref(options->config);
	server->overrides = options->overrides;
	server->override_count = options->override_count;
	server->on_end = options->on_end;
	server->self = options->self;
	list_init(&server->sessions);
	list_init(&server->jobs);
	list_init(&server->logouts);
	loop_deferred_init(&server->sweep, options->loop, on_sweep, server);
	loop_deferred_init(&server->ended, options->loop, on_ended, server);
	if (acp_wire_init(&server->wire, options->loop, options->in, options->out, &owner, server, err) == 0)
		return server;
	acp_server_destroy(server);
	return NULL;
}

void acp_server_destroy(struct acp_server *server)
{
	struct acp_session *it;
	if (!server)
		return;
	list_for_each(it, &server->sessions, link)
		acp_session_destroy(it);
	acp_jobs_detach(server);
	acp_store_finish(server);
	acp_logouts_finish(server);
	acp_wire_finish(&server->wire);
	loop_deferred_finish(&server->sweep);
	loop_deferred_finish(&server->ended);
	config_unref(server->config);
	free(server->client_name);
	free(server->client_version);
	free(server);
}
