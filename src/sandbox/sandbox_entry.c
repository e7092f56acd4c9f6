/* The order of the steps is fixed: namespaces and mounts need privileges, Landlock forbids mounts, and the filter
 * of system calls forbids all of these, so it comes last. Each step applies to all processes that the command
 * starts, and none can be undone.
 *
 * The plan is passed as arguments, one per path. A user who runs this by hand can only restrict their own process. */
#include "sandbox/sandbox_entry.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "sandbox/landlock.h"
#include "sandbox/sandbox_filter.h"
#include "sandbox/sandbox_mounts.h"
#include "sandbox/sandbox_plan.h"

#define HIDDEN_WORD "--codex-run-in-sandbox"

/* Each setting is a letter; a path begins with '+' (writable), '-' (read-only) or '~' (read-only if it exists), a
 * variable with '='. */
enum {
	VARIABLE = '=',
	WRITABLE = '+',
	GUARDED = '-',
	FLEETING = '~',
	WITH_MOUNTS = 'm',
	WITH_USER_NAMESPACE = 'u',
	WITH_NETWORK = 'n',
	TRIAL = 't',
};

static bool is_offered;

/* Devices that a command may use. /proc/self/fd/0 to 2 lead to the terminal that the engine gave it, if any; the
 * last two are for terminals of its own. */
static const char *const devices[] = {"/dev/null",       "/dev/zero", "/dev/full",       "/dev/random",
                                      "/dev/urandom",    "/dev/tty",  "/proc/self/fd/0", "/proc/self/fd/1",
                                      "/proc/self/fd/2", "/dev/ptmx", "/dev/pts"};
enum { OWN_TERMINALS = 2, GIVEN_AT = 6, GIVEN = 3 };

/* Root needs these to access the files of the user. */
static const unsigned kept_by_root[] = {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER};

bool sandbox_entry_wants(int argc, char **argv)
{
	return argc > 2 && strcmp(argv[1], HIDDEN_WORD) == 0;
}

void sandbox_entry_offer(void)
{
	is_offered = true;
}

bool sandbox_entry_is_offered(void)
{
	return is_offered;
}

/* ---- the command line ---- */

const char *const *sandbox_entry_argv(const struct sandbox_entry_how *how, const struct sandbox_plan *plan,
                                      const char *const *argv, struct arena *arena)
{
	size_t count = 0, at = 0;
	while (argv && argv[count])
		count++;
	const char **words = arena_array(arena, const char *, plan->paths.count + count + 5);
	words[at++] = "/proc/self/exe"; /* names the running program, even if its file was replaced */
	words[at++] = HIDDEN_WORD;
	words[at++] = arena_printf(arena, "%s%s%s%s", how->has_mounts ? "m" : "", how->has_user_namespace ? "u" : "",
	                           plan->has_network ? "n" : "", how->is_trial ? "t" : "");
	vec_for_each(it, &plan->paths) {
		char guard = it->is_fleeting ? FLEETING : GUARDED;
		if (!it->is_missing)
			words[at++] = arena_printf(arena, "%c%s", it->is_writable ? WRITABLE : guard, it->path);
	}
	words[at++] = "--";
	for (size_t i = 0; i < count; i++)
		words[at++] = argv[i];
	return words;
}

const char *sandbox_entry_env(const char *name, const char *value, struct arena *arena)
{
	return arena_printf(arena, "%c%s=%s", VARIABLE, name, value);
}

/* Returns the index of the command's first word, or 0 if the engine did not write this command line. */
static int read_plan(int argc, char **argv, struct sandbox_entry_how *how, struct sandbox_plan *plan)
{
	const char *settings = argv[2];
	how->has_mounts = strchr(settings, WITH_MOUNTS);
	how->has_user_namespace = strchr(settings, WITH_USER_NAMESPACE);
	how->is_trial = strchr(settings, TRIAL);
	plan->has_network = strchr(settings, WITH_NETWORK);
	for (int i = 3; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			return i + 1;
		bool is_writable = argv[i][0] == WRITABLE, is_fleeting = argv[i][0] == FLEETING;
		if (argv[i][0] == VARIABLE) { /* takes effect in the command only, because this program's loader has
			                       * already run */
			putenv(argv[i] + 1);
			continue;
		}
		if (!is_writable && !is_fleeting && argv[i][0] != GUARDED)
			return 0;
		vec_push(&plan->paths, (struct sandbox_path){.path = argv[i] + 1,
		                                             .is_writable = is_writable,
		                                             .is_fleeting = is_fleeting});
	}
	return 0;
}

/* ---- the steps ---- */

static bool is_kept(unsigned capability)
{
	for (size_t i = 0; i < countof(kept_by_root); i++) {
		if (kept_by_root[i] == capability)
			return true;
	}
	return false;
}

/* Dropping a capability from the bounding set needs a privilege; without it, no_new_privs must suffice. */
static int drop_capabilities(struct error *err)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};
	if (syscall(SYS_capget, &header, sets) != 0)
		return error_sys(err, errno, "cannot read the capabilities");
	bool is_root = geteuid() == 0;
	for (unsigned i = 0; i < 64; i++) {
		unsigned bit = 1u << (i % 32);
		if (is_root && is_kept(i))
			continue;
		if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) != 0 && errno == EINVAL)
			break; /* the kernel has no further capability */
		sets[i / 32].effective &= ~bit;
		sets[i / 32].permitted &= ~bit;
	}
	sets[0].inheritable = sets[1].inheritable = 0;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capset, &header, sets) != 0)
		return error_sys(err, errno, "cannot drop the capabilities");
	return 0;
}

/* Lists the devices that can be used. Without mounts of its own the sandbox gets no terminals, as those in /dev
 * belong to all users. */
static void list_devices(bool has_mounts, const char *out[countof(devices) + 1])
{
	size_t count = 0;
	for (size_t i = 0; i < countof(devices) - (has_mounts ? 0 : OWN_TERMINALS); i++) {
		bool is_given = i >= GIVEN_AT && i < GIVEN_AT + GIVEN;
		if (!is_given || isatty((int)(i - GIVEN_AT)))
			out[count++] = devices[i];
	}
	out[count] = NULL;
}

static int restrict_files(const struct sandbox_plan *plan, bool has_mounts, struct error *err)
{
	auto_free const char **writable = xcalloc(plan->paths.count + 2, sizeof(*writable));
	size_t count = 0;
	vec_for_each(it, &plan->paths) {
		if (it->is_writable)
			writable[count++] = it->path;
	}
	if (has_mounts && access("/dev/shm", F_OK) == 0)
		writable[count++] = "/dev/shm";
	/* A private network reaches no other process, so it may use TCP. */
	bool no_tcp = !plan->has_network && !has_mounts;
	const char *usable[countof(devices) + 1];
	list_devices(has_mounts, usable);
	return landlock_restrict(&(struct landlock_rules){writable, usable, no_tcp}, err);
}

static int filter_calls(const struct sandbox_plan *plan, bool has_mounts, struct error *err)
{
	struct sock_filter code[SANDBOX_FILTER_MAX];
	struct sandbox_filter_spec spec = {
		.net = plan->has_network ? SANDBOX_NET_SHARED
	               : has_mounts      ? SANDBOX_NET_PRIVATE
	                                 : SANDBOX_NET_NONE,
		.is_bare = !has_mounts,
		.shares_pids = true,
	};
	struct sock_fprog program = {.len = (unsigned short)sandbox_filter_build(&spec, code), .filter = code};
	if (program.len == 0)
		return error_set(err, ERR_unsupported, "the system call numbers of this processor are unknown");
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
		return error_sys(err, errno, "cannot filter system calls");
	return 0;
}

/* Sets the parent-death signal again, because entering a user namespace clears it. Fails if the parent has exited. */
static int follow_parent(pid_t parent, struct error *err)
{
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent)
		return error_set(err, ERR_cancelled, "the process that requested the command has ended");
	return 0;
}

static int sandbox_in(const struct sandbox_entry_how *how, const struct sandbox_plan *plan, struct error *err)
{
	pid_t parent = getppid();
	int status = how->has_mounts ? sandbox_mounts_enter(plan, how->has_user_namespace, err) : 0;
	if (status == 0)
		status = drop_capabilities(err);
	if (status == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		status = error_sys(err, errno, "cannot forgo new privileges");
	if (status == 0)
		status = restrict_files(plan, how->has_mounts, err);
	if (status == 0)
		status = filter_calls(plan, how->has_mounts, err);
	return status == 0 ? follow_parent(parent, err) : status;
}

/* Ends without exit handlers, because the filter may deny their calls. */
static __attribute__((noreturn)) void fail(const char *what, const char *text)
{
	fprintf(stderr, "codex sandbox: %s%s\n", what, text);
	_exit(SANDBOX_ENTRY_FAILED);
}

/* Executes the command; a failure is reported as shells do. The message avoids the word "sandbox", which would count
 * as a sign of a denial. */
static __attribute__((noreturn)) void become(char **argv)
{
	execvp(argv[0], argv);
	int sys = errno;
	fprintf(stderr, "codex: cannot run %s: %s\n", argv[0], strerror(sys));
	_exit(sys == ENOENT ? 127 : 126);
}

void sandbox_entry_main(int argc, char **argv)
{
	struct sandbox_entry_how how;
	struct error err;
	auto_sandbox_plan struct sandbox_plan plan = {0};
	int at = read_plan(argc, argv, &how, &plan);
	if (at == 0 || (at == argc) != how.is_trial)
		fail("this option is internal; ", "codex sandbox -- COMMAND runs a command in it");
	if (sandbox_in(&how, &plan, &err) != 0)
		fail("it could not be set up: ", err.text);
	if (how.is_trial)
		_exit(0);
	become(argv + at);
}
