/* Made once per process and lent to every Codex: one set of connections, so that a thousand sessions
 * do not hold a thousand of them. */
#include "engine/codex/services.h"

#include <stdlib.h>

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

static void drop_skill_roots(struct services *services)
{
	vec_for_each(root, &services->skill_roots.paths)
		free((char *)(uintptr_t)root->ptr);
	services->skill_roots.paths.count = 0;
}

void services_set_skill_roots(struct services *services, const struct str *roots, size_t count)
{
	drop_skill_roots(services);
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
	http_client_destroy(services->http);
	drop_skill_roots(services);
	vec_finish(&services->skill_roots.paths);
	free(services->originator);
	free(services);
}

void services_preload(struct services *services)
{
	http_client_preload(services->http);
}
