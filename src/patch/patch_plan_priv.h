/* patch_plan_priv.h — what a plan knows of each file; shared by the making and the commit of a plan. */
#ifndef PATCH_PATCH_PLAN_PRIV_H
#define PATCH_PATCH_PLAN_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/limits.h"
#include "patch/patch_content.h"
#include "patch/patch_plan.h"
#include "patch/patch_stage.h"
#include "patch/patch_tree.h"

struct patch_file {
	const char *path, *real, *entry; /* see patch_tree.h */
	/* Before: `old` is filled iff was_there. */
	bool was_there;
	int absence; /* the errno that says so, if not */
	struct patch_content old;
	/* After: edits of base, which is old.text, flat.text or nothing. */
	bool is_there;
	struct str base;
	struct edits edits;
	struct patch_content flat; /* what earlier hunks made of it, once a later one had to read that */
	char *new_text;            /* made when somebody asks, owned */
	size_t new_len;
	bool is_added;             /* the last hunk that wrote it was an Add */
	struct patch_file *origin; /* the file whose content moved here */
	bool is_moved;             /* origin is gone, and this is where it went */
	bool is_claimed;           /* another file is_moved from here */
	/* Commit */
	struct iovec *parts;
	struct patch_stage stage;
	bool is_staged; /* stage is to be finished */
	char *aside;    /* name by which the removed file waits for the end of the commit */
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
	size_t bytes;                 /* read or made */
	bool is_removal_first;        /* a folder takes the place of a removed file */
	struct patch_folders folders; /* made by the commit */
};

/* Whether the file's bytes or presence after differ from before, as far as the plan can know. */
bool patch_file_is_rewritten(const struct patch_file *file);

#endif
