/* acp_account.h — the credentials: authenticate and logout. acp_method.h declares their handlers.
 *
 * Owns: the logouts whose tokens are being revoked. Loop thread only. */
#ifndef ACP_ACP_ACCOUNT_H
#define ACP_ACP_ACCOUNT_H

struct acp_prompt;
struct acp_server;
struct acp_session;

/* Carries out the slash command /logout, and answers its prompt. */
void acp_logout_for(struct acp_session *session, struct acp_prompt *prompt);
/* Ends the logouts: their tokens are removed already, and may stay valid at the issuer. */
void acp_logouts_finish(struct acp_server *server);

#endif
