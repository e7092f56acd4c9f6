/* session_environment.h — the machine on which the commands of a Session run. Private to engine/.
 *
 * Owns: nothing. Loop thread only. */
#ifndef ENGINE_SESSION_ENVIRONMENT_H
#define ENGINE_SESSION_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "protocol/record/types.h"

struct arena;
struct buf;
struct session;
struct settings;
struct settings_change;
struct tool_host;

/* Fills the environments of a change from those of an Op; no-op without one. ERR_not_found: its id is unknown;
 * ERR_invalid: its folder is not absolute; ERR_limit: there are too many. The first is where calls act that name none.
 */
must_check int session_environment_select(const struct session *session, const struct turn_environment *list,
                                          size_t count, struct settings_change *change, struct error *err);
/* True if commands start on the same machine, in the same folder. */
bool session_environment_is_same(const struct settings *a, const struct settings *b);
/* True if a change from a to b must be recorded: one of them is on another machine, and they are not the same. */
bool session_environment_is_moved(const struct settings *a, const struct settings *b);
/* Takes the environment that the rollout names. While its id is unknown, commands are refused. */
must_check int session_environment_restore(struct session *session, struct str recorded, struct error *err);
/* Returns a change to the environments of these settings, borrowed. */
struct settings_change session_environment_change(const struct settings *settings);
/* Sets those of a change to recorded ones, to be released by the caller; NULL: this machine. */
must_check int session_environment_read(const struct session *session, struct str recorded,
                                        struct settings_change *change, struct arena *arena, struct error *err);
void session_environment_release(struct settings_change *change);
/* Takes an environment that was registered after a resume; a Task that runs keeps its own. */
void session_environment_refresh(struct session *session);
/* Returns settings' environment for the rollout, in buf; STR_NONE: this machine. */
struct str session_environment_recorded(const struct settings *settings, bool is_pending, struct buf *buf);
/* A function of the tool host: shell_environment_policy as JSON, which the machine applies to its own variables. */
struct str session_environment_inherited(struct tool_host *host);

#endif
