/* acp_store.h — the stored sessions. acp_method.h declares the handlers. */
#ifndef ACP_ACP_STORE_H
#define ACP_ACP_STORE_H

struct acp_server;

/* Frees the listings. */
void acp_store_finish(struct acp_server *server);

#endif
