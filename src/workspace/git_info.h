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
	char *branch;     /* NULL: none, or HEAD is detached */
	char *commit;     /* hex; NULL: none yet */
	char *origin_url; /* of remote "origin", without a password; NULL: none */
};

/* True in a folder with a .git, file or folder, in it or above it. */
bool git_info_is_repo(const char *cwd);
/* The folder that has the .git; owned, NULL outside a repository. */
char *git_info_find_root(const char *cwd);
/* root: of git_info_find_root. The git folder of this work tree, and the one it shares with the other work trees of its
 * repository (the same without other work trees); both owned, NULL and false where .git leads nowhere. */
bool git_info_find_dirs(const char *root, char **ret_own, char **ret_common);
/* False outside a repository; *ret is then all NULL. */
bool git_info_read(const char *cwd, struct git_info *ret);
void git_info_finish(struct git_info *info);

#endif
