/* workspace_limits.h — the limits of folders that are searched and watched, and git. Sizes in bytes, times in
 * milliseconds. */
#ifndef WORKSPACE_WORKSPACE_LIMITS_H
#define WORKSPACE_WORKSPACE_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_CLIENT_ENTRIES = 200 * 1000, /* entries of a folder listed for a client */
	LIMIT_SEARCH_FILES = 1000 * 1000,  /* files of a list, one per root of a search; further ones are omitted */
	LIMIT_SEARCH_BYTES = 96 * MIB,     /* paths of these files together */
	LIMIT_SEARCH_RESULTS = 50,
	LIMIT_SEARCH_SLICE = 20 * 1000,    /* files walked and matched between two results */
	LIMIT_SEARCH_PIECE = 64 * KIB,     /* names that a thread of a walk has read and not added */
	LIMIT_SEARCH_LISTS = 8,            /* lists of files that are watched or kept without a search */
	LIMIT_SEARCH_KEPT = 32 * MIB,      /* memory of one that is kept; a larger one ends with its search */
	LIMIT_SEARCH_KEPT_MS = 600 * 1000, /* time for which it is kept */
	LIMIT_SEARCH_WATCHES = 16 * 1000,  /* folders of a list that is watched */
	LIMIT_SEARCH_PAUSE_MS = 2000,      /* time after which one that is not is walked again */
	LIMIT_SEARCH_QUERIES = 16,         /* queries of a search whose results are kept */
	LIMIT_FUZZY_PATH = 512,            /* characters of a path that are matched */
	LIMIT_WALK_DEPTH = 100,            /* nested folders; each needs a descriptor */
	LIMIT_WALK_PATH = 16 * KIB,
	LIMIT_IGNORE_FILE = 1 * MIB,
	LIMIT_IGNORE_RULES = 10 * 1000,      /* rules in one ignore file */
	LIMIT_GLOB_STEPS = 10 * 1000,        /* steps to match one pattern against one path */
	LIMIT_WALK_STEPS = 10 * 1000 * 1000, /* steps for all patterns of a thread of a walk, plus */
	LIMIT_WALK_ENTRY_STEPS = 1000,       /* these for each entry */
	LIMIT_TREE_DEPTH = 200,              /* depth of a folder that is copied or removed; each level needs one or two
	                                      * descriptors */
	LIMIT_GIT_BRANCH = 255,              /* bytes of a branch that is shown */
	LIMIT_GIT_DELTA = 16 * MIB,          /* output of git for gitDiffToRemote */
	LIMIT_GIT_COMPLAINT = 4 * KIB,       /* stderr of git */
	LIMIT_GIT_INDEX_COPY = 1024 * MIB,   /* a git index that is copied */
	LIMIT_GIT_DELTA_MS = 30 * 1000,      /* time for all git commands of gitDiffToRemote */
	LIMIT_GIT_INDEX = 8 * MIB, /* an index scanned before git runs without approval; a larger one needs approval */
	LIMIT_GIT_PACKED_REFS = 256 * MIB,
	LIMIT_GIT_SYMREFS = 5, /* symbolic references that lead to a commit */
};

#endif
