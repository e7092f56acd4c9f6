/* The bubblewrap backend: mount, pid and network namespaces for one command.
 *
 * The order of the arguments matters: first the whole file system, read-only (or writable, if the policy allows it),
 * then a private /dev and /proc, then the paths of the plan, parents before children.
 *
 * If root runs bwrap, it keeps all capabilities of root, including those that can undo the mounts. So all are
 * dropped except three, which root needs to access the files of the user. The first two variants differ in the user
 * namespace: real root needs none, root without CAP_SYS_ADMIN (in a container) does, and for other users bwrap
 * creates one itself. The third variant is for machines that allow neither with a private /proc. It keeps the outer
 * /proc; there the user namespace keeps outside processes out of reach. */
#include "sandbox/sandbox_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"
#include "command/env_policy.h"
#include "sandbox/sandbox_filter.h"
#include "process/spawn.h"

enum { BWRAP_WORDS_MAX = 9000 };

struct variant {
	bool has_user_namespace;
	bool has_proc;
};

static const struct variant variants[] = {{false, true}, {true, true}, {true, false}};
static const char *const details[] = {
	"with the namespaces of an ordinary user, or of root",
	"with a user namespace",
	"with a user namespace, without a private /proc",
};
static const char *const kept_by_root[] = {"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER"};

struct args {
	VEC(const char *) items;
};

static void add(struct args *args, const char *first, const char *second, const char *third)
{
	vec_push(&args->items, first);
	if (second)
		vec_push(&args->items, second);
	if (third)
		vec_push(&args->items, third);
}

static bool is_absolute_path_list(struct str list)
{
	struct str part;
	while (str_next_part(&list, ':', &part)) {
		if (part.len == 0 || part.ptr[0] != '/')
			return false;
	}
	return true;
}

/* Prefers the system's bwrap, because a relative PATH could lead to one that a command left in the workspace. */
static const char *find_bwrap(void)
{
	static _Thread_local char path[PATH_MAX];
	if (path[0])
		return path;
	const char *list = env_own("PATH");
	auto_free char *found = NULL;
	if (access("/usr/bin/bwrap", X_OK) == 0)
		found = xstrdup("/usr/bin/bwrap");
	else if (list && is_absolute_path_list(str_of(list)))
		found = spawn_find_program("bwrap", (const char *const *)environ, NULL, NULL);
	if (!found || strlen(found) >= sizeof(path))
		return NULL;
	memcpy(path, found, strlen(found) + 1);
	return path;
}

bool sandbox_bwrap_is_installed(void)
{
	return find_bwrap();
}

static void add_privileges(struct args *args, const struct variant *variant)
{
	if (variant->has_user_namespace)
		add(args, "--unshare-user", NULL, NULL);
	add(args, "--cap-drop", "ALL", NULL);
	for (size_t i = 0; geteuid() == 0 && i < countof(kept_by_root); i++)
		add(args, "--cap-add", kept_by_root[i], NULL);
}

static void add_paths(struct args *args, const struct sandbox_plan *plan, const struct variant *variant)
{
	const struct sandbox_path *items = plan->paths.items;
	size_t first = plan->paths.count && strcmp(items[0].path, "/") == 0;
	add(args, first && items[0].is_writable ? "--bind" : "--ro-bind", "/", "/");
	add(args, "--dev", "/dev", NULL);
	if (variant->has_proc) {
		add(args, "--proc", "/proc", NULL);
		/* /proc is read-only because root could change kernel settings there */
		add(args, "--remount-ro", "/proc", NULL);
	}
	for (size_t i = first; i < plan->paths.count; i++) {
		const char *guard = items[i].is_fleeting ? "--ro-bind-try" : "--ro-bind";
		if (!items[i].is_missing)
			add(args, items[i].is_writable ? "--bind" : guard, items[i].path, items[i].path);
	}
}

/* Passes the filter through a pipe, which can hold all of it. bwrap also applies it to its own process inside. */
static int filter_open(const struct sandbox_plan *plan, struct error *err)
{
	struct sock_filter code[SANDBOX_FILTER_MAX];
	struct sandbox_filter_spec spec = {.net = plan->has_network ? SANDBOX_NET_SHARED : SANDBOX_NET_PRIVATE};
	size_t count = sandbox_filter_build(&spec, code);
	int ends[2];
	if (count == 0)
		return error_set(err, ERR_unsupported, "the system call numbers of this processor are unknown");
	if (host_pipe(ends) != 0)
		return error_sys(err, errno, "cannot pass on the filter of system calls");
	auto_close int in = ends[1], out = ends[0];
	int status = fd_write_all(in, code, count * sizeof(*code), err);
	return status == 0 ? steal_fd(&out) : status;
}

/* Checks the number of arguments, because bwrap rejects more than 9000 with an unclear message. */
static int check_length(const struct args *args, struct error *err)
{
	if (args->items.count <= BWRAP_WORDS_MAX)
		return 0;
	return error_set(err, ERR_limit,
	                 "the command has too many arguments for bubblewrap (%zu, its own included; %d are possible): "
	                 "set sandbox_backend to landlock, or give them in a file",
	                 args->items.count, BWRAP_WORDS_MAX);
}

static int build(const char *bwrap, const struct variant *variant, const struct sandbox_plan *plan,
                 struct sandboxed_command *sandboxed, struct error *err)
{
	struct args args = {0};
	int fd = filter_open(plan, err);
	if (fd < 0)
		return fd;
	sandboxed->launch.fd = fd;
	add(&args, bwrap, "--die-with-parent", plan->has_terminal ? NULL : "--new-session");
	add(&args, "--seccomp", arena_printf(&sandboxed->arena, "%d", SPAWN_EXTRA_FD), NULL);
	add_privileges(&args, variant);
	add(&args, "--unshare-pid", "--unshare-ipc", NULL);
	if (!plan->has_network)
		add(&args, "--unshare-net", NULL, NULL);
	add_paths(&args, plan, variant);
	add(&args, "--", NULL, NULL);
	for (size_t i = 0; sandboxed->launch.argv[i]; i++)
		add(&args, sandboxed->launch.argv[i], NULL, NULL);
	int status = check_length(&args, err);
	vec_push(&args.items, NULL);
	const char **result = arena_array(&sandboxed->arena, const char *, args.items.count);
	memcpy(result, args.items.items, args.items.count * sizeof(*result));
	vec_finish(&args.items);
	sandboxed->launch.argv = result;
	return status;
}

static int wrap(size_t variant, const struct sandbox_plan *plan, struct sandboxed_command *sandboxed, struct error *err)
{
	return build(find_bwrap(), &variants[variant], plan, sandboxed, err);
}

/* The trial runs bwrap inside the sandbox: it is the one program that certainly exists. */
static int trial(size_t variant, struct sandboxed_command *sandboxed, struct error *err)
{
	const char *bwrap = find_bwrap();
	if (!bwrap)
		return error_set(err, ERR_unsupported, "it is not installed");
	const char **argv = arena_array(&sandboxed->arena, const char *, 3);
	argv[0] = bwrap;
	argv[1] = "--version";
	sandboxed->launch.argv = argv;
	return build(bwrap, &variants[variant], &(struct sandbox_plan){0}, sandboxed, err);
}

static const char *const *env_words(const char *name, const char *value, struct arena *arena)
{
	const char **words = arena_array(arena, const char *, 4);
	words[0] = "--setenv";
	words[1] = name;
	words[2] = value;
	return words;
}

const struct sandbox_driver sandbox_bwrap = {
	.name = "bubblewrap",
	.variants = countof(variants),
	.details = details,
	.trial = trial,
	.env_at = 1,
	.env_words = env_words,
	.wrap = wrap,
};
