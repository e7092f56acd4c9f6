/* proto_server.h — one client of the event protocol: lines of submissions in, lines of events out.
 *
 * Owns: its engine and its transport. Borrows: loop, services. Loop thread only. A line that is not a submission is
 * reported on standard error and causes no event. On a socket, a first line that is not a JSON object and any line
 * that may be part of an HTTP message end the connection before later lines are processed. After the client's end of
 * file a running task continues to its end, unless it waits for an answer that can no longer arrive. Then, or when
 * the client disconnects, the engine shuts down as after Op shutdown. */
#ifndef SERVER_PROTO_SERVER_H
#define SERVER_PROTO_SERVER_H

#include <stdbool.h>

#include "base/error.h"
#include "server/wire_profile.h"

struct codex;
struct config;
struct loop;
struct proto_server;
struct services;

/* ---- what all front ends of the event protocol share ---- */

struct proto_engine {
	struct services *services;
	struct config *config; /* each Codex takes a reference */
	const char *cwd;
};

/* Opens a Codex for a client of the event protocol; the caller closes it. */
struct codex *proto_codex_open(const struct proto_engine *engine,
                               void (*on_emit)(const struct event *event, void *self), void (*on_space)(void *self),
                               void *self);
/* Returns the submission that configures such a Codex, for a new session or one that continues a rollout (NULL: new).
 */
struct submission *proto_configure(const struct proto_engine *engine, const char *resume_path);
struct wire_style proto_style(const struct config *config);

/* ---- one client at two descriptors ---- */

struct proto_options {
	struct loop *loop;
	struct proto_engine engine;
	int in, out;            /* the client's descriptors; the server takes ownership */
	bool no_auto_configure; /* the client sends configure_session itself */
	/* the client connected to a listener, so it may be any program of this machine or network */
	bool is_socket;
	void (*on_first_line)(void *self); /* called when the first line was read and is an object; may be NULL */
	const char *token;       /* the token that clients of proto_listen must send first, borrowed; NULL: none */
	const char *resume_path; /* the rollout to resume; NULL: start a new session */
	/* Called once, when the engine has shut down and all output was sent or queued. Destroy the server then. */
	void (*on_end)(void *self);
	void *self;
};

/* NULL and err if the descriptors cannot be used. */
must_check struct proto_server *proto_server_create(const struct proto_options *options, struct error *err);
/* Acts as if the client had sent shutdown. */
void proto_server_shut_down(struct proto_server *server);
void proto_server_destroy(struct proto_server *server); /* NULL is fine */

#endif
