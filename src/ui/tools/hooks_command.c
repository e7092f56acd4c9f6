/* `test` runs hooks as a session does, with an input that the user gives or that is made up, so that a hook can be
 * written without a model. */
#include "ui/tools/hooks_command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/config_file.h"
#include "config/toml/toml_edit.h"
#include "hook/hook_batch.h"
#include "loop/loop.h"

enum { EXIT_FAILED = 1 };

struct hooks_options {
	struct cli_list overrides;
	const char *input;
	bool is_json, all;
};

static const struct cli_option rows[] = {
	{"config", 'c', CLI_LIST, offsetof(struct hooks_options, overrides), "key=value", NULL,
         "Set a configuration value (TOML); repeatable"},
	{"json", 0, CLI_FLAG, offsetof(struct hooks_options, is_json), NULL, NULL, "With list: print JSON"},
	{"all", 0, CLI_FLAG, offsetof(struct hooks_options, all), NULL, NULL, "With trust: every hook of the list"},
	{"input", 0, CLI_TEXT, offsetof(struct hooks_options, input), "FILE", NULL,
         "With test: the input of the hooks, a JSON object"},
};

enum { WORD_list, WORD_test, WORD_trust };

static const struct cli_word words[] = {
	[WORD_list] = {.word = "list", .doc = "List the hooks that apply in this folder"},
	[WORD_test] = {.word = "test", .doc = "Run the hooks of an event, and show what they do"},
	[WORD_trust] = {.word = "trust", .doc = "Let hooks run as they are defined now"},
};

static const struct cli_argument arguments[] = {
	{"[EVENT|KEY…]", "With test: the event. With trust: keys of the list"},
};

const struct cli_command hooks_command = {
	.name = "codex hooks",
	.about = "List, test and trust the commands that run on events.",
	.usage = "Usage: codex hooks list [--json]\n"
		 "       codex hooks test EVENT [--input FILE]\n"
		 "       codex hooks trust KEY… | --all",
	.details = "Examples:\n"
		   "  codex hooks list\n"
		   "  codex hooks trust --all\n"
		   "  codex hooks test PreToolUse\n"
		   "\n"
		   "Hooks are in hooks.json and [hooks] of config.toml, in $CODEX_HOME and in the\n"
		   ".codex folder of a trusted project. A hook that was changed must be trusted\n"
		   "again.\n",
	.words = words,
	.word_count = countof(words),
	.arguments = arguments,
	.argument_count = countof(arguments),
	.options = rows,
	.option_count = countof(rows),
	.most_positionals = LIMIT_HOOKS,
};

static int fail(const struct error *err)
{
	fprintf(stderr, "Error: %s\n", err->text);
	return EXIT_FAILED;
}

static int refuse(const char *text)
{
	struct error err;
	error_set(&err, ERR_usage, "%s", text);
	return cli_print_error(&hooks_command, &err);
}

static struct config *load(const struct hooks_options *options, struct error *err)
{
	size_t count = options->overrides.count;
	struct str *overrides = xcalloc(count + 1, sizeof(*overrides));
	for (size_t i = 0; i < count; i++)
		overrides[i] = str_of(options->overrides.items[i]);
	const struct config_source source = {.overrides = overrides, .override_count = count};
	struct config *config = config_load(&source, err);
	free(overrides);
	return config;
}

/* Prints text of a file or of a hook without control characters. */
static void print_line(FILE *to, const char *name, struct str text)
{
	auto_buf struct buf line;
	buf_init(&line, LIMIT_HOOK_OUTPUT * 4);
	text_append_line(&line, text);
	fprintf(to, "  %-9s %.*s\n", name, STR_ARG(buf_str(&line)));
}

/* ---- list ---- */

static const char *state_of(const struct hook *hook)
{
	if (!hook->is_enabled)
		return "disabled";
	switch (hook->trust) {
	case app_hook_trust_status_managed:
		return "managed";
	case app_hook_trust_status_trusted:
		return "trusted";
	case app_hook_trust_status_modified:
		return "changed since it was trusted: does not run";
	default:
		return "not trusted: does not run";
	}
}

static void write_hook(const struct hook *hook, struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "key", hook->key);
	jw_member_cstr(w, "event", hook_events[hook->event].name);
	jw_member_cstr(w, "matcher", hook->matcher);
	jw_member_cstr(w, "command", hook->command);
	jw_member_i64(w, "timeoutSec", hook->timeout_s);
	jw_member_bool(w, "async", hook->is_async);
	jw_member_cstr(w, "statusMessage", hook->status_message);
	jw_member_cstr(w, "sourcePath", hook->path);
	jw_member_cstr(w, "source", enum_wire(&enum_hook_source, (int)hook->source));
	jw_member_cstr(w, "currentHash", hook->hash);
	jw_member_cstr(w, "trustStatus", enum_wire(&enum_app_hook_trust_status, (int)hook->trust));
	jw_member_bool(w, "enabled", hook->is_enabled);
	jw_member_bool(w, "runs", hook->is_usable);
	jw_object_end(w);
}

static int print_json(const struct hook_config *hooks)
{
	struct error err;
	auto_buf struct buf json, text;
	buf_init(&json, LIMIT_CONFIG_JSON);
	buf_init(&text, LIMIT_CONFIG_JSON);
	struct json_writer w = json_writer(&json);
	jw_object(&w);
	jw_key(&w, "hooks");
	jw_array(&w);
	vec_for_each(hook, &hooks->list.hooks)
		write_hook(hook, &w);
	jw_array_end(&w);
	jw_key(&w, "warnings");
	jw_array(&w);
	vec_for_each(warning, &hooks->list.warnings)
		jw_cstr(&w, *warning);
	jw_array_end(&w);
	jw_object_end(&w);
	json_indent(&text, buf_str(&json));
	buf_append_char(&text, '\n');
	return fd_write_all(STDOUT_FILENO, buf_str(&text).ptr, text.len, &err) == 0 ? 0 : fail(&err);
}

static void print_hook(const struct hook *hook)
{
	printf("%s%s%s\n", hook_events[hook->event].name, hook->matcher && *hook->matcher ? " " : "",
	       hook->matcher ? hook->matcher : "");
	print_line(stdout, "command", str_of(hook->command));
	print_line(stdout, "state", str_of(state_of(hook)));
	print_line(stdout, "key", str_of(hook->key));
}

static int list(const struct hooks_options *options, const struct hook_config *hooks)
{
	if (options->is_json)
		return print_json(hooks);
	vec_for_each(warning, &hooks->list.warnings)
		fprintf(stderr, "Warning: %s\n", *warning);
	vec_for_each(hook, &hooks->list.hooks)
		print_hook(hook);
	if (!hooks->list.hooks.count)
		puts("No hooks apply in this folder.");
	return 0;
}

/* ---- trust ---- */

struct choice {
	const struct hook_config *hooks;
	const struct cli_list *keys;
	bool all;
	size_t count;
};

static bool is_chosen(const struct choice *choice, const struct hook *hook)
{
	if (hook->trust == app_hook_trust_status_managed)
		return false;
	for (size_t i = 0; i < choice->keys->count; i++)
		if (strcmp(choice->keys->items[i], hook->key) == 0)
			return true;
	return choice->all;
}

static int write_trust(struct toml_edit *edit, void *self, struct error *err)
{
	int status = 0;
	struct choice *choice = self;
	vec_for_each(hook, &choice->hooks->list.hooks) {
		const struct str path[] = {STR("hooks"), STR("state"), str_of(hook->key), STR("trusted_hash")};
		const struct toml value = {.kind = TOML_string, .source = "", .text = str_of(hook->hash)};
		if (status != 0 || !is_chosen(choice, hook))
			continue;
		status = toml_edit_set(edit, path, countof(path), &value, err);
		choice->count++;
	}
	return status;
}

static int check_keys(const struct choice *choice, struct error *err)
{
	for (size_t i = 0; i < choice->keys->count; i++) {
		bool is_known = false;
		vec_for_each(hook, &choice->hooks->list.hooks)
			is_known |= strcmp(hook->key, choice->keys->items[i]) == 0;
		if (!is_known)
			return error_set(err, ERR_not_found,
			                 "no hook of this folder has the key %s (`codex hooks list` shows "
			                 "all)",
			                 choice->keys->items[i]);
	}
	return 0;
}

static int trust(const struct hooks_options *options, const struct config *config, const struct hook_config *hooks,
                 const struct cli_list *keys)
{
	struct error err;
	struct choice choice = {hooks, keys, options->all, 0};
	if (!keys->count && !options->all)
		return refuse("keys of hooks are required, or --all");
	if (check_keys(&choice, &err) != 0 || config_file_change(config_home(config), write_trust, &choice, &err) != 0)
		return fail(&err);
	vec_for_each(hook, &hooks->list.hooks)
		if (is_chosen(&choice, hook))
			print_hook(hook);
	printf("Trusted %zu hook%s.\n", choice.count, choice.count == 1 ? "" : "s");
	return 0;
}

/* ---- test ---- */

struct trial {
	struct loop *loop;
	bool has_failed;
};

static void on_report(const struct hook_run_report *report, void *self)
{
	struct trial *trial = self;
	const struct hook_effect *effect = report->effect;
	if (!effect)
		return;
	trial->has_failed |= effect->status == hook_status_failed;
	printf("%s %s in %lld ms\n", hook_events[report->hook->event].name,
	       enum_wire(&enum_hook_status, (int)effect->status), (long long)report->duration_ms);
	print_line(stdout, "command", str_of(report->hook->command));
	if (effect->error.len)
		print_line(stdout, "error", effect->error);
	if (effect->reason.len)
		print_line(stdout, "reason", effect->reason);
	if (effect->context.len)
		print_line(stdout, "context", effect->context);
	if (effect->message.len)
		print_line(stdout, "message", effect->message);
	if (effect->updated_input.len)
		print_line(stdout, "input", effect->updated_input);
	if (effect->permission != HOOK_PERMISSION_none)
		print_line(stdout, "decision",
		           effect->permission == HOOK_PERMISSION_allow ? STR("allow") : STR("deny"));
}

static void on_done(const struct hook_result *result, void *self)
{
	struct trial *trial = self;
	(void)result;
	loop_stop(trial->loop);
}

/* An input with the members that every event or this kind of event has. */
static void write_sample(enum hook_event event, const char *cwd, struct buf *out)
{
	const char *matched = hook_events[event].matched;
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_cstr(&w, "session_id", "00000000-0000-7000-8000-000000000000");
	jw_member_cstr(&w, "turn_id", "1");
	jw_member_cstr(&w, "transcript_path", NULL);
	jw_member_cstr(&w, "cwd", cwd);
	jw_member_cstr(&w, "hook_event_name", hook_events[event].name);
	jw_member_cstr(&w, "model", "test");
	jw_member_cstr(&w, "permission_mode", "default");
	if (matched && strcmp(matched, "tool_name") == 0) {
		jw_member_cstr(&w, "tool_name", "Bash");
		jw_member_raw(&w, "tool_input", STR("{\"command\":\"echo test\"}"));
		jw_member_cstr(&w, "tool_use_id", "call_1");
		jw_member_cstr(&w, "tool_response", "test\n");
	} else if (matched) {
		jw_member_cstr(&w, matched,
		               strcmp(matched, "source") == 0    ? "startup"
		               : strcmp(matched, "trigger") == 0 ? "auto"
		                                                 : "default");
	} else {
		jw_member_cstr(&w, "prompt", "test");
		jw_member_bool(&w, "stop_hook_active", false);
		jw_member_cstr(&w, "last_assistant_message", "test");
	}
	jw_object_end(&w);
}

static int read_input(const struct hooks_options *options, enum hook_event event, const char *cwd, struct buf *out,
                      struct error *err)
{
	auto_arena struct arena arena = {0};
	if (!options->input) {
		write_sample(event, cwd, out);
		return 0;
	}
	if (file_read_regular(options->input, out, err) != 0)
		return -(int)err->code;
	const struct json *json = json_parse(&arena, buf_str(out), err);
	if (!json)
		return error_wrap(err, "%s", options->input);
	return json->type == JSON_object ? 0 : error_set(err, ERR_invalid, "%s: not a JSON object", options->input);
}

/* Runs the hooks of a call to their end. */
static int run_trial(struct hook_set *set, const struct hook_call *call, struct error *err)
{
	struct trial trial = {.loop = loop_create(err)};
	const struct hook_reporter reporter = {on_report, &trial};
	if (!trial.loop)
		return -(int)err->code;
	struct hook_pool *pool = hook_pool_create(trial.loop, set, &reporter);
	struct hook_batch *batch = hook_batch_start(pool, call, on_done, &trial);
	if (batch)
		loop_run(trial.loop);
	else
		printf("No hook of %s runs on this input; `codex hooks list` shows why.\n",
		       hook_events[call->event].name);
	hook_pool_destroy(pool);
	loop_destroy(trial.loop);
	return trial.has_failed ? EXIT_FAILED : 0;
}

static int try_event(const struct hooks_options *options, const struct config *config, enum hook_event event)
{
	struct error err;
	auto_arena struct arena arena = {0};
	auto_buf struct buf input;
	auto_free char *cwd = getcwd(NULL, 0);
	buf_init(&input, LIMIT_EXEC_STDIN);
	if (read_input(options, event, cwd ? cwd : "/", &input, &err) != 0)
		return fail(&err);
	const struct json *json = json_parse(&arena, buf_str(&input), NULL);
	struct str subject = hook_events[event].matched ? json_get_str(json, hook_events[event].matched) : STR_NONE;
	const struct hook_call call = {
		.event = event,
		.subject = {.name = subject.ptr ? arena_cstr(&arena, subject) : NULL},
		.input = buf_str(&input),
		.cwd = cwd ? cwd : "/",
		.env = config_env_all(),
	};
	struct hook_set *set = hook_set_create(config);
	int status = run_trial(set, &call, &err);
	hook_set_unref(set);
	return status < 0 ? fail(&err) : status;
}

static int refuse_event(const char *name)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	buf_printf(&text, "there is no event `%s`; the events are", name);
	for (size_t i = 0; i < hook_event_count; i++)
		buf_printf(&text, "%s %s", i ? "," : "", hook_events[i].name);
	auto_free char *copy = str_dup(buf_str(&text));
	return refuse(copy);
}

static int run(const struct hooks_options *options, const struct cli_result *result)
{
	struct error err;
	enum hook_event event;
	const struct cli_list *names = &result->positionals;
	if (!result->word)
		return refuse("a command is required: list, test or trust");
	if (result->word == &words[WORD_test] && names->count != 1)
		return refuse("the name of an event is required, such as PreToolUse");
	if (result->word == &words[WORD_test] && !hook_event_find(str_of(names->items[0]), &event))
		return refuse_event(names->items[0]);
	if (result->word == &words[WORD_list] && names->count)
		return refuse("`list` takes no argument");
	struct config *config = load(options, &err);
	if (!config)
		return fail(&err);
	struct hook_config hooks;
	hook_config_init(&hooks, config);
	int status = result->word == &words[WORD_list]   ? list(options, &hooks)
	             : result->word == &words[WORD_test] ? try_event(options, config, event)
	                                                 : trust(options, config, &hooks, names);
	hook_config_finish(&hooks);
	config_unref(config);
	return status;
}

int hooks_main(int argc, char **argv)
{
	struct hooks_options options = {0};
	struct cli_result result;
	int status = cli_read(&hooks_command, argc, argv, &options, &result);
	if (status < 0)
		status = run(&options, &result);
	cli_finish(&hooks_command, &options, &result);
	return status;
}
