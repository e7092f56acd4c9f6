/* agents_md.h — what the user wants every session to know: AGENTS.md, global and of the project.
 *
 * Read when the first turn needs it, never at start-up. Files are looked at in this order: the global one
 * in CODEX_HOME; then, from the project's root down to the cwd, one a folder. AGENTS.override.md goes
 * before AGENTS.md, that before the fallback names. What cannot be read is passed over.
 *
 * Owns: nothing. Blocking, small: any thread. Source: core 8. */
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
	size_t max_bytes;            /* of all project files together; 0: none of them */
	const struct str *fallbacks; /* more file names to try in each folder */
	size_t fallback_count;
	const struct str *root_markers; /* what makes a folder the project's root; NULL: .git */
	size_t root_marker_count;       /* 0 with a pointer: the project is the cwd alone */
	/* A project's file may be a link. It never leads into home, where the keys are; only in a project that the
	 * user trusts it may lead out of the project. Such a file is passed over, and on_refused is called; it may be
	 * NULL. */
	bool is_trusted;
	void (*on_refused)(const char *path, const char *why, void *self);
	void *self;
};

/* Appends the text, valid UTF-8, to out; false if there is none. *ret_is_cut: max_bytes left something out. */
bool agents_md_read(const struct agents_md_options *options, struct buf *out, bool *ret_is_cut);
/* Their paths, in that order, and how many there are; nothing is read. */
size_t agents_md_list(const struct agents_md_options *options, struct arena *arena, struct str **ret);

#endif
