/* The checks. Each reports a line with the result, details, and advice if there is a problem. */
#include "ui/doctor/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "app_server/store/store_index.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/auth.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/mcp_server.h"
#include "config/model_provider.h"
#include "loop/loop.h"
#include "net/http_url.h"
#include "oauth/oauth_store.h"
#include "process/spawn.h"
#include "sandbox/landlock.h"
#include "sandbox/sandbox.h"
#include "rollout/rollout_index.h"
#include "protocol/record/enum.h"
#include "rollout/rollout_lock.h"

enum { DOCTOR_LOW_DISK_MIB = 1024 };

/* ---- the program and its settings ---- */

static void check_installation(struct doctor *doctor)
{
	char path[4096];
	struct utsname system;
	bool is_known = host_program_path(path, sizeof(path));
	doctor_detail(doctor, "program", "%s", is_known ? path : "unknown (/proc is not mounted)");
	doctor_detail(doctor, "version", "%s", CODEX_VERSION);
	if (uname(&system) == 0)
		doctor_detail(doctor, "system", "%s %s %s", system.sysname, system.release, system.machine);
	if (is_known && strstr(path, " (deleted)"))
		doctor_report(doctor, DOCTOR_warning, "start codex again", "the program was replaced while it ran");
	else
		doctor_report(doctor, DOCTOR_ok, NULL, "codex %s", CODEX_VERSION);
}

static char *executable_in(const char *folder, const char *below, const char *name)
{
	char *path = folder ? xasprintf("%s/%s%s", folder, below, name) : NULL;
	if (path && access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

/* The programs that codex executes are packages of their own, so that they can be missing. */
static void show_program(struct doctor *doctor, const char *name, const char *chosen, const char *use)
{
	char own[4096];
	bool is_known = host_program_path(own, sizeof(own)) && strrchr(own, '/');
	if (is_known)
		*strrchr(own, '/') = '\0';
	char *path = is_known ? executable_in(own, "", name) : NULL;
	if (!path && is_known)
		path = executable_in(own, "../libexec/codex/", name);
	if (!path)
		path = executable_in(chosen, "", name);
	if (path)
		doctor_detail(doctor, name, "%s", path);
	else
		doctor_detail(doctor, name, "missing: %s", use);
	free(path);
}

static void check_programs(struct doctor *doctor)
{
	show_program(doctor, "codex-fleet", config_env("CODEX_LIBEXEC"),
	             "codex acp, serve, worker, import and others need it: install codex-c-fleet");
	show_program(doctor, "codex-code-mode-host", config_env("CODEX_LIBEXEC"),
	             "scripts of the newest models need it: install codex-c-code-mode");
	doctor_report(doctor, DOCTOR_ok, NULL, "the programs that codex executes");
}

static void check_config(struct doctor *doctor)
{
	size_t count = 0;
	doctor_detail(doctor, "CODEX_HOME", "%s", doctor->home ? doctor->home : "none");
	if (!doctor->config) {
		doctor_report(doctor, DOCTOR_fail, "correct the file that the message names, or try another profile",
		              "%s", doctor->config_error.text);
		return;
	}
	auto_free char *file = path_join(config_home(doctor->config), "config.toml");
	doctor_detail(doctor, "config.toml", "%s%s", file, file_exists(file) ? "" : " (missing)");
	doctor_detail(doctor, "sandbox_mode", "%s", enum_wire(&enum_sandbox_mode, (int)doctor->config->sandbox_mode));
	const char *const *warnings = config_warnings(doctor->config, &count);
	for (size_t i = 0; i < count; i++)
		doctor_detail(doctor, "warning", "%s", warnings[i]);
	if (count)
		doctor_report(doctor, DOCTOR_warning, "see the warnings", "config loaded, with %zu warnings", count);
	else
		doctor_report(doctor, DOCTOR_ok, NULL, "config loaded");
}

static void check_credentials(struct doctor *doctor)
{
	struct error err;
	if (!doctor->config) {
		doctor_report(doctor, DOCTOR_warning, NULL, "not checked: the configuration cannot be loaded");
		return;
	}
	doctor_detail(doctor, "provider", "%s", doctor->config->model_provider);
	struct model_provider *provider = model_provider_create(doctor->config, NULL, &err);
	if (!provider)
		doctor_report(doctor, DOCTOR_fail, NULL, "%s", err.text);
	else if (provider->uses_account)
		doctor_report(doctor, DOCTOR_ok, NULL, "ChatGPT login found: auth.json");
	else if (provider->auth_command)
		doctor_report(doctor, DOCTOR_ok, NULL, "token printed by a command: %s",
		              provider->auth_command->argv[0]);
	else if (provider->key_source)
		doctor_report(doctor, DOCTOR_ok, NULL, "API key found: %s", provider->key_source);
	else
		doctor_report(doctor, DOCTOR_ok, NULL, "%s needs no API key", provider->name);
	model_provider_destroy(provider);
}

/* ---- MCP servers ---- */

/* Returns what keeps a server from starting, as far as that is known without starting it; NULL: nothing. Its login may
 * have expired, or the server may refuse it. */
static const char *find_mcp_problem(struct doctor *doctor, const struct mcp_server *server)
{
	const struct config_mcp_server *keys = &server->keys;
	struct error err;
	if (server->transport == MCP_TRANSPORT_stdio) {
		auto_free char *program = spawn_find_program(keys->command, config_env_all(), keys->cwd, &err);
		return program ? NULL : arena_cstr(&doctor->arena, str_of(err.text));
	}
	if (keys->bearer_token_env_var && !config_env(keys->bearer_token_env_var))
		return arena_printf(&doctor->arena, "environment variable %s is not set", keys->bearer_token_env_var);
	return NULL;
}

static void check_mcp(struct doctor *doctor)
{
	size_t count = 0, enabled = 0, problems = 0;
	if (!doctor->config) {
		doctor_report(doctor, DOCTOR_warning, NULL, "not checked: the configuration cannot be loaded");
		return;
	}
	struct config_binder binder = config_binder(doctor->config, &doctor->arena);
	const struct mcp_server *servers = mcp_servers_bind(&binder, doctor->config->mcp_servers, &count);
	for (size_t i = 0; i < count; i++) {
		const char *name = arena_cstr(&doctor->arena, servers[i].name);
		const char *problem = servers[i].keys.enabled ? find_mcp_problem(doctor, &servers[i]) : NULL;
		enum oauth_status auth = oauth_status_of(&servers[i], config_home(doctor->config));
		enabled += servers[i].keys.enabled;
		problems += problem != NULL;
		doctor_detail(doctor, name, "%s, %s%s%s",
		              servers[i].keys.enabled ? mcp_transport_name(servers[i].transport) : "disabled",
		              auth == OAUTH_STATUS_o_auth ? "logged in" : oauth_status_name(auth), problem ? ": " : "",
		              problem ? problem : "");
	}
	if (problems)
		doctor_report(doctor, DOCTOR_warning, "correct these servers in config.toml, or set enabled = false",
		              "%zu of %zu MCP servers cannot start", problems, enabled);
	else
		doctor_report(doctor, DOCTOR_ok, NULL, "%zu MCP servers enabled", enabled);
}

/* ---- the provider ---- */

/* Returns a connected socket, or -1 and errno. Blocks, because the program has nothing else to do. */
static int dial(const struct addrinfo *address)
{
	auto_close int fd = host_socket_nonblocking(address->ai_family, SOCK_STREAM);
	int sys = 0;
	socklen_t len = sizeof(sys);
	if (fd < 0 || (connect(fd, address->ai_addr, address->ai_addrlen) != 0 && errno != EINPROGRESS))
		return -1;
	struct pollfd wait = {.fd = fd, .events = POLLOUT};
	if (poll(&wait, 1, LIMIT_DOCTOR_DIAL_MS) != 1) {
		errno = ETIMEDOUT;
		return -1;
	}
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &sys, &len);
	errno = sys;
	return sys ? -1 : 0;
}

static const char *reach(const char *host, const char *port)
{
	struct addrinfo *list = NULL, hints = {.ai_socktype = SOCK_STREAM};
	const char *why = "no address";
	int status = getaddrinfo(host, port, &hints, &list);
	if (status != 0)
		return gai_strerror(status);
	for (struct addrinfo *it = list; it && why; it = it->ai_next)
		why = dial(it) == 0 ? NULL : strerror(errno);
	freeaddrinfo(list);
	return why;
}

/* Returns advice; to reach this machine, neither name resolution, a proxy nor a firewall is involved. */
static const char *reach_hint(const char *host)
{
	bool is_loopback = strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0;
	return is_loopback ? "is the server running?" : "check name resolution, proxy and firewall";
}

static void check_provider(struct doctor *doctor)
{
	struct http_url url;
	struct model_provider *provider = doctor->config ? model_provider_create(doctor->config, NULL, NULL) : NULL;
	auto_free char *text = provider ? xstrdup(provider->base_url) : NULL;
	model_provider_destroy(provider);
	if (!text || !http_url_parse(str_of(text), &url)) {
		doctor_report(doctor, DOCTOR_warning, NULL, "not checked: first correct %s",
		              doctor->config ? "auth.credentials" : "config.load");
		return;
	}
	doctor_detail(doctor, "endpoint", "%.*s:%.*s", STR_ARG(url.host), STR_ARG(url.port));
	if (!doctor->asks_network) {
		doctor_report(doctor, DOCTOR_ok, NULL, "not checked; --network connects to it");
		return;
	}
	auto_free char *host = str_dup(url.host), *port = str_dup(url.port);
	const char *why = reach(host, port);
	if (why)
		doctor_report(doctor, DOCTOR_fail, reach_hint(host), "cannot be reached: %s", why);
	else
		doctor_report(doctor, DOCTOR_ok, NULL, "can be reached");
}

/* ---- the sandbox ---- */

static void on_probed(void *self)
{
	loop_stop(self);
}

static const char *probe(struct doctor *doctor, enum sandbox_backend backend, struct error *err)
{
	struct sandbox_probe *probe = sandbox_probe_create(doctor->loop, backend, on_probed, doctor->loop);
	loop_run(doctor->loop);
	sandbox_probe_destroy(probe);
	return sandbox_backend_name(backend, err);
}

static void check_sandbox(struct doctor *doctor)
{
	struct error err;
	enum sandbox_backend backend = doctor->config ? doctor->config->sandbox_backend : sandbox_backend_auto;
	bool is_needed = !doctor->config || sandbox_is_needed(doctor->config->sandbox_mode);
	const char *name = probe(doctor, backend, &err);
	doctor_detail(doctor, "sandbox_backend", "%s", enum_wire(&enum_sandbox_backend, (int)backend));
	if (!is_needed)
		doctor_report(doctor, DOCTOR_warning, NULL,
		              "commands run without a sandbox, because sandbox_mode is danger-full-access");
	else if (name)
		doctor_report(doctor, DOCTOR_ok, NULL, "commands run in %s", name);
	else
		doctor_report(doctor, DOCTOR_fail, "see docs/sandbox.md for what each backend needs", "%s", err.text);
}

/* A backend that fails is a warning only: check_sandbox reports whether one works. */
static void check_backend(struct doctor *doctor, enum sandbox_backend backend, const char *(*advice)(void))
{
	struct error err;
	bool works = probe(doctor, backend, &err) != NULL;
	doctor_report(doctor, works ? DOCTOR_ok : DOCTOR_warning, works || !advice ? NULL : advice(), "%s%s",
	              works ? "works " : "does not work: ", sandbox_backend_detail(backend));
}

static void check_bubblewrap(struct doctor *doctor)
{
	check_backend(doctor, sandbox_backend_bubblewrap, sandbox_remedy);
}

static void check_landlock(struct doctor *doctor)
{
	check_backend(doctor, sandbox_backend_landlock, NULL);
}

static void detail_file(struct doctor *doctor, const char *name, const char *path)
{
	auto_buf struct buf text;
	buf_init(&text, 256);
	if (file_read(path, &text, NULL) == 0)
		doctor_detail(doctor, name, "%.*s", STR_ARG(str_trim(buf_str(&text))));
}

static void check_kernel(struct doctor *doctor)
{
	struct open_how how = {.flags = O_PATH, .resolve = RESOLVE_BENEATH};
	auto_close int folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_close int beneath = (int)syscall(SYS_openat2, folder, "proc", &how, sizeof(how));
	doctor_detail(doctor, "landlock", landlock_abi() ? "version %d" : "none", landlock_abi());
	doctor_detail(doctor, "seccomp", "%s", prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0 ? "yes" : "no");
	doctor_detail(doctor, "openat2", "%s", beneath >= 0 ? "yes" : "no");
	detail_file(doctor, "maximum number of user namespaces", "/proc/sys/user/max_user_namespaces");
	detail_file(doctor, "for ordinary users", "/proc/sys/kernel/unprivileged_userns_clone");
	detail_file(doctor, "restricted by AppArmor", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
	doctor_report(doctor, DOCTOR_ok, NULL, "kernel features for sandboxes");
}

/* ---- the state on disk ---- */

static void check_state(struct doctor *doctor)
{
	if (!doctor->home) {
		doctor_report(doctor, DOCTOR_fail, "set CODEX_HOME or HOME", "the folder for sessions is unknown");
		return;
	}
	auto_free char *sessions = path_join(doctor->home, "sessions");
	bool is_there = dir_exists(doctor->home);
	doctor_detail(doctor, "sessions", "%s%s", sessions, dir_exists(sessions) ? "" : " (missing)");
	if (!is_there)
		doctor_report(doctor, DOCTOR_ok, NULL, "the first session creates %s", doctor->home);
	else if (access(doctor->home, W_OK | X_OK) != 0 || (dir_exists(sessions) && access(sessions, W_OK | X_OK) != 0))
		doctor_report(doctor, DOCTOR_fail,
		              "make the folder writable for you (chown), or set CODEX_HOME to another one",
		              "sessions cannot be written: %s", strerror(errno));
	else
		doctor_report(doctor, DOCTOR_ok, NULL, "sessions can be written");
}

static void report_index(struct doctor *doctor, const struct rollout_index_state *state)
{
	static const char advice[] =
		"run: codex doctor --rebuild-index (until then lists and searches read the files, which is slower)";
	if (!state->exists)
		doctor_report(doctor, DOCTOR_ok, NULL, "not created yet: the first list or search creates it");
	else if (state->problem || !state->is_sound)
		doctor_report(doctor, DOCTOR_warning, advice, "not in use: %s",
		              state->problem ? state->problem : "it is damaged or has another version");
	else
		doctor_report(doctor, DOCTOR_ok, NULL, "%llu sessions, of which %llu with their text",
		              (unsigned long long)state->files, (unsigned long long)state->texts);
}

/* The index is a cache: without it lists and searches are slower, but complete. */
static void check_index(struct doctor *doctor)
{
	struct rollout_index_state state;
	struct error err;
	size_t files;
	if (!doctor->home || !dir_exists(doctor->home)) {
		doctor_report(doctor, DOCTOR_ok, NULL, "there are no sessions");
		return;
	}
	if (doctor->rebuilds_index && store_index_rebuild(doctor->home, &files, &err) != 0) {
		doctor_report(doctor, DOCTOR_warning, "lists and searches read the files instead", "%s", err.text);
		return;
	}
	struct rollout_index *index = rollout_index_create(doctor->home);
	rollout_index_examine(index, &state);
	doctor_detail(doctor, "file", "%s/%s", doctor->home, ROLLOUT_INDEX_NAME);
	if (state.exists)
		doctor_detail(doctor, "size", "%llu KiB", (unsigned long long)state.bytes / KIB);
	report_index(doctor, &state);
	rollout_index_unref(index);
}

static void check_locks(struct doctor *doctor)
{
	size_t held = 0, left = 0;
	auto_free char *folder = path_join(doctor->home ? doctor->home : "/nonexistent", "thread-writer-locks");
	DIR *dir = opendir(folder);
	for (struct dirent *it; dir && (it = readdir(dir));) {
		auto_free char *path = path_join(folder, it->d_name);
		long pid;
		if (!str_has_suffix(str_of(it->d_name), ".lock") || it->d_name[0] == '.')
			continue;
		if (!rollout_lock_find_holder(path, &pid)) {
			left++;
		} else if (held++ < LIMIT_DOCTOR_LOCKS) {
			doctor_detail(doctor, it->d_name, "process %ld", pid);
		}
	}
	if (dir)
		closedir(dir);
	doctor_report(doctor, DOCTOR_ok, NULL, "%zu sessions are open in running processes; %zu lock files are unused",
	              held, left);
}

static void check_disk(struct doctor *doctor)
{
	struct statvfs fs;
	const char *place = doctor->home && dir_exists(doctor->home) ? doctor->home : "/";
	if (statvfs(place, &fs) != 0) {
		doctor_report(doctor, DOCTOR_warning, NULL, "cannot read the free space: %s", strerror(errno));
		return;
	}
	unsigned long long mib = (unsigned long long)fs.f_bavail * fs.f_frsize / MIB;
	doctor_detail(doctor, "place", "%s", place);
	doctor_report(doctor, mib < DOCTOR_LOW_DISK_MIB ? DOCTOR_warning : DOCTOR_ok,
	              mib < DOCTOR_LOW_DISK_MIB ? "free some disk space" : NULL, "%llu MiB are free", mib);
}

const struct doctor_check doctor_checks[] = {
#define CHECK(function, id, category) {check_##function, id, category},
#include "ui/doctor/doctor.def"
#undef CHECK
};
const size_t doctor_check_count = countof(doctor_checks);
