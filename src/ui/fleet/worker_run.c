/* `codex worker`: options, folders, signals, and the loop. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "engine/codex/codex.h"
#include "fleet/fleet_admin.h"
#include "fleet/fleet_limits.h"
#include "fleet/fleet_log.h"
#include "fleet/fleet_worker.h"
#include "loop/loop.h"
#include "net/access_token.h"
#include "process/process_reaper.h"
#include "ui/fleet/fleet_call.h"

#define FOLDER_PREFIX "codex-worker-"

struct worker_program {
	struct fleet_options options;
	struct redis_url url;
	struct fleet_worker_options worker_options;
	struct config *config;
	char *cwd, *name, *token, *folders[2];
	int locks[2];
	struct loop *loop;
	struct fleet_worker *worker;
	struct fleet_admin *admin;
	uv_signal_t on_int, on_term;
	struct error failure; /* why the worker has ended */
	bool was_signalled;
};

/* ---- options ---- */

static int read_number(const char *option, const char *text, uint64_t fallback, uint64_t least, uint64_t most,
                       uint64_t *ret, struct error *err)
{
	*ret = fallback;
	if (!text || (str_to_u64(str_of(text), ret) && *ret >= least && *ret <= most))
		return 0;
	return error_set(err, ERR_usage, "--%s %s: expected a number from %llu to %llu", option, text,
	                 (unsigned long long)least, (unsigned long long)most);
}

static int read_numbers(struct worker_program *program, struct error *err)
{
	const struct fleet_options *options = &program->options;
	struct fleet_worker_options *worker = &program->worker_options;
	const uint64_t day_ms = 24 * 3600 * 1000;
	const struct {
		const char *option, *text;
		uint64_t fallback, least, most, *ret;
	} rows[] = {
		{"max-sessions", options->max_sessions, 64, 1, LIMIT_FLEET_SESSIONS, &worker->most_sessions},
		{"lease-ms", options->lease_ms, 15000, 500, LIMIT_FLEET_LEASE_MS, &worker->lease_ms},
		{"idle-ms", options->idle_ms, 60000, 0, day_ms, &worker->idle_ms},
		{"drain-ms", options->drain_ms, 30000, 0, day_ms, &worker->drain_ms},
		{"max-crashes", options->max_crashes, 3, 1, 1000, &worker->max_crashes},
		{"events-kept", options->events_kept, 10000, 1, LIMIT_KEPT_EVENTS, &worker->events_kept},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		if (read_number(rows[i].option, rows[i].text, rows[i].fallback, rows[i].least, rows[i].most,
		                rows[i].ret, err) != 0)
			return -(int)err->code;
	}
	return 0;
}

static int read_name(struct worker_program *program, struct error *err)
{
	char host[40] = "";
	gethostname(host, sizeof(host) - 1);
	for (char *c = host; *c; c++)
		*c = fleet_name_is_valid(str_n(c, 1), true) ? *c : '-';
	program->name =
		program->options.name ? xstrdup(program->options.name) : xasprintf("%s-%d", host, (int)getpid());
	program->worker_options.name = program->name;
	if (fleet_name_is_valid(str_of(program->name), true))
		return 0;
	return error_set(err, ERR_usage, "--name %s: expected 1 to 64 letters, digits, dots, dashes or underscores",
	                 program->name);
}

static int load_config(struct worker_program *program, struct error *err)
{
	VEC(struct str) overrides = {0};
	const struct fleet_options *options = &program->options;
	struct config_flag flag = {"--wire-profile", "wire_profile", str_of(options->wire_profile)};
	for (size_t i = 0; i < options->overrides.count; i++)
		vec_push(&overrides, str_of(options->overrides.items[i]));
	program->cwd = realpath(".", NULL);
	if (!program->cwd) {
		vec_finish(&overrides);
		return error_sys(err, errno, "cannot work in this folder");
	}
	struct config_source source = {
		.cwd = program->cwd,
		.overrides = overrides.items,
		.override_count = overrides.count,
		.flags = &flag,
		.flag_count = options->wire_profile ? 1 : 0,
	};
	program->config = config_load(&source, err);
	vec_finish(&overrides);
	return program->config ? 0 : -(int)err->code;
}

/* ---- folders ---- */

/* True for a private folder of this user. TMPDIR has those of others. */
static bool is_ours(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077);
}

/* Removes the folders of workers that were killed: their lock is free. */
static void remove_stale(const char *parent)
{
	DIR *dir = opendir(parent);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		auto_free char *path = path_join(parent, entry->d_name);
		auto_free char *lock = path_join(path, "lock");
		if (!str_has_prefix(str_of(entry->d_name), FOLDER_PREFIX) || !is_ours(path))
			continue;
		auto_close int fd = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			fleet_folder_remove(path);
	}
	if (dir)
		closedir(dir);
}

/* Makes a private folder; NULL and err if that is not possible. Its lock lasts as long as the process. */
static char *make_folder(const char *parent, int *ret_lock, struct error *err)
{
	auto_free char *path = xasprintf("%s/" FOLDER_PREFIX "XXXXXX", parent);
	if (!mkdtemp(path)) {
		error_sys(err, errno, "cannot make a folder in %s", parent);
		return NULL;
	}
	auto_free char *lock = path_join(path, "lock");
	*ret_lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*ret_lock < 0 || flock(*ret_lock, LOCK_EX | LOCK_NB) != 0) {
		error_sys(err, errno, "cannot lock %s", path);
		fleet_folder_remove(path);
		return NULL;
	}
	return steal(path);
}

static int make_folders(struct worker_program *program, struct error *err)
{
	const char *temporary = config_env("TMPDIR") ? config_env("TMPDIR") : "/tmp";
	auto_free char *home = path_join(config_home(program->config), "fleet");
	remove_stale(home);
	remove_stale(temporary);
	if (dir_make(home, 0700, NULL) == 0)
		program->folders[0] = make_folder(home, &program->locks[0], err);
	program->folders[1] = make_folder(temporary, &program->locks[1], err);
	if (!program->folders[0] && !program->folders[1])
		return -(int)err->code;
	program->worker_options.folders[0] = program->folders[0] ? program->folders[0] : program->folders[1];
	program->worker_options.folders[1] = program->folders[1] ? program->folders[1] : program->folders[0];
	return 0;
}

static void remove_folders(struct worker_program *program)
{
	for (size_t i = 0; i < countof(program->folders); i++) {
		if (program->folders[i])
			fleet_folder_remove(program->folders[i]);
		if (program->locks[i] >= 0)
			close(program->locks[i]);
		free(program->folders[i]);
	}
}

/* Each session has open files. */
static void raise_file_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* ---- running ---- */

static void on_ready(void *self)
{
	const struct worker_program *program = self;
	fprintf(stderr, "worker %s ready\n", program->name);
}

static void on_end(const struct error *err, void *self)
{
	struct worker_program *program = self;
	if (err)
		program->failure = *err;
	loop_stop(program->loop);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct worker_program *program = handle->data;
	(void)number;
	if (program->was_signalled) {
		loop_stop(program->loop);
		return;
	}
	program->was_signalled = true;
	fleet_worker_drain(program->worker);
}

static void watch_signal(struct worker_program *program, uv_signal_t *handle, int number)
{
	uv_signal_init(loop_uv(program->loop), handle);
	handle->data = program;
	uv_signal_start(handle, on_signal, number);
}

static int open_admin(struct worker_program *program, struct error *err)
{
	struct fleet_admin_options options = {
		.loop = program->loop,
		.worker = program->worker,
		.address = program->options.admin,
		.token = program->token,
		.namespace = program->worker_options.namespace,
		.name = program->name,
	};
	if (!options.address)
		return 0;
	program->admin = fleet_admin_create(&options, err);
	if (!program->admin)
		return -(int)err->code;
	fprintf(stderr, "admin on %s\n", fleet_admin_address(program->admin));
	return 0;
}

static int serve(struct worker_program *program, struct services *services, struct error *err)
{
	struct fleet_worker_options *options = &program->worker_options;
	options->loop = program->loop;
	options->services = services;
	options->config = program->config;
	options->url = &program->url;
	options->cwd = program->cwd;
	options->on_ready = on_ready;
	options->on_end = on_end;
	options->self = program;
	program->worker = fleet_worker_create(options, err);
	if (!program->worker)
		return -(int)err->code;
	int status = open_admin(program, err);
	if (status == 0) {
		watch_signal(program, &program->on_int, SIGINT);
		watch_signal(program, &program->on_term, SIGTERM);
		loop_run(program->loop);
		uv_close((uv_handle_t *)&program->on_int, NULL);
		uv_close((uv_handle_t *)&program->on_term, NULL);
		*err = program->failure;
		status = -(int)err->code;
	}
	fleet_admin_destroy(program->admin);
	fleet_worker_destroy(program->worker);
	loop_hurry(program->loop);
	return status;
}

static int run_loop(struct worker_program *program, struct error *err)
{
	program->loop = loop_create(err);
	if (!program->loop)
		return -(int)err->code;
	struct services *services = services_create(program->loop, "codex_worker");
	int status = serve(program, services, err);
	services_destroy(services);
	process_reaper_leave();
	loop_destroy(program->loop);
	return status;
}

static int prepare(struct worker_program *program, struct error *err)
{
	const struct fleet_options *options = &program->options;
	if (fleet_read_address(options, &program->url, &program->worker_options.namespace, err) != 0 ||
	    read_numbers(program, err) != 0 || read_name(program, err) != 0)
		return -(int)err->code;
	if (options->token_file && !options->admin)
		return error_set(err, ERR_usage, "--token-file requires --admin");
	if (options->token_file && !(program->token = access_token_read(options->token_file, err)))
		return -(int)err->code;
	if (load_config(program, err) != 0 || make_folders(program, err) != 0)
		return -(int)err->code;
	raise_file_limit();
	return 0;
}

int worker_main(int argc, char **argv)
{
	struct worker_program program = {.locks = {-1, -1}};
	struct cli_result words;
	struct error err;
	int status = cli_read(&worker_command, argc, argv, &program.options, &words);
	if (status < 0) {
		status = prepare(&program, &err);
		if (status == 0)
			status = run_loop(&program, &err);
		if (status != 0)
			fprintf(stderr, "codex worker: %s\n", err.text);
		status = status != 0 ? error_exit_status(err.code) : 0;
		remove_folders(&program);
		config_unref(program.config);
		access_token_free(program.token);
		redis_url_finish(&program.url);
		free(program.cwd);
		free(program.name);
	}
	cli_finish(&worker_command, &program.options, &words);
	return status;
}
