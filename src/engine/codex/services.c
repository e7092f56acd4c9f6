/* The services of a process, which all its Codexes share: connections, logins, MCP servers, folders with skills. A
 * connection is opened, and an MCP server started, when the first Codex needs it. The HTTP client lives until the loop
 * ends, because MCP sessions over HTTP and the refresh of a login still use it then. */
#include "account/account.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "engine/codex/codex.h"
#include "engine/codex/codex_data.h"
#include "engine/session/session.h"
#include "engine/session/session_model.h"
#include "mcp/mcp_pool.h"
#include "model/model_client.h"
#include "net/http_client.h"
#include "remote/environments.h"

struct services *services_create(struct loop *loop, const char *originator)
{
	struct services *services = xnew(struct services);
	struct http_client_options options = {.ca_file = config_env_ca_file()};
	services->loop = loop;
	services->originator = xstrdup(originator);
	services->http = http_client_create(loop, &options);
	services->accounts = accounts_create(loop, services->http);
	services->mcp = mcp_pool_create(loop, services->http, services->accounts);
	services->environments = environments_create(loop, services->http);
	return services;
}

static void clear_skill_roots(struct services *services)
{
	vec_for_each(root, &services->skill_roots.paths)
		str_free(root);
	services->skill_roots.paths.count = 0;
}

void services_set_skill_roots(struct services *services, const struct str *roots, size_t count)
{
	clear_skill_roots(services);
	for (size_t i = 0; i < count; i++)
		vec_push(&services->skill_roots.paths, str_copy(roots[i]));
	services->skill_roots.generation++;
}

const struct str *services_skill_roots(const struct services *services, size_t *ret_count)
{
	*ret_count = services->skill_roots.paths.count;
	return services->skill_roots.paths.items;
}

void services_destroy(struct services *services)
{
	if (!services)
		return;
	environments_destroy(services->environments);
	mcp_pool_destroy(services->mcp);
	accounts_destroy(services->accounts);
	http_client_leave(services->http);
	clear_skill_roots(services);
	vec_finish(&services->skill_roots.paths);
	free(services->originator);
	free(services);
}

struct http_client *services_http(struct services *services)
{
	return services->http;
}

struct accounts *services_accounts(struct services *services)
{
	return services->accounts;
}

const char *services_originator(const struct services *services)
{
	return services->originator;
}

void services_preload(struct services *services)
{
	http_client_preload(services->http);
}

void codex_expect_request(struct codex *codex)
{
	services_preload(codex->services);
	if (!codex->session)
		return;
	model_client_preconnect(codex->session->model, true);
	if (codex->session->env->is_unhurried && !codex->session->task)
		session_warm_up(codex->session);
}

struct environments *services_environments(const struct services *services)
{
	return services->environments;
}

struct mcp_pool *services_mcp(const struct services *services)
{
	return services->mcp;
}
