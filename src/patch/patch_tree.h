/* patch_tree.h — the files of a patch: resolves paths once, later opens them without following links, and replaces
 * files.
 *
 * Three kinds of path: `path`, as the patch names it, absolute and normalised as text; `real`, the file that a write
 * reaches when all links are followed; `entry`, the name that an unlink removes, which may be a link. Real and entry
 * paths are resolved once, and every later step walks them folder by folder and refuses links: replacing a folder by a
 * link while a patch waits for approval causes an error, not a write elsewhere.
 *
 * A file is replaced in two steps (struct patch_stage): the first fails for lack of space or permission, the second
 * renames. */
#ifndef PATCH_PATCH_TREE_H
#define PATCH_PATCH_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/error.h"
#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

struct patch_error;

/* Resolves a name of a patch below cwd to an absolute path without "." and "..", allocated in the arena. */
const char *patch_path(struct arena *arena, const char *cwd, struct str name);
/* Follows links, even a dangling one. The result is allocated in the arena; NULL and errno on failure. */
const char *patch_real(struct arena *arena, const char *path);
/* Follows links except in the last name. The result is allocated in the arena; NULL and errno on failure. */
const char *patch_entry(struct arena *arena, const char *path);

/* Folders that were created, outermost first; the names are owned. */
struct patch_folders {
	VEC(char *) list;
};

/* Creates the missing folders above `real` and, unless `made` is NULL, records them. `path` names the file in
 * errors. */
must_check int patch_folders_make(const char *real, struct patch_folders *made, const char *path,
                                  struct patch_error *err);
/* Removes the recorded folders that are empty. */
void patch_folders_unmake(struct patch_folders *made);
void patch_folders_finish(struct patch_folders *made);

/* Unlinks an entry path. Returns 0 or errno. */
must_check int patch_entry_remove(const char *entry);
/* Renames an entry within its folder. Returns 0 or errno. */
must_check int patch_entry_rename(const char *entry, const char *name);
/* Returns an unused file name, owned by the caller. */
char *patch_entry_name(void);

/* True if unlinking the entry would remove the file at `real`, which may have a different name. */
bool patch_is_same_file(const char *entry, const char *real);

/* ---- replacing a file ---- */

/* Owns: a temporary file beside the target. Finishing before the commit leaves the tree unchanged. An existing file
 * keeps its mode, and unusual owners, links and attributes. Holds no descriptor between calls. */
struct patch_stage {
	/* private */
	const char *real, *path;
	char *temporary; /* name of the temporary file; NULL: the target is overwritten */
	const struct iovec *parts;
	size_t part_count;
	/* Read-only, and still valid after the finish. */
	bool is_touched; /* the former content may be lost */
};

/* Prepares to replace the content of the file at `real` by `parts`; errors name it `path`. All three are
 * borrowed until the stage is finished; the folder must exist. A new file gets `mode`; 0: the default mode. */
must_check int patch_stage_write(struct patch_stage *ret, const char *real, const char *path, const struct iovec *parts,
                                 size_t count, mode_t mode, struct patch_error *err);
/* Puts the content in place. May be called once. */
must_check int patch_stage_commit(struct patch_stage *stage, struct patch_error *err);
void patch_stage_finish(struct patch_stage *stage);

#endif
