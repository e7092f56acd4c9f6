/* agents_md.h — reads AGENTS.md, the user's instructions for every session: the global file and those of the
 * project.
 *
 * They are read when the first turn needs them. The files are searched in this order: the global one in CODEX_HOME,
 * then one per folder from the project's root down to the cwd. In a folder AGENTS.override.md has precedence over
 * AGENTS.md, and that over the fallback names. Files that cannot be read are skipped.
 *
 * Owns: nothing. Blocks for a few small files. Thread: any. */
#ifndef WORKSPACE_AGENTS_MD_H
#define WORKSPACE_AGENTS_MD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

struct agents_md_options {
	const char *home;            /* CODEX_HOME; NULL: no global file */
	const char *cwd;             /* absolute */
	size_t max_bytes;            /* limit of all project files together; 0: read none */
	const struct str *fallbacks; /* further file names to try in each folder */
	size_t fallback_count;
	const char *root;               /* the project's root, if cwd is a real path; or NULL: it is searched for */
	const struct str *root_markers; /* names that mark the root of a project; NULL: .git */
	size_t root_marker_count;       /* 0 with a non-NULL pointer: the project is only the cwd */
	bool is_project_only;           /* the global file is left out */
	/* A project's file may be a link. It must not lead into home, which holds the keys, and may leave the
	 * project only if the user trusts the project. Other links are skipped, and on_refused (may be NULL) is
	 * called. */
	bool is_trusted;
	void (*on_refused)(const char *path, const char *why, void *self);
	void *self;
};

/* Appends the instructions as UTF-8 to out; false if there is no text. *ret_is_cut is set if max_bytes truncated it. */
bool agents_md_read(const struct agents_md_options *options, struct buf *out, bool *ret_is_cut);
/* Returns the number of files and their paths in that order; reads no content. */
size_t agents_md_list(const struct agents_md_options *options, struct arena *arena, struct str **ret);

#endif
