/* Uses the policy, plan and sandbox of a session, so that a command behaves as it does there. Only the start differs:
 * the command keeps the user's streams, terminal and process group, as with `sudo` or `nice`. Its descendants are
 * terminated when it ends. */
#include "ui/tools/sandbox_command.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/host.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "loop/child.h"
#include "loop/loop.h"
#include "command/env_policy.h"
#include "process/process_reaper.h"
#include "sandbox/sandbox.h"
#include "process/process.h"
#include "process/spawn.h"
#include "process/tree_kill.h"
#include "ui/exec/exec_options.h"

enum { EXIT_FAILED = 1, EXIT_NOT_RUN = 126, EXIT_NO_PROGRAM = 127, EXIT_SIGNAL = 128 };

struct sandbox_options {
	struct exec_options exec; /* the options shared with codex exec */
	const char *permissions;
};

#define COMMON(field) (offsetof(struct sandbox_options, exec) + offsetof(struct exec_options, field))

static const struct cli_option rows[] = {
	{"config", 'c', CLI_LIST, COMMON(overrides), "key=value", NULL, "Set a configuration value; repeatable"},
	{"enable", 0, CLI_LIST, COMMON(enable), "FEATURE", NULL, "Same as -c features.FEATURE=true; repeatable"},
	{"disable", 0, CLI_LIST, COMMON(disable), "FEATURE", NULL, "Same as -c features.FEATURE=false; repeatable"},
	{"profile", 'p', CLI_TEXT, COMMON(profile), "NAME", NULL, "Use the configuration profile NAME"},
	{"sandbox", 's', CLI_TEXT, COMMON(sandbox), "MODE", "read-only|workspace-write|danger-full-access",
         "Limits on what the command can read, write and connect to; default: sandbox_mode of config.toml"},
	{"permissions", 'P', CLI_TEXT, offsetof(struct sandbox_options, permissions), "NAME", NULL,
         "A permission profile: :read-only, :workspace, :danger-full-access, or one of [permissions]"},
	{"permission-profile", 0, CLI_TEXT, offsetof(struct sandbox_options, permissions), "NAME", NULL, NULL},
	{"full-auto", 0, CLI_FLAG, COMMON(full_auto), NULL, NULL, "Same as --sandbox workspace-write"},
	{"cd", 'C', CLI_TEXT, COMMON(cwd), "DIR", NULL, "Folder to work in"},
	{"add-dir", 0, CLI_LIST, COMMON(add_dirs), "DIR", NULL, "Another writable folder; repeatable"},
};

static const struct cli_argument arguments[] = {
	{"COMMAND…", "The command and its arguments; options after the first word belong to it"},
};

const struct cli_command sandbox_command = {
	.name = "codex sandbox",
	.about = "Run one command in the sandbox that the engine would use.",
	.usage = "Usage: codex sandbox [OPTIONS] [--] COMMAND…",
	.details = "Examples:\n"
		   "  codex sandbox -- ls /\n"
		   "  codex sandbox --full-auto -- make test\n"
		   "  codex sandbox -c sandbox_backend=landlock -- true\n"
		   "\n"
		   "docs/sandbox.md describes the modes; codex doctor reports which backends work.\n",
	.arguments = arguments,
	.argument_count = countof(arguments),
	.options = rows,
	.option_count = countof(rows),
};

struct run {
	struct sandbox_options options;
	char **argv;
	struct arena arena;
	struct config *config;
	struct sandbox_policy policy;
	struct loop *loop;
	struct env env;
	struct error err;
	int status;
};

/* ---- the policy ---- */

/* Resolves links, because the policy needs real paths. A missing path is unchanged, and the error names it. */
static const char *real_path(struct run *run, struct str path)
{
	const char *text = arena_cstr(&run->arena, path);
	auto_free char *real = realpath(text, NULL);
	return real ? arena_cstr(&run->arena, str_of(real)) : text;
}

static void take_roots(struct run *run)
{
	const struct config_strings *listed = &run->config->sandbox_workspace_write.writable_roots;
	const struct cli_list *added = &run->options.exec.add_dirs;
	const char **roots = arena_array(&run->arena, const char *, listed->count + added->count + 1);
	for (size_t i = 0; i < listed->count; i++)
		roots[run->policy.writable_root_count++] = real_path(run, listed->items[i]);
	for (size_t i = 0; i < added->count; i++)
		roots[run->policy.writable_root_count++] = real_path(run, str_of(added->items[i]));
	run->policy.writable_roots = roots;
}

static void take_policy(struct run *run, const char *cwd)
{
	const struct config_sandbox *details = &run->config->sandbox_workspace_write;
	bool is_workspace = run->config->sandbox_mode == sandbox_mode_workspace_write;
	run->policy = (struct sandbox_policy){
		.mode = run->config->sandbox_mode,
		.backend = run->config->sandbox_backend,
		.network_access = is_workspace && details->network_access,
		.has_terminal = true, /* input that other processes could inject is filtered */
		.exclude_tmpdir = details->exclude_tmpdir_env_var,
		.exclude_slash_tmp = details->exclude_slash_tmp,
		.cwd = cwd,
		.tmpdir = config_env("TMPDIR"),
		.home = config_home(run->config),
	};
	if (is_workspace)
		take_roots(run);
}

static int configure(struct run *run)
{
	const char *want = run->options.exec.cwd ? run->options.exec.cwd : ".";
	auto_free char *real = realpath(want, NULL);
	if (!real || chdir(real) != 0)
		return error_sys(&run->err, errno, "cannot work in %s", want);
	run->options.exec.permissions = run->options.permissions;
	int status = exec_config_load(&run->options.exec, real, &run->config, &run->err);
	if (status == 0)
		take_policy(run, arena_cstr(&run->arena, str_of(real)));
	return status;
}

/* ---- the command ---- */

static pid_t running;

static void pass_on(int signal)
{
	if (running > 0)
		kill(running, signal);
}

/* Catches signals. Those of the keyboard reach the command directly. */
static void catch_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, pass_on);
	signal(SIGHUP, pass_on);
}

static int spawn_sandboxed(struct run *run, struct sandboxed_command *sandboxed, pid_t *ret_pid)
{
	const struct launch *launch = sandbox_launch(sandboxed, env_vars(&run->env));
	const char *const *env = launch ? launch->env : env_vars(&run->env);
	const char *const *argv = launch ? launch->argv : (const char *const *)run->argv;
	int extra_fd = launch ? launch->fd : 0;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t fallback;
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	sigemptyset(&fallback);
	for (size_t i = 0; i < 5; i++)
		sigaddset(&fallback, (int[]){SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE}[i]);
	posix_spawnattr_setsigdefault(&attributes, &fallback);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	if (extra_fd)
		posix_spawn_file_actions_adddup2(&actions, extra_fd, SPAWN_EXTRA_FD);
	host_close_on_exec(SPAWN_EXTRA_FD);
	int sys = posix_spawnp(ret_pid, argv[0], &actions, &attributes, (char *const *)argv, (char *const *)env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return sys == 0 ? 0 : error_sys(&run->err, sys, "cannot run %s", argv[0]);
}

static void on_exit_of_command(int wait_status, void *self)
{
	struct run *run = self;
	run->status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : EXIT_SIGNAL + WTERMSIG(wait_status);
	loop_stop(run->loop);
}

static void fill_env(struct run *run)
{
	bool is_sandboxed = sandbox_is_needed(run->policy.mode);
	const char *backend = is_sandboxed ? sandbox_backend_name(run->policy.backend, NULL) : NULL;
	struct env_policy everything = {.ignore_default_excludes = true};
	env_policy_apply(&everything, NULL, &run->env);
	if (backend)
		env_set(&run->env, STR("CODEX_SANDBOX"), str_of(backend));
	if (is_sandboxed && !run->policy.network_access)
		env_set(&run->env, STR("CODEX_SANDBOX_NETWORK_DISABLED"), STR("1"));
}

/* Checks that the program exists, because otherwise the sandbox helper would report it with an unexpected message. */
static int check_program(struct run *run)
{
	auto_free char *path = spawn_find_program(run->argv[0], env_vars(&run->env), NULL, &run->err);
	if (path && (!strchr(path, '/') || access(path, X_OK) == 0))
		return 0;
	if (path)
		error_sys(&run->err, errno, "cannot run %s", run->argv[0]);
	run->status = run->err.code == ERR_not_found ? EXIT_NO_PROGRAM : EXIT_NOT_RUN;
	return -(int)run->err.code;
}

/* Terminates the descendants that are left. Their parents have ended, so they are children of this process. */
static void end_what_is_left(void)
{
	auto_process_tree struct process_tree known = {0};
	tree_kill(getpid(), NULL, &known);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		continue;
}

static int run_sandbox(struct run *run)
{
	auto_sandboxed_command struct sandboxed_command *sandboxed = NULL;
	const char *const *argv = (const char *const *)run->argv;
	fill_env(run);
	int status = check_program(run);
	if (status == 0)
		status = sandbox_wrap(&run->policy, argv, &sandboxed, &run->err);
	if (status != 0)
		return status;
	catch_signals();
	status = spawn_sandboxed(run, sandboxed, &running);
	if (status != 0)
		return status;
	struct child *child = child_create(run->loop, running, on_exit_of_command, run, &run->err);
	if (!child)
		return -(int)run->err.code;
	loop_run(run->loop);
	running = 0;
	child_destroy(child);
	end_what_is_left();
	return 0;
}

static void on_probed(void *self)
{
	loop_stop(self);
}

/* Tries the sandbox; the resources of the trial are released before the command starts. */
static void try_backend(struct run *run)
{
	struct sandbox_probe *probe = sandbox_probe_create(run->loop, run->policy.backend, on_probed, run->loop);
	loop_run(run->loop);
	sandbox_probe_destroy(probe);
	process_reaper_stop();
}

static int run_on_loop(struct run *run)
{
	run->loop = loop_create(&run->err);
	if (!run->loop)
		return -(int)run->err.code;
	if (sandbox_is_needed(run->policy.mode))
		try_backend(run);
	host_adopt_orphans();
	int status = run_sandbox(run);
	process_reaper_stop();
	loop_destroy(run->loop);
	return status;
}

static void run_finish(struct run *run)
{
	if (run->config)
		config_unref(run->config);
	env_finish(&run->env);
	arena_finish(&run->arena);
}

/* ---- the command line ---- */

/* True for the name of a system, which used to be the first word: `codex sandbox linux -- COMMAND`. */
static bool is_system_name(const char *word)
{
	return strcmp(word, "linux") == 0 || strcmp(word, "landlock") == 0;
}

/* Returns the index of the first word that is not an option, or of "--"; argc if all are options. */
static int find_word(int argc, char **argv)
{
	struct cli_result words;
	int at = argc;
	if (cli_find_positional(&sandbox_command, argc, argv, &at, &words, NULL) != 0)
		return argc;
	return at;
}

int sandbox_main(int argc, char **argv)
{
	struct run run = {.status = EXIT_FAILED};
	struct cli_result words;
	int at = find_word(argc, argv);
	env_init(&run.env);
	if (at < argc && is_system_name(argv[at])) {
		memmove(&argv[at], &argv[at + 1], sizeof(*argv) * (size_t)(argc-- - at));
		at = find_word(argc, argv);
	}
	int status = cli_read(&sandbox_command, at, argv, &run.options, &words);
	at += at < argc && strcmp(argv[at], "--") == 0;
	if (status < 0 && at >= argc) {
		error_set(&run.err, ERR_usage, "no command given");
		status = cli_print_error(&sandbox_command, &run.err);
	}
	if (status < 0) {
		run.argv = argv + at;
		if (configure(&run) != 0 || run_on_loop(&run) != 0)
			fprintf(stderr, "codex sandbox: %s\n", run.err.text);
		status = run.status;
	}
	run_finish(&run);
	cli_finish(&sandbox_command, &run.options, &words);
	return status;
}
