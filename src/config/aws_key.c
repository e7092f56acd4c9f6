/* The files are those of the AWS tools: sections in brackets, "key = value", comments with # or ;. Keys that these
 * tools obtain from elsewhere (SSO, roles, other programs, the machine's metadata) are not looked for. */
#include "config/aws_key.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/auth.h"
#include "config/config_env.h"

/* ---- the files ---- */

static char *path_of(const char *variable, const char *name)
{
	const char *chosen = config_env(variable), *home = config_env("HOME");
	return chosen ? xstrdup(chosen) : xasprintf("%s/.aws/%s", home ? home : "", name);
}

static const char *profile_of(const char *chosen)
{
	const char *name = chosen ? chosen : config_env("AWS_PROFILE");
	return name ? name : "default";
}

/* Returns the value of a key in a section; STR_NONE without one. */
static struct str find_value(struct str text, struct str section, const char *key)
{
	struct str line, name;
	bool is_here = false;
	while (str_next_line(&text, &line)) {
		line = str_trim(line);
		if (str_cut_prefix(&line, "[") && str_next_part(&line, ']', &name))
			is_here = str_eq(str_trim(name), section);
		else if (is_here && str_next_part(&line, '=', &name) && str_is(str_trim(name), key))
			return str_trim(line);
	}
	return STR_NONE;
}

static void read_file(const char *path, struct buf *text)
{
	buf_init(text, LIMIT_AUTH_FILE);
	if (file_read(path, text, NULL) != 0)
		buf_clear(text);
}

char *aws_profile_region(const char *chosen)
{
	const char *profile = profile_of(chosen);
	auto_buf struct buf text = {0};
	auto_free char *path = path_of("AWS_CONFIG_FILE", "config");
	auto_free char *section = strcmp(profile, "default") == 0 ? xstrdup(profile) : xasprintf("profile %s", profile);
	read_file(path, &text);
	struct str region = find_value(buf_str(&text), str_of(section), "region");
	return region.len ? str_dup(region) : NULL;
}

/* ---- the key ---- */

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void aws_key_destroy(struct aws_key *key)
{
	if (!key)
		return;
	wipe(key->id);
	wipe(key->secret);
	wipe(key->session);
	free(key->region);
	free(key);
}

/* Returns NULL if a part is missing, or cannot be sent. */
static struct aws_key *make_key(struct str id, struct str secret, struct str session)
{
	if (!auth_check_key(id, &id) || !auth_check_key(secret, &secret) ||
	    (session.len && !auth_check_key(session, &session)))
		return NULL;
	struct aws_key *key = xnew(struct aws_key);
	*key = (struct aws_key){str_dup(id), str_dup(secret), session.len ? str_dup(session) : NULL, NULL};
	return key;
}

static struct aws_key *find_in_file(const char *profile, const char *path)
{
	struct buf text;
	read_file(path, &text);
	struct str all = buf_str(&text), section = str_of(profile);
	struct aws_key *key = make_key(find_value(all, section, "aws_access_key_id"),
	                               find_value(all, section, "aws_secret_access_key"),
	                               find_value(all, section, "aws_session_token"));
	if (text.data)
		explicit_bzero(text.data, text.len);
	buf_finish(&text);
	return key;
}

struct aws_key *aws_key_find(const char *chosen, struct error *err)
{
	const char *id = config_env("AWS_ACCESS_KEY_ID"), *secret = config_env("AWS_SECRET_ACCESS_KEY");
	auto_free char *path = path_of("AWS_SHARED_CREDENTIALS_FILE", "credentials");
	const char *profile = profile_of(chosen);
	struct aws_key *key = NULL;
	if (!chosen && id && secret)
		key = make_key(str_of(id), str_of(secret), str_of(config_env("AWS_SESSION_TOKEN")));
	if (!key)
		key = find_in_file(profile, path);
	if (!key)
		error_set(err, ERR_config,
		          "no key for Amazon Bedrock: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and "
		          "AWS_SECRET_ACCESS_KEY, or store an access key under [%s] in %s. (Keys of SSO and of roles: "
		          "`aws configure export-credentials --format env` prints them as variables.)",
		          profile, path);
	return key;
}
