/* The well-known places are tried in the order of the specification; one that answers anything but a JSON object is
 * skipped. */
#include "oauth/oauth_metadata.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/http_url.h"
#include "oauth/oauth_challenge.h"

static const char *const get_headers[] = {"Accept: application/json", "MCP-Protocol-Version: 2025-06-18", NULL};

struct place {
	const char *origin;
	const char *path; /* without a slash at its end */
};

static bool place_of(struct arena *arena, const char *text, struct place *ret)
{
	struct http_url url;
	if (!http_url_parse(str_of(text), &url))
		return false;
	bool has_port = !str_is(url.port, url.is_https ? "443" : "80");
	ret->origin = arena_printf(arena, "%.*s://%.*s%s%.*s", STR_ARG(url.scheme), STR_ARG(url.host),
	                           has_port ? ":" : "", STR_ARG(has_port ? url.port : STR("")));
	while (url.path.len && url.path.ptr[url.path.len - 1] == '/')
		url.path.len--;
	ret->path = arena_cstr(arena, url.path);
	return true;
}

static const struct json *get(struct oauth_fetcher *fetcher, const char *url)
{
	struct oauth_reply answer;
	if (!oauth_url_is_safe(str_of(url)) || oauth_fetch(fetcher, url, get_headers, NULL, &answer, NULL) != 0)
		return NULL;
	return answer.status == 200 && json_is(answer.json, JSON_object) ? answer.json : NULL;
}

static const char *text_of(struct arena *arena, const struct json *json, const char *key)
{
	struct str text = json_get_str(json, key);
	return text.len && !str_has_nul(text) ? arena_cstr(arena, text) : NULL;
}

/* ---- the challenge ---- */

/* Some servers challenge POST only. */
static int find_challenge(struct oauth_fetcher *fetcher, const char *url, struct oauth_challenge *ret,
                          struct error *err)
{
	static const char *const headers[] = {"Accept: application/json, text/event-stream",
	                                      "Content-Type: application/json", NULL};
	static const char body[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
	struct oauth_reply answer;
	*ret = (struct oauth_challenge){STR_NONE, STR_NONE, STR_NONE};
	for (int i = 0; i < 2; i++) {
		if (oauth_fetch(fetcher, url, headers, i ? body : NULL, &answer, err) != 0)
			return -(int)err->code;
		if (answer.status == 401 && oauth_challenge_read(answer.www_authenticate, fetcher->arena, ret))
			return 0;
	}
	return 0;
}

/* ---- the resource ---- */

/* True if the metadata is about this server: its resource is the URL or a part of it. */
static bool is_about(const struct place *server, const char *resource, struct arena *arena)
{
	struct place place;
	if (!resource || !place_of(arena, resource, &place) || strcmp(place.origin, server->origin) != 0)
		return false;
	size_t len = strlen(place.path);
	return strncmp(place.path, server->path, len) == 0 && (!server->path[len] || server->path[len] == '/');
}

static int find_resource(struct oauth_fetcher *fetcher, const struct place *server, const char *named,
                         const struct json **ret, struct error *err)
{
	static const char name[] = "/.well-known/oauth-protected-resource";
	const char *places[] = {
		named,
		arena_printf(fetcher->arena, "%s%s%s", server->origin, name, server->path),
		arena_printf(fetcher->arena, "%s%s%s", server->origin, server->path, name),
		arena_printf(fetcher->arena, "%s%s", server->origin, name),
	};
	*ret = NULL;
	for (size_t i = 0; i < countof(places) && !*ret; i++)
		*ret = places[i] ? get(fetcher, places[i]) : NULL;
	const char *resource = *ret ? text_of(fetcher->arena, *ret, "resource") : NULL;
	if (*ret && resource && !is_about(server, resource, fetcher->arena))
		return error_set(err, ERR_denied,
		                 "the server's metadata is about another resource (%s); the login "
		                 "could give its token away",
		                 resource);
	return 0;
}

static const char *choose_issuer(struct arena *arena, const struct json *resource, const char *wanted)
{
	const struct json *list = json_get(resource, "authorization_servers");
	json_for_each(it, json_is(list, JSON_array) ? list : NULL) {
		if (it->type == JSON_string && it->text.len && (!wanted || str_is(it->text, wanted)))
			return arena_cstr(arena, it->text);
	}
	return NULL;
}

/* ---- the authorization server ---- */

static const struct json *find_server(struct oauth_fetcher *fetcher, const struct place *issuer)
{
	static const char *const names[] = {"/.well-known/oauth-authorization-server",
	                                    "/.well-known/openid-configuration"};
	const struct json *found = NULL;
	for (size_t i = 0; i < countof(names) && !found; i++)
		found = get(fetcher, arena_printf(fetcher->arena, "%s%s%s", issuer->origin, names[i], issuer->path));
	if (!found && issuer->path[0])
		found = get(fetcher, arena_printf(fetcher->arena, "%s%s%s", issuer->origin, issuer->path, names[1]));
	return found;
}

static bool is_equal_issuer(struct str a, struct str b)
{
	while (a.len && a.ptr[a.len - 1] == '/')
		a.len--;
	while (b.len && b.ptr[b.len - 1] == '/')
		b.len--;
	return str_eq(a, b);
}

static bool lists(const struct json *list, const char *word)
{
	json_for_each(it, json_is(list, JSON_array) ? list : NULL) {
		if (it->type == JSON_string && str_is(it->text, word))
			return true;
	}
	return false;
}

static int read_server(struct oauth_fetcher *fetcher, const struct json *json, const char *issuer,
                       struct oauth_metadata *ret, struct error *err)
{
	const struct json *methods = json_get(json, "code_challenge_methods_supported");
	const struct json *auth = json_get(json, "token_endpoint_auth_methods_supported");
	struct str named = json_get_str(json, "issuer");
	if (issuer && named.ptr && !is_equal_issuer(named, str_of(issuer)))
		return error_set(err, ERR_denied,
		                 "the metadata of the authorization server %s names another issuer (%.*s)", issuer,
		                 STR_ARG(named));
	if (methods && !lists(methods, "S256"))
		return error_set(err, ERR_denied, "the authorization server does not support PKCE with S256");
	ret->issuer = issuer ? issuer : named.len ? arena_cstr(fetcher->arena, named) : NULL;
	ret->authorization_endpoint = text_of(fetcher->arena, json, "authorization_endpoint");
	ret->token_endpoint = text_of(fetcher->arena, json, "token_endpoint");
	ret->registration_endpoint = text_of(fetcher->arena, json, "registration_endpoint");
	ret->wants_secret_in_body = lists(auth, "client_secret_post") && !lists(auth, "client_secret_basic");
	ret->sends_issuer = json_get_bool(json, "authorization_response_iss_parameter_supported", false);
	return 0;
}

/* Servers of revision 2025-03-26 may have no metadata at all. */
static void use_defaults(struct arena *arena, const struct place *server, struct oauth_metadata *ret)
{
	ret->is_guessed = true;
	ret->issuer = server->origin;
	ret->authorization_endpoint = arena_printf(arena, "%s/authorize", server->origin);
	ret->token_endpoint = arena_printf(arena, "%s/token", server->origin);
	ret->registration_endpoint = arena_printf(arena, "%s/register", server->origin);
}

static int check_endpoints(const struct oauth_metadata *metadata, struct error *err)
{
	const char *urls[] = {metadata->authorization_endpoint, metadata->token_endpoint,
	                      metadata->registration_endpoint};
	for (size_t i = 0; i < countof(urls); i++) {
		bool is_needed = i < 2;
		if (!urls[i] && is_needed)
			return error_set(err, ERR_invalid, "the metadata of the authorization server lacks %s",
			                 i ? "token_endpoint" : "authorization_endpoint");
		if (urls[i] && !oauth_url_is_safe(str_of(urls[i])))
			return error_set(err, ERR_denied, "%s is not https, so no login is made there", urls[i]);
	}
	return 0;
}

static struct str join_scopes(struct arena *arena, const struct json *list)
{
	auto_buf struct buf out;
	buf_init(&out, 16 * KIB);
	json_for_each(it, json_is(list, JSON_array) ? list : NULL) {
		if (it->type == JSON_string)
			buf_printf(&out, "%s%.*s", out.len ? " " : "", (int)it->text.len, it->text.ptr);
	}
	return out.len && !out.over ? arena_str(arena, buf_str(&out)) : STR_NONE;
}

int oauth_metadata_find(struct oauth_fetcher *fetcher, const char *url, const char *wanted, struct oauth_metadata *ret,
                        struct error *err)
{
	struct place server, issuer_place;
	struct oauth_challenge challenge;
	const struct json *resource;
	struct arena *arena = fetcher->arena;
	*ret = (struct oauth_metadata){.scope = STR_NONE};
	if (!oauth_url_is_safe(str_of(url)) || !place_of(arena, url, &server))
		return error_set(err, ERR_denied, "%s is not https, so no login is made there", url);
	if (find_challenge(fetcher, url, &challenge, err) != 0)
		return -(int)err->code;
	const char *named = challenge.resource_metadata.ptr ? arena_cstr(arena, challenge.resource_metadata) : NULL;
	if (find_resource(fetcher, &server, named, &resource, err) != 0)
		return -(int)err->code;
	const char *issuer = choose_issuer(arena, resource, wanted);
	if (wanted && !issuer)
		return error_set(err, ERR_not_found, "the server does not name the authorization server %s", wanted);
	if (!place_of(arena, issuer ? issuer : server.origin, &issuer_place))
		return error_set(err, ERR_invalid, "the server names an authorization server that is no URL");
	const struct json *json = find_server(fetcher, &issuer_place);
	if (!json && issuer)
		return error_set(err, ERR_not_found, "the authorization server %s has no metadata", issuer);
	if (!json)
		use_defaults(arena, &server, ret);
	else if (read_server(fetcher, json, issuer, ret, err) != 0)
		return -(int)err->code;
	ret->resource = text_of(arena, resource, "resource");
	ret->scope = challenge.scope.len ? challenge.scope : join_scopes(arena, json_get(resource, "scopes_supported"));
	return check_endpoints(ret, err);
}
