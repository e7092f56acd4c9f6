/* patch_tree.h — names and folders: the small steps that applying a patch shares with checking one. */
#ifndef PATCH_PATCH_TREE_H
#define PATCH_PATCH_TREE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

struct patch_error;

/* The absolute path, without "." and "..", that a patch's file name means below cwd; in the arena. */
const char *patch_path(struct arena *arena, const char *cwd, struct str name);

/* Folders that were made, outermost first; the names are owned. */
struct patch_folders {
	VEC(char *) list;
};

/* Makes the folders above path that are missing and, unless made is NULL, notes which. */
int patch_folders_make(const char *path, struct patch_folders *made, struct patch_error *err);
/* Removes those that are empty again. */
void patch_folders_unmake(struct patch_folders *made);
void patch_folders_finish(struct patch_folders *made);

/* True if removing the directory entry `path` would remove what `target` leads to. */
bool patch_is_same_entry(const char *path, const char *target);

#endif
