/* account_login.h — logins of clients that have not ended yet, and logouts whose tokens are being revoked.
 *
 * A login continues when the client that started it disconnects; its end is reported to all clients. Loop thread only.
 */
#ifndef APP_SERVER_ACCOUNT_LOGIN_H
#define APP_SERVER_ACCOUNT_LOGIN_H

#include <stdbool.h>

#include "app_server/rpc/rpc_request.h"

struct account_logins;
struct app_login_account_params;
struct app_server;

/* Starts a ChatGPT login; the request is answered when the URL is known. */
enum rpc_verdict account_login_start(struct rpc_request *request, bool is_device);
/* Takes over the tokens of the client, which are kept in memory. */
enum rpc_verdict account_login_with_tokens(struct rpc_request *request, const struct app_login_account_params *params);
/* Ends a login and reports that. False if no login has this id. */
bool account_login_cancel(struct app_server *server, struct str id);
/* Revokes the tokens, removes the credentials, and answers the request. */
enum rpc_verdict account_logout(struct rpc_request *request);

/* Ends all logins without reports. NULL is fine. */
void account_logins_destroy(struct account_logins *logins);

#endif
