/* session_grant.h — permissions beyond the sandbox policy that the user has granted to a Session: for the running task,
 * or for all of them. Private to engine/. Loop thread only. */
#ifndef ENGINE_SESSION_GRANT_H
#define ENGINE_SESSION_GRANT_H

struct session;
struct session_grants;
struct settings;

/* Sets the sandbox of the host's tools: the policy of the settings with what was granted. Grants for another task end;
 * those for the session stay. */
void session_grants_apply(struct session *session, const struct settings *settings);
/* Lends the function that grants to the tools; to be called after session_host_init. */
void session_grants_lend(struct session *session);
void session_grants_destroy(struct session_grants *grants); /* NULL is fine */

#endif
