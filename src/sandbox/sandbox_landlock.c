/* The Landlock backend: the engine's own executable sets up Landlock and seccomp (sandbox_entry.c) and then becomes
 * the command, so nothing has to be installed and no further process remains.
 *
 * Landlock grants rights below a folder and cannot withdraw them further down, so it cannot express "writable except
 * .git", and it does not control modes, owners and times of files. Mounts in a private namespace do both in the
 * first two variants; Landlock repeats the limits there and confines signals, ptrace and abstract sockets. If name
 * spaces are forbidden, the third variant is left: it allows no writes, so no path needs protection, and the filter
 * denies the calls that Landlock does not control. It supports read-only mode; any other policy is refused. */
#include "sandbox/sandbox_priv.h"

#include "base/error.h"
#include "base/mem.h"
#include "sandbox/landlock.h"
#include "sandbox/sandbox_filter.h"
#include "sandbox/sandbox_entry.h"

static const struct sandbox_entry_how variants[] = {
	{.has_mounts = true},
	{.has_mounts = true, .has_user_namespace = true},
	{.has_mounts = false},
};

static const char *const details[] = {
	"with private mounts, as root",
	"with private mounts in a user namespace",
	"alone, for read-only mode only: namespaces are forbidden on this system",
};

static int trial(size_t variant, struct sandboxed_command *sandboxed, struct error *err)
{
	struct sandbox_entry_how how = variants[variant];
	struct sock_filter code[SANDBOX_FILTER_MAX];
	int abi = landlock_abi();
	how.is_trial = true;
	if (abi == 0)
		return error_set(err, ERR_unsupported, "this kernel has no Landlock, or it is switched off");
	if (abi < LANDLOCK_ABI_NEEDED)
		return error_set(err, ERR_unsupported, "this kernel's Landlock has version %d, and %d is needed", abi,
		                 LANDLOCK_ABI_NEEDED);
	if (sandbox_filter_build(&(struct sandbox_filter_spec){0}, code) == 0)
		return error_set(err, ERR_unsupported, "the system call numbers of this processor are unknown");
	if (!sandbox_entry_is_offered())
		return error_set(err, ERR_unsupported, "the program that runs is not codex");
	sandboxed->launch.argv = sandbox_entry_argv(&how, &(struct sandbox_plan){0}, NULL, &sandboxed->arena);
	return 0;
}

static int wrap(size_t variant, const struct sandbox_plan *plan, struct sandboxed_command *sandboxed, struct error *err)
{
	const struct sandbox_entry_how *how = &variants[variant];
	if (!how->has_mounts && plan->paths.count)
		return error_set(err, ERR_denied,
		                 "this machine forbids namespaces, and Landlock alone cannot keep .git, .codex and "
		                 ".agents read-only in a writable folder: commands run in read-only mode only");
	sandboxed->launch.argv = sandbox_entry_argv(how, plan, sandboxed->launch.argv, &sandboxed->arena);
	return 0;
}

static const char *const *env_words(const char *name, const char *value, struct arena *arena)
{
	const char **words = arena_array(arena, const char *, 2);
	words[0] = sandbox_entry_env(name, value, arena);
	return words;
}

const struct sandbox_driver sandbox_landlock = {
	.name = "landlock",
	.variants = countof(variants),
	.details = details,
	.trial = trial,
	.env_at = SANDBOX_ENTRY_ENV_AT,
	.env_words = env_words,
	.wrap = wrap,
};
