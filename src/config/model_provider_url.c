/* The address of a provider is the first of these that is set: base_url of its table; for built-in providers the
 * setting or variable that overrides it; the built-in address. Errors name the source of an address, not the
 * address, which may contain a password. */
#include "config/model_provider_priv.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/aws_key.h"
#include "config/config_env.h"

struct address {
	const char *url;
	const char *said_by; /* the source of the URL, for messages: the URL itself may contain a password */
};

static struct address local_address(struct provider_resolve *r)
{
	const char *url = config_env("CODEX_OSS_BASE_URL"), *port = config_env("CODEX_OSS_PORT");
	if (url)
		return (struct address){url, "CODEX_OSS_BASE_URL"};
	if (port)
		return (struct address){arena_printf(&r->to->arena, "http://localhost:%s/v1", port), "CODEX_OSS_PORT"};
	return (struct address){r->builtin->base_url, r->builtin->id};
}

static bool is_region(const char *name)
{
	return name && *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")];
}

const char *provider_aws_region(struct provider_resolve *r)
{
	const char *region = r->entry.aws.region;
	auto_free char *of_profile = NULL;
	if (!region)
		region = config_env("AWS_REGION");
	if (!region)
		region = config_env("AWS_DEFAULT_REGION");
	if (!region)
		region = of_profile = aws_profile_region(r->entry.aws.profile);
	if (is_region(region))
		return arena_cstr(&r->to->arena, str_of(region));
	error_set(r->err, ERR_config,
	          "model provider `%s` needs the region of its service, such as us-east-1: set `region` in "
	          "[model_providers.%s.aws], or AWS_REGION",
	          r->to->id, r->to->id);
	return NULL;
}

static struct address bedrock_address(struct provider_resolve *r)
{
	const char *region = provider_aws_region(r);
	if (!region)
		return (struct address){NULL, NULL};
	return (struct address){arena_printf(&r->to->arena, "https://bedrock-mantle.%s.api.aws/v1", region),
	                        "aws.region"};
}

static struct address account_address(struct provider_resolve *r)
{
	struct str base = str_of(r->config->chatgpt_base_url);
	while (str_has_suffix(base, "/"))
		base.len--;
	return (struct address){arena_printf(&r->to->arena, "%.*s/codex", STR_ARG(base)), "chatgpt_base_url"};
}

static struct address openai_address(struct provider_resolve *r)
{
	const char *url = config_env("OPENAI_BASE_URL");
	if (r->config->openai_base_url)
		return (struct address){r->config->openai_base_url, "openai_base_url"};
	if (r->to->uses_account) /* OPENAI_BASE_URL is meant for keys: tokens are not sent there */
		return account_address(r);
	if (url)
		return (struct address){url, "OPENAI_BASE_URL"};
	return (struct address){provider_rows[PROVIDER_openai].base_url, "openai"};
}

static struct address find_address(struct provider_resolve *r)
{
	char place[CONFIG_PLACE_SIZE];
	if (r->entry.base_url)
		return (struct address){r->entry.base_url,
		                        arena_printf(&r->to->arena, "base_url (%s)",
		                                     config_place(toml_get(r->node, "base_url"), place))};
	if (r->to->is_local)
		return local_address(r);
	if (provider_is_bedrock(r))
		return bedrock_address(r);
	if (r->to->is_openai || r->entry.requires_openai_auth)
		return openai_address(r);
	return (struct address){NULL, NULL};
}

static bool is_web_address(struct str url)
{
	struct str rest = url;
	if (!str_cut_prefix(&rest, "https://") && !str_cut_prefix(&rest, "http://"))
		return false;
	for (size_t i = 0; i < url.len; i++)
		if ((unsigned char)url.ptr[i] <= ' ' || url.ptr[i] == 0x7f)
			return false;
	return rest.len > 0 && rest.ptr[0] != '/' && rest.ptr[0] != ':';
}

static void append_encoded(struct buf *out, struct str text)
{
	static const char unreserved[] = "-._~";
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		                strchr(unreserved, c);
		if (is_plain)
			buf_append_char(out, (char)c);
		else
			buf_printf(out, "%%%02X", c);
	}
}

/* Appends BASE/responses?QUERY, or the path of another wire; BASE may have a query of its own. */
static void append_url(struct buf *out, struct str base, enum wire_api wire, struct str query,
                       const struct config_pairs *params)
{
	static const char *const paths[] = {
		[wire_api_responses] = "/responses",
		[wire_api_chat] = "/chat/completions",
		[wire_api_messages] = "/messages",
	};
	char separator = query.len ? '&' : '?';
	buf_append_str(out, base);
	buf_append_c(out, paths[wire]);
	buf_append_str(out, query);
	for (size_t i = 0; i < params->count; i++, separator = '&') {
		buf_append_char(out, separator);
		append_encoded(out, params->items[i].key);
		buf_append_char(out, '=');
		append_encoded(out, params->items[i].value);
	}
}

bool model_provider_find_url(struct provider_resolve *r)
{
	struct model_provider *p = r->to;
	char place[CONFIG_PLACE_SIZE];
	struct address address = find_address(r);
	if (!address.url && provider_is_bedrock(r))
		return false;
	if (!address.url) {
		error_set(r->err, ERR_config,
		          "model provider `%s` (%s) has no base_url; add one, such as \"https://api.example.com/v1\"",
		          p->id, config_place(r->node, place));
		return false;
	}
	struct str base = str_trim(str_of(address.url)), query = STR("");
	if (!is_web_address(base)) {
		error_set(r->err, ERR_config,
		          "the address of model provider `%s`, set by %s, must start with http:// or https:// and "
		          "contain no whitespace",
		          p->id, address.said_by);
		return false;
	}
	ptrdiff_t mark = str_find_char(base, '?');
	if (mark >= 0) {
		query = str_skip(base, (size_t)mark);
		base.len = (size_t)mark;
	}
	while (str_has_suffix(base, "/"))
		base.len--;
	auto_buf struct buf url;
	buf_init(&url, LIMIT_HTTP_HEAD);
	append_url(&url, base, p->wire, query, &r->entry.query_params);
	p->base_url = arena_cstr(&p->arena, base);
	p->url = arena_cstr(&p->arena, buf_str(&url));
	r->is_elsewhere = r->builtin && r->builtin->base_url && !str_is(base, r->builtin->base_url);
	if (url.over)
		error_set(r->err, ERR_limit, "the URL of model provider `%s` is longer than %d bytes", p->id,
		          LIMIT_HTTP_HEAD);
	return !url.over;
}
