/* Made once per process and lent to every Codex: one set of connections, so that a thousand sessions
 * do not hold a thousand of them. */
#include "engine/codex/services.h"

#include "base/mem.h"
#include "config/config_env.h"
#include "engine/codex/codex.h"
#include "net/http_client.h"

struct services *services_create(struct loop *loop, const char *originator)
{
	struct services *services = xnew(struct services);
	struct http_client_options options = {.ca_file = config_env_ca_file()};
	services->loop = loop;
	services->originator = xstrdup(originator);
	services->http = http_client_create(loop, &options);
	return services;
}

void services_destroy(struct services *services)
{
	if (!services)
		return;
	http_client_destroy(services->http);
	free(services->originator);
	free(services);
}

void services_preload(struct services *services)
{
	http_client_preload(services->http);
}
