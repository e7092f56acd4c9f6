/* The command around mock_model. It prints one line with its address and exits with 1 if a request did not match the
 * script, so that a test can read the line, run its client, send SIGTERM and check the status. */
#include "ui/serve/mock_command.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <uv.h>

#include "base/error.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "server/mock/mock_model.h"
#include "ui/fleet/fleet_options.h"

struct command {
	/* From the command line: */
	const char *script, *listen, *record;
	bool allow_remote;
	/* private */
	struct mock_options options;
	char *host; /* owned copy of the address in --listen */
};

#define ROW(field, text, kind_, value_, doc_)                                                                        \
	{                                                                                                            \
		.name = text, .kind = kind_, .offset = offsetof(struct command, field), .value = value_, .doc = doc_ \
	}

static const struct cli_option rows[] = {
	ROW(script, "script", CLI_TEXT, "FILE", "The replies: one JSON object per request"),
	ROW(listen, "listen", CLI_TEXT, "HOST:PORT", "Address to listen on; port 0, the default, picks a free one"),
	ROW(record, "record", CLI_TEXT, "FILE", "Append each request to FILE as a line of JSON, keys masked"),
	ROW(allow_remote, "allow-remote", CLI_FLAG, NULL, "Permit an address that other machines can reach"),
};

static const char details[] =
	"Example: a model that runs a command, reads its output and ends.\n"
	"\n"
	"  $ cat hello.jsonl\n"
	"  # The first request gets a tool call, the second one a message.\n"
	"  {\"reply\": [{\"call\": \"exec_command\", \"arguments\": {\"cmd\": \"echo hello\"}}]}\n"
	"  {\"reply\": [{\"message\": \"Done.\"}],\n"
	"   \"expect\": {\"path\": {\"input.-1.output\": \"hello\"}}}\n"
	"\n"
	"  $ codex mock-model --script hello.jsonl\n"
	"  listening on http://127.0.0.1:43117/v1\n"
	"\n"
	"  $ codex exec -c model_provider=mock -c model_providers.mock.name=mock \\\n"
	"      -c model_providers.mock.base_url=http://127.0.0.1:43117/v1 \"say hello\"\n"
	"\n"
	"It ends on Ctrl-C or SIGTERM, with status 0 if every request matched the script,\n"
	"else 1. docs/mock-model.md describes the scripts.\n" FLEET_DETAILS;

const struct cli_command mock_model_command = {
	.name = "codex mock-model",
	.about = "Run a scripted model: a server for Responses, Chat Completions and Messages without network and key. "
		 "Use the "
		 "address that it prints as the base_url of a provider.",
	.usage = "Usage: codex mock-model --script FILE [OPTIONS]",
	.details = details,
	.options = rows,
	.option_count = countof(rows),
};

/* Parses "HOST:PORT", "[HOST]:PORT" or "HOST". */
static int parse_listen(struct command *command, const char *text, struct error *err)
{
	struct str host = str_of(text);
	ptrdiff_t colon = str_rfind_char(host, ':');
	uint64_t port = 0;
	bool has_port = colon >= 0 && !str_has_suffix(host, "]");
	if (has_port && (!str_to_u64(str_skip(host, (size_t)colon + 1), &port) || port > UINT16_MAX))
		return error_set(err, ERR_usage, "--listen %s: expected HOST:PORT, for example 127.0.0.1:8080", text);
	if (has_port)
		host.len = (size_t)colon;
	if (str_has_prefix(host, "[") && str_has_suffix(host, "]"))
		host = str_n(host.ptr + 1, host.len - 2);
	command->host = str_dup(host);
	command->options.host = command->host;
	command->options.port = (uint16_t)port;
	return 0;
}

static int check_options(struct command *command, struct error *err)
{
	command->options.script_path = command->script;
	command->options.record_path = command->record;
	command->options.allow_remote = command->allow_remote;
	if (!command->script)
		return error_set(err, ERR_usage, "--script FILE is required; --help shows an example");
	return command->listen ? parse_listen(command, command->listen, err) : 0;
}

static void on_note(const char *text, void *self)
{
	(void)self;
	fprintf(stderr, "mock-model: %s\n", text);
}

static void on_signal(uv_signal_t *signal, int number)
{
	(void)number;
	loop_stop(signal->data);
}

static void run_until_signal(struct loop *loop)
{
	static const int numbers[] = {SIGINT, SIGTERM};
	uv_signal_t signals[countof(numbers)];
	for (size_t i = 0; i < countof(numbers); i++) {
		uv_signal_init(loop_uv(loop), &signals[i]);
		signals[i].data = loop;
		uv_signal_start(&signals[i], on_signal, numbers[i]);
	}
	loop_run(loop);
	for (size_t i = 0; i < countof(numbers); i++)
		uv_close((uv_handle_t *)&signals[i], NULL);
	uv_run(loop_uv(loop), UV_RUN_NOWAIT); /* Lets the handles close, because they are on this stack. */
}

static int serve(struct loop *loop, const struct mock_options *options, struct error *err)
{
	bool is_v6 = options->host && str_find_char(str_of(options->host), ':') >= 0;
	struct mock_model *mock = mock_model_create(loop, options, err);
	if (!mock)
		return error_exit_status(err->code);
	printf("listening on http://%s%s%s:%u/v1\n", is_v6 ? "[" : "", options->host ? options->host : "127.0.0.1",
	       is_v6 ? "]" : "", mock_model_port(mock));
	fflush(stdout);
	run_until_signal(loop);
	uint64_t failures = mock_model_failures(mock);
	if (failures)
		fprintf(stderr, "mock-model: %" PRIu64 " of %" PRIu64 " requests did not fit the script\n", failures,
		        mock_model_requests(mock));
	mock_model_destroy(mock);
	return failures ? 1 : 0;
}

static int run(struct command *command)
{
	struct error err = {0};
	if (check_options(command, &err) != 0)
		return cli_print_error(&mock_model_command, &err);
	struct loop *loop = loop_create(&err);
	int status = 0;
	command->options.on_note = on_note;
	if (loop)
		status = serve(loop, &command->options, &err);
	loop_destroy(loop);
	if (!err.code)
		return status;
	fprintf(stderr, "mock-model: %s\n", err.text);
	return error_exit_status(err.code);
}

int mock_model_main(int argc, char **argv)
{
	struct command command = {0};
	struct cli_result result;
	int status = cli_read(&mock_model_command, argc, argv, &command, &result);
	if (status < 0) {
		signal(SIGPIPE, SIG_IGN);
		status = run(&command);
	}
	cli_finish(&mock_model_command, &command, &result);
	free(command.host);
	return status;
}
