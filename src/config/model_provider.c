/* Resolution in three steps: entry, URL, key. The OpenAI key is sent only to the built-in openai provider, at the
 * address of openai_base_url or OPENAI_BASE_URL, and to providers with requires_openai_auth, never to any other
 * configured provider. All parts of URLs and headers are checked here, since they may come from the environment. */
#include "config/model_provider.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "config/auth.h"
#include "config/aws_key.h"
#include "config/config_env.h"
#include "config/config_required.h"
#include "config/model_provider_priv.h"

const struct provider_row provider_rows[PROVIDER_count] = {
#define PROVIDER(tag, id, name, base_url, is_local, oss_model, start, wire) \
	{id, name, base_url, is_local, oss_model, start, wire_api_##wire},
#include "config/provider.def"
#undef PROVIDER
};

static const struct provider_row *builtin_find(const char *id)
{
	for (size_t i = 0; i < PROVIDER_count; i++)
		if (strcmp(provider_rows[i].id, id) == 0)
			return &provider_rows[i];
	return NULL;
}

const char *model_provider_oss_model(const char *id)
{
	const struct provider_row *builtin = builtin_find(id);
	return builtin ? builtin->oss_model : NULL;
}

static bool fail_unknown(const struct provider_resolve *r, const char *id)
{
	auto_buf struct buf known;
	char place[CONFIG_PLACE_SIZE] = "";
	const struct toml *set = config_find(r->config, "model_provider");
	buf_init(&known, ERROR_TEXT_MAX / 2);
	for (size_t i = 0; i < PROVIDER_count; i++)
		buf_printf(&known, "%s`%s`", i ? ", " : "", provider_rows[i].id);
	toml_for_each(it, r->config->model_providers)
		buf_printf(&known, ", `%.*s`", STR_ARG(it->key));
	bool is_configured = toml_is(set, TOML_string) && str_is(set->text, id);
	if (is_configured)
		config_place(set, place);
	error_set(r->err, ERR_config, "Model provider `%s` not found%s%s; known are %.*s", id,
	          is_configured ? ", named by " : "", place, STR_ARG(buf_str(&known)));
	return false;
}

/* id may be NULL if r->node is already set, to a table without an id. */
static bool find_entry(struct provider_resolve *r, const char *id)
{
	struct model_provider *p = r->to;
	struct config_binder binder = config_binder(r->config, &p->arena);
	r->builtin = id ? builtin_find(id) : NULL;
	r->node = id ? toml_get(r->config->model_providers, id) : r->node;
	if (!r->builtin && !r->node)
		return fail_unknown(r, id);
	if (config_bind(&binder, &config_provider_keys, r->node, "model_providers", &r->entry, r->err) != 0)
		return false;
	p->id = arena_cstr(&p->arena, str_of(id ? id : r->entry.name ? r->entry.name : "client"));
	p->name = r->entry.name ? r->entry.name : r->builtin ? r->builtin->name : p->id;
	p->wire = r->builtin && !r->entry.is_set.wire_api ? r->builtin->wire : r->entry.wire_api;
	p->oss_model = r->builtin ? r->builtin->oss_model : NULL;
	p->start = r->builtin ? r->builtin->start : NULL;
	p->is_openai = r->builtin == &provider_rows[PROVIDER_openai];
	p->is_local = r->builtin && r->builtin->is_local;
	return true;
}

/* --- the key --- */

static bool fail_combined(struct provider_resolve *r, const char *table)
{
	const struct {
		bool is_set;
		const char *key;
	} keys[] = {
		{r->entry.env_key, "env_key"},
		{r->entry.experimental_bearer_token, "experimental_bearer_token"},
		{r->entry.requires_openai_auth, "requires_openai_auth"},
	};
	for (size_t i = 0; i < countof(keys); i++) {
		if (!keys[i].is_set)
			continue;
		error_set(r->err, ERR_config, "model_providers.%s: provider %s cannot be combined with %s", r->to->id,
		          table, keys[i].key);
		return true;
	}
	return false;
}

/* Sets auth_command if the provider has one. */
static bool find_command(struct provider_resolve *r)
{
	const struct config_provider_auth *auth = &r->entry.auth;
	struct model_provider *p = r->to;
	if (r->entry.is_set.aws && fail_combined(r, "aws"))
		return false;
	if (!r->entry.is_set.auth)
		return true;
	if (r->entry.is_set.aws) {
		error_set(r->err, ERR_config, "model_providers.%s: provider aws cannot be combined with auth", p->id);
		return false;
	}
	if (!auth->command || !str_trim(str_of(auth->command)).len) {
		error_set(r->err, ERR_config, "model_providers.%s: provider auth.command must not be empty", p->id);
		return false;
	}
	if (fail_combined(r, "auth"))
		return false;
	const char **argv = arena_array(&p->arena, const char *, auth->args.count + 2);
	argv[0] = arena_cstr(&p->arena, str_of(auth->command));
	for (size_t i = 0; i < auth->args.count; i++)
		argv[i + 1] = arena_cstr(&p->arena, auth->args.items[i]);
	argv[auth->args.count + 1] = NULL;
	struct auth_command *command = arena_array(&p->arena, struct auth_command, 1);
	*command = (struct auth_command){
		.argv = argv,
		.cwd = auth->cwd ? arena_cstr(&p->arena, str_of(auth->cwd)) : NULL,
		.timeout_ms = (uint64_t)auth->timeout_ms,
		.refresh_ms = (uint64_t)auth->refresh_interval_ms,
	};
	p->auth_command = command;
	p->key_source = "auth.command";
	return true;
}

static bool set_key(struct provider_resolve *r, struct str value, const char *source)
{
	struct str key;
	if (!auth_check_key(value, &key)) {
		error_set(r->err, ERR_config,
		          "the API key from %s is empty or contains whitespace or control characters", source);
		return false;
	}
	bool is_x_api_key = r->to->wire == wire_api_messages && r->entry.env_key;
	r->to->secret =
		xasprintf("%s%.*s", is_x_api_key ? "x-api-key: " : "Authorization: Bearer ", (int)key.len, key.ptr);
	r->to->authorization = r->to->secret;
	r->to->key_source = arena_cstr(&r->to->arena, str_of(source));
	return true;
}

static bool set_env_key(struct provider_resolve *r)
{
	const char *name = r->entry.env_key, *value = config_env(name);
	if (value)
		return set_key(r, str_of(value), name);
	const char *more = r->entry.env_key_instructions;
	error_set(r->err, ERR_config, "Missing environment variable: `%s`.%s%s", name, more ? " " : "",
	          more ? more : "");
	return false;
}

/* A key of the service, else an access key of AWS. */
static bool set_bedrock_key(struct provider_resolve *r)
{
	static const char name[] = "AWS_BEARER_TOKEN_BEDROCK";
	const char *value = config_env(name);
	if (value)
		return set_key(r, str_of(value), name);
	const char *region = provider_aws_region(r);
	struct aws_key *key = region ? aws_key_find(r->entry.aws.profile, r->err) : NULL;
	if (!key)
		return false;
	key->region = xstrdup(region);
	r->to->aws = key;
	r->to->key_source = "the AWS access key";
	return true;
}

static bool fail_keyless(struct provider_resolve *r)
{
	auto_free char *kind = r->auth.mode ? xasprintf(" (the login is of the kind \"%s\", which is not "
	                                                "supported)",
	                                                r->auth.mode)
	                                    : xstrdup("");
	error_set(r->err, ERR_config,
	          "no API key for %s%s: set OPENAI_API_KEY or CODEX_API_KEY, or store a key with `codex login "
	          "--with-api-key`, "
	          "or sign in with ChatGPT by `codex login`, "
	          "or choose another provider (--oss for a local one, or model_provider and [model_providers] in "
	          "%s/config.toml)",
	          r->to->name, kind, config_home(r->config));
	return false;
}

static bool names_header(const struct config_pairs *headers, struct str name)
{
	for (size_t i = 0; i < headers->count; i++)
		if (str_equal_fold(headers->items[i].key, name))
			return true;
	return false;
}

static bool names_authorization(const struct provider_resolve *r)
{
	return names_header(&r->entry.http_headers, STR("authorization")) ||
	       names_header(&r->entry.env_http_headers, STR("authorization"));
}

static struct config_strings copy_strings(struct arena *arena, const struct config_strings *from)
{
	struct str *items = arena_array(arena, struct str, from->count);
	for (size_t i = 0; i < from->count; i++)
		items[i] = arena_str(arena, from->items[i]);
	return (struct config_strings){items, from->count};
}

/* Reads the login if requests may use it. A key in CODEX_API_KEY takes precedence over an account, one in
 * OPENAI_API_KEY over a stored key only: many users export it for other programs. */
static bool find_account(struct provider_resolve *r)
{
	bool has_own_key =
		r->to->auth_command || r->entry.env_key || r->entry.experimental_bearer_token || names_authorization(r);
	if (has_own_key || config_needs_no_key(r->config) || !(r->to->is_openai || r->entry.requires_openai_auth) ||
	    config_env("CODEX_API_KEY"))
		return true;
	struct auth_place place = auth_place_of(r->config);
	struct error failure;
	if (auth_find(place, &r->auth, &failure) != 0) {
		if (config_env("OPENAI_API_KEY"))
			return true;
		error_set(r->err, failure.code, "%s", failure.text);
		return false;
	}
	r->to->uses_account = auth_is_account(&r->auth);
	r->to->auth_home = arena_cstr(&r->to->arena, str_of(place.home));
	r->to->auth_store = place.store;
	r->to->workspaces = copy_strings(&r->to->arena, &r->config->forced_chatgpt_workspace_id);
	return true;
}

static bool set_openai_key(struct provider_resolve *r)
{
	static const char *const variables[] = {"CODEX_API_KEY", "OPENAI_API_KEY"};
	if (r->to->uses_account) {
		r->to->key_source = "the ChatGPT login";
		return true;
	}
	for (size_t i = 0; i < countof(variables); i++) {
		const char *value = config_env(variables[i]);
		if (value)
			return set_key(r, str_of(value), variables[i]);
	}
	if (r->auth.kind == AUTH_api_key)
		return set_key(r, str_of(r->auth.api_key), "auth.json");
	return r->is_elsewhere || fail_keyless(r);
}

static bool find_key(struct provider_resolve *r)
{
	if (r->to->auth_command || config_needs_no_key(r->config))
		return true;
	if (r->entry.env_key)
		return set_env_key(r);
	if (r->entry.experimental_bearer_token)
		return set_key(r, str_of(r->entry.experimental_bearer_token), "experimental_bearer_token");
	if (names_authorization(r))
		return true;
	if (provider_is_bedrock(r))
		return set_bedrock_key(r);
	return !(r->to->is_openai || r->entry.requires_openai_auth) || set_openai_key(r);
}

/* --- headers --- */

static bool is_token(struct str name)
{
	static const char others[] = "!#$%&'*+-.^_`|~";
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (c && strchr(others, c))))
			return false;
	}
	return name.len > 0;
}

static bool is_header_value(struct str value)
{
	for (size_t i = 0; i < value.len; i++)
		if (((unsigned char)value.ptr[i] < ' ' && value.ptr[i] != '\t') || value.ptr[i] == 0x7f)
			return false;
	return true;
}

struct header_list {
	VEC(struct str) lines;
};

static bool add_header(struct provider_resolve *r, struct header_list *list, struct str name, struct str value)
{
	value = str_trim(value);
	bool has_own = r->to->authorization || r->to->uses_account || r->to->auth_command;
	if (has_own && str_equal_fold(name, STR("authorization")))
		return true; /* the key is sent in a header of its own */
	if (!is_token(name) || !is_header_value(value)) {
		error_set(r->err, ERR_config,
		          "header `%.*s` of model provider `%s` cannot be sent: its %s contains characters that are "
		          "not allowed in headers",
		          STR_ARG(name), r->to->id, is_token(name) ? "value" : "name");
		return false;
	}
	vec_push(&list->lines,
	         str_of(arena_printf(&r->to->arena, "%.*s: %.*s", (int)name.len, name.ptr, (int)value.len, value.ptr)));
	return true;
}

static bool add_env_header(struct provider_resolve *r, struct header_list *list, struct str name, const char *variable)
{
	const char *value = config_env(variable);
	return !value || add_header(r, list, name, str_of(value));
}

static bool add_headers(struct provider_resolve *r, struct header_list *list)
{
	const struct config_pairs *fixed = &r->entry.http_headers, *from_env = &r->entry.env_http_headers;
	bool is_fine = true;
	if (r->to->is_openai)
		is_fine = add_header(r, list, STR("version"), STR(CODEX_VERSION)) &&
		          add_env_header(r, list, STR("OpenAI-Organization"), "OPENAI_ORGANIZATION") &&
		          add_env_header(r, list, STR("OpenAI-Project"), "OPENAI_PROJECT");
	if (r->to->wire == wire_api_messages && !names_header(fixed, STR("anthropic-version")))
		is_fine = is_fine && add_header(r, list, STR("anthropic-version"), STR("2023-06-01"));
	const struct config_required *required = config_required(r->config);
	if (required && required->keys.enforce_residency != residency_unset)
		is_fine = is_fine &&
		          add_header(r, list, STR("x-openai-internal-codex-residency"),
		                     str_of(enum_wire(&enum_residency, (int)required->keys.enforce_residency)));
	for (size_t i = 0; i < fixed->count && is_fine; i++)
		is_fine = add_header(r, list, fixed->items[i].key, fixed->items[i].value);
	for (size_t i = 0; i < from_env->count && is_fine; i++)
		is_fine = add_env_header(r, list, from_env->items[i].key, from_env->items[i].value.ptr);
	return is_fine;
}

static bool find_headers(struct provider_resolve *r)
{
	struct model_provider *p = r->to;
	struct header_list list = {0};
	bool is_fine = add_headers(r, &list);
	struct str *lines = arena_array(&p->arena, struct str, list.lines.count);
	if (list.lines.count)
		memcpy(lines, list.lines.items, list.lines.count * sizeof(*lines));
	p->headers = lines;
	p->header_count = list.lines.count;
	vec_finish(&list.lines);
	return is_fine;
}

/* True for Azure, whose variant of the API requires stored responses. */
static bool is_azure(const char *url)
{
	static const char *const marks[] = {"openai.azure.", "cognitiveservices.azure.", "aoai.azure.", "azure-api.",
	                                    "azurefd.",      "windows.net/openai"};
	for (size_t i = 0; i < countof(marks); i++)
		if (strstr(url, marks[i]))
			return true;
	return false;
}

static unsigned capped(int64_t retries)
{
	return retries < LIMIT_RETRIES ? (unsigned)retries : LIMIT_RETRIES;
}

/* Returns the configured tier in the words of the API. */
static const char *service_tier_of(const struct config *config, struct arena *arena)
{
	const char *tier = config->service_tier;
	if (!tier || !*tier)
		return NULL;
	return strcmp(tier, "fast") == 0 ? "priority" : arena_cstr(arena, str_of(tier));
}

static bool find_client_certificate(struct provider_resolve *r)
{
	struct model_provider *p = r->to;
	if (r->entry.client_key && !r->entry.client_certificate) {
		error_set(r->err, ERR_config, "model_providers.%s: client_key requires client_certificate", p->id);
		return false;
	}
	if (r->entry.client_certificate)
		p->client_certificate = arena_cstr(&p->arena, str_of(r->entry.client_certificate));
	if (r->entry.client_key)
		p->client_key = arena_cstr(&p->arena, str_of(r->entry.client_key));
	return true;
}

/* Only the Responses API has WebSockets, and their handshake is not signed. */
static bool has_sockets(const struct provider_resolve *r)
{
	if (r->to->aws || r->to->wire != wire_api_responses)
		return false;
	return r->entry.is_set.supports_websockets ? r->entry.supports_websockets : r->to->is_openai;
}

static bool resolve(struct provider_resolve *r, const char *id)
{
	struct model_provider *p = r->to;
	if (!find_entry(r, id) || !find_command(r) || !find_account(r) || !model_provider_find_url(r) || !find_key(r) ||
	    !find_headers(r) || !find_client_certificate(r))
		return false;
	p->request_max_retries = capped(r->entry.request_max_retries);
	p->stream_max_retries = capped(r->entry.stream_max_retries);
	p->stream_idle_timeout_ms = (uint64_t)r->entry.stream_idle_timeout_ms;
	p->has_sockets = has_sockets(r);
	p->socket_timeout_ms = (uint64_t)r->entry.websocket_connect_timeout_ms;
	p->max_output_tokens = r->config->model_max_output_tokens;
	p->service_tier = service_tier_of(r->config, &p->arena);
	p->chains_responses = r->entry.is_set.stores_responses && r->entry.stores_responses;
	p->stores_responses = r->entry.is_set.stores_responses ? r->entry.stores_responses : is_azure(p->base_url);
	return true;
}

struct model_provider *model_provider_create(const struct config *config, const char *id, struct error *err)
{
	struct model_provider *provider = xnew(struct model_provider);
	struct provider_resolve r = {.config = config, .to = provider, .err = err};
	bool is_resolved = resolve(&r, id ? id : config->model_provider);
	auth_finish(&r.auth);
	if (is_resolved)
		return provider;
	model_provider_destroy(provider);
	return NULL;
}

struct model_provider *model_provider_create_from(const struct config *config, const struct toml *table,
                                                  struct error *err)
{
	struct model_provider *provider = xnew(struct model_provider);
	struct provider_resolve r = {.config = config, .node = table, .to = provider, .err = err};
	bool is_resolved = resolve(&r, NULL);
	auth_finish(&r.auth);
	if (is_resolved)
		return provider;
	model_provider_destroy(provider);
	return NULL;
}

void model_provider_destroy(struct model_provider *provider)
{
	if (!provider)
		return;
	if (provider->secret)
		explicit_bzero(provider->secret, strlen(provider->secret));
	free(provider->secret);
	aws_key_destroy(provider->aws);
	arena_finish(&provider->arena);
	free(provider);
}
