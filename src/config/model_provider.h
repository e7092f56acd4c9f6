/* model_provider.h — the provider that answers requests to the model: URL, headers, key and timeouts.
 *
 * Resolved once from the built-in rows (provider.def), [model_providers] and the environment; then immutable. Owns all
 * it points to. Thread: any. `url`, `headers` and `authorization` may contain secrets: they are sent to the
 * provider and nowhere else. Errors (ERR_config) name the setting to change and contain no secret. */
#ifndef CONFIG_MODEL_PROVIDER_H
#define CONFIG_MODEL_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "config/config_record.h"
#include "protocol/record/enum.h"

struct aws_key;
struct config;
struct toml;

/* A program that prints the token of the requests (account/token_command.h). */
struct auth_command {
	const char *const *argv; /* ends with NULL */
	const char *cwd;         /* NULL: that of this program */
	uint64_t timeout_ms;
	uint64_t refresh_ms; /* the age at which a token is replaced; 0: never */
};

struct model_provider {
	/* read-only */
	const char *id;       /* its key in [model_providers] */
	const char *name;     /* shown in messages */
	const char *base_url; /* without a trailing slash */
	const char *url;      /* of a request to the model, with all query parameters */
	enum wire_api wire;
	const struct str *headers; /* "Name: value", without Authorization; NUL-terminated */
	size_t header_count;
	const char *authorization;        /* "Authorization: Bearer …", or NULL */
	bool uses_account;                /* the stored ChatGPT login authorises each request (account/account.h) */
	const char *auth_home;            /* where it is stored */
	struct config_strings workspaces; /* the accounts that the configuration permits; none: any */
	enum credentials_store auth_store;
	const struct auth_command *auth_command; /* authorises each request; NULL: none */
	struct aws_key *aws;                     /* signs each request; NULL: none */
	const char *client_certificate;          /* a PEM file for TLS, or NULL */
	const char *client_key;                  /* the file with its key; NULL: the same */
	const char *key_source;    /* where the key comes from ("OPENAI_API_KEY", "auth.json", …), or NULL */
	int64_t max_output_tokens; /* of one response; 0: not configured */
	const char *service_tier;  /* as it is sent, or NULL */
	const char *oss_model;     /* the default model of --oss, or NULL */
	const char *start;         /* explains how to start a local server; NULL for other providers */
	unsigned request_max_retries;
	unsigned stream_max_retries;
	uint64_t stream_idle_timeout_ms;
	bool has_sockets; /* requests are sent over a WebSocket, with HTTP as the fallback */
	uint64_t socket_timeout_ms;
	bool is_openai;        /* the built-in provider openai, at any address */
	bool is_local;         /* ollama or lmstudio */
	bool stores_responses; /* requests say "store": true */
	bool chains_responses; /* the user has configured that requests may refer to the previous response */
	/* private */
	char *secret; /* authorization, as it is owned: overwritten at the end */
	struct arena arena;
};

/* Resolves a provider; an id of NULL is the configured one. NULL and err for an unknown id, a missing key or
 * variable, or a value that cannot be sent. */
must_check struct model_provider *model_provider_create(const struct config *config, const char *id, struct error *err);
/* Resolves a provider described by a client: a table like those of [model_providers], borrowed during the call. Its
 * id is the table's name field, else "client". */
must_check struct model_provider *model_provider_create_from(const struct config *config, const struct toml *table,
                                                             struct error *err);
void model_provider_destroy(struct model_provider *provider); /* wipes the key; NULL is fine */

/* Returns the default model of --oss with this provider, or NULL. */
const char *model_provider_oss_model(const char *id);

#endif
