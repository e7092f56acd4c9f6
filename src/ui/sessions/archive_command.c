/* A session that a running program writes is left alone: the work is done under the lock of its writer. */
#include "ui/sessions/archive_command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app_server/app_server_daemon.h"
#include "app_server/app_server_proxy.h"
#include "app_server/threads/thread_note.h"
#include "app_server/threads/thread_queue.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/uuid.h"
#include "config/config_env.h"
#include "rollout/rollout_lock.h"
#include "rollout/rollout_path.h"
#include "rollout/rollout_remove.h"
#include "ui/sessions/session_pick.h"

enum { EXIT_FAILED = 1, ANSWER_SIZE = 16 };

struct archive_options {
	struct cli_list overrides;
	const char *remote, *token_env, *folder;
	bool is_forced, is_strict;
};

/* clang-format off */
#define COMMON_ROWS \
	{"remote", 0, CLI_TEXT, offsetof(struct archive_options, remote), "ADDR", NULL, \
	 "Ask this app-server instead; SESSION is an id: unix://, unix://PATH or ws://HOST:PORT"}, \
	{"remote-auth-token-env", 0, CLI_TEXT, offsetof(struct archive_options, token_env), "NAME", NULL, \
	 "The variable with the token for --remote ws://"}, \
	{"cd", 'C', CLI_TEXT, offsetof(struct archive_options, folder), "DIR", NULL, \
	 "A folder that must exist here; --strict-config checks its configuration, also with --remote"}, \
	{"strict-config", 0, CLI_FLAG, offsetof(struct archive_options, is_strict), NULL, NULL, \
	 "Fail if the configuration has an unknown key"}, \
	{"config", 'c', CLI_LIST, offsetof(struct archive_options, overrides), "key=value", NULL, NULL},
/* clang-format on */

static const struct cli_option plain_rows[] = {COMMON_ROWS};

static const struct cli_option delete_rows[] = {
	{"force", 'f', CLI_FLAG, offsetof(struct archive_options, is_forced), NULL, NULL, "Do not ask"}, COMMON_ROWS};

static const struct cli_argument arguments[] = {
	{.name = "SESSION", .doc = "An id, a unique prefix of one, or a name"},
};

const struct cli_command archive_command = {
	.name = "codex archive",
	.about = "Move a recorded session to the archive: lists no longer show it.",
	.usage = "Usage: codex archive [--remote ADDR] SESSION",
	.details = "`codex unarchive` moves it back.\n",
	.arguments = arguments,
	.argument_count = countof(arguments),
	.options = plain_rows,
	.option_count = countof(plain_rows),
	.most_positionals = 1,
};

const struct cli_command unarchive_command = {
	.name = "codex unarchive",
	.about = "Move a recorded session back from the archive.",
	.usage = "Usage: codex unarchive [--remote ADDR] SESSION",
	.arguments = arguments,
	.argument_count = countof(arguments),
	.options = plain_rows,
	.option_count = countof(plain_rows),
	.most_positionals = 1,
};

const struct cli_command delete_command = {
	.name = "codex delete",
	.about = "Delete the files of a recorded session.",
	.usage = "Usage: codex delete [--force] [--remote ADDR] SESSION",
	.details = "It asks on a terminal; elsewhere it needs --force. A session whose history a\n"
		   "fork refers to cannot be deleted before the fork.\n",
	.arguments = arguments,
	.argument_count = countof(arguments),
	.options = delete_rows,
	.option_count = countof(delete_rows),
	.most_positionals = 1,
};

/* The session that a command works on. */
struct target {
	const char *home;
	char id[UUID_TEXT_SIZE];
};

static int find(struct target *target, const char *word, struct error *err)
{
	struct rollout_file_name name;
	auto_free char *path = session_find(target->home, word, err);
	if (!path)
		return -(int)err->code;
	if (!rollout_path_parse(path_name(path), &name) || name.thread_id.len >= sizeof(target->id))
		return error_set(err, ERR_invalid, "%s is not the file of a session", path);
	memcpy(target->id, name.thread_id.ptr, name.thread_id.len);
	target->id[name.thread_id.len] = '\0';
	return 0;
}

static int do_locked(enum session_work work, const char *home, struct str id, struct error *err)
{
	if (work != SESSION_DELETE)
		return rollout_move(home, id, work == SESSION_ARCHIVE, err);
	int status = rollout_remove(home, id, err);
	if (status != 0)
		return status;
	thread_note_remove(home, id);
	thread_queue_remove(home, id);
	return 0;
}

int session_do(enum session_work work, const char *home, const char *id, struct error *err)
{
	struct rollout_lock *lock = rollout_lock_create(home, str_of(id), err);
	int status = lock ? do_locked(work, home, str_of(id), err) : -(int)err->code;
	rollout_lock_destroy(lock);
	return status;
}

static int fail(const struct cli_command *command, const struct error *err)
{
	fprintf(stderr, "%s: %s\n", command->name, err->text);
	return EXIT_FAILED;
}

/* Asks on a terminal. An end of input is a no. */
static bool is_confirmed(const char *word, const struct target *target)
{
	char answer[ANSWER_SIZE];
	fprintf(stderr, "Delete session %s (%s)? This cannot be undone. [y/N] ", word, target->id);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

/* The server does the work with its own files. */
static int do_remote(enum session_work work, const struct target *target, const struct archive_options *options,
                     struct error *err)
{
	static const char *const methods[] = {"thread/archive", "thread/unarchive", "thread/delete"};
	char params[UUID_TEXT_SIZE + sizeof("{\"threadId\":\"\"}")];
	auto_buf struct buf answer;
	auto_free char *daemon = app_server_daemon_socket(target->home);
	bool is_daemon = strcmp(options->remote, "unix://") == 0;
	struct app_server_peer server = {is_daemon ? daemon : options->remote,
	                                 options->token_env ? config_env(options->token_env) : NULL};
	buf_init(&answer, LIMIT_LINE);
	snprintf(params, sizeof(params), "{\"threadId\":\"%s\"}", target->id);
	return app_server_call(&server, methods[work], str_of(params), &answer, err);
}

static int run(const struct cli_command *command, const char *word, const struct archive_options *options,
               enum session_work work)
{
	static const char *const done[] = {"Archived", "Unarchived", "Deleted"};
	struct error err;
	bool must_ask = work == SESSION_DELETE && !options->is_forced;
	auto_free char *home = config_env_home(&err), *folder = NULL;
	const struct session_place place = {options->folder, &options->overrides, options->is_strict};
	struct target target = {.home = home};
	if (options->remote)
		snprintf(target.id, sizeof(target.id), "%s", word);
	if (!home || session_place_check(&place, &folder, &err) != 0 ||
	    (!options->remote && find(&target, word, &err) != 0))
		return fail(command, &err);
	if (must_ask && !isatty(STDIN_FILENO)) {
		error_set(&err, ERR_invalid,
		          "standard input is not a terminal, so the question cannot be asked; use --force");
		return fail(command, &err);
	}
	if (must_ask && !is_confirmed(word, &target))
		return EXIT_FAILED;
	if ((options->remote ? do_remote(work, &target, options, &err) : session_do(work, home, target.id, &err)) != 0)
		return fail(command, &err);
	printf("%s session %s.\n", done[work], target.id);
	return 0;
}

static int check(const struct archive_options *options, const struct cli_result *result, struct error *err)
{
	if (!result->positionals.count)
		return error_set(err, ERR_usage, "the following required arguments were not provided: SESSION");
	return session_check_remote(options->remote, options->token_env, result->positionals.items[0], "SESSION", err);
}

static int read_and_run(const struct cli_command *command, int argc, char **argv, enum session_work work)
{
	struct archive_options options = {0};
	struct cli_result result;
	struct error err;
	int status = cli_read(command, argc, argv, &options, &result);
	if (status < 0 && check(&options, &result, &err) != 0)
		status = cli_print_error(command, &err);
	if (status < 0)
		status = run(command, result.positionals.items[0], &options, work);
	cli_finish(command, &options, &result);
	return status;
}

int archive_main(int argc, char **argv)
{
	return read_and_run(&archive_command, argc, argv, SESSION_ARCHIVE);
}

int unarchive_main(int argc, char **argv)
{
	return read_and_run(&unarchive_command, argc, argv, SESSION_UNARCHIVE);
}

int delete_main(int argc, char **argv)
{
	return read_and_run(&delete_command, argc, argv, SESSION_DELETE);
}
