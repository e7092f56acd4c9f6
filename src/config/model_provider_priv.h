/* model_provider_priv.h — a provider while it is resolved from settings to struct model_provider. */
#ifndef CONFIG_MODEL_PROVIDER_PRIV_H
#define CONFIG_MODEL_PROVIDER_PRIV_H

#include "config/auth.h"
#include "config/config.h"
#include "config/model_provider.h"

enum {
#define PROVIDER(tag, id, name, base_url, is_local, oss_model, start, wire) PROVIDER_##tag,
#include "config/provider.def"
#undef PROVIDER
	PROVIDER_count
};

struct provider_row {
	const char *id, *name, *base_url;
	bool is_local;
	const char *oss_model;
	const char *start;
	enum wire_api wire;
};

extern const struct provider_row provider_rows[PROVIDER_count];

struct provider_resolve {
	const struct config *config;
	const struct provider_row *builtin; /* NULL for a provider that the user has defined */
	const struct toml *node;            /* [model_providers.ID], or NULL */
	struct config_provider entry;
	struct model_provider *to;
	struct auth auth;  /* the stored login, if requests may use it */
	bool is_elsewhere; /* the address differs from the built-in one */
	struct error *err;
};

static inline bool provider_is_bedrock(const struct provider_resolve *r)
{
	return r->builtin == &provider_rows[PROVIDER_amazon_bedrock];
}

/* Returns the region of AWS, from the arena, or NULL and the error (model_provider_url.c). */
const char *provider_aws_region(struct provider_resolve *r);
/* Sets base_url and url (model_provider_url.c). */
bool model_provider_find_url(struct provider_resolve *r);

#endif
