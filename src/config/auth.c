/* The format is shared with other Codex programs, which may add members; they are kept while the account stays the
 * same. */
#include "config/auth.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/auth_store.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/config_required.h"

struct auth_place auth_place_of(const struct config *config)
{
	return (struct auth_place){config_home(config), config->cli_auth_credentials_store};
}

bool auth_check_key(struct str key, struct str *ret_key)
{
	key = str_trim(key);
	for (size_t i = 0; i < key.len; i++)
		if ((unsigned char)key.ptr[i] <= ' ' || (unsigned char)key.ptr[i] >= 0x7f)
			return false;
	*ret_key = key;
	return key.len > 0;
}

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void auth_finish(struct auth *auth)
{
	wipe(auth->api_key);
	wipe(auth->id_token);
	wipe(auth->access_token);
	wipe(auth->refresh_token);
	free(auth->account_id);
	free(auth->plan);
	free(auth->email);
	free(auth->mode);
	*auth = (struct auth){0};
}

/* ---- tokens ---- */

static const struct json *read_payload(struct arena *arena, struct str token)
{
	struct str header, payload;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_AUTH_FILE);
	if (!str_next_part(&token, '.', &header) || !str_next_part(&token, '.', &payload) || !token.ptr)
		return NULL;
	if (!text_base64url_decode(&text, payload) || text.over)
		return NULL;
	const struct json *json = json_parse_copy(arena, buf_str(&text), NULL);
	return json_is(json, JSON_object) ? json : NULL;
}

bool auth_read_claims(struct arena *arena, struct str token, struct id_claims *ret)
{
	const struct json *root = read_payload(arena, token);
	const struct json *auth = json_get(root, "https://api.openai.com/auth");
	/* older tokens have the address in a profile, and the user under another name */
	const struct json *profile = json_get(root, "https://api.openai.com/profile");
	*ret = (struct id_claims){
		.email = json_get_str(root, "email"),
		.plan = json_get_str(auth, "chatgpt_plan_type"),
		.account_id = json_get_str(auth, "chatgpt_account_id"),
		.user_id = json_get_str(auth, "chatgpt_user_id"),
		.organization_id = json_get_str(auth, "organization_id"),
		.project_id = json_get_str(auth, "project_id"),
		.has_onboarded = json_get_bool(auth, "completed_platform_onboarding", false),
		.is_owner = json_get_bool(auth, "is_org_owner", false),
	};
	if (!ret->email.ptr)
		ret->email = json_get_str(profile, "email");
	if (!ret->user_id.ptr)
		ret->user_id = json_get_str(auth, "user_id");
	return root;
}

int64_t auth_token_expiry(struct str token)
{
	auto_arena struct arena arena = {0};
	return json_get_i64(read_payload(&arena, token), "exp", -1);
}

/* ---- reading ---- */

static char *copy_sendable(struct str text)
{
	struct str value;
	return auth_check_key(text, &value) ? str_dup(value) : NULL;
}

static int read_key(struct str key, struct auth *ret, const char *path, struct error *err)
{
	if (key.len && !auth_check_key(key, &key))
		return error_set(err, ERR_config,
		                 "the API key in %s cannot be sent; store it again with `codex login --with-api-key`",
		                 path);
	if (key.len)
		*ret = (struct auth){.kind = AUTH_api_key, .api_key = str_dup(key)};
	return 0;
}

static void read_tokens(const struct json *root, struct auth *ret)
{
	auto_arena struct arena arena = {0};
	const struct json *tokens = json_get(root, "tokens");
	struct id_claims claims;
	struct str account = json_get_str(tokens, "account_id");
	ret->id_token = copy_sendable(json_get_str(tokens, "id_token"));
	ret->access_token = copy_sendable(json_get_str(tokens, "access_token"));
	ret->refresh_token = copy_sendable(json_get_str(tokens, "refresh_token"));
	ret->api_key = copy_sendable(json_get_str(root, "OPENAI_API_KEY"));
	if (!account.len && auth_read_claims(&arena, str_of(ret->id_token ? ret->id_token : ""), &claims))
		account = claims.account_id;
	ret->account_id = copy_sendable(account);
	if (json_get_str(root, "plan").ptr)
		ret->plan = str_dup(json_get_str(root, "plan"));
	if (!clock_parse_rfc3339(json_get_str(root, "last_refresh"), &ret->refreshed_ms))
		ret->refreshed_ms = 0;
}

bool auth_is_personal(struct str token)
{
	return str_has_prefix(token, "at-");
}

static char *copy_text(struct str text)
{
	return text.ptr ? str_dup(text) : NULL;
}

/* A personal access token stands in a member of its own, which other Codex programs write without the others. */
static bool read_personal(const struct json *root, struct auth *ret)
{
	char *token = copy_sendable(json_get_str(root, "personal_access_token"));
	if (!token)
		return false;
	*ret = (struct auth){
		.kind = AUTH_personal,
		.access_token = token,
		.account_id = copy_sendable(json_get_str(root, "account_id")),
		.plan = copy_text(json_get_str(root, "plan")),
		.email = copy_text(json_get_str(root, "email")),
	};
	return true;
}

static bool has_tokens(const struct json *root)
{
	return json_is(json_get(root, "tokens"), JSON_object);
}

static int read_members(const char *path, const struct json *root, struct auth *ret, struct error *err)
{
	struct str key = json_get_str(root, "OPENAI_API_KEY"), mode = json_get_str(root, "auth_mode");
	if (!json_is(root, JSON_object))
		return error_set(err, ERR_config, "%s is not a JSON object; `codex login` writes a new one", path);
	if ((!mode.len || str_is(mode, "personalAccessToken")) && read_personal(root, ret))
		return 0;
	if (str_is(mode, "apikey") || (!mode.len && key.len))
		return read_key(key, ret, path, err);
	if (mode.len && !str_is(mode, "chatgpt") && !str_is(mode, "chatgptAuthTokens")) {
		*ret = (struct auth){.kind = AUTH_unknown, .mode = str_dup(mode)};
		return 0;
	}
	if (!has_tokens(root))
		return 0;
	ret->kind = str_is(mode, "chatgptAuthTokens") ? AUTH_client : AUTH_chatgpt;
	read_tokens(root, ret);
	return 0;
}

static int parse(const char *path, struct str text, struct auth *ret_auth, struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct json *root = json_parse(&arena, text, NULL);
	if (root)
		return read_members(path, root, ret_auth, err);
	return error_set(err, ERR_config, "%s is not JSON; `codex login` writes a new one", path);
}

int auth_read(struct auth_place place, struct auth *ret_auth, struct error *err)
{
	auto_free char *path = path_join(place.home, "auth.json");
	struct error failure = {0};
	struct buf text;
	*ret_auth = (struct auth){0};
	buf_init(&text, LIMIT_AUTH_FILE);
	int status = auth_store_read(place, &text, &failure);
	if (status == 0)
		status = parse(path, buf_str(&text), ret_auth, err);
	else if (failure.code == ERR_not_found)
		status = 0;
	else
		error_set(err, failure.code, "%s", failure.text);
	auth_store_wipe(&text);
	return status;
}

static bool find_in_env(struct auth *ret)
{
	const char *value = config_env("CODEX_ACCESS_TOKEN");
	struct str token;
	if (!value || !auth_check_key(str_of(value), &token))
		return false;
	*ret = (struct auth){.kind = AUTH_unknown};
	if (auth_is_personal(token))
		*ret = (struct auth){.kind = AUTH_personal, .access_token = str_dup(token)};
	else
		ret->mode = xstrdup("agentIdentity");
	return true;
}

int auth_find(struct auth_place place, struct auth *ret_auth, struct error *err)
{
	return find_in_env(ret_auth) ? 0 : auth_read(place, ret_auth, err);
}

/* ---- writing ---- */

static const char *const modes[] = {
	[AUTH_api_key] = "apikey",
	[AUTH_chatgpt] = "chatgpt",
	[AUTH_client] = "chatgptAuthTokens",
};

/* Copies the members of the old object that are not among the names. */
static void write_others(struct json_writer *w, const struct json *old, const char *const *names, size_t count)
{
	json_for_each(it, old) {
		bool is_known = false;
		for (size_t i = 0; i < count; i++)
			is_known |= str_is(it->key, names[i]);
		if (is_known)
			continue;
		jw_key_str(w, it->key);
		jw_value(w, it);
	}
}

static void write_tokens(struct json_writer *w, const struct auth *auth, const struct json *old)
{
	static const char *const names[] = {"id_token", "access_token", "refresh_token", "account_id"};
	jw_key(w, "tokens");
	jw_object(w);
	jw_member_cstr(w, "id_token", auth->id_token ? auth->id_token : "");
	jw_member_cstr(w, "access_token", auth->access_token ? auth->access_token : "");
	jw_member_cstr(w, "refresh_token", auth->refresh_token ? auth->refresh_token : "");
	jw_member_cstr(w, "account_id", auth->account_id);
	write_others(w, json_get(old, "tokens"), names, countof(names));
	jw_object_end(w);
}

static void write_members(struct json_writer *w, const struct auth *auth, const struct json *old)
{
	static const char *const names[] = {"auth_mode", "OPENAI_API_KEY", "tokens", "last_refresh", "plan"};
	char time[CLOCK_RFC3339_SIZE];
	jw_object(w);
	if (auth->kind != AUTH_personal)
		jw_member_cstr(w, "auth_mode", modes[auth->kind]);
	jw_member_cstr(w, "OPENAI_API_KEY", auth->api_key);
	if (auth->kind == AUTH_personal) {
		jw_member_cstr(w, "personal_access_token", auth->access_token);
		jw_member_cstr(w, "account_id", auth->account_id);
		jw_member_cstr(w, "email", auth->email);
	} else if (auth->kind != AUTH_api_key) {
		clock_rfc3339(auth->refreshed_ms, time);
		write_tokens(w, auth, old);
		jw_member_cstr(w, "last_refresh", time);
	}
	if (auth->plan)
		jw_member_cstr(w, "plan", auth->plan);
	write_others(w, old, names, countof(names));
	jw_object_end(w);
}

/* Returns the stored object if it is of the same account; otherwise its members are of no use. */
static const struct json *find_old(struct auth_place place, const struct auth *auth, struct arena *arena)
{
	auto_auth struct auth stored = {0};
	struct buf text;
	if (auth->kind != AUTH_chatgpt)
		return NULL;
	auth_store_refetch(place);
	buf_init(&text, LIMIT_AUTH_FILE);
	best_effort(auth_store_read(place, &text, NULL)); /* on failure what a keyring had before */
	const struct json *old = json_parse_copy(arena, buf_str(&text), NULL);
	bool is_same = old && parse("", buf_str(&text), &stored, NULL) == 0 && stored.kind == AUTH_chatgpt &&
	               str_eq(str_of(stored.account_id), str_of(auth->account_id));
	auth_store_wipe(&text);
	return is_same ? old : NULL;
}

/* Within a change. */
static int compose(struct auth_place place, const struct auth *auth, struct buf *out, struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct json *old = find_old(place, auth, &arena);
	struct buf line;
	buf_init(&line, LIMIT_AUTH_FILE);
	buf_init(out, 2 * LIMIT_AUTH_FILE);
	struct json_writer w = json_writer(&line);
	write_members(&w, auth, old);
	json_indent(out, buf_str(&line));
	buf_append_char(out, '\n');
	bool is_over = line.over || out->len > LIMIT_AUTH_FILE;
	auth_store_wipe(&line);
	return is_over ? error_set(err, ERR_limit, "the credentials are too long") : 0;
}

int auth_write(struct auth_place place, const struct auth *auth, struct error *err)
{
	struct auth_change change;
	struct buf text;
	bool is_memory = auth->kind == AUTH_client; /* which needs no lock */
	if (!is_memory && auth_store_begin(place, LIMIT_AUTH_LOCK_MS, &change, err) != 0)
		return -(int)err->code;
	int status = compose(place, auth, &text, err);
	if (status == 0)
		status = auth_store_write(place, buf_str(&text), is_memory, err);
	if (!is_memory)
		auth_store_end(&change);
	auth_store_wipe(&text);
	return status;
}

int auth_renew(struct auth_place place, const struct auth *auth, const char *spent, bool *ret_is_outdated,
               struct error *err)
{
	struct auth_change change;
	struct buf text;
	struct error ignored;
	*ret_is_outdated = false;
	bool is_begun = auth_store_begin(place, LIMIT_AUTH_RENEW_MS, &change, &ignored) == 0;
	int status = compose(place, auth, &text, err);
	if (status == 0)
		auth_store_keep(place, buf_str(&text), str_of(spent));
	if (status == 0 && is_begun)
		best_effort(auth_store_settle(place, ret_is_outdated, &ignored)); /* auth_store_fetch tries again */
	if (is_begun)
		auth_store_end(&change);
	auth_store_wipe(&text);
	return status;
}

int auth_write_api_key(struct auth_place place, struct str key, struct error *err)
{
	if (!auth_check_key(key, &key))
		return error_set(err, ERR_invalid,
		                 "invalid API key: it is empty or contains whitespace or control characters");
	auto_auth struct auth auth = {.kind = AUTH_api_key, .api_key = str_dup(key)};
	return auth_write(place, &auth, err);
}

/* Reads what it removes, so that the token of a refresh that ended just before is the one to revoke. */
static int remove_within(struct auth_place place, unsigned lock_ms, struct auth *ret_removed, bool *ret_was_there,
                         struct error *err)
{
	struct auth_change change;
	*ret_was_there = false;
	if (auth_store_begin(place, lock_ms, &change, err) != 0)
		return -(int)err->code;
	if (ret_removed) {
		auth_store_refetch(place);
		best_effort(auth_read(place, ret_removed, NULL));
	}
	int status = auth_store_remove(place, ret_was_there, err);
	auth_store_end(&change);
	return status;
}

int auth_remove(struct auth_place place, char **ret_token, bool *ret_was_there, struct error *err)
{
	auto_auth struct auth auth = {0};
	*ret_token = NULL;
	int status = remove_within(place, LIMIT_AUTH_LOCK_MS, &auth, ret_was_there, err);
	if (status == 0 && auth.kind == AUTH_chatgpt && auth.refresh_token && auth.refresh_token[0])
		*ret_token = steal(auth.refresh_token);
	return status;
}

/* ---- rules ---- */

static bool is_allowed_workspace(const struct config_strings *allowed, const char *account)
{
	for (size_t i = 0; i < allowed->count; i++)
		if (account && str_is(allowed->items[i], account))
			return true;
	return !allowed->count;
}

bool auth_allows_workspace(const struct config_strings *allowed, const char *account, struct error *err)
{
	auto_buf struct buf ids;
	buf_init(&ids, ERROR_TEXT_MAX / 2);
	if (is_allowed_workspace(allowed, account))
		return true;
	for (size_t i = 0; i < allowed->count; i++)
		buf_printf(&ids, "%s%.*s", i ? ", " : "", STR_ARG(allowed->items[i]));
	error_set(err, ERR_denied, "Login is restricted to workspace id(s) %.*s, but the current workspace is %s",
	          STR_ARG(buf_str(&ids)), account ? account : "unknown");
	return false;
}

/* Returns true if the rules forbid the credentials, and sets err. */
static bool is_forbidden(const struct config *config, const struct auth *auth, struct error *err)
{
	bool is_account = auth_is_account(auth);
	enum login_method method = is_account ? login_method_chatgpt : login_method_api;
	struct error denial;
	if (config_required_check_login(config_required(config), method, &denial) != 0) {
		error_set(err, ERR_denied, "%s", denial.text);
		return true;
	}
	if (config->forced_login_method == login_method_api && is_account) {
		error_set(err, ERR_denied, "API key login is required, but ChatGPT is currently being used");
		return true;
	}
	if (config->forced_login_method == login_method_chatgpt && auth->kind == AUTH_api_key) {
		error_set(err, ERR_denied, "ChatGPT login is required, but an API key is currently being used");
		return true;
	}
	struct error why;
	if (!is_account || (auth->kind == AUTH_personal && !auth->account_id) ||
	    auth_allows_workspace(&config->forced_chatgpt_workspace_id, auth->account_id, &why))
		return false;
	error_set(err, ERR_denied, "%s", why.text);
	return true;
}

int auth_enforce(const struct config *config, unsigned lock_ms, struct error *err)
{
	struct auth_place place = auth_place_of(config);
	auto_auth struct auth auth = {0};
	struct error why, removal;
	bool was_there;
	if (auth_find(place, &auth, NULL) != 0 || !is_forbidden(config, &auth, &why))
		return 0;
	if (config_env("CODEX_ACCESS_TOKEN"))
		return error_set(err, ERR_denied, "%s. Unset CODEX_ACCESS_TOKEN.", why.text);
	if (!lock_ms && auth_store_is_slow(place))
		return error_set(err, ERR_denied, "%s. Log out.", why.text);
	if (remove_within(place, lock_ms, NULL, &was_there, &removal) != 0)
		return error_set(err, ERR_denied, "%s. Logging out. (%s)", why.text, removal.text);
	return error_set(err, ERR_denied, "%s. Logging out.", why.text);
}
