/* A key is read from standard input only, because arguments are visible to all users of the machine and stored in the
 * shell's history. An error in config.toml does not prevent a key from being stored; a login that must follow its rules
 * needs it. */
#include "ui/tools/login.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"
#include "config/auth.h"
#include "config/config.h"
#include "config/config_required.h"
#include "config/config_env.h"
#include "ui/tools/login_session.h"

enum { EXIT_FAILED = 1, KEY_SHORT = 13, KEY_HEAD = 8, KEY_TAIL = 5 };

struct login_command_options {
	bool with_api_key, with_access_token, device_auth;
	const char *api_key, *issuer, *client_id;
};

static const struct cli_option login_rows[] = {
	{.name = "with-api-key",
         .kind = CLI_FLAG,
         .offset = offsetof(struct login_command_options, with_api_key),
         .doc = "Read an API key from standard input and store it"},
	{.name = "with-access-token",
         .kind = CLI_FLAG,
         .offset = offsetof(struct login_command_options, with_access_token),
         .doc = "Read a personal access token from standard input and store it"},
	{.name = "device-auth",
         .kind = CLI_FLAG,
         .offset = offsetof(struct login_command_options, device_auth),
         .doc = "Sign in with a code that is entered on another machine"},
	{.name = "experimental_issuer",
         .kind = CLI_TEXT,
         .offset = offsetof(struct login_command_options, issuer),
         .value = "URL"},
	{.name = "experimental_client-id",
         .kind = CLI_TEXT,
         .offset = offsetof(struct login_command_options, client_id),
         .value = "ID"},
	{.name = "api-key",
         .kind = CLI_TEXT,
         .offset = offsetof(struct login_command_options, api_key),
         .value = "KEY"},
};

static const struct cli_word login_words[] = {
	{.word = "status", .doc = "Show whether a login or a key is stored; exit status 1 if not"},
};

static const char key_example[] = "printenv OPENAI_API_KEY | codex login --with-api-key";

const struct cli_command login_command = {
	.name = "codex login",
	.about = "Sign in with ChatGPT or store an API key, or show which of them is stored.",
	.usage = "Usage: codex login [--device-auth]\n"
		 "       codex login --with-api-key\n"
		 "       codex login --with-access-token\n"
		 "       codex login status",
	.details = "Example:\n"
		   "  printenv OPENAI_API_KEY | codex login --with-api-key\n"
		   "\n"
		   "Without an option a browser is opened, which returns to port 1455 of this\n"
		   "machine. Over ssh, use --device-auth, or ssh -L 1455:127.0.0.1:1455.\n"
		   "\n"
		   "Tokens and keys are kept in auth.json in $CODEX_HOME, ~/.codex by default, where\n"
		   "only you can read it. `codex logout` removes it.\n",
	.words = login_words,
	.word_count = countof(login_words),
	.options = login_rows,
	.option_count = countof(login_rows),
};

const struct cli_command logout_command = {
	.name = "codex logout",
	.about = "Remove the stored login or API key.",
	.usage = "Usage: codex logout",
};

static int fail(const struct error *err)
{
	fprintf(stderr, "%s\n", err->text);
	return EXIT_FAILED;
}

/* A login without a readable configuration: the file of credentials. */
static struct auth_place place_of(const char *home, const struct config *config)
{
	return config ? auth_place_of(config) : auth_place_file(home);
}

static int store_key(const char *home, const struct config *config)
{
	struct error err;
	struct buf key;
	if (isatty(STDIN_FILENO)) {
		fprintf(stderr,
		        "--with-api-key reads the key from standard input, which keeps it out of the process list:\n  "
		        "%s\n",
		        key_example);
		return EXIT_FAILED;
	}
	fputs("Reading API key from stdin...\n", stderr);
	buf_init(&key, LIMIT_API_KEY);
	int status = fd_read_all(STDIN_FILENO, &key, "the API key on stdin", &err);
	if (status == 0 && !str_trim(buf_str(&key)).len)
		status = error_set(&err, ERR_invalid, "No API key provided via stdin.");
	if (status == 0)
		status = auth_write_api_key(place_of(home, config), buf_str(&key), &err);
	if (key.data)
		explicit_bzero(key.data, key.len);
	buf_finish(&key);
	if (status != 0) {
		if (err.code == ERR_unsupported)
			error_wrap(&err, "Error logging in");
		return fail(&err);
	}
	fputs("API key saved. The first request will show whether the server accepts it.\n", stderr);
	return 0;
}

/* Prints enough of a key to distinguish it from others, and nothing of a short one. */
static void print_key(struct str key)
{
	if (key.len <= KEY_SHORT)
		fputs("API key configured - ***\n", stderr);
	else
		fprintf(stderr, "API key configured - %.*s***%.*s\n", KEY_HEAD, key.ptr, KEY_TAIL,
		        key.ptr + key.len - KEY_TAIL);
}

/* Reports a kind of login that forced_login_method or the administrator excludes. */
static bool is_excluded(const struct config *config, enum login_method method, const char *kind)
{
	struct error err;
	if (config && config_required_check_login(config_required(config), method, &err) != 0) {
		fprintf(stderr, "codex login: %s\n", err.text);
		return true;
	}
	if (!config || config->forced_login_method == login_method_unset || config->forced_login_method == method)
		return false;
	fprintf(stderr, "%s login is disabled. Use %s login instead.\n", kind,
	        method == login_method_chatgpt ? "API key" : "ChatGPT");
	return true;
}

/* Tokens of agent identities need requests that are signed with a key of their own. */
static int sign_in_with(struct str token, const struct config *config)
{
	struct str key;
	if (!token.len)
		fputs("No access token provided via stdin.\n", stderr);
	else if (!auth_is_personal(token))
		fputs("Error logging in with access token: it is no personal access token, which begins with at-; "
		      "tokens of agent identities are not supported, because their requests are signed with a key of "
		      "the agent. Make a personal access token, or use `codex login --device-auth`.\n",
		      stderr);
	else if (!auth_check_key(token, &key))
		fputs("Error logging in with access token: it contains whitespace or control characters\n", stderr);
	else
		return login_session_token(config, key);
	return EXIT_FAILED;
}

static int read_access_token(const struct config *config, const struct error *why)
{
	struct error err;
	struct buf token;
	if (!config)
		return fail(why);
	if (is_excluded(config, login_method_chatgpt, "Access token"))
		return EXIT_FAILED;
	fputs("Reading access token from stdin...\n", stderr);
	buf_init(&token, LIMIT_API_KEY);
	int status = fd_read_all(STDIN_FILENO, &token, "the access token on stdin", &err);
	status = status == 0 ? sign_in_with(str_trim(buf_str(&token)), config) : fail(&err);
	if (token.data)
		explicit_bzero(token.data, token.len);
	buf_finish(&token);
	return status;
}

static int print_status(const char *home, const struct config *config)
{
	auto_auth struct auth auth = {0};
	struct error err;
	if (auth_find(place_of(home, config), &auth, &err) != 0) {
		fprintf(stderr, "Error checking login status: %s\n", err.text);
		return EXIT_FAILED;
	}
	if (auth.kind == AUTH_api_key) {
		print_key(str_of(auth.api_key));
		fputs("Authentication is checked when you send a request.\n", stderr);
		return 0;
	}
	if (auth_is_account(&auth)) {
		fputs(auth.kind == AUTH_personal ? "Logged in using personal access token\n"
		                                 : "Logged in using ChatGPT\n",
		      stderr);
		return 0;
	}
	fputs("Not logged in\n", stderr);
	if (auth.kind == AUTH_unknown)
		fprintf(stderr, "There is a login of the kind \"%s\", which this program does not support.\n",
		        auth.mode);
	else if (config_env("CODEX_API_KEY") || config_env("OPENAI_API_KEY"))
		fprintf(stderr, "No stored key. %s is set and is used.\n",
		        config_env("CODEX_API_KEY") ? "CODEX_API_KEY" : "OPENAI_API_KEY");
	return EXIT_FAILED;
}

static int sign_in(const struct login_command_options *options, const struct config *config, const struct error *why)
{
	struct login_session_options session = {config, options->device_auth, options->issuer, options->client_id};
	if (!config)
		return fail(why);
	return is_excluded(config, login_method_chatgpt, "ChatGPT") ? EXIT_FAILED : login_session_run(&session);
}

/* config is NULL if it cannot be loaded, for the reason why. That must not prevent a key from being stored, if the
 * rules permit it: they are the configuration without the user's file. */
static int run(const struct login_command_options *options, const struct cli_word *word, const char *home,
               const struct config *config, const struct config *rules, const struct error *why)
{
	if (word)
		return print_status(home, config);
	if (options->with_access_token)
		return read_access_token(config, why);
	if (options->with_api_key)
		return is_excluded(rules, login_method_api, "API key") ? EXIT_FAILED : store_key(home, config);
	return sign_in(options, config, why);
}

static struct config *load_config(const struct cli_result *result, bool ignores_user, struct error *err)
{
	VEC(struct str) overrides = {0};
	vec_for_each(text, &result->overrides)
		vec_push(&overrides, str_of(*text));
	struct config_source source = {.ignore_project = true,
	                               .ignore_user_config = ignores_user,
	                               .overrides = overrides.items,
	                               .override_count = overrides.count};
	struct config *config = config_load(&source, err);
	vec_finish(&overrides);
	return config;
}

/* A broken file must not prevent a login, but an option that does not load would switch off the rules about logins and
 * name another store. */
static int fail_override(const struct error *err)
{
	fprintf(stderr, "Error loading configuration: %s\n", err->text);
	return EXIT_FAILED;
}

static int login(const struct login_command_options *options, const struct cli_result *result)
{
	struct error err, why;
	if (options->api_key) {
		fputs("The --api-key flag is no longer supported. Pipe the key instead, e.g. `printenv OPENAI_API_KEY "
		      "| "
		      "codex login --with-api-key`.\n",
		      stderr);
		return EXIT_FAILED;
	}
	auto_free char *home = config_env_home(&err);
	if (!home)
		return fail(&err);
	struct config *config = load_config(result, false, &why);
	if (!config && result->overrides.count)
		return fail_override(&why);
	struct config *rules = config ? NULL : load_config(result, true, &err);
	if (!config && !rules)
		return fail_override(&err);
	int status = run(options, result->word, home, config, config ? config : rules, &why);
	config_unref(rules);
	config_unref(config);
	return status;
}

int login_main(int argc, char **argv)
{
	struct login_command_options options = {0};
	struct cli_result result;
	int status = cli_read(&login_command, argc, argv, &options, &result);
	if (status < 0)
		status = login(&options, &result);
	cli_finish(&login_command, &options, &result);
	return status;
}

static int logout(const struct cli_result *result)
{
	struct error err;
	auto_free char *home = config_env_home(&err);
	if (!home)
		return fail(&err);
	struct config *config = load_config(result, false, &err);
	if (!config && result->overrides.count)
		return fail_override(&err);
	int status = login_session_logout(home, config);
	config_unref(config);
	return status;
}

int logout_main(int argc, char **argv)
{
	struct cli_result result;
	int status = cli_read(&logout_command, argc, argv, NULL, &result);
	if (status < 0)
		status = logout(&result);
	cli_finish(&logout_command, NULL, &result);
	return status;
}
