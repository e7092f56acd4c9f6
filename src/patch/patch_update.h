/* patch_update.h — applies the chunks of one hunk to one file's text in memory. */
#ifndef PATCH_PATCH_UPDATE_H
#define PATCH_PATCH_UPDATE_H

#include "base/error.h"
#include "base/arena.h"
#include "patch/diff.h"
#include "patch/patch_content.h"
#include "patch/patch_parse.h"

struct patch_error;

/* Fills *ret (the caller frees ret->list) with edits of content->text; their texts are in the arena. Context lines
 * keep the file's bytes, new lines get the file's line end, and the last line always ends with one. `path` names the
 * file in errors. */
must_check int patch_update_compute(const struct patch *patch, const struct patch_hunk *hunk, const char *path,
                                    const struct patch_content *content, struct arena *arena, struct edits *ret,
                                    struct patch_error *err);

/* Returns the content of an added file, allocated in the arena. */
struct str patch_add_text(const struct patch_hunk *hunk, struct arena *arena);

#endif
