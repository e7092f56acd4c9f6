/* One list says how to mount each path and whether the engine itself may write to it, so the sandbox and the engine's
 * own writes follow the same policy. */
#include "sandbox/sandbox_plan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "process/placeholder.h"

/* Names that configure git and codex outside of the sandbox, so commands must not change them. */
static const char *const guarded_names[] = {".git", ".codex", ".agents"};

enum { GIT_POINTER_MAX = 8192 };

static void add(struct sandbox_plan *plan, const char *path, bool is_writable, bool is_missing)
{
	vec_push(&plan->paths, (struct sandbox_path){path, is_writable, is_missing, false});
}

static bool is_canonical(const char *path)
{
	char real[PATH_MAX];
	return realpath(path, real) && strcmp(real, path) == 0;
}

static int add_root(struct sandbox_plan *plan, struct arena *arena, const char *path, struct error *err)
{
	struct stat st;
	if (lstat(path, &st) != 0)
		return error_sys(err, errno, "cannot make writable root %s (create it, or remove it from the list)",
		                 path);
	if (!is_canonical(path))
		return error_set(err, ERR_denied,
		                 "writable root %s leads through a symbolic link: use the target of the link", path);
	add(plan, arena_cstr(arena, str_of(path)), true, false);
	return 0;
}

/* Adds a temporary folder as a root if it exists. */
static void add_temporary(struct sandbox_plan *plan, struct arena *arena, const char *path)
{
	if (path && path[0] == '/' && dir_exists(path) && is_canonical(path))
		add(plan, arena_cstr(arena, str_of(path)), true, false);
}

static int add_roots(struct sandbox_plan *plan, const struct sandbox_policy *policy, struct arena *arena,
                     struct error *err)
{
	int status = policy->exclude_cwd ? 0 : add_root(plan, arena, policy->cwd, err);
	for (size_t i = 0; status == 0 && i < policy->writable_root_count; i++)
		status = add_root(plan, arena, policy->writable_roots[i], err);
	if (!policy->exclude_slash_tmp)
		add_temporary(plan, arena, "/tmp");
	if (!policy->exclude_tmpdir)
		add_temporary(plan, arena, policy->tmpdir);
	return status;
}

/* Returns the path in the first line of a file, resolved against a folder and allocated in the arena; NULL if it
 * does not exist. */
static const char *read_pointer(struct arena *arena, const char *folder, const char *file, const char *key)
{
	auto_buf struct buf text;
	char real[PATH_MAX];
	buf_init(&text, GIT_POINTER_MAX);
	if (file_read_regular(file, &text, NULL) != 0)
		return NULL;
	struct str target = str_trim(buf_str(&text));
	if (!str_cut_prefix(&target, key))
		return NULL;
	const char *name = arena_cstr(arena, str_trim(target));
	const char *path = name[0] == '/' ? name : arena_printf(arena, "%s/%s", folder, name);
	return realpath(path, real) ? arena_cstr(arena, str_of(real)) : NULL;
}

/* A .git file names the repository: "gitdir: <path>". The repository of a work tree names its main repository, whose
 * settings and hooks apply as well. */
static void guard_git_pointer(struct sandbox_plan *plan, struct arena *arena, const char *root, const char *file)
{
	const char *own = read_pointer(arena, root, file, "gitdir:");
	if (!own)
		return;
	add(plan, own, false, false);
	const char *common = read_pointer(arena, own, arena_printf(arena, "%s/commondir", own), "");
	if (common)
		add(plan, common, false, false);
}

/* In a temporary folder that all users share, any of them can create a missing path, so it cannot be protected. They
 * can also remove an existing one, even between this check and the start of the command. */
static int guard_name(struct sandbox_plan *plan, struct arena *arena, const char *root, const char *name,
                      bool is_temporary, struct error *err)
{
	struct stat st;
	const char *path = arena_printf(arena, "%s/%s", strcmp(root, "/") == 0 ? "" : root, name);
	bool is_missing = lstat(path, &st) != 0 || placeholder_is(&st);
	if (!is_missing && S_ISLNK(st.st_mode))
		return error_set(err, ERR_denied,
		                 "%s is a symbolic link, which the sandbox cannot protect from being replaced: replace "
		                 "it by its target, or choose another sandbox mode",
		                 path);
	if (is_missing && is_temporary)
		return 0;
	add(plan, path, false, is_missing);
	plan->paths.items[plan->paths.count - 1].is_fleeting = is_temporary;
	if (!is_missing && S_ISREG(st.st_mode) && strcmp(name, ".git") == 0)
		guard_git_pointer(plan, arena, root, path);
	return 0;
}

/* The first `named` roots come from the policy; the others are temporary folders. */
static int guard_roots(struct sandbox_plan *plan, struct arena *arena, size_t named, struct error *err)
{
	int status = 0;
	size_t roots = plan->paths.count;
	for (size_t i = 0; i < roots; i++) {
		const char *root = plan->paths.items[i].path;
		for (size_t n = 0; status == 0 && n < countof(guarded_names); n++)
			status = guard_name(plan, arena, root, guarded_names[n], i >= named, err);
	}
	return status;
}

static const struct sandbox_path *find_around(const struct sandbox_plan *plan, const char *path)
{
	const struct sandbox_path *found = NULL;
	vec_for_each(it, &plan->paths) {
		bool is_around = strcmp(it->path, path) != 0 && path_is_inside(path, it->path);
		if (is_around && (!found || strlen(it->path) > strlen(found->path)))
			found = it;
	}
	return found;
}

/* Protects rules, settings and the login, which apply to later commands. */
static void guard_home(struct sandbox_plan *plan, struct arena *arena, const char *home)
{
	char real[PATH_MAX];
	if (home && realpath(home, real) && find_around(plan, real))
		add(plan, arena_cstr(arena, str_of(real)), false, false);
}

/* A mount point cannot be moved away, but a folder above it can: a command could give the workspace a new .git by
 * replacing a parent folder. So the folders in between become mounts, too. */
static void pin_parents(struct sandbox_plan *plan, struct arena *arena)
{
	size_t count = plan->paths.count;
	for (size_t i = 0; i < count; i++) {
		const char *path = plan->paths.items[i].path;
		const struct sandbox_path *around = find_around(plan, path);
		if (!around || !around->is_writable)
			continue;
		const char *at = path + strlen(around->path);
		for (at = strchr(at + 1, '/'); at; at = strchr(at + 1, '/'))
			add(plan, arena_cstr(arena, str_n(path, (size_t)(at - path))), true, false);
	}
}

/* Sorts by path; of equal paths the writable one first, because a named root has precedence, then those that must
 * exist. */
static int compare_paths(const void *a, const void *b)
{
	const struct sandbox_path *left = a, *right = b;
	int order = strcmp(left->path, right->path);
	if (order == 0)
		order = right->is_writable - left->is_writable;
	return order ? order : left->is_fleeting - right->is_fleeting;
}

static void sort_paths(struct sandbox_plan *plan)
{
	struct sandbox_path *items = plan->paths.items;
	size_t kept = 0;
	if (plan->paths.count == 0)
		return;
	qsort(items, plan->paths.count, sizeof(*items), compare_paths);
	for (size_t i = 1; i < plan->paths.count; i++) {
		if (strcmp(items[i].path, items[kept].path) != 0)
			items[++kept] = items[i];
	}
	plan->paths.count = kept + 1;
}

int sandbox_plan_init(struct sandbox_plan *plan, const struct sandbox_policy *policy, struct arena *arena,
                      struct error *err)
{
	*plan = (struct sandbox_plan){
		.has_network = policy->network_access,
		.has_terminal = policy->has_terminal,
	};
	if (policy->mode != sandbox_mode_workspace_write)
		return 0;
	int status = add_roots(plan, policy, arena, err);
	if (status == 0)
		status = guard_roots(plan, arena, !policy->exclude_cwd + policy->writable_root_count, err);
	guard_home(plan, arena, policy->home);
	sort_paths(plan);
	pin_parents(plan, arena);
	sort_paths(plan);
	return status;
}

void sandbox_plan_finish(struct sandbox_plan *plan)
{
	vec_finish(&plan->paths);
}

/* Resolves path as far as it exists and appends the rest. False if the rest could lead elsewhere, through a dangling
 * link or "..". */
static bool resolve(const char *path, char out[PATH_MAX])
{
	auto_free char *head = xstrdup(path);
	struct stat st;
	size_t len = strlen(head);
	while (!realpath(head, out)) {
		if (errno != ENOENT || lstat(head, &st) == 0)
			return false;
		char *slash = strrchr(head, '/');
		if (!slash)
			return false;
		slash[slash == head] = '\0'; /* "/name" becomes "/" */
		len = strlen(head);
	}
	struct str rest = str_of(path + len), part;
	while (str_next_part(&rest, '/', &part)) {
		size_t used = strlen(out);
		if (part.len == 0 || str_is(part, "."))
			continue;
		if (str_is(part, "..") || used + part.len + 2 > PATH_MAX)
			return false;
		snprintf(out + used, PATH_MAX - used, "%s%.*s", used > 1 ? "/" : "", STR_ARG(part));
	}
	return true;
}

bool sandbox_is_needed(enum sandbox_mode mode)
{
	return mode != sandbox_mode_danger_full_access && mode != sandbox_mode_external_sandbox;
}

bool sandbox_can_write(const struct sandbox_policy *policy, const char *path)
{
	char real[PATH_MAX];
	if (!sandbox_is_needed(policy->mode))
		return true;
	auto_arena struct arena arena = {0};
	auto_sandbox_plan struct sandbox_plan plan;
	if (sandbox_plan_init(&plan, policy, &arena, NULL) != 0 || path[0] != '/' || !resolve(path, real))
		return false;
	bool is_writable = false;
	vec_for_each(it, &plan.paths) {
		if (path_is_inside(real, it->path))
			is_writable = it->is_writable;
	}
	return is_writable;
}
