/* The command around mock_model: options in, one line out that says where it listens, exit status 1 if a request did
 * not fit the script. A test needs nothing else: it reads the line, runs its client, ends the server with SIGTERM and
 * looks at the status. */
#include "server/mock_model.h"

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <uv.h>

#include "base/error.h"
#include "base/mem.h"
#include "loop/loop.h"

static const char help[] =
        "Usage: codex mock-model --script FILE [OPTIONS]\n"
        "\n"
        "Runs a model that says what its script says: a server for the Responses API that needs no network, no key "
        "and\n"
        "no luck. Point any Codex client at the address it prints.\n"
        "\n"
        "Options:\n"
        "  --script FILE       what to answer: one JSON object per request\n"
        "  --listen HOST:PORT  where to listen [127.0.0.1:0; port 0 takes any that is free]\n"
        "  --record FILE       append each request to FILE as one line of JSON, keys masked\n"
        "  --allow-remote      permit an address that other machines can reach\n"
        "  --help              print this\n"
        "\n"
        "Example: a model that runs a command, looks at its output and says goodbye.\n"
        "\n"
        "  $ cat hello.jsonl\n"
        "  # The first request gets a tool call, the second one a message.\n"
        "  {\"reply\": [{\"call\": \"exec_command\", \"arguments\": {\"cmd\": \"echo hello\"}}]}\n"
        "  {\"reply\": [{\"message\": \"Done.\"}], \"expect\": {\"path\": {\"input.-1.output\": \"hello\"}}}\n"
        "\n"
        "  $ codex mock-model --script hello.jsonl\n"
        "  listening on http://127.0.0.1:43117/v1\n"
        "\n"
        "  $ codex exec -c model_provider=mock -c model_providers.mock.name=mock \\\n"
        "      -c model_providers.mock.base_url=http://127.0.0.1:43117/v1 \"say hello\"\n"
        "\n"
        "It ends on Ctrl-C or SIGTERM, with status 0 if every request fitted the script, else 1.\n"
        "All that a script can say is in docs/mock-model.md.\n";

struct command {
	struct mock_options options;
	char *host; /* owned copy of the address in --listen */
	bool wants_help;
};

/* "HOST:PORT", "[HOST]:PORT" or "HOST" */
static int parse_listen(struct command *command, const char *text, struct error *err)
{
	struct str host = str_of(text);
	ptrdiff_t colon = str_rfind_char(host, ':');
	uint64_t port = 0;
	bool has_port = colon >= 0 && !str_has_suffix(host, "]");
	if (has_port && (!str_to_u64(str_skip(host, (size_t)colon + 1), &port) || port > UINT16_MAX))
		return error_set(err, ERR_usage, "--listen %s: want HOST:PORT, for example 127.0.0.1:8080", text);
	if (has_port)
		host.len = (size_t)colon;
	if (str_has_prefix(host, "[") && str_has_suffix(host, "]"))
		host = str_n(host.ptr + 1, host.len - 2);
	free(command->host);
	command->host = str_dup(host);
	command->options.host = command->host;
	command->options.port = (uint16_t)port;
	return 0;
}

static int apply_option(struct command *command, int option, struct error *err)
{
	switch (option) {
	case 's':
		command->options.script_path = optarg;
		return 0;
	case 'l':
		return parse_listen(command, optarg, err);
	case 'r':
		command->options.record_path = optarg;
		return 0;
	case 'a':
		command->options.allow_remote = true;
		return 0;
	case 'h':
		command->wants_help = true;
		return 0;
	default:
		return error_set(err, ERR_usage, "see codex mock-model --help");
	}
}

static int parse_options(struct command *command, int argc, char **argv, struct error *err)
{
	static const struct option options[] = {
	        {"script", required_argument, NULL, 's'}, {"listen", required_argument, NULL, 'l'},
	        {"record", required_argument, NULL, 'r'}, {"allow-remote", no_argument, NULL, 'a'},
	        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
	};
	int option;
	optind = 0;
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		int rc = apply_option(command, option, err);
		if (rc < 0)
			return rc;
	}
	if (optind < argc)
		return error_set(err, ERR_usage, "\"%s\" is not an option; see codex mock-model --help", argv[optind]);
	if (!command->options.script_path && !command->wants_help)
		return error_set(err, ERR_usage,
		                 "--script FILE is needed; codex mock-model --help shows what can be in it");
	return 0;
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
	uv_run(loop_uv(loop), UV_RUN_NOWAIT); /* the handles are on this stack: let them close */
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

static int run(struct command *command, int argc, char **argv, struct error *err)
{
	int rc = parse_options(command, argc, argv, err);
	if (rc < 0)
		return error_exit_status(err->code);
	if (command->wants_help) {
		fputs(help, stdout);
		return 0;
	}
	struct loop *loop = loop_create(err);
	if (!loop)
		return error_exit_status(err->code);
	signal(SIGPIPE, SIG_IGN);
	command->options.on_note = on_note;
	int status = serve(loop, &command->options, err);
	loop_destroy(loop);
	return status;
}

int mock_model_main(int argc, char **argv)
{
	struct error err = {0};
	struct command command = {0};
	int status = run(&command, argc, argv, &err);
	if (err.code)
		fprintf(stderr, "mock-model: %s\n", err.text);
	free(command.host);
	return status;
}
