/* A key is read from standard input only, because arguments are visible to all users of the machine and stored in the
 * shell's history. config.toml is not read, so that an error in it does not prevent a login. */
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
#include "config/config_env.h"

enum { EXIT_FAILED = 1, KEY_SHORT = 13, KEY_HEAD = 8, KEY_TAIL = 5 };

struct login_options {
	bool with_api_key;
	const char *api_key;
};

static const struct cli_option login_rows[] = {
	{.name = "with-api-key",
         .kind = CLI_FLAG,
         .offset = offsetof(struct login_options, with_api_key),
         .doc = "Read an API key from standard input and store it"},
	{.name = "api-key", .kind = CLI_TEXT, .offset = offsetof(struct login_options, api_key), .value = "KEY"},
};

static const struct cli_word login_words[] = {
	{.word = "status", .doc = "Show whether a key is stored; exit status 1 if not"},
};

static const char key_example[] = "printenv OPENAI_API_KEY | codex login --with-api-key";

const struct cli_command login_command = {
	.name = "codex login",
	.about = "Store an API key, or show whether one is stored.",
	.usage = "Usage: codex login --with-api-key\n"
		 "       codex login status",
	.details = "Example:\n"
		   "  printenv OPENAI_API_KEY | codex login --with-api-key\n"
		   "\n"
		   "The key is kept in auth.json in $CODEX_HOME, ~/.codex by default, where only you\n"
		   "can read it. `codex logout` removes it.\n",
	.words = login_words,
	.word_count = countof(login_words),
	.options = login_rows,
	.option_count = countof(login_rows),
};

const struct cli_command logout_command = {
	.name = "codex logout",
	.about = "Remove the stored API key.",
	.usage = "Usage: codex logout",
};

static int fail(const struct error *err)
{
	fprintf(stderr, "%s\n", err->text);
	return EXIT_FAILED;
}

static int store_key(const char *home)
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
		status = auth_write_api_key(auth_place_file(home), buf_str(&key), &err);
	if (key.data)
		explicit_bzero(key.data, key.len);
	buf_finish(&key);
	if (status != 0)
		return fail(&err);
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

static int print_status(const char *home)
{
	auto_auth struct auth auth = {0};
	struct error err;
	if (auth_read(auth_place_file(home), &auth, &err) != 0)
		return fail(&err);
	if (auth.kind == AUTH_api_key) {
		print_key(str_of(auth.api_key));
		return 0;
	}
	fputs("Not logged in\n", stderr);
	if (auth.kind == AUTH_chatgpt)
		fprintf(stderr, "There is a ChatGPT sign-in, but this program needs an API key:\n  %s\n", key_example);
	else if (config_env("CODEX_API_KEY") || config_env("OPENAI_API_KEY"))
		fprintf(stderr, "No stored key. %s is set and is used.\n",
		        config_env("CODEX_API_KEY") ? "CODEX_API_KEY" : "OPENAI_API_KEY");
	return EXIT_FAILED;
}

static int explain(void)
{
	fprintf(stderr,
	        "`codex login` needs --with-api-key or the word status.\nA model can be reached in three ways:\n\n"
	        "  with an API key, stored for all sessions\n"
	        "      %s\n"
	        "  with an API key, for this shell only\n"
	        "      export OPENAI_API_KEY=...\n"
	        "  without a key, from a model server on this machine\n"
	        "      codex exec --oss \"...\"\n\n"
	        "`codex login status` shows the stored key. Signing in with ChatGPT is not supported.\n",
	        key_example);
	return EXIT_FAILED;
}

static int login(const struct login_options *options, const struct cli_word *word)
{
	struct error err;
	if (options->api_key) {
		fprintf(stderr,
		        "The --api-key flag is no longer supported: others can read the command line.\n"
		        "Pipe it instead:\n  %s\n",
		        key_example);
		return EXIT_FAILED;
	}
	if (!word && !options->with_api_key)
		return explain();
	auto_free char *home = config_env_home(&err);
	if (!home)
		return fail(&err);
	return word ? print_status(home) : store_key(home);
}

int login_main(int argc, char **argv)
{
	struct login_options options = {0};
	struct cli_result result;
	int status = cli_read(&login_command, argc, argv, &options, &result);
	if (status < 0)
		status = login(&options, result.word);
	cli_finish(&login_command, &options, &result);
	return status;
}

static int logout(void)
{
	struct error err;
	bool was_there = false;
	auto_free char *home = config_env_home(&err);
	if (!home || auth_remove(auth_place_file(home), &was_there, &err) != 0)
		return fail(&err);
	fputs(was_there ? "Successfully logged out\n" : "Not logged in\n", stderr);
	return 0;
}

int logout_main(int argc, char **argv)
{
	struct cli_result result;
	int status = cli_read(&logout_command, argc, argv, NULL, &result);
	if (status < 0)
		status = logout();
	cli_finish(&logout_command, NULL, &result);
	return status;
}
