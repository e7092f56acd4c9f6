/* tool_patch_away.h — the files of a patch on another machine: read before it is planned, and written once it is
 * approved. Private to tool/.
 *
 * The server writes one file after the other. If one fails, those before it get their old content back, and what cannot
 * be restored is reported. Links there are followed by the server, but not out of the sandbox that is sent with each
 * write: an approved patch may write in the folders of its files alone. Missing folders are created without one then.
 *
 * Owns: the contents that were read, and a link while it reads or writes. Loop thread, but for patch_away_list. */
#ifndef TOOL_TOOL_PATCH_AWAY_H
#define TOOL_TOOL_PATCH_AWAY_H

#include <stdbool.h>

#include "patch/patch_plan.h"

struct arena;
struct environment;
struct patch_away;
struct patch_error;
struct sandbox_policy;

/* Called once for each read and each commit, possibly inside the call; err->code is nonzero if it failed. */
typedef void (*patch_away_fn)(void *self);

/* err receives later failures; it must live as long. */
must_check struct patch_away *patch_away_create(struct environment *environment, struct patch_error *err,
                                                patch_away_fn on_done, void *self);
/* Ends what is under way; on_done does not follow, and written files stay. NULL is fine. */
void patch_away_destroy(struct patch_away *away);

/* Lists the files of the patch; on any thread. */
must_check int patch_away_list(struct patch_away *away, const struct patch *patch, const char *cwd,
                               struct patch_error *err);
/* Reads them, which every policy permits. */
void patch_away_read(struct patch_away *away);
const struct patch_texts *patch_away_texts(const struct patch_away *away);
/* Writes the changes of a plan, which must outlive the commit, within the policy. is_approved: it may write in the
 * folders of its files. checks: reads all files again first, and writes nothing if one has changed. */
void patch_away_commit(struct patch_away *away, const struct patch_plan *plan, const struct sandbox_policy *policy,
                       bool is_approved, bool checks);

/* Removes a line `*** Environment ID: NAME` after the first one, and returns the name, or STR_NONE. */
struct str patch_away_cut_id(struct arena *arena, struct str *text);

#endif
