/* remote_files.h — files in an environment: read, written and removed by its exec-server, one request at a time.
 *
 * A policy that needs a sandbox is sent with each request; a server that reports no sandbox is refused, as for commands
 * (remote_command.h). A file has at most LIMIT_ENVIRONMENT_FILE bytes. When the connection is lost, the request under
 * way and all later ones fail.
 *
 * Owns: the link. Loop thread only. No callback runs inside a call to this module. */
#ifndef REMOTE_REMOTE_FILES_H
#define REMOTE_REMOTE_FILES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct environment;
struct remote_files;
struct sandbox_policy;

/* Called once for each request. err is NULL on success (ERR_not_found: there is no such file). content is that of a
 * file that was read. Both are borrowed. It may send the next request, or close. */
typedef void (*remote_files_fn)(struct str content, const struct error *err, void *self);

/* policy may be NULL: none. NULL and err: the environment is not registered, or its server cannot enforce the
 * policy. */
must_check struct remote_files *remote_files_open(struct environment *environment, const struct sandbox_policy *policy,
                                                  remote_files_fn on_done, void *self, struct error *err);
/* Closes the link; no callback follows. A request that was sent may still take effect. NULL is fine. */
void remote_files_close(struct remote_files *files);

/* True if no later request can succeed. */
bool remote_files_is_lost(const struct remote_files *files);

/* Each sends one request, after the one before has been answered. The path is absolute, the text at most
 * LIMIT_ENVIRONMENT_FILE bytes. */
void remote_files_read(struct remote_files *files, const char *path);
/* Succeeds if there is a file or folder. */
void remote_files_look(struct remote_files *files, const char *path);
void remote_files_write(struct remote_files *files, const char *path, struct str text);
/* Creates a folder, and missing ones above it; no-op if it exists. is_boxed: within the policy. */
void remote_files_make_folder(struct remote_files *files, const char *path, bool is_boxed);
/* Removes a file. */
void remote_files_remove(struct remote_files *files, const char *path);

#endif
