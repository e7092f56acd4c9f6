/* The command around debug_client: it finds or starts the engine, handles Ctrl-C and sets the exit status. */
#include "ui/debug/debug_command.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/error.h"
#include "base/host.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "net/access_token.h"
#include "ui/debug/debug_client.h"
#include "ui/cli/terminal.h"
#include "ui/fleet/fleet_options.h"

struct debug_run {
	/* From the command line: */
	struct cli_list overrides;
	const char *token_file, *color;
	struct cli_list engine; /* given by the program codex alone */
	bool all, json;
	/* private */
	struct loop *loop;
	struct debug_client *client;
	uv_signal_t on_int;
	bool is_in_order;
	bool has_dashes; /* "--" was given */
};

#define ROW(field, text, letter_, kind_, value_, choices_, doc_)                                             \
	{                                                                                                    \
		.name = text, .letter = letter_, .kind = kind_, .offset = offsetof(struct debug_run, field), \
		.value = value_, .choices = choices_, .doc = doc_                                            \
	}

static const struct cli_option rows[] = {
	ROW(overrides, "config", 'c', CLI_LIST, "key=value", NULL,
            "Set a configuration value of the started engine; repeatable"),
	ROW(token_file, "token-file", 0, CLI_TEXT, "FILE", NULL, "Authenticate with the token in FILE"),
	ROW(all, "all", 0, CLI_FLAG, NULL, NULL, "Print all events, including deltas and duplicates"),
	ROW(json, "json", 0, CLI_FLAG, NULL, NULL, "Print events as JSON lines, unchanged"),
	ROW(color, "color", 0, CLI_TEXT, "WHEN", "always|never|auto", "Colour the output"),
	{.name = "engine", .kind = CLI_LIST, .offset = offsetof(struct debug_run, engine), .value = "FILE"},
};

static const struct cli_argument arguments[] = {
	{"[WHERE]",
         "unix://PATH, tcp://HOST:PORT, or -- COMMAND: a program that speaks the protocol on standard input and "
         "output. Default: -- codex proto"},
};

static const char details[] = "Each input line is sent as a prompt. Each event is printed as one line: id,\n"
			      "type, text. Answer a pending approval request with y (allow), n (deny) or a\n"
			      "(allow for the session). Ctrl-C interrupts the running task; a second Ctrl-C\n"
			      "ends the session. /help lists the commands; /raw sends a line of JSON unchanged.\n"
			      "\n"
			      "  $ codex debug-client -c approval_policy=untrusted\n"
			      "  $ codex debug-client unix:///tmp/codex.sock\n"
			      "  $ codex debug-client --token-file token tcp://10.0.0.5:7000\n"
			      "  $ codex debug-client -- codex proto --wire-profile doc\n"
			      "\n"
			      "If standard input is not a terminal, the next line is read when the task has\n"
			      "ended or requests an approval:\n"
			      "  $ printf 'list the files\\ny\\n/quit\\n' | codex debug-client\n"
			      "\n"
			      "The exit status is 0 if the session ended normally.\n" FLEET_DETAILS;

const struct cli_command debug_client_command = {
	.name = "codex debug-client",
	.about = "Submit operations to an engine by hand, print its events, and answer its requests.",
	.usage = "Usage: codex debug-client [OPTIONS] [WHERE]",
	.details = details,
	.arguments = arguments,
	.argument_count = countof(arguments),
	.options = rows,
	.option_count = countof(rows),
	.most_positionals = 1024,
};

static void on_end(bool is_in_order, void *self)
{
	struct debug_run *run = self;
	run->is_in_order = is_in_order;
	loop_stop(run->loop);
}

static void on_signal(uv_signal_t *handle, int number)
{
	(void)number;
	debug_client_interrupt(((struct debug_run *)handle->data)->client);
}

static int talk(struct debug_run *run, const struct debug_client_options *options, struct error *err)
{
	run->client = debug_client_create(options, err);
	if (!run->client)
		return -(int)err->code;
	uv_signal_init(loop_uv(run->loop), &run->on_int);
	run->on_int.data = run;
	uv_signal_start(&run->on_int, on_signal, SIGINT);
	loop_run(run->loop);
	uv_close((uv_handle_t *)&run->on_int, NULL);
	debug_client_destroy(run->client);
	return 0;
}

/* Returns the command line of codex proto, with the same -c options. */
static const char *const *own_engine(const struct debug_run *run)
{
	const char **argv = xcalloc(3 + 2 * run->overrides.count, sizeof(*argv));
	size_t count = 0;
	argv[count++] = "codex";
	argv[count++] = "proto";
	for (size_t i = 0; i < run->overrides.count; i++) {
		argv[count++] = "-c";
		argv[count++] = run->overrides.items[i];
	}
	return argv;
}

/* Returns the words of a command, terminated by NULL. */
static const char *const *command_words(const struct cli_list *words)
{
	const char **argv = xcalloc(words->count + 1, sizeof(*argv));
	memcpy(argv, words->items, words->count * sizeof(*argv));
	return argv;
}

static int start(struct debug_run *run, const struct cli_list *where, struct error *err)
{
	bool is_address = where->count == 1 && strstr(where->items[0], "://");
	auto_free const char *const *argv = where->count ? command_words(where) : own_engine(run);
	char *token = NULL;
	if (where->count && !strstr(where->items[0], "://") && !run->has_dashes)
		return error_set(err, ERR_usage, "%s is neither unix://… nor tcp://…; write -- before a command",
		                 where->items[0]);
	if (where->count && run->overrides.count)
		return error_set(err, ERR_usage,
		                 "-c cannot be used with an address: that engine has its own configuration");
	if (run->engine.count > 1)
		return error_set(err, ERR_usage, "unexpected argument '--engine' found; write -- before a command");
	if (run->token_file && !(token = access_token_read(run->token_file, err)))
		return -(int)err->code;
	struct debug_client_options options = {
		.loop = run->loop,
		.address = is_address ? where->items[0] : NULL,
		.path = where->count || !run->engine.count ? NULL : run->engine.items[0],
		.argv = argv,
		.token = token,
		.is_script = !isatty(STDIN_FILENO),
		.shows_all = run->all,
		.shows_json = run->json,
		.color = terminal_has_color(run->color, STDOUT_FILENO),
		.on_end = on_end,
		.self = run,
	};
	int status = talk(run, &options, err);
	access_token_free(token);
	return status;
}

int debug_client_exec(int argc, char **argv)
{
	char own[PATH_MAX];
	auto_free char **words = xcalloc((size_t)argc + 2, sizeof(*words));
	int count = 0;
	words[count++] = argv[0];
	bool is_there = host_program_path(own, sizeof(own)) && access(own, X_OK) == 0; /* it may have been replaced */
	auto_free char *engine = is_there ? xasprintf("--engine=%s", own) : NULL;
	if (engine)
		words[count++] = engine;
	memcpy(words + count, argv + 1, (size_t)(argc - 1) * sizeof(*words));
	return fleet_run(&debug_client_command, count + argc - 1, words);
}

static bool has_dashes(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			return true;
	}
	return false;
}

int debug_client_main(int argc, char **argv)
{
	struct debug_run run = {.has_dashes = has_dashes(argc, argv)};
	struct cli_result words;
	struct error err;
	int status = cli_read(&debug_client_command, argc, argv, &run, &words);
	if (status < 0) {
		run.loop = loop_create(&err);
		status = run.loop ? start(&run, &words.positionals, &err) : -(int)err.code;
		if (status != 0)
			fprintf(stderr, "codex debug-client: %s\n", err.text);
		status = status != 0 ? error_exit_status(err.code) : !run.is_in_order;
		loop_destroy(run.loop);
	}
	cli_finish(&debug_client_command, &run, &words);
	return status;
}
