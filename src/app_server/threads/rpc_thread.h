/* rpc_thread.h — how the requests that make threads are answered. Private to app_server/. */
#ifndef APP_SERVER_RPC_THREAD_H
#define APP_SERVER_RPC_THREAD_H

#include "app_server/rpc/rpc_request.h"
#include "protocol/message/app.h"

struct arena;
struct error;
struct thread;

/* The Session is configured: answers the request and notifies clients of the thread. */
void rpc_thread_on_configured(struct thread *thread, const struct ev_session_configured *event);
/* The Session could not be configured: fails the request and destroys the thread. */
void rpc_thread_on_refused(struct thread *thread, struct str message);

/* Describes the thread, without turns, and its settings. In the arena. */
void rpc_thread_describe(const struct thread *thread, struct arena *arena, struct app_thread_start_response *ret);

/* Fails the request: as overload if the queue of Ops is full, else with the error. */
enum rpc_verdict rpc_thread_refuse(struct rpc_request *request, const struct error *err);

#endif
