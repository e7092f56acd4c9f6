/* git_inert.h — checks whether git, reading in a folder, could run a program that the repository chose.
 *
 * Filters, fsmonitor, textconv, external diffs, gpg programs, promisor remotes and pagers are settings of the
 * repository; the post-index-change hook is a file in it; a nested repository (a gitlink in the index) has settings
 * and hooks of its own. A repository is inert if its configuration has only settings that are known to run nothing,
 * it has no such hook, and its index has only files. Anything that is not understood makes it not inert.
 *
 * The git settings of the user and the system are not checked: they are the user's choice. Owns nothing. Thread: any;
 * reads at most LIMIT_GIT_FILE and LIMIT_GIT_INDEX bytes. */
#ifndef WORKSPACE_GIT_INERT_H
#define WORKSPACE_GIT_INERT_H

#include <limits.h>
#include <stdbool.h>

/* True if the repository around the folder (absolute) is inert, or there is no repository. ret_git: its git folder,
 * or "". */
bool git_is_inert(const char *folder, char ret_git[PATH_MAX]);

#endif
