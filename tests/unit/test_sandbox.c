/* The sandbox of commands. Tests that need a working bubblewrap are skipped without one. Called as `test_sandbox
 * refused`, the program reports how a command is refused if no backend works. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pty.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "process/process.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_entry.h"
#include "process/placeholder.h"

static char self_path[PATH_MAX];
static char home[PATH_MAX]; /* a folder of this test outside of /tmp, which is writable in workspace-write */
static char workspace[PATH_MAX + 8], outside[PATH_MAX + 8];

/* Each test runs once per backend. */
static enum sandbox_backend backend;
static enum sandbox_backend bubblewrap = sandbox_backend_bubblewrap, landlock = sandbox_backend_landlock;

static const char *const plain_env[] = {"PATH=/usr/bin:/bin", NULL};
static const char *const echo_argv[] = {"/bin/echo", "hi", NULL};

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int choose(void **state)
{
	backend = *(enum sandbox_backend *)*state;
	return 0;
}

static int make_home(void **state)
{
	choose(state);
	char name[] = "/var/tmp/test-sandbox-XXXXXX";
	if (!mkdtemp(name) || !realpath(name, home))
		return -1;
	snprintf(workspace, sizeof(workspace), "%s/ws", home);
	snprintf(outside, sizeof(outside), "%s/out", home);
	return mkdir(workspace, 0700) || mkdir(outside, 0700);
}

static int remove_home(void **state)
{
	(void)state;
	return nftw(home, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *in_workspace(const char *name)
{
	static char path[2 * PATH_MAX];
	snprintf(path, sizeof(path), "%s/%s", workspace, name);
	return path;
}

static struct sandbox_policy workspace_policy(void)
{
	return (struct sandbox_policy){.mode = sandbox_mode_workspace_write, .backend = backend, .cwd = workspace};
}

static void expect_writable(const struct sandbox_policy *policy, const char *path, bool want)
{
	if (sandbox_can_write(policy, path) != want)
		fail_msg("%s should%s be writable", path, want ? "" : " not");
}

static void roots_are_writable_and_guarded(void **state)
{
	(void)state;
	struct sandbox_policy policy = workspace_policy();
	expect_writable(&policy, in_workspace("a/b/new.c"), true);
	expect_writable(&policy, workspace, true);
	expect_writable(&policy, in_workspace("./a//b"), true);
	expect_writable(&policy, outside, false);
	expect_writable(&policy, "/etc/passwd", false);
	expect_writable(&policy, "relative", false);
	expect_writable(&policy, in_workspace(".git/hooks/pre-commit"), false);
	expect_writable(&policy, in_workspace(".codex/config.toml"), false);
	expect_writable(&policy, in_workspace(".agents"), false);
	expect_writable(&policy, in_workspace(".gitignore"), true);
	expect_writable(&policy, in_workspace("sub/.git/config"), true);
}

static void steps_up_and_links_are_followed(void **state)
{
	(void)state;
	struct sandbox_policy policy = workspace_policy();
	assert_int_equal(symlink(outside, in_workspace("link")), 0);
	assert_int_equal(symlink("/no/such/place", in_workspace("dangling")), 0);
	assert_int_equal(symlink(".git", in_workspace("alias")), 0);
	assert_int_equal(mkdir(in_workspace(".git"), 0700), 0);
	expect_writable(&policy, in_workspace("link/file"), false);
	expect_writable(&policy, in_workspace("link/../ws/file"), true);
	expect_writable(&policy, in_workspace("dangling"), false);
	expect_writable(&policy, in_workspace("alias/config"), false);
	expect_writable(&policy, in_workspace("../out/file"), false);
	expect_writable(&policy, in_workspace("missing/../../out/file"), false);
}

static void temporary_folders_are_roots_unless_excluded(void **state)
{
	(void)state;
	struct sandbox_policy policy = workspace_policy();
	policy.tmpdir = outside;
	expect_writable(&policy, "/tmp/x", true);
	expect_writable(&policy, outside, true);
	policy.exclude_slash_tmp = policy.exclude_tmpdir = true;
	expect_writable(&policy, "/tmp/x", false);
	expect_writable(&policy, outside, false);
}

static void listed_roots_win_over_guards(void **state)
{
	(void)state;
	struct sandbox_policy policy = workspace_policy();
	char root[2 * PATH_MAX];
	snprintf(root, sizeof(root), "%s", in_workspace(".codex"));
	assert_int_equal(mkdir(root, 0700), 0);
	const char *const roots[] = {root, outside};
	policy.writable_roots = roots;
	policy.writable_root_count = 2;
	expect_writable(&policy, in_workspace(".codex/x"), true);
	expect_writable(&policy, outside, true);
	expect_writable(&policy, in_workspace(".git/x"), false);
}

static void a_git_pointer_protects_its_target(void **state)
{
	(void)state;
	struct sandbox_policy policy = workspace_policy();
	assert_int_equal(mkdir(in_workspace("store"), 0700), 0);
	expect_writable(&policy, in_workspace("store/config"), true);
	assert_int_equal(file_write_atomic(in_workspace(".git"), STR("gitdir: store\n"), 0600, false, NULL), 0);
	expect_writable(&policy, in_workspace("store/config"), false);
	assert_int_equal(mkdir(in_workspace("common"), 0700), 0);
	expect_writable(&policy, in_workspace("common/hooks/x"), true);
	assert_int_equal(file_write_atomic(in_workspace("store/commondir"), STR("../common\n"), 0600, false, NULL), 0);
	expect_writable(&policy, in_workspace("common/hooks/x"), false);
}

static void the_engines_own_place_is_not_writable_unless_named(void **state)
{
	(void)state;
	struct sandbox_policy policy = workspace_policy();
	char own[2 * PATH_MAX];
	snprintf(own, sizeof(own), "%s", in_workspace("own"));
	assert_int_equal(mkdir(own, 0700), 0);
	expect_writable(&policy, in_workspace("own/rules/default.rules"), true);
	policy.home = own;
	expect_writable(&policy, in_workspace("own/rules/default.rules"), false);
	expect_writable(&policy, in_workspace("owner"), true);
	const char *const roots[] = {own};
	policy.writable_roots = roots;
	policy.writable_root_count = 1;
	expect_writable(&policy, in_workspace("own/rules/default.rules"), true);
	policy.writable_root_count = 0;
	policy.home = outside;
	expect_writable(&policy, workspace, true);
}

static void modes_without_a_sandbox_allow_everything(void **state)
{
	(void)state;
	struct sandboxed_command *sandboxed;
	struct sandbox_policy policy = {.mode = sandbox_mode_danger_full_access, .cwd = workspace};
	expect_writable(&policy, "/etc/passwd", true);
	assert_int_equal(sandbox_wrap(&policy, echo_argv, &sandboxed, NULL), 0);
	assert_null(sandboxed);
	policy.mode = sandbox_mode_external_sandbox;
	assert_int_equal(sandbox_wrap(&policy, echo_argv, &sandboxed, NULL), 0);
	assert_null(sandboxed);
	policy.mode = sandbox_mode_read_only;
	expect_writable(&policy, workspace, false);
}

static void on_probed(void *self)
{
	loop_stop(self);
}

/* Returns the backend's name, or NULL. */
static const char *probe(struct error *err)
{
	struct loop *loop = loop_create(NULL);
	struct sandbox_probe *first = sandbox_probe_create(loop, backend, on_probed, loop);
	struct sandbox_probe *second = sandbox_probe_create(loop, backend, on_probed, loop);
	sandbox_probe_destroy(second);
	loop_run(loop);
	assert_true(sandbox_is_probed(backend));
	sandbox_probe_destroy(first);
	process_reaper_stop();
	loop_destroy(loop);
	return sandbox_backend_name(backend, err);
}

static void nothing_is_wrapped_before_the_probe(void **state)
{
	(void)state;
	struct sandboxed_command *sandboxed;
	struct sandbox_policy policy = workspace_policy();
	struct error err = {0};
	assert_int_equal(sandbox_wrap(&policy, echo_argv, &sandboxed, &err), -ERR_busy);
	assert_null(sandboxed);
}

static void a_probe_can_be_called_off(void **state)
{
	(void)state;
	struct loop *loop = loop_create(NULL);
	struct sandbox_probe *cancelled = sandbox_probe_create(loop, backend, on_probed, loop);
	sandbox_probe_destroy(cancelled);
	loop_run(loop);
	process_reaper_stop();
	loop_destroy(loop);
}

struct outcome {
	struct loop *loop;
	struct buf text;
	int exit_code;
};

static void on_output(enum exec_stream stream, struct str bytes, void *self)
{
	struct outcome *outcome = self;
	(void)stream;
	buf_append_str(&outcome->text, bytes);
}

static void on_end(const struct process_result *result, void *self)
{
	struct outcome *outcome = self;
	outcome->exit_code = result->exit_code;
	loop_stop(outcome->loop);
}

static const char *const *run_env = plain_env;
static const char *vanishes; /* a folder that is removed between the setup of a sandbox and the start of its command */

/* Runs argv under the policy; outcome->text has the output of both streams. */
static void run_argv(const struct sandbox_policy *policy, const char *const *argv, struct outcome *outcome)
{
	static const struct process_handler handler = {on_output, on_end};
	auto_sandboxed_command struct sandboxed_command *sandboxed = NULL;
	struct error err = {0};
	if (sandbox_wrap(policy, argv, &sandboxed, &err) != 0)
		fail_msg("%s", err.text);
	if (vanishes)
		assert_int_equal(rmdir(vanishes), 0);
	*outcome = (struct outcome){.loop = loop_create(NULL)};
	buf_init(&outcome->text, 64 * 1024);
	struct process_spec spec = {.argv = argv,
	                            .launch = sandbox_launch(sandboxed, run_env),
	                            .env = run_env,
	                            .cwd = policy->cwd,
	                            .drain_ms = PROCESS_DRAIN_MS};
	struct process *process = process_start(outcome->loop, &spec, &handler, outcome, &err);
	assert_non_null(process);
	loop_run(outcome->loop);
	process_destroy(process);
	assert_int_equal(process_reaper_stop(), 0);
	loop_destroy(outcome->loop);
}

static void expect_run(const struct sandbox_policy *policy, const char *script, const char *want)
{
	const char *const argv[] = {"/bin/sh", "-c", script, "sh", outside, NULL};
	struct outcome outcome;
	if (!sandbox_backend_name(backend, NULL))
		skip();
	run_argv(policy, argv, &outcome);
	assert_string_equal(buf_str(&outcome.text).ptr, want);
	buf_finish(&outcome.text);
}

/* Each line of a script reports whether the attempt succeeded. */
#define TRY(command) "(" command ") >/dev/null 2>&1 && echo yes || echo no; "

static void a_command_in_the_workspace_cannot_write_elsewhere(void **state)
{
	(void)state;
	struct sandbox_policy policy = workspace_policy();
	expect_run(&policy,
	           TRY("echo x >file") TRY("echo x >$1/file") TRY("echo x >/etc/test-sandbox") TRY("ls /")
	                   TRY("mkdir .git && echo x >.git/config") "pwd | sed 's|.*/||'",
	           "yes\nno\nno\nyes\nno\nws\n");
	assert_true(file_exists(in_workspace("file")));
	assert_int_equal(mkdir(in_workspace(".git"), 0755), 0);
	assert_int_equal(file_write_atomic(in_workspace(".git/config"), STR("x\n"), 0644, false, NULL), 0);
	expect_run(&policy, TRY("echo y >.git/config") TRY("rm -r .git") TRY("mv .git away") TRY("touch .git/new"),
	           "no\nno\nno\nno\n");
}

/* Replacing a parent of the workspace would replace its .git. */
static void parents_of_a_protected_folder_cannot_be_moved(void **state)
{
	(void)state;
	struct sandbox_policy policy = workspace_policy();
	char deep[2 * PATH_MAX], own[2 * PATH_MAX];
	const char *const roots[] = {home};
	snprintf(deep, sizeof(deep), "%s", in_workspace("deep"));
	snprintf(own, sizeof(own), "%s/x/own", outside);
	assert_int_equal(mkdir(deep, 0700), 0);
	assert_int_equal(dir_make(own, 0700, NULL), 0);
	policy.cwd = deep;
	policy.home = own;
	policy.writable_roots = roots;
	policy.writable_root_count = 1;
	expect_run(&policy,
	           TRY("mv $1/../ws $1/../gone") TRY("mv $1 $1/../gone") TRY("mv $1/x $1/y") TRY("touch $1/x/own/auth")
	                   TRY("touch $1/x/new ../new"),
	           "no\nno\nno\nno\nyes\n");
}

/* Other programs use temporary folders, too; the paths of a named folder are protected, or nothing runs. */
static void a_protected_path_in_a_temporary_folder_may_vanish(void **state)
{
	(void)state;
	char own[2 * PATH_MAX];
	struct sandbox_policy policy = workspace_policy();
	snprintf(own, sizeof(own), "%s/.codex", outside);
	assert_int_equal(mkdir(own, 0700), 0);
	policy.tmpdir = outside;
	expect_run(&policy, TRY("touch $1/.codex/x") TRY("touch $1/x"), "no\nyes\n");
	vanishes = own;
	expect_run(&policy, TRY("touch $1/.codex/x") TRY("touch $1/y"), "no\nyes\n");
	vanishes = NULL;
}

static void a_protected_path_in_a_named_folder_must_not_vanish(void **state)
{
	(void)state;
	const char *const argv[] = {"/bin/echo", "ran", NULL};
	struct outcome outcome;
	struct sandbox_policy policy = workspace_policy();
	if (!sandbox_backend_name(backend, NULL))
		skip();
	assert_int_equal(mkdir(in_workspace(".codex"), 0700), 0);
	policy.tmpdir = workspace; /* an alias of the same folder has no effect */
	vanishes = in_workspace(".codex");
	run_argv(&policy, argv, &outcome);
	vanishes = NULL;
	assert_int_not_equal(outcome.exit_code, 0);
	assert_null(strstr(buf_str(&outcome.text).ptr, "ran"));
	buf_finish(&outcome.text);
}

static void a_missing_guarded_path_cannot_be_created(void **state)
{
	(void)state;
	struct sandbox_policy policy = workspace_policy();
	expect_run(&policy,
	           TRY("mkdir .git") TRY("touch .codex/config.toml") TRY("ln -s file .agents") TRY("rmdir .codex")
	                   TRY("mv .codex x") TRY("mkdir y && mv -T y .git"),
	           "no\nno\nno\nno\nno\nno\n");
	assert_false(file_exists(in_workspace(".git")));
	assert_false(file_exists(in_workspace(".codex")));
	assert_false(file_exists(in_workspace(".agents")));
}

static void a_placeholder_is_removed_with_its_last_user(void **state)
{
	(void)state;
	bool is_there;
	char path[2 * PATH_MAX];
	snprintf(path, sizeof(path), "%s", in_workspace(".git"));
	assert_int_equal(placeholder_hold(path, &is_there, NULL), 0);
	assert_true(is_there && dir_exists(path) && !marker_exists(path));
	int other = open(path, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(other, LOCK_SH), 0);
	placeholders_release();
	assert_true(dir_exists(path));
	close(other);
	assert_int_equal(placeholder_hold(path, &is_there, NULL), 0);
	placeholders_release();
	assert_false(file_exists(path));
}

static void a_placeholder_with_content_stays(void **state)
{
	(void)state;
	bool is_there;
	char path[2 * PATH_MAX];
	snprintf(path, sizeof(path), "%s", in_workspace(".git"));
	assert_int_equal(placeholder_hold(path, &is_there, NULL), 0);
	assert_int_equal(mkdir(in_workspace(".git/objects"), 0700), 0);
	placeholders_release();
	assert_true(dir_exists(in_workspace(".git/objects")) && marker_exists(path));
}

/* Another engine holds the exclusive lock and removes the folder while this process waits for the lock. */
static void a_placeholder_that_is_being_removed_is_made_again(void **state)
{
	(void)state;
	bool is_there = false;
	char path[2 * PATH_MAX];
	int ready[2], status = 0;
	snprintf(path, sizeof(path), "%s", in_workspace(".git"));
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		bool is_fine = mkdir(path, DIR_PLACEHOLDER_MODE) == 0;
		int fd = open(path, O_RDONLY | O_DIRECTORY);
		is_fine = is_fine && flock(fd, LOCK_EX) == 0 && write(ready[1], "x", 1) == 1;
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
		_exit(is_fine && rmdir(path) == 0 ? 0 : 1);
	}
	assert_int_equal(read(ready[0], &(char){0}, 1), 1);
	assert_int_equal(placeholder_hold(path, &is_there, NULL), 0);
	assert_true(is_there && dir_exists(path));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	placeholders_release();
	assert_false(dir_exists(path));
	close(ready[0]);
	close(ready[1]);
}

/* The user removed the placeholder, and another engine created and locked a new one. */
static void a_placeholder_of_another_engine_is_not_removed(void **state)
{
	(void)state;
	bool is_there = false;
	char path[2 * PATH_MAX];
	snprintf(path, sizeof(path), "%s", in_workspace(".git"));
	assert_int_equal(placeholder_hold(path, &is_there, NULL), 0);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkdir(path, DIR_PLACEHOLDER_MODE), 0);
	int other = open(path, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(other, LOCK_SH), 0);
	placeholders_release();
	assert_true(dir_exists(path));
	close(other);
	rmdir(path);
}

/* A command can neither read the input of other terminals nor write to them. */
static void terminals_of_others_are_out_of_reach(void **state)
{
	(void)state;
	struct sandbox_policy policy = {.mode = sandbox_mode_read_only, .backend = backend, .cwd = workspace};
	char script[512], name[64], link[64];
	int screen, line;
	assert_int_equal(openpty(&screen, &line, NULL, NULL, NULL), 0);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", line);
	ssize_t len = readlink(link, name, sizeof(name) - 1);
	name[len > 0 ? len : 0] = '\0';
	snprintf(script, sizeof(script), TRY("echo x >%s") TRY("exec 3<%s") TRY("exec 3<>/dev/ptmx"), name, name);
	expect_run(&policy, script, "no\nno\nyes\n");
	close(screen);
	close(line);
}

static void read_only_writes_nowhere(void **state)
{
	(void)state;
	struct sandbox_policy policy = {.mode = sandbox_mode_read_only, .cwd = workspace};
	expect_run(&policy,
	           TRY("echo x >file") TRY("echo x >/tmp/test-sandbox") TRY("echo x >/dev/null") TRY("cat /etc/passwd"),
	           "no\nno\nyes\nyes\n");
}

/* The library may be one that a command left in the workspace. */
static void a_library_is_loaded_by_the_command_alone(void **state)
{
	(void)state;
	struct sandbox_policy policy = workspace_policy();
	char library[PATH_MAX], preload[2 * PATH_MAX], out[2 * PATH_MAX];
	snprintf(library, sizeof(library), "%s", self_path);
	snprintf(strrchr(library, '/'), 32, "/../escape/preloaded.so");
	if (!file_exists(library))
		skip();
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", library);
	snprintf(out, sizeof(out), "PRELOADED_OUT=%s/loaded", outside);
	const char *env[] = {plain_env[0], preload, out, "LD_LIBRARY_PATH=/nowhere", NULL};
	run_env = env;
	expect_run(&policy, "echo $LD_LIBRARY_PATH", "/nowhere\n");
	assert_false(file_exists(out + strlen("PRELOADED_OUT=")));
	snprintf(out, sizeof(out), "PRELOADED_OUT=%s", in_workspace("loaded"));
	expect_run(&policy, "[ -e loaded ] && echo loaded", "loaded\n");
	run_env = plain_env;
}

static void mounts_cannot_be_undone(void **state)
{
	(void)state;
	struct sandbox_policy policy = workspace_policy();
	expect_run(&policy,
	           TRY("mount -o remount,rw /") TRY("mount -o remount,bind,rw /") TRY("umount /tmp")
	                   TRY("mknod x c 1 3"),
	           "no\nno\nno\nno\n");
}

/* The same attempts succeed without a sandbox, so that the test can fail. */
static void the_outside_cannot_be_seen_or_reached(void **state)
{
	(void)state;
	struct sandbox_policy policy = workspace_policy(), bare = workspace_policy();
	char script[256];
	snprintf(script, sizeof(script), TRY("ls /proc/%d/root/") TRY("kill -0 %d"), (int)getpid(), (int)getpid());
	bare.mode = sandbox_mode_danger_full_access;
	expect_run(&policy, script, "no\nno\n");
	expect_run(&bare, TRY("kill -0 $PPID"), "yes\n");
	expect_run(&policy, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '", "lo\n");
	policy.network_access = true;
	expect_run(&policy, "readlink /proc/self/ns/net >ns && echo yes", "yes\n");
	expect_run(&bare, "[ $(readlink /proc/self/ns/net) = $(cat ns) ] && echo same", "same\n");
}

static void exit_codes_are_passed_through(void **state)
{
	(void)state;
	struct sandbox_policy policy = workspace_policy();
	const char *const argv[] = {"/bin/sh", "-c", "exit 7", NULL};
	struct outcome outcome;
	if (!sandbox_backend_name(backend, NULL))
		skip();
	run_argv(&policy, argv, &outcome);
	assert_int_equal(outcome.exit_code, 7);
	buf_finish(&outcome.text);
}

static void expect_refusal(const struct sandbox_policy *policy, enum error_code code, const char *what)
{
	struct sandboxed_command *sandboxed;
	struct error err = {0};
	if (!sandbox_backend_name(backend, NULL))
		skip();
	assert_int_equal(sandbox_wrap(policy, echo_argv, &sandboxed, &err), -(int)code);
	assert_null(sandboxed);
	if (!strstr(err.text, what))
		fail_msg("\"%s\" does not say \"%s\"", err.text, what);
}

static void a_policy_that_cannot_be_kept_is_refused(void **state)
{
	(void)state;
	struct sandbox_policy policy = workspace_policy();
	char root[2 * PATH_MAX];
	const char *const roots[] = {root};
	policy.writable_roots = roots;
	policy.writable_root_count = 1;
	snprintf(root, sizeof(root), "%s", in_workspace("gone"));
	expect_refusal(&policy, ERR_not_found, "/ws/gone (create it");
	assert_int_equal(symlink("/etc", root), 0);
	expect_refusal(&policy, ERR_denied, "leads through a symbolic link");
	policy.writable_root_count = 0;
	assert_int_equal(symlink("/etc", in_workspace(".agents")), 0);
	expect_refusal(&policy, ERR_denied, "/ws/.agents is a symbolic link");
}

static void without_a_backend_nothing_runs(void **state)
{
	(void)state;
	/* In this file system bwrap cannot be executed. */
	const char *const argv[] = {"/usr/bin/bwrap",
	                            "--unshare-user",
	                            "--bind",
	                            "/",
	                            "/",
	                            "--dev",
	                            "/dev",
	                            "--proc",
	                            "/proc",
	                            "--ro-bind",
	                            "/dev/null",
	                            "/usr/bin/bwrap",
	                            "--",
	                            self_path,
	                            "refused",
	                            NULL};
	if (!sandbox_backend_name(backend, NULL) || access(argv[0], X_OK) != 0)
		skip();
	struct sandbox_policy policy = {.mode = sandbox_mode_danger_full_access, .cwd = "/"};
	struct outcome outcome;
	run_argv(&policy, argv, &outcome);
	assert_str(buf_str(&outcome.text),
	           "unsupported: commands cannot run in a sandbox on this system (bubblewrap: it is not installed; "
	           "landlock: the "
	           "program that runs is not codex): install bubblewrap (the program bwrap), or choose --sandbox "
	           "danger-full-access to run commands without one\n");
	buf_finish(&outcome.text);
}

static int report_refusal(void)
{
	struct sandboxed_command *sandboxed;
	struct error err = {0};
	probe(NULL);
	struct sandbox_policy policy = {.mode = sandbox_mode_read_only, .cwd = "/"};
	if (sandbox_wrap(&policy, echo_argv, &sandboxed, &err) == 0)
		return 1;
	printf("%s%s\n", err.code == ERR_unsupported ? "unsupported: " : "", err.text);
	return 0;
}

static void the_probe_finds_a_backend_or_says_why(void **state)
{
	(void)state;
	struct error err = {0};
	const char *name = probe(&err);
	const char *want = backend == sandbox_backend_landlock ? "landlock" : "bubblewrap";
	if (name)
		assert_string_equal(name, want);
	else
		assert_non_null(strstr(err.text, want));
	assert_true(strlen(sandbox_backend_detail(backend)) > 0);
	assert_ptr_equal(probe(NULL), name);
}

int main(int argc, char **argv)
{
	ssize_t len = readlink("/proc/self/exe", self_path, sizeof(self_path) - 1);
	self_path[len < 0 ? 0 : len] = '\0';
	if (sandbox_entry_wants(argc, argv))
		sandbox_entry_main(argc, argv);
	if (argc > 1)
		return report_refusal();
	sandbox_entry_offer();
#define AT_HOME(test) cmocka_unit_test_setup_teardown(test, make_home, remove_home)
	const struct CMUnitTest tests[] = {
		AT_HOME(roots_are_writable_and_guarded),
		AT_HOME(steps_up_and_links_are_followed),
		AT_HOME(temporary_folders_are_roots_unless_excluded),
		AT_HOME(listed_roots_win_over_guards),
		AT_HOME(a_git_pointer_protects_its_target),
		AT_HOME(the_engines_own_place_is_not_writable_unless_named),
		AT_HOME(modes_without_a_sandbox_allow_everything),
		AT_HOME(nothing_is_wrapped_before_the_probe),
		cmocka_unit_test_setup(a_probe_can_be_called_off, choose),
		cmocka_unit_test_setup(the_probe_finds_a_backend_or_says_why, choose),
		AT_HOME(a_command_in_the_workspace_cannot_write_elsewhere),
		AT_HOME(a_protected_path_in_a_temporary_folder_may_vanish),
		AT_HOME(a_protected_path_in_a_named_folder_must_not_vanish),
		AT_HOME(parents_of_a_protected_folder_cannot_be_moved),
		AT_HOME(a_missing_guarded_path_cannot_be_created),
		AT_HOME(a_placeholder_is_removed_with_its_last_user),
		AT_HOME(a_placeholder_with_content_stays),
		AT_HOME(a_placeholder_that_is_being_removed_is_made_again),
		AT_HOME(a_placeholder_of_another_engine_is_not_removed),
		AT_HOME(terminals_of_others_are_out_of_reach),
		AT_HOME(read_only_writes_nowhere),
		AT_HOME(a_library_is_loaded_by_the_command_alone),
		AT_HOME(mounts_cannot_be_undone),
		AT_HOME(the_outside_cannot_be_seen_or_reached),
		AT_HOME(exit_codes_are_passed_through),
		AT_HOME(a_policy_that_cannot_be_kept_is_refused),
		AT_HOME(without_a_backend_nothing_runs),
	};
	static struct CMUnitTest both[2 * countof(tests)];
	static char names[2 * countof(tests)][80];
	for (size_t i = 0; i < countof(both); i++) {
		bool is_first = i < countof(tests);
		both[i] = tests[i % countof(tests)];
		both[i].initial_state = is_first ? &bubblewrap : &landlock;
		snprintf(names[i], sizeof(names[i]), "%s_%s", is_first ? "bubblewrap" : "landlock", both[i].name);
		both[i].name = names[i];
	}
	return cmocka_run_group_tests(both, NULL, NULL);
}
