/* Prints the catalog in the form in which the provider lists models, and model_catalog_json reads them. */
#include "ui/tools/debug_models.h"

#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "model/model_catalog.h"
#include "ui/exec/debug_prompt.h"

enum { EXIT_FAILED = 1 };

struct models_options {
	struct cli_list overrides;
	bool is_bundled;
};

static const struct cli_option rows[] = {
	{"config", 'c', CLI_LIST, offsetof(struct models_options, overrides), "key=value", NULL,
         "Set a configuration value (TOML); repeatable"},
	{"bundled", 0, CLI_FLAG, offsetof(struct models_options, is_bundled), NULL, NULL,
         "Ignore model_catalog_json: the built-in models alone"},
};

static const struct cli_command models_command = {
	.name = "codex debug models",
	.about = "Print the known models and their properties as JSON.",
	.usage = "Usage: codex debug models [--bundled]",
	.options = rows,
	.option_count = countof(rows),
};

static int models_main(int argc, char **argv);

static const struct cli_word words[] = {
	{"models", NULL, "Print the known models as JSON", &models_command, models_main},
	{"prompt-input", NULL, "Print the input of the first request as JSON", &debug_prompt_command,
         debug_prompt_main},
};

const struct cli_command debug_command = {
	.name = "codex debug",
	.about = "Print what the program knows about models, and what it would send to one.",
	.usage = "Usage: codex debug models [--bundled]\n"
		 "       codex debug prompt-input [OPTIONS] [PROMPT]",
	.words = words,
	.word_count = countof(words),
};

static void write_efforts(const struct model_info *info, struct json_writer *w)
{
	jw_key(w, "supported_reasoning_levels");
	jw_array(w);
	for (int effort = reasoning_effort_none; effort < reasoning_effort_count; effort++) {
		if (!model_info_has_effort(info, (enum reasoning_effort)effort))
			continue;
		jw_object(w);
		jw_member_cstr(w, "effort", enum_wire(&enum_reasoning_effort, effort));
		jw_object_end(w);
	}
	jw_array_end(w);
}

static void write_list(const char *key, const char *const *items, size_t count, struct json_writer *w)
{
	jw_key(w, key);
	jw_array(w);
	for (size_t i = 0; i < count; i++)
		jw_cstr(w, items[i]);
	jw_array_end(w);
}

static const char *wire_or_null(const struct enum_type *type, int value)
{
	const char *wire = value ? enum_wire(type, value) : "";
	return wire[0] ? wire : NULL;
}

static void write_output(const struct model_info *info, struct json_writer *w)
{
	jw_member_cstr(w, "default_reasoning_summary", enum_wire(&enum_reasoning_summary, (int)info->default_summary));
	jw_member_bool(w, "support_verbosity", info->has_verbosity);
	jw_member_cstr(w, "default_verbosity", wire_or_null(&enum_verbosity, (int)info->default_verbosity));
	jw_key(w, "truncation_policy");
	jw_object(w);
	jw_member_cstr(w, "mode", info->output_budget.unit == TEXT_TOKENS ? "tokens" : "bytes");
	jw_member_i64(w, "limit", (int64_t)info->output_budget.limit);
	jw_object_end(w);
	jw_member_i64(w, "context_window", info->context_window);
	jw_member_i64(w, "effective_context_window_percent", info->window_percent);
}

static void write_tools(const struct model_info *info, struct json_writer *w)
{
	static const char *const modalities[] = {"text", "image"}, *const extra[] = {"send_user_message_async",
	                                                                             "clock"};
	const char *patch = info->patch_form == MODEL_PATCH_freeform ? "freeform" : "function";
	jw_member_cstr(w, "apply_patch_tool_type", info->patch_form == MODEL_PATCH_none ? NULL : patch);
	write_list("experimental_supported_tools", extra, info->is_gpt6 ? 2 : 0, w);
	write_list("input_modalities", modalities, info->has_image_input ? 2 : 1, w);
	jw_member_bool(w, "supports_parallel_tool_calls", info->has_parallel_calls);
	jw_member_bool(w, "supports_search_tool", info->has_tool_search);
	jw_member_bool(w, "use_responses_lite", info->is_lite);
	jw_member_bool(w, "supports_reasoning_effort_updates", info->has_effort_updates);
	if (info->is_code_only) {
		jw_member_cstr(w, "tool_mode", "code_mode_only");
		jw_member_cstr(w, "multi_agent_version", info->has_agents_v1 ? "v1" : "v2");
	}
	if (info->comp_hash.ptr)
		jw_member_str(w, "comp_hash", info->comp_hash);
}

static void write_model(const struct model_info *info, struct json_writer *w)
{
	jw_object(w);
	jw_member_str(w, "slug", info->slug);
	jw_member_cstr(w, "display_name", info->name);
	jw_member_cstr(w, "description", info->about);
	jw_member_cstr(w, "default_reasoning_level", wire_or_null(&enum_reasoning_effort, (int)info->default_effort));
	write_efforts(info, w);
	jw_member_cstr(w, "visibility", info->is_hidden ? "hide" : "list");
	write_output(info, w);
	write_tools(info, w);
	jw_object_end(w);
}

static int load(const struct models_options *options, struct error *err)
{
	struct str *overrides = xcalloc(options->overrides.count + 1, sizeof(*overrides));
	for (size_t i = 0; i < options->overrides.count; i++)
		overrides[i] = str_of(options->overrides.items[i]);
	const struct config_source source = {.overrides = overrides, .override_count = options->overrides.count};
	struct config *config = config_load(&source, err);
	free(overrides);
	if (!config)
		return -(int)err->code;
	int status = options->is_bundled ? 0 : model_catalog_load(config->model_catalog_json, err);
	config_unref(config);
	return status;
}

static int models_main(int argc, char **argv)
{
	struct models_options options = {0};
	struct cli_result result;
	struct model_info info;
	struct error err;
	auto_buf struct buf out;
	buf_init(&out, MODEL_CATALOG_FILE_MAX);
	int status = cli_read(&models_command, argc, argv, &options, &result);
	if (status >= 0) {
		cli_finish(&models_command, &options, &result);
		return status;
	}
	status = load(&options, &err);
	cli_finish(&models_command, &options, &result);
	if (status != 0) {
		fprintf(stderr, "Error: %s\n", err.text);
		return EXIT_FAILED;
	}
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	jw_key(&w, "models");
	jw_array(&w);
	for (size_t i = 0; model_catalog_at(i, &info); i++)
		write_model(&info, &w);
	jw_array_end(&w);
	jw_object_end(&w);
	buf_append_char(&out, '\n');
	return fd_write_all(STDOUT_FILENO, out.data, out.len, NULL) == 0 ? 0 : EXIT_FAILED;
}

int debug_main(int argc, char **argv)
{
	struct cli_result result;
	struct error err;
	int at;
	bool is_fine = cli_find_positional(&debug_command, argc, argv, &at, &result, &err) == 0;
	const struct cli_word *word = is_fine ? cli_move_word(&debug_command, argv, at) : NULL;
	if (word)
		return word->run(argc - 1, argv + 1);
	int status = cli_read(&debug_command, argc, argv, NULL, &result);
	if (status < 0) {
		error_set(&err, ERR_usage, "expected a word: models or prompt-input");
		status = cli_print_error(&debug_command, &err);
	}
	cli_finish(&debug_command, NULL, &result);
	return status;
}
