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

struct session;
struct settings;
struct settings_change;
struct tool_host;

/* Fills the environment of a change from that of an Op; no-op without one. ERR_not_found: its id is unknown;
 * ERR_invalid: its folder is not absolute; ERR_unsupported: there are several. */
must_check int session_environment_select(const struct session *session, const struct turn_environment *list,
                                          size_t count, struct settings_change *change, struct error *err);
/* Returns the environment of settings in the form of an Op; borrowed. */
struct turn_environment session_environment_of(const struct settings *settings);
/* True if commands start on the same machine, in the same folder. */
bool session_environment_is_same(const struct settings *a, const struct settings *b);
/* A function of the tool host: shell_environment_policy as JSON, which the machine applies to its own variables. */
struct str session_environment_inherited(struct tool_host *host);

#endif
