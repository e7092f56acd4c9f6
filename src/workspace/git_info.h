/* git_info.h — facts about a folder's repository, read from its files without starting a process; see
 * gitrepository-layout(5).
 *
 * Owns: the texts of a struct git_info until git_info_finish. Blocks for a few small files. Thread: any. There are no
 * errors: facts that cannot be read are unknown. */
#ifndef WORKSPACE_GIT_INFO_H
#define WORKSPACE_GIT_INFO_H

#include <stdbool.h>

struct git_info {
	char *root;       /* the work tree's folder */
	char *branch;     /* NULL: unknown, or HEAD is detached */
	char *commit;     /* in hex; NULL: no commit yet */
	char *origin_url; /* URL of the remote "origin", without a password; NULL without one */
};

/* True if the folder or one above it contains .git, a file or a folder. */
bool git_info_is_repo(const char *cwd);
/* Returns the folder that contains .git, owned; NULL outside a repository. */
char *git_info_find_root(const char *cwd);
/* Finds the git folder of a work tree (root: from git_info_find_root) and the one that it shares with other work
 * trees of the repository, which may be the same. Both are owned; NULL and false if .git leads nowhere. */
bool git_info_find_dirs(const char *root, char **ret_own, char **ret_common);
/* Reads all facts. False outside a repository; *ret is then all NULL. */
bool git_info_read(const char *cwd, struct git_info *ret);
/* Returns the branch alone, owned, from HEAD alone; NULL if it is unknown, or longer than LIMIT_GIT_BRANCH. The files
 * read have at most LIMIT_GIT_POINTER bytes each, so that an event loop can call it. */
char *git_info_branch(const char *cwd);
void git_info_finish(struct git_info *info);

#endif
