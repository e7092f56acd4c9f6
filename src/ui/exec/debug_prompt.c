/* A session is configured as by `codex exec --ephemeral`, without MCP servers, and asked for the items of its first
 * request. */
#include "ui/exec/debug_prompt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "process/process_reaper.h"
#include "ui/exec/exec_options.h"
#include "ui/exec/exec_prompt.h"

enum { EXIT_FAILED = 1 };

struct preview {
	struct exec_options options;
	const char *prompt;
	struct config *config;
	char *cwd;
	struct loop *loop;
	struct codex *codex;
	struct buf text;
	struct error err; /* the reason why there is no text */
};

#define ROW(name, letter, kind, field, value, doc)                                            \
	{                                                                                     \
		name, letter, kind, offsetof(struct preview, options.field), value, NULL, doc \
	}

static const struct cli_option rows[] = {
	ROW("config", 'c', CLI_LIST, overrides, "key=value", "Set a configuration value (TOML); repeatable"),
	ROW("enable", 0, CLI_LIST, enable, "FEATURE", "Same as -c features.FEATURE=true; repeatable"),
	ROW("disable", 0, CLI_LIST, disable, "FEATURE", "Same as -c features.FEATURE=false; repeatable"),
	ROW("image", 'i', CLI_FILES, images, "FILE", "Attach images to the prompt"),
	ROW("model", 'm', CLI_TEXT, model, "MODEL", "Model that would be used"),
	ROW("profile", 'p', CLI_TEXT, profile, "NAME", "Use the configuration profile NAME"),
	ROW("sandbox", 's', CLI_TEXT, sandbox, "MODE", "Sandbox mode that would be used"),
	ROW("cd", 'C', CLI_TEXT, cwd, "DIR", "Folder to work in"),
};

static const struct cli_argument arguments[] = {{"[PROMPT]", "A prompt to add after the context"}};

const struct cli_command debug_prompt_command = {
	.name = "codex debug prompt-input",
	.about = "Print the input items of the first request as JSON. No model is asked.",
	.usage = "Usage: codex debug prompt-input [OPTIONS] [PROMPT]",
	.details = "The items contain AGENTS.md files, skills and the environment as the model would\n"
		   "read them. The system prompt and the tools are not part of them.\n",
	.arguments = arguments,
	.argument_count = countof(arguments),
	.options = rows,
	.option_count = countof(rows),
	.most_positionals = 1,
};

static void write_items(struct preview *preview)
{
	auto_buf struct buf compact;
	struct exec_images images;
	struct input_text text = {.text = str_of(preview->prompt)};
	VEC(struct user_input) items = {0};
	buf_init(&compact, LIMIT_CONTEXT_TEXT);
	exec_images_init(&images, &preview->options.images);
	vec_for_each(image, &images)
		vec_push(&items, (struct user_input){.tag = user_input_local_image, .local_image = image});
	if (preview->prompt)
		vec_push(&items, (struct user_input){.tag = user_input_text, .text = &text});
	codex_preview_input(preview->codex, items.items, items.count, &compact);
	vec_finish(&items);
	exec_images_finish(&images);
	json_indent(&preview->text, buf_str(&compact));
	buf_append_char(&preview->text, '\n');
	if (preview->text.over || compact.over)
		error_set(&preview->err, ERR_limit, "the input is too large");
}

static void on_event(const struct event *event, void *self)
{
	struct preview *preview = self;
	if (event->msg.tag == EV_error)
		error_set(&preview->err, ERR_invalid, "%.*s", STR_ARG(event->msg.error->message));
	if (event->msg.tag == EV_session_configured || event->msg.tag == EV_error)
		loop_stop(preview->loop);
}

static int load(struct preview *preview, struct error *err)
{
	const char *want = preview->options.cwd ? preview->options.cwd : ".";
	struct config *config = NULL;
	preview->cwd = realpath(want, NULL);
	if (!preview->cwd)
		return error_sys(err, errno, "cannot work in %s", want);
	preview->options.needs_no_key = true;
	if (exec_config_load(&preview->options, preview->cwd, &config, err) != 0)
		return -(int)err->code;
	preview->config = config_with_servers(config, STR("{}"), err);
	config_unref(config);
	return preview->config ? 0 : -(int)err->code;
}

static int configure(struct preview *preview)
{
	static struct ask_for_approval never = {.tag = ask_for_approval_never};
	struct exec_sandbox sandbox;
	exec_config_sandbox(&preview->options, preview->config, &sandbox);
	struct op_configure_session body = {.approval_policy = &never, .sandbox_policy = &sandbox.sandbox};
	struct op op = {.tag = OP_configure_session, .configure_session = &body};
	int status = codex_submit_op(preview->codex, STR("configure"), &op, &preview->err);
	exec_sandbox_finish(&sandbox);
	return status;
}

static int run(struct preview *preview)
{
	preview->loop = loop_create(&preview->err);
	if (!preview->loop)
		return -1;
	struct services *services = services_create(preview->loop, "codex_exec");
	struct codex_options options = {
		.services = services,
		.config = preview->config,
		.source = session_source_exec,
		.cwd = preview->cwd,
		.ephemeral = true,
		.is_unattended = true,
		.on_event = on_event,
		.self = preview,
	};
	preview->codex = codex_open(&options);
	if (configure(preview) == 0)
		loop_run(preview->loop);
	if (!preview->err.code)
		write_items(preview);
	codex_close(preview->codex);
	services_destroy(services);
	process_reaper_stop();
	loop_destroy(preview->loop);
	return preview->err.code ? -1 : 0;
}

static int print(struct preview *preview)
{
	if (load(preview, &preview->err) == 0 && run(preview) == 0)
		best_effort(fd_write_all(STDOUT_FILENO, preview->text.data, preview->text.len, &preview->err));
	if (preview->err.code)
		fprintf(stderr, "Error: %s\n", preview->err.text);
	return preview->err.code ? EXIT_FAILED : 0;
}

int debug_prompt_main(int argc, char **argv)
{
	struct preview preview = {0};
	struct cli_result result;
	buf_init(&preview.text, 2 * LIMIT_CONTEXT_TEXT);
	int status = cli_read(&debug_prompt_command, argc, argv, &preview, &result);
	if (status < 0) {
		preview.prompt = result.positionals.count ? result.positionals.items[0] : NULL;
		status = print(&preview);
	}
	cli_finish(&debug_prompt_command, &preview, &result);
	config_unref(preview.config);
	buf_finish(&preview.text);
	free(preview.cwd);
	return status;
}
