/* patch_update.h — what the chunks of one hunk make of one file's text (core 4.4). Touches no file. */
#ifndef PATCH_PATCH_UPDATE_H
#define PATCH_PATCH_UPDATE_H

#include "base/arena.h"
#include "patch/edit.h"
#include "patch/patch_content.h"
#include "patch/patch_parse.h"

struct patch_error;

/* Fills *ret (caller frees ret->list) with edits of content->text; their texts live in the arena.
 * Lines that the patch only mentions keep the file's own bytes, new lines get the file's line ends, and
 * the result's last line always has one. path is for the error text. */
int patch_update_compute(const struct patch *patch, const struct patch_hunk *hunk, const char *path,
                         const struct patch_content *content, struct arena *arena, struct edits *ret,
                         struct patch_error *err);

/* The content that an added file gets, in the arena. */
struct str patch_add_text(const struct patch_hunk *hunk, struct arena *arena);

#endif
