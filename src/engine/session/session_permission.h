/* session_permission.h — requests for approval that PermissionRequest hooks, then the automatic reviewer, answer before
 * the user is asked. Private to engine/.
 *
 * A request that waits for hooks is in session->permissions; its event is emitted, and it becomes pending, only if no
 * hook decides. Loop thread only. */
#ifndef ENGINE_SESSION_PERMISSION_H
#define ENGINE_SESSION_PERMISSION_H

struct session;

/* Sets up the part of a session; session_drop_requests ends it. */
void session_permission_init(struct session *session);

#endif
