/* plugin_git.h — clones of repositories that are not trusted.
 *
 * Nothing of a repository runs, git asks for no password, and the time and the bytes are bounded. SIGINT, SIGTERM and
 * SIGHUP end git; the program receives them when the clone is closed, after its folder is removed. Owns: the folder,
 * until it is moved. Blocks, and starts children: for commands without threads. */
#ifndef CONFIG_PLUGIN_GIT_H
#define CONFIG_PLUGIN_GIT_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/* How the names of folders begin that no other program uses yet. */
#define PLUGIN_FRESH ".new-"

struct plugin_clone {
	char *folder;
	int in_use;               /* a descriptor with a lock, while the folder is in use */
	int stop;                 /* readable when a signal is pending */
	uint64_t most_ms, end_ms; /* its time; when git is terminated, on the monotonic clock */
	sigset_t before, caught;
};

/* Creates a new folder in `parent`. plugin_clone_close follows in any case. */
must_check int plugin_clone_open(struct plugin_clone *clone, const char *parent, struct error *err);
/* Takes the lock of an open file: ERR_cancelled if a signal is pending or comes first, ERR_busy after the time that a
 * clone has. A wait of LIMIT_CLONE_NOTICE_MS is reported. */
must_check int plugin_lock(int fd, struct error *err);
/* The same within the time of this clone. */
must_check int plugin_clone_lock(const struct plugin_clone *clone, int fd, struct error *err);
/* Ignores a longer limit of time than LIMIT_CLONE_MS in the environment from now on. */
void plugin_clone_shorten(void);
/* Removes the folder, if it is still there. */
void plugin_clone_close(struct plugin_clone *clone);
/* Removes the new folders in `parent` that no process uses. */
void plugin_clone_sweep(const char *parent);

/* Runs git in the folder with these words, which spaces separate, and then `more`, which ends with NULL. git prints its
 * errors. */
must_check int plugin_git(struct plugin_clone *clone, const char *words, const char *const *more, struct error *err);
/* The same; adds the output to `out`, LIMIT_CLONE_LIST bytes at most. */
must_check int plugin_git_list(struct plugin_clone *clone, const char *words, const char *const *more, struct buf *out,
                               struct error *err);
/* Fetches the last commit of a branch or tag, or of the default branch if ref is NULL. option may be NULL. */
must_check int plugin_clone_fetch(struct plugin_clone *clone, const char *url, const char *ref, const char *option,
                                  struct error *err);
/* Checks out these files and folders of a revision, with no filters of the user's git configuration: ERR_limit beyond
 * LIMIT_CLONE_NAMES or LIMIT_CLONE_BYTES. paths ends with NULL; NULL: all. */
must_check int plugin_checkout(struct plugin_clone *clone, const char *revision, const char *const *paths,
                               struct error *err);

#endif
