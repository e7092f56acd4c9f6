/* The servers are asked side by side; each goes through the stages by itself. */
#include "mcp/mcp_survey.h"

#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/mcp_server.h"
#include "loop/loop.h"
#include "mcp/mcp_catalog.h"
#include "mcp/mcp_client.h"
#include "mcp/mcp_pool.h"
#include "oauth/oauth_store.h"

enum survey_stage { STAGE_start, STAGE_resources, STAGE_templates, STAGE_done };

static const struct {
	const char *method, *member;
} lists[] = {
	[STAGE_resources] = {"resources/list", "resources"},
	[STAGE_templates] = {"resources/templates/list", "resourceTemplates"},
};

struct survey_server {
	struct mcp_survey *survey;
	const struct mcp_server *config;
	struct mcp_client *client; /* NULL: its settings cannot be used */
	struct mcp_watcher watcher;
	enum survey_stage stage;
	struct mcp_catalog *catalog;
	char *failure;
	bool needs_login;
	struct mcp_request *request;
	struct buf found[STAGE_done]; /* by stage */
	char *cursor;
	size_t pages;
};

struct mcp_survey {
	struct arena arena;
	struct config *config;
	struct mcp_survey_options options;
	struct survey_server *servers;
	size_t count, pending;
	struct loop_deferred done;
};

static void advance(struct survey_server *server);

static void on_deferred(void *self)
{
	struct mcp_survey *survey = self;
	survey->options.on_done(survey->options.self);
}

static void end_server(struct survey_server *server)
{
	server->stage = STAGE_done;
	if (--server->survey->pending == 0)
		loop_defer(&server->survey->done);
}

/* ---- resources ---- */

static void take_items(struct survey_server *server, const struct json *items)
{
	struct buf *found = &server->found[server->stage];
	json_for_each(it, items) {
		size_t before = found->len;
		if (before)
			buf_append_char(found, ',');
		buf_append_str(found, it->span);
		if (found->over)
			buf_truncate(found, before);
	}
}

static void on_listed(const struct mcp_reply *reply, void *self)
{
	struct survey_server *server = self;
	struct str next = reply->err ? STR_NONE : json_get_str(reply->result, "nextCursor");
	bool is_again = next.ptr && server->cursor && str_is(next, server->cursor);
	server->request = NULL;
	if (!reply->err)
		take_items(server, json_get(reply->result, lists[server->stage].member));
	char *cursor = next.ptr && !is_again && ++server->pages < LIMIT_MCP_PAGES ? str_dup(next) : NULL;
	free(server->cursor);
	server->cursor = cursor;
	if (!cursor)
		server->stage++;
	advance(server);
}

static bool ask_page(struct survey_server *server)
{
	static const struct mcp_request_events events = {.on_done = on_listed};
	auto_buf struct buf params;
	buf_init(&params, LIMIT_MCP_MESSAGE);
	struct json_writer w = json_writer(&params);
	if (server->cursor)
		jw_member_cstr(&w, "cursor", server->cursor);
	const struct mcp_request_options options = {
		.method = lists[server->stage].method,
		.params = buf_str(&params),
		.timeout_ms = server->config->tool_timeout_ms,
		.events = &events,
		.self = server,
	};
	server->request = mcp_request_create(server->client, &options, NULL);
	return server->request;
}

static void advance(struct survey_server *server)
{
	bool has_resources = server->survey->options.with_resources && server->catalog->has_resources;
	if (!has_resources || server->stage == STAGE_done || !ask_page(server))
		end_server(server);
}

/* ---- the start ---- */

static void on_change(struct mcp_watcher *watcher)
{
	struct survey_server *server = container_of(watcher, struct survey_server, watcher);
	enum mcp_state state = mcp_client_state(server->client);
	if (server->stage != STAGE_start)
		return;
	if (state == MCP_FAILED) {
		server->failure = xstrdup(mcp_client_failure(server->client, &server->needs_login));
		end_server(server);
	} else if (state == MCP_READY) {
		server->catalog = mcp_catalog_ref(mcp_client_catalog(server->client));
		server->stage = STAGE_resources;
		advance(server);
	}
}

static void start_server(struct survey_server *server, struct mcp_pool *pool, const struct mcp_survey_options *options)
{
	struct error err;
	server->watcher.on_change = on_change;
	list_init(&server->watcher.link);
	for (int i = 0; i < STAGE_done; i++)
		buf_init(&server->found[i], LIMIT_MCP_LIST);
	server->client = mcp_pool_get(pool, options->config, server->config, options->cwd, &err);
	if (!server->client) {
		server->failure = xstrdup(err.text);
		end_server(server);
		return;
	}
	mcp_client_watch(server->client, &server->watcher);
	if (mcp_client_state(server->client) == MCP_READY)
		on_change(&server->watcher);
	else
		mcp_client_start(server->client);
}

struct mcp_survey *mcp_survey_create(struct mcp_pool *pool, struct loop *loop, const struct mcp_survey_options *options)
{
	struct mcp_survey *survey = xnew(struct mcp_survey);
	size_t total = 0;
	survey->config = config_ref(options->config);
	survey->options = *options;
	loop_deferred_init(&survey->done, loop, on_deferred, survey);
	struct config_binder binder = config_binder(options->config, &survey->arena);
	const struct mcp_server *configs = mcp_servers_bind(&binder, options->config->mcp_servers, &total);
	survey->servers = arena_array(&survey->arena, struct survey_server, total);
	for (size_t i = 0; i < total; i++) {
		bool is_meant = options->only.ptr ? str_eq(configs[i].name, options->only) : configs[i].keys.enabled;
		if (is_meant)
			survey->servers[survey->count++] =
				(struct survey_server){.survey = survey, .config = &configs[i]};
	}
	survey->pending = survey->count + 1; /* on_done follows the start of all */
	for (size_t i = 0; i < survey->count; i++)
		start_server(&survey->servers[i], pool, options);
	if (--survey->pending == 0)
		loop_defer(&survey->done);
	return survey;
}

/* The server's answer takes precedence over the settings. */
static enum oauth_status auth_of(const struct survey_server *server)
{
	if (server->needs_login)
		return OAUTH_STATUS_not_logged_in;
	enum oauth_status status = oauth_status_of(server->config, config_home(server->survey->config));
	return status == OAUTH_STATUS_unknown && server->catalog ? OAUTH_STATUS_unsupported : status;
}

bool mcp_survey_row(const struct mcp_survey *survey, size_t at, struct mcp_survey_row *ret)
{
	if (at >= survey->count)
		return false;
	const struct survey_server *server = &survey->servers[at];
	*ret = (struct mcp_survey_row){
		.server = server->config,
		.client = server->client,
		.catalog = server->catalog,
		.failure = server->failure,
		.auth = auth_of(server),
		.resources = buf_str(&server->found[STAGE_resources]),
		.templates = buf_str(&server->found[STAGE_templates]),
	};
	return true;
}

void mcp_survey_destroy(struct mcp_survey *survey)
{
	if (!survey)
		return;
	for (size_t i = 0; i < survey->count; i++) {
		struct survey_server *server = &survey->servers[i];
		mcp_request_cancel(server->request, "no longer needed");
		mcp_client_unwatch(&server->watcher);
		mcp_client_unref(server->client);
		mcp_catalog_unref(server->catalog);
		for (int n = 0; n < STAGE_done; n++)
			buf_finish(&server->found[n]);
		free(server->failure);
		free(server->cursor);
	}
	loop_deferred_finish(&survey->done);
	config_unref(survey->config);
	arena_finish(&survey->arena);
	free(survey);
}
