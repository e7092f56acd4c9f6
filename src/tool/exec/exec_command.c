/* The begin, output and end events of a command share most of their fields, so one struct holds these. */
#include "tool/exec/exec_command.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "command/command_action.h"
#include "command/env_policy.h"
#include "command/shell.h"
#include "config/config.h"
#include "remote/environment.h"
#include "sandbox/sandbox_denial.h"

static const char *resolve(struct exec_command *command, const char *base, struct str workdir)
{
	auto_free char *name = str_dup(workdir.ptr ? workdir : STR("."));
	auto_free char *joined = path_join(base, name);
	auto_free char *clean = path_normalize(joined);
	return arena_cstr(&command->arena, str_of(clean));
}

int exec_command_choose_login(struct tool_call *call, bool has_wish, bool wish, bool *ret_login)
{
	bool is_allowed = call->host->allows_login_shell;
	*ret_login = has_wish ? wish : is_allowed;
	if (!*ret_login || is_allowed)
		return 0;
	tool_call_finish(call, false, STR("login shell is disabled by config; omit `login` or set it to false."));
	return -1;
}

const char *exec_command_shell(const struct environment *environment)
{
	return environment ? environment->shell : shell_user();
}

void exec_command_init(struct exec_command *command, struct tool_call *call, const char *const *argv,
                       struct str workdir, enum exec_source source)
{
	*command = (struct exec_command){.host = call->host, .source = source};
	if (call->environment)
		command->environment = environment_ref(call->environment);
	list_init(&command->link);
	list_init(&command->wait.link);
	command->call_id = arena_str(&command->arena, call->call_id);
	command->turn_id = arena_str(&command->arena, call->turn_id);
	while (argv[command->argc])
		command->argc++;
	command->argv = arena_array(&command->arena, const char *, command->argc + 1);
	for (size_t i = 0; i < command->argc; i++)
		command->argv[i] = arena_cstr(&command->arena, str_of(argv[i]));
	command->base = arena_cstr(&command->arena, str_of(call->cwd));
	command->cwd = resolve(command, command->base, workdir);
	exec_deltas_init(&command->deltas, call->host, command->call_id, command->turn_id);
}

void exec_command_finish(struct exec_command *command)
{
	list_remove(&command->link);
	list_remove(&command->wait.link);
	command_run_destroy(command->run);
	exec_deltas_finish(&command->deltas);
	if (command->environment)
		environment_unref(command->environment);
	arena_finish(&command->arena);
}

/* ---- its start ---- */

static bool leaves_sandbox(const struct exec_command *command)
{
	return command->is_escalated || command->is_allowed || command->is_freed;
}

/* Copies the roots: a later grant replaces those of the host while the sandbox is still being tried out. */
static void keep_roots(struct exec_command *command)
{
	struct sandbox_policy *policy = &command->policy;
	const char **roots = arena_array(&command->arena, const char *, policy->writable_root_count + 1);
	for (size_t i = 0; i < policy->writable_root_count; i++)
		roots[i] = arena_cstr(&command->arena, str_of(policy->writable_roots[i]));
	policy->writable_roots = roots;
}

static void launch(struct exec_command *command)
{
	static const struct sandbox_policy bare = {.mode = sandbox_mode_danger_full_access};
	struct tool_host *host = command->host;
	bool is_bare = command->source == exec_source_user_shell || leaves_sandbox(command);
	command->policy = is_bare ? bare : *tool_host_policy(host, command->environment);
	command->policy.cwd = command->base;
	keep_roots(command);
	struct command_place *place = command->environment ? &command->environment->place : NULL;
	command->started_ns = clock_now_ns();
	command->run = command_run_start(host->loop, place, &command->policy, command->handler, command->self);
	list_append(&host->commands, &command->link);
	if (host->is_held)
		command_run_pause(command->run);
}

static void on_stored(struct tool_wait *wait)
{
	launch(container_of(wait, struct exec_command, wait));
}

void exec_command_start(struct exec_command *command, const struct command_run_handler *handler, void *self)
{
	struct tool_host *host = command->host;
	command->handler = handler;
	command->self = self;
	command->wait.then = on_stored;
	if (!host->settle(host, &command->wait, command->call_id))
		launch(command);
}

void exec_command_prepare(struct exec_command *command, struct command_run_spec *spec)
{
	struct tool_host *host = command->host;
	spec->process.argv = command->argv;
	spec->process.env = host->command_env(host, command->environment, command->source != exec_source_user_shell,
	                                      command->call_id);
	spec->process.cwd = command->cwd;
	spec->policy = &command->policy;
	if (command->environment)
		spec->inherit = host->inherited_env(host);
	command->policy.has_terminal = spec->process.terminal != NULL;
	command->is_sandboxed = sandbox_is_needed(command->policy.mode);
}

void exec_commands_hold(struct tool_host *host)
{
	struct exec_command *it;
	if (host->is_held)
		return;
	host->is_held = true;
	list_for_each(it, &host->commands, link)
		command_run_pause(it->run);
}

void exec_commands_release(struct tool_host *host)
{
	struct exec_command *it;
	if (!host->is_held)
		return;
	host->is_held = false;
	list_for_each(it, &host->commands, link)
		command_run_resume(it->run);
}

void exec_command_rewind(struct exec_command *command)
{
	command->ran_ns = exec_command_ran_ns(command);
	command->started_ns = 0;
	list_remove(&command->link);
	command_run_destroy(steal(command->run));
}

uint64_t exec_command_ran_ns(const struct exec_command *command)
{
	return command->ran_ns + (command->started_ns ? clock_now_ns() - command->started_ns : 0);
}

/* ---- its events ---- */

struct str *exec_command_words(const struct exec_command *command, struct arena *arena)
{
	struct str *list = arena_array(arena, struct str, command->argc);
	for (size_t i = 0; i < command->argc; i++)
		list[i] = str_of(command->argv[i]);
	return list;
}

static struct parsed_command parsed_of(const struct command_action *action, struct arena *arena)
{
	struct parsed_command parsed = {0};
	switch (action->kind) {
	case ACTION_read:
		parsed.tag = parsed_command_read;
		parsed.read = arena_new(arena, struct parsed_read);
		*parsed.read = (struct parsed_read){action->command, action->name, action->path};
		break;
	case ACTION_list_files:
		parsed.tag = parsed_command_list_files;
		parsed.list_files = arena_new(arena, struct parsed_list);
		*parsed.list_files = (struct parsed_list){action->command, action->path};
		break;
	case ACTION_search:
		parsed.tag = parsed_command_search;
		parsed.search = arena_new(arena, struct parsed_search);
		*parsed.search = (struct parsed_search){action->command, action->query, action->path};
		break;
	case ACTION_unknown:
		parsed.tag = parsed_command_unknown;
		parsed.unknown = arena_new(arena, struct parsed_unknown);
		*parsed.unknown = (struct parsed_unknown){action->command};
		break;
	}
	return parsed;
}

struct parsed_command *exec_command_parsed(struct exec_command *command, size_t *ret_count)
{
	if (!command->parsed) {
		struct command_action *actions;
		size_t count = command_actions(command->argv, &command->arena, &actions);
		command->parsed = arena_array(&command->arena, struct parsed_command, count + 1);
		for (size_t i = 0; i < count; i++)
			command->parsed[i] = parsed_of(&actions[i], &command->arena);
		command->parsed_count = count;
	}
	*ret_count = command->parsed_count;
	return command->parsed;
}

void exec_command_emit_begin(struct exec_command *command)
{
	if (command->is_begun) /* a second approval request for the same command */
		return;
	auto_arena struct arena arena = {0};
	size_t parsed_count;
	struct parsed_command *parsed = exec_command_parsed(command, &parsed_count);
	struct ev_exec_begin event = {
		.call_id = command->call_id,
		.process_id = command->process_id,
		.turn_id = command->turn_id,
		.command = exec_command_words(command, &arena),
		.command_count = command->argc,
		.cwd = str_of(command->cwd),
		.parsed_cmd = parsed,
		.parsed_cmd_count = parsed_count,
		.source = command->source,
	};
	command->is_begun = true;
	command->host->emit(command->host, command->turn_id, EV_exec_command_begin, &event);
}

void exec_command_emit_output(struct exec_command *command, enum exec_stream stream, struct str bytes)
{
	exec_deltas_add(&command->deltas, stream, bytes);
}

void exec_command_emit_end(struct exec_command *command, const struct exec_outcome *outcome)
{
	if (!command->is_begun)
		return;
	exec_deltas_end(&command->deltas);
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	uint64_t ns = exec_command_ran_ns(command);
	struct duration duration = {.secs = (int64_t)(ns / 1000000000u), .nanos = (int64_t)(ns % 1000000000u)};
	size_t parsed_count;
	struct parsed_command *parsed = exec_command_parsed(command, &parsed_count);
	struct ev_exec_end event = {
		.call_id = command->call_id,
		.process_id = command->process_id,
		.turn_id = command->turn_id,
		.command = exec_command_words(command, &arena),
		.command_count = command->argc,
		.cwd = str_of(command->cwd),
		.parsed_cmd = parsed,
		.parsed_cmd_count = parsed_count,
		.source = command->source,
		.standard_output = outcome->standard_output,
		.standard_error = outcome->standard_error,
		.aggregated_output = outcome->aggregated,
		.exit_code = outcome->exit_code,
		.duration = &duration,
		.formatted_output = outcome->formatted,
	};
	command->is_begun = false;
	command->host->emit(command->host, command->turn_id, EV_exec_command_end, &event);
}

void exec_command_hold_back(struct exec_command *command, const struct sandbox_outcome *outcome)
{
	auto_buf struct buf text;
	buf_init(&text, outcome->out.len + outcome->err.len + 1);
	buf_append_str(&text, outcome->out);
	buf_append_str(&text, outcome->err);
	command->first_output = arena_str(&command->arena, buf_str(&text));
	command->first_code = outcome->signal ? 128 + outcome->signal : outcome->exit_code;
	command->is_held_back = true;
}

/* For the model, a reason may begin with the command as it would run; the user reads it once, and without its shell. */
void exec_command_report_refusal(const struct exec_command *command, const struct tool_call *call, struct str reason)
{
	auto_buf struct buf what, before;
	buf_init(&what, LIMIT_LINE);
	buf_init(&before, LIMIT_LINE);
	buf_append_c(&what, "The command was not run: `");
	shell_show(&what, command->argv);
	buf_append_c(&what, "`");
	buf_append_c(&before, "`");
	shell_join(&before, command->argv);
	buf_append_c(&before, "` rejected: ");
	str_cut_prefix(&reason, buf_str(&before).ptr);
	tool_call_report_refusal(call, buf_str(&what), reason);
}

/* The reviewer's reason is a guardian_warning of its own. */
void exec_command_report_denial(const struct exec_command *command, const struct tool_call *call)
{
	if (!command->is_begun && call->denial.ptr)
		exec_command_report_refusal(command, call, call->is_denial_shown ? STR("") : call->denial);
}

void exec_command_emit_refused(struct exec_command *command, struct str text)
{
	struct exec_outcome outcome = {-1, STR(""), text, text, text};
	struct str first = command->first_output, note = STR("The second run, outside the sandbox, was declined.");
	auto_buf struct buf both;
	buf_init(&both, first.len + note.len + 2);
	buf_append_str(&both, first); /* which may contain NUL */
	buf_append_c(&both, first.len && !str_has_suffix(first, "\n") ? "\n" : "");
	buf_append_str(&both, note);
	if (command->is_held_back)
		outcome = (struct exec_outcome){command->first_code, first, note, buf_str(&both), buf_str(&both)};
	exec_command_emit_end(command, &outcome);
}

void exec_command_key(const struct exec_command *command, struct buf *out)
{
	shell_join(out, command->argv);
	buf_append_char(out, '\n');
	buf_append_c(out, command->cwd);
	buf_append_c(out, command->is_escalated ? "\nescalated" : "\nsandboxed");
	if (command->environment)
		buf_printf(out, "\n%" PRIu64, command->environment->number);
}

int exec_exit_code(const struct process_result *result)
{
	return result->signal ? 128 + result->signal : result->exit_code;
}

/* ---- its environment ---- */

void exec_command_env(const struct config_env_policy *config, struct env *env)
{
	auto_arena struct arena arena = {0};
	struct env_var *set = arena_array(&arena, struct env_var, config->set.count);
	for (size_t i = 0; i < config->set.count; i++)
		set[i] = (struct env_var){config->set.items[i].key, config->set.items[i].value};
	struct env_policy policy = {
		.inherit = config->inherit,
		.ignore_default_excludes = config->ignore_default_excludes,
		.exclude = config->exclude.items,
		.exclude_count = config->exclude.count,
		.set = set,
		.set_count = config->set.count,
		.include_only = config->include_only.items,
		.include_only_count = config->include_only.count,
	};
	env_policy_apply(&policy, NULL, env);
}
