/* patch_plan_priv.h — the state of each file in a plan. Shared by patch_plan.c and patch_plan_commit.c. */
#ifndef PATCH_PATCH_PLAN_PRIV_H
#define PATCH_PATCH_PLAN_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/limits.h"
#include "patch/patch_content.h"
#include "patch/patch_plan.h"
#include "patch/patch_tree.h"

struct patch_file {
	const char *path, *real, *entry; /* see patch_tree.h */
	/* Before: `old` is filled iff was_there. */
	bool was_there;
	int absence; /* errno of the open, if it was not there */
	struct patch_content old;
	/* After: edits of base, which is old.text, flat.text or nothing. */
	bool is_there;
	struct str base;
	struct edits edits;
	struct patch_content flat; /* result of earlier hunks, built when a later hunk reads it */
	char *new_text;            /* built on first use, owned */
	size_t new_len;
	bool is_added;             /* the last hunk that wrote it was an Add */
	struct patch_file *origin; /* the file whose content moved here */
	bool is_moved;             /* origin was removed, and this file has its content */
	bool is_claimed;           /* another file is_moved from here */
	/* Commit */
	struct iovec *parts;
	struct patch_stage stage;
	bool is_staged; /* stage is to be finished */
	char *aside;    /* name of the removed file until the commit ends */
};

enum { PATCH_FILE_SLOTS = 2 * LIMIT_PATCH_FILES };

struct patch_plan {
	const struct patch *patch;
	const char *cwd;
	struct arena arena;
	VEC(struct patch_file *) files;   /* in the order they were first named; the arena's */
	uint16_t slots[PATCH_FILE_SLOTS]; /* open addressing by path: 1 + index in files, 0 is free */
	uint64_t key;
	VEC(struct patch_change) changes;
	size_t bytes;                 /* read or built */
	bool is_removal_first;        /* a folder replaces a removed file */
	struct patch_folders folders; /* made by the commit */
};

/* True if the file's content or existence changes, as far as the plan can know. */
bool patch_file_is_rewritten(const struct patch_file *file);

#endif
