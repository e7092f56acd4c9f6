/* Paths are normalised as text before any use: the path that was checked and shown to the user is then
 * letter by letter the one that is written. */
#include "patch/patch_tree.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "patch/patch_error.h"

const char *patch_path(struct arena *arena, const char *cwd, struct str name)
{
	auto_free char *relative = str_dup(name);
	auto_free char *joined = path_join(cwd, relative);
	auto_free char *path = path_normalize(joined);
	return arena_cstr(arena, str_of(path));
}

/* One folder; 0 or errno. Who made it does not matter as long as it is there. */
static int make_folder(const char *path, struct patch_folders *made)
{
	if (mkdir(path, 0777) == 0) {
		if (made)
			vec_push(&made->list, xstrdup(path));
		return 0;
	}
	int sys = errno;
	return sys == EEXIST && dir_exists(path) ? 0 : sys;
}

int patch_folders_make(const char *path, struct patch_folders *made, struct patch_error *err)
{
	auto_free char *folder = str_dup(path_dir(path));
	if (dir_exists(folder))
		return 0;
	int sys = 0;
	for (char *at = folder + 1; sys == 0; at++) {
		char kept = *at;
		if (kept != '/' && kept != '\0')
			continue;
		*at = '\0';
		sys = dir_exists(folder) ? 0 : make_folder(folder, made);
		*at = kept;
		if (kept == '\0')
			break;
	}
	/* A file in a folder's place: the write that follows says so in better-known words. */
	if (sys == 0 || sys == EEXIST || sys == ENOTDIR)
		return 0;
	return patch_error_sys(err, sys, "Failed to create parent directories for %s", path);
}

void patch_folders_unmake(struct patch_folders *made)
{
	while (made->list.count) {
		char *path = made->list.items[--made->list.count];
		rmdir(path);
		free(path);
	}
}

void patch_folders_finish(struct patch_folders *made)
{
	vec_for_each(it, &made->list)
		free(*it);
	vec_finish(&made->list);
}

bool patch_is_same_entry(const char *path, const char *target)
{
	struct stat entry, led_to;
	if (strcmp(path, target) == 0)
		return true;
	return lstat(path, &entry) == 0 && stat(target, &led_to) == 0 && entry.st_dev == led_to.st_dev &&
	       entry.st_ino == led_to.st_ino && entry.st_nlink == 1;
}
