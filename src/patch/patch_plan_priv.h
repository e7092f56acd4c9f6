/* patch_plan_priv.h — the state of each file in a plan. Shared by patch_plan.c and patch_plan_commit.c. */
#ifndef PATCH_PATCH_PLAN_PRIV_H
#define PATCH_PATCH_PLAN_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/limits.h"
#include "patch/patch_content.h"
#include "patch/patch_limits.h"
#include "patch/patch_plan.h"
#include "patch/patch_tree.h"

struct patch_file {
	const char *path, *real, *entry; /* patch_tree.h describes them */
	/* State before the patch; `old` is filled iff was_there. */
	bool was_there;
	int absence; /* errno of the failed open, unless was_there */
	struct patch_content old;
	/* State after it, as edits of base: old.text, flat.text or nothing. */
	bool is_there;
	struct str base;
	struct edits edits;
	struct patch_content flat; /* result of earlier hunks, built when a later hunk needs it */
	char *new_text;            /* built on first use; owned */
	size_t new_len;
	bool is_added;             /* the last hunk for this file was an Add */
	struct patch_file *origin; /* the file whose content was moved here */
	bool is_moved;             /* origin was removed and this file has its content */
	bool is_claimed;           /* is_moved is set in another file whose origin is this one */
	/* State of the commit. */
	struct iovec *parts;
	struct patch_stage stage;
	bool is_staged; /* stage must be finished */
	char *aside;    /* the name under which the removed file is kept until the commit ends */
};

enum { PATCH_FILE_SLOTS = 2 * LIMIT_PATCH_FILES };

struct patch_plan {
	const struct patch *patch;
	const char *cwd;
	const struct patch_texts *texts; /* NULL: the files of this machine */
	struct arena arena;
	VEC(struct patch_file *) files;   /* in the order in which the patch first names them; allocated in the arena */
	uint16_t slots[PATCH_FILE_SLOTS]; /* open addressing by path: a slot holds 1 + index in files; 0: free */
	uint64_t key;
	VEC(struct patch_change) changes;
	size_t bytes;                 /* bytes that were read or built */
	bool is_removal_first;        /* a folder replaces a removed file */
	struct patch_folders folders; /* folders that the commit has created */
};

/* True if the file's content or existence changes, as far as is known before the commit. */
bool patch_file_is_rewritten(const struct patch_file *file);

#endif
