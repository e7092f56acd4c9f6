/* The format is shared with other Codex programs, so a file may contain a ChatGPT login beside or instead of a key;
 * the login is recognised so that it can be reported. The file is replaced atomically, so that a full disk does not
 * destroy the old key. */
#include "config/auth.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"

bool auth_check_key(struct str key, struct str *ret_key)
{
	key = str_trim(key);
	for (size_t i = 0; i < key.len; i++)
		if ((unsigned char)key.ptr[i] <= ' ' || (unsigned char)key.ptr[i] >= 0x7f)
			return false;
	*ret_key = key;
	return key.len > 0;
}

static void wipe_buf(struct buf *buf)
{
	if (buf->data)
		explicit_bzero(buf->data, buf->len);
	buf_finish(buf);
}

void auth_finish(struct auth *auth)
{
	if (auth->api_key)
		explicit_bzero(auth->api_key, strlen(auth->api_key));
	free(auth->api_key);
	*auth = (struct auth){0};
}

static int read_members(const char *path, const struct json *root, struct auth *ret_auth, struct error *err)
{
	struct str key = json_get_str(root, "OPENAI_API_KEY");
	if (!json_is(root, JSON_object))
		return error_set(err, ERR_config,
		                 "%s is not a JSON object; `codex login --with-api-key` writes a new one", path);
	if (key.len && !auth_check_key(key, &key))
		return error_set(err, ERR_config,
		                 "the API key in %s cannot be sent; store it again with `codex login --with-api-key`",
		                 path);
	if (key.len)
		*ret_auth = (struct auth){AUTH_api_key, str_dup(key)};
	else if (json_is(json_get(root, "tokens"), JSON_object))
		ret_auth->kind = AUTH_chatgpt;
	return 0;
}

static int parse(const char *path, struct str text, struct auth *ret_auth, struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct json *root = json_parse(&arena, text, err);
	if (root)
		return read_members(path, root, ret_auth, err);
	return error_set(err, ERR_config, "%s is not JSON; `codex login --with-api-key` writes a new one", path);
}

int auth_read(const char *codex_home, struct auth *ret_auth, struct error *err)
{
	auto_free char *path = path_join(codex_home, "auth.json");
	struct error failure = {0};
	struct buf text;
	*ret_auth = (struct auth){0};
	buf_init(&text, LIMIT_AUTH_FILE);
	int status = file_read(path, &text, &failure);
	if (status == 0)
		status = parse(path, buf_str(&text), ret_auth, err);
	else if (failure.code == ERR_not_found)
		status = 0;
	else
		error_set(err, failure.code, "%s", failure.text);
	wipe_buf(&text);
	return status;
}

int auth_write_api_key(const char *codex_home, struct str key, struct error *err)
{
	if (!auth_check_key(key, &key))
		return error_set(err, ERR_invalid,
		                 "invalid API key: it is empty or contains whitespace or control characters");
	if (dir_make(codex_home, 0700, err) != 0)
		return error_wrap(err, "cannot store the API key");
	auto_free char *path = path_join(codex_home, "auth.json");
	struct buf text;
	buf_init(&text, LIMIT_AUTH_FILE);
	buf_append_c(&text, "{\n  \"auth_mode\": \"apikey\",\n  \"OPENAI_API_KEY\": ");
	json_quote(&text, key);
	buf_append_c(&text, "\n}\n");
	int status = text.over ? error_set(err, ERR_limit, "invalid API key: it is too long")
	                       : file_write_atomic(path, buf_str(&text), 0600, true, err);
	wipe_buf(&text);
	return status;
}

int auth_remove(const char *codex_home, bool *ret_was_there, struct error *err)
{
	auto_free char *path = path_join(codex_home, "auth.json");
	int status = unlink(path);
	if (status != 0 && errno != ENOENT && errno != ENOTDIR)
		return error_sys(err, errno, "cannot remove %s", path);
	*ret_was_there = status == 0;
	return 0;
}
