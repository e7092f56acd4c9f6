/* git_inert.h — whether git, reading in a folder, could run a program that the repository chose.
 *
 * Filters, fsmonitor, textconv, external diffs, gpg programs, promisor remotes and pagers are settings of its own
 * configuration; the post-index-change hook lies beside it; a nested repository (a gitlink in the index) brings
 * both of its own. A repository is inert if it has none of them: its configuration consists of settings that are known
 * to run nothing, and its index of files. Everything that is not understood counts as not inert.
 *
 * The user's own and the system's git settings are the user's choice, and are not looked at.
 * Owns nothing. Thread: any; reads at most LIMIT_GIT_FILE and LIMIT_GIT_INDEX bytes. */
#ifndef WORKSPACE_GIT_INERT_H
#define WORKSPACE_GIT_INERT_H

#include <limits.h>
#include <stdbool.h>

/* True if the repository around the folder (absolute) is inert, or there is none. ret_git: the repository's own
 * folder, "" if there is none. */
bool git_is_inert(const char *folder, char ret_git[PATH_MAX]);

#endif
