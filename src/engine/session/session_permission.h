/* session_permission.h — requests for approval that PermissionRequest hooks answer before the user is asked. Private to
 * engine/.
 *
 * A request that waits for hooks is in session->permissions; its event is emitted, and it becomes pending, only if no
 * hook decides. Loop thread only. */
#ifndef ENGINE_SESSION_PERMISSION_H
#define ENGINE_SESSION_PERMISSION_H

#include "protocol/message/message.h"
#include "tool/tool_host.h"

struct session;

/* Starts the hooks of a request. False if there are none: the user must be asked. body is copied. */
must_check bool session_permission_start(struct session *session, struct tool_call *call, enum event_tag tag,
                                         const void *body, tool_answer_fn answer);
/* Drops the requests of a call; NULL: all. */
void session_permission_drop(struct session *session, const struct tool_call *call);

#endif
