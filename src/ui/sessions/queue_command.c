/* The message is added to the file that the app-server reads when a turn ends or a thread is resumed. */
#include "ui/sessions/queue_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app_server/app_server_daemon.h"
#include "app_server/app_server_proxy.h"
#include "app_server/threads/thread_queue.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/uuid.h"
#include "config/config_env.h"
#include "rollout/rollout_path.h"
#include "ui/sessions/session_pick.h"

enum { EXIT_FAILED = 1 };

struct queue_options {
	struct cli_list overrides;
	const char *thread, *message, *remote, *token_env, *folder;
	bool resumes, is_strict;
};

static const struct cli_option rows[] = {
	{"thread", 0, CLI_TEXT, offsetof(struct queue_options, thread), "SESSION", NULL,
         "An id, a unique prefix of one, or a name"},
	{"message", 0, CLI_TEXT, offsetof(struct queue_options, message), "TEXT", NULL, "The message"},
	{"resume", 0, CLI_FLAG, offsetof(struct queue_options, resumes), NULL, NULL,
         "Have the running daemon, or that of --remote, send it now, if the session is idle"},
	{"remote", 0, CLI_TEXT, offsetof(struct queue_options, remote), "ADDR", NULL,
         "Add it to the queue of this app-server instead: unix://, unix://PATH or ws://HOST:PORT"},
	{"remote-auth-token-env", 0, CLI_TEXT, offsetof(struct queue_options, token_env), "NAME", NULL,
         "The variable with the token for --remote ws://"},
	{"cd", 'C', CLI_TEXT, offsetof(struct queue_options, folder), "DIR", NULL,
         "With --resume, without --remote: the folder to work in, unless the session is loaded"},
	{"strict-config", 0, CLI_FLAG, offsetof(struct queue_options, is_strict), NULL, NULL,
         "Fail if the configuration has an unknown key"},
	{"config", 'c', CLI_LIST, offsetof(struct queue_options, overrides), "key=value", NULL, NULL},
};

const struct cli_command queue_command = {
	.name = "codex queue",
	.about = "Add a message to the queue of a recorded session.",
	.usage = "Usage: codex queue --thread SESSION --message TEXT [--resume] [--remote ADDR]",
	.details = "A client of the app-server that has the session loaded sends the message when\n"
		   "the turn ends; otherwise it is sent when such a client resumes the session.\n"
		   "A server of --remote loads the session, and sends the message once it is idle.\n"
		   "`codex exec resume SESSION TEXT` sends a message at once.\n",
	.options = rows,
	.option_count = countof(rows),
};

static int find_id(const char *home, const char *word, char ret[UUID_TEXT_SIZE], struct error *err)
{
	struct rollout_file_name name;
	auto_free char *path = session_find(home, word, err);
	if (!path)
		return -(int)err->code;
	if (!rollout_path_parse(path_name(path), &name) || name.thread_id.len >= UUID_TEXT_SIZE)
		return error_set(err, ERR_invalid, "%s is not the file of a session", path);
	snprintf(ret, UUID_TEXT_SIZE, "%.*s", STR_ARG(name.thread_id));
	return 0;
}

static int add(const char *home, const char *id, const char *text, struct error *err)
{
	auto_arena struct arena arena = {0};
	char client_id[UUID_TEXT_SIZE];
	struct app_queued_submission added;
	struct app_input_text words = {.text = str_of(text)};
	struct app_user_input input = {.tag = app_user_input_text, .text = &words};
	uuid_v7(client_id);
	struct app_queued_submission message = {
		.client_user_message_id = str_of(client_id), .input = &input, .input_count = 1};
	return thread_queue_add(home, str_of(id), &message, &arena, &added, err);
}

/* The server sends the first message of the queue when it has loaded the session; its turn needs no client. */
static int resume(const struct app_server_peer *server, const char *id, const char *folder, struct error *err)
{
	auto_buf struct buf params, opened;
	buf_init(&params, LIMIT_LINE);
	buf_init(&opened, KIB);
	struct json_writer w = json_writer(&params);
	jw_object(&w);
	jw_member_cstr(&w, "threadId", id);
	jw_member_bool(&w, "excludeTurns", true);
	if (folder)
		jw_member_cstr(&w, "cwd", folder);
	jw_object_end(&w);
	return app_server_open_thread(server, "thread/resume", buf_str(&params), &opened, err);
}

static int add_remote(const struct app_server_peer *server, const char *id, const char *client_id, const char *text,
                      struct error *err)
{
	auto_buf struct buf params, answer;
	buf_init(&params, LIMIT_LINE);
	buf_init(&answer, LIMIT_LINE);
	struct json_writer w = json_writer(&params);
	jw_object(&w);
	jw_member_cstr(&w, "threadId", id);
	jw_member_cstr(&w, "clientUserMessageId", client_id);
	jw_key(&w, "input");
	jw_array(&w);
	jw_object(&w);
	jw_member_cstr(&w, "type", "text");
	jw_member_cstr(&w, "text", text);
	jw_object_end(&w);
	jw_array_end(&w);
	jw_object_end(&w);
	return app_server_call(server, "thread/queue/add", buf_str(&params), &answer, err);
}

/* A server accepts messages for loaded sessions only. */
static int queue_remote(const struct app_server_peer *server, const char *id, const char *text, struct error *err)
{
	char client_id[UUID_TEXT_SIZE];
	uuid_v7(client_id);
	int status = add_remote(server, id, client_id, text, err);
	if (status != -ERR_invalid || !strstr(err->text, "not found"))
		return status;
	return resume(server, id, NULL, err) == 0 ? add_remote(server, id, client_id, text, err) : -(int)err->code;
}

static int queue(const char *home, const char *folder, const struct queue_options *options, struct error *err)
{
	char id[UUID_TEXT_SIZE];
	auto_free char *daemon = app_server_daemon_socket(home);
	struct app_server_peer server = {daemon, options->token_env ? config_env(options->token_env) : NULL};
	if (options->remote && strcmp(options->remote, "unix://") != 0)
		server.address = options->remote;
	if (!options->remote && find_id(home, options->thread, id, err) != 0)
		return -(int)err->code;
	if (options->remote)
		snprintf(id, sizeof(id), "%s", options->thread);
	struct error failure;
	int status = options->remote ? queue_remote(&server, id, options->message, err)
	                             : add(home, id, options->message, err);
	if (status < 0)
		return status;
	if (options->resumes && resume(&server, id, folder, &failure) != 0)
		fprintf(stderr, "warning: the message is queued, but the session was not resumed: %s\n%s", failure.text,
		        options->remote ? "" : "Start a daemon with: codex app-server daemon start\n");
	printf("Queued a message for session %s.\n", id);
	return 0;
}

static int run(const struct queue_options *options)
{
	struct error err;
	auto_free char *home = config_env_home(&err);
	auto_free char *folder = NULL;
	const struct session_place place = {options->folder, &options->overrides, options->is_strict};
	if (home && session_place_check(&place, &folder, &err) == 0 && queue(home, folder, options, &err) == 0)
		return 0;
	fprintf(stderr, "codex queue: %s\n", err.text);
	return EXIT_FAILED;
}

static int check(const struct queue_options *options, struct error *err)
{
	if (!options->thread || !options->message)
		return error_set(err, ERR_usage, "the following required arguments were not provided: %s",
		                 options->thread ? "--message <TEXT>" : "--thread <SESSION>");
	if (str_is_blank(str_of(options->message)))
		return error_set(err, ERR_invalid, "--message must not be empty");
	if (options->folder && (options->remote || !options->resumes))
		return error_set(err, ERR_usage,
		                 "--cd works with --resume and without --remote: otherwise the message "
		                 "runs in the folder of its session");
	return session_check_remote(options->remote, options->token_env, options->thread, "--thread", err);
}

int queue_main(int argc, char **argv)
{
	struct queue_options options = {0};
	struct cli_result result;
	struct error err;
	int status = cli_read(&queue_command, argc, argv, &options, &result);
	if (status < 0 && check(&options, &err) != 0)
		status = cli_print_error(&queue_command, &err);
	if (status < 0)
		status = run(&options);
	cli_finish(&queue_command, &options, &result);
	return status;
}
