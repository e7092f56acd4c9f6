/* app_server_listen.h — clients of an app-server that come by WebSocket, any number of them.
 *
 * Owns: the socket they come to. Borrows: server, loop, bearer; must end before the server. Loop thread only.
 * Beyond LIMIT_APP_CLIENTS at a time clients are sent away (close code 1001).
 * Errors: those of transport/websocket_listen.h. Source: app-server-wire 17. */
#ifndef APP_SERVER_APP_SERVER_LISTEN_H
#define APP_SERVER_APP_SERVER_LISTEN_H

struct app_server;
struct app_server_listen;
struct bearer;
struct error;
struct loop;

/* address: ws://IP:PORT or unix://PATH; bearer: NULL if no token is asked for. */
struct app_server_listen *app_server_listen_create(struct app_server *server, struct loop *loop, const char *address,
                                                   const struct bearer *bearer, struct error *err);
/* With the port that was taken. */
const char *app_server_listen_address(const struct app_server_listen *listen);
/* Those who are in stay. NULL is fine. */
void app_server_listen_destroy(struct app_server_listen *listen);

#endif
